"""Under which keys of a message's dictionary a value may have been set: its name as str or as bytes, another name of the
same value, or a method beside the names."""

# Names of one value; the first is how the program calls it.
_SAME = (("MESSAGE", "MSG", "MSGONLY"), ("HOST", "FULLHOST"))

_SEVERITIES = "emerg alert crit err warning notice info debug".split()
_FACILITIES = (
    "kern user mail daemon auth syslog lpr news uucp cron authpriv ftp ntp security console solaris-cron "
    "local0 local1 local2 local3 local4 local5 local6 local7"
).split()

# Names that are remembered; a table that is full starts anew.
_KNOWN_MAX = 4096

_has = dict.__contains__


class Beside:
    """A key of what is set by a method and is no name-value pair: no class can set it otherwise. The program knows it by its
    number."""

    __slots__ = ("number",)

    def __init__(self, number):
        self.number = number


# Facility and severity, the time stamp, the text that is parsed first, the sender's address.
PRI, STAMP, RAW, PEER = (Beside(number) for number in range(4))


def _facility(pri):
    number = pri >> 3
    return _FACILITIES[number] if number < len(_FACILITIES) else "{:x}".format(number)


# Macros that are read after a method has set what they are made of.
_MADE_OF = {
    "PRI": (PRI, str),
    "FACILITY": (PRI, _facility),
    "LEVEL": (PRI, lambda pri: _SEVERITIES[pri & 7]),
    "SOURCEIP": (PEER, str),
    "HOST_FROM": (PEER, str),
}
_MADE_OF["SEVERITY"] = _MADE_OF["PRIORITY"] = _MADE_OF["LEVEL"]
_MADE_OF["FULLHOST_FROM"] = _MADE_OF["HOST_FROM"]


def text(name):
    """A name as str itself, whatever else it is."""
    if isinstance(name, bytes):
        return name.decode("utf-8", "replace")
    if isinstance(name, str):
        return str.__str__(name)
    raise TypeError("key is not a string object")


def called(name):
    """What the program calls the value of a name."""
    return next((same[0] for same in _SAME if name in same), name)


class _Others(dict):
    """Name -> the one other key of its value, as bytes, or all keys there are."""

    def __missing__(self, name):
        plain = text(name)
        same = next((same for same in _SAME if plain in same), (plain,))
        keys = [*same, *(name.encode("utf-8", "surrogatepass") for name in same)]
        if plain in _MADE_OF:
            keys.append(_MADE_OF[plain][0])
        simple = len(keys) == 2 and name.__class__ is str
        if len(self) >= _KNOWN_MAX:
            self.clear()
        found = self[name] = keys[1] if simple else frozenset(keys)
        return found


OTHERS = _Others()


def last_set(message, name, default):
    """What was set last under one of the keys of a name."""
    keys = OTHERS[name]
    if keys.__class__ is bytes:
        if not _has(message, keys):
            return dict.get(message, name, default)
        keys = (name, keys)
    elif dict.keys(message).isdisjoint(keys):
        return default
    *before, key = [key for key in dict.keys(message) if key in keys]
    for other in before:
        # What is set next under any of them counts then.
        if other.__class__ is not Beside:
            dict.pop(message, other)
    value = dict.get(message, key)
    return _MADE_OF[text(name)][1](value) if key.__class__ is Beside else value
