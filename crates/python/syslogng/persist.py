"""Persist: what a class remembers over restarts, in the state file of the program."""

from syslogng import _wire


class Persist:
    """Entries that survive restarts and kills: `Persist("name", defaults={"position": 0})`.

    Keys are str, values str, bytes or int. Each change is written at once, and seen by all processes.
    """

    def __init__(self, persist_name: str, defaults: dict = None):
        if not isinstance(persist_name, str) or not persist_name or "\0" in persist_name:
            raise ValueError("the name of a Persist is a str")
        self.persist_name = str.__str__(persist_name)
        for key, value in (defaults or {}).items():
            if key not in self:
                self[key] = value

    def _ask(self, what, *more):
        answer = _wire.wire.ask("persist", what, self.persist_name, *more)
        if answer is None:
            raise OSError("the state file does not take this")
        if answer.__class__ is str:
            raise OSError(answer)
        return answer

    def __getitem__(self, key: str):
        found = self._ask("get", _key(key))
        if not found:
            raise KeyError(key)
        return found[0]

    def __setitem__(self, key: str, value) -> None:
        if isinstance(value, str):
            value = str.__str__(value)
        elif isinstance(value, (bytes, bytearray)):
            value = bytes(value)
        elif isinstance(value, int):
            value = int(value)
            if not -(1 << 63) <= value < 1 << 63:
                raise OverflowError("{} does not fit into 64 bits".format(value))
        else:
            raise TypeError("a Persist keeps str, bytes and int, not {}".format(type(value).__name__))
        self._ask("set", _key(key), value)

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        self._ask("remove", _key(key))

    def __contains__(self, key: str) -> bool:
        return bool(self._ask("get", _key(key)))

    def __iter__(self):
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def keys(self):
        return self._ask("keys")

    def items(self):
        return [(key, self[key]) for key in self.keys()]

    def get(self, key: str, default=None):
        found = self._ask("get", _key(key))
        return found[0] if found else default


def _key(key):
    if not isinstance(key, str):
        raise TypeError("the keys of a Persist are str")
    return str.__str__(key)
