"""LogMessage: one message, as parsers, template functions and destinations get it and sources make it."""

import socket
from datetime import datetime, timedelta, timezone
from typing import Any, List, Union

from syslogng import _wire
from syslogng._names import PEER, PRI, RAW, STAMP, Beside, called, last_set
from syslogng._names import text as _name

_NOT_GIVEN = object()

# What can be set as it is; of numbers it has to be seen whether they fit.
PLAIN = frozenset({str, bytes, float, bool, type(None)})

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_INT_MAX = 1 << 63

# user.notice
_PRI_DEFAULT = 13

# Asked for like a value: the names of a message; its time stamp; what a template prints.
KEYS = "\0k"
STAMP_ASKED = "\0s"
TEMPLATE = "\0t"


class ParseOptions:
    """How the options of a source say that texts are parsed."""

    __slots__ = ()


class Batch:
    """What messages that came together share: which values came with them, and the way to the others."""

    __slots__ = ("names", "columns", "open", "number")

    def __init__(self, names):
        # At a destination, that of the message which is being sent.
        self.number = 0
        # Name -> place in each message's row.
        self.names = names
        # Name -> values of all messages, of what was asked for later.
        self.columns = {}
        self.open = True

    def column(self, name):
        found = self.columns.get(name)
        if found is None:
            if not self.open:
                raise RuntimeError(
                    "the message has gone on: read the values of a message while the program waits for you"
                )
            found = self.columns[name] = _wire.wire.ask("need", name)
        return found


_NOTHING = Batch({})
_NOTHING.open = False


_get = dict.get
_set = dict.__setitem__


class LogMessage(dict):
    """A message and its name-value pairs.

    `msg["NAME"]` is the value of a name or macro: bytes for text, else int, float, bool, None, list of bytes or
    datetime. `msg["NAME"] = value` sets one.
    """

    # As a dictionary it has what was set: so setting a value is no call of a method.
    __slots__ = ("_row", "_names", "_batch", "_at", "_bookmark")

    def __init__(self, message: Union[str, bytes, None] = None, bookmark: Any = None):
        self._row = ()
        self._names = _NOTHING.names
        self._batch = _NOTHING
        self._at = 0
        self._bookmark = bookmark
        if message is not None:
            _set(self, "MESSAGE", message)

    def __getitem__(self, name):
        value = last_set(self, name, _NOT_GIVEN) if len(self) else _NOT_GIVEN
        if value is _NOT_GIVEN:
            place = self._names.get(name)
            value = self._asked(name) if place is None else self._row[place]
            if value.__class__ is bytes:
                return value
            if value is None:
                raise KeyError("No such name-value pair {}".format(name))
        elif value.__class__ is str:
            return value.encode("utf-8", "surrogateescape")
        return _read(value)

    def _asked(self, name):
        """A value that did not come with the message: unset, or to be asked for."""
        if name.__class__ is not str:
            name = _name(name)
            place = self._names.get(name)
            if place is not None:
                return self._row[place]
        return self._made(name) if self._batch is _NOTHING else self._batch.column(name)[self._at]

    def _made(self, name):
        """Of a message that this process makes: what it is in the program, which parses it and knows the macros."""
        wire = _wire.wire
        return wire.ask("made", name, changes(self)) if wire.makes_messages else None

    def _set_beside(self, what, value):
        """Sets what is no name-value pair."""
        _set(self, what, value)

    @staticmethod
    def parse(raw: Union[str, bytes], parse_options: ParseOptions) -> "LogMessage":
        """A message of a text as a sender writes it, read as flags(), format(), time-zone() and their kin say at the source whose
        `self.parse_options` these are."""
        if not isinstance(parse_options, ParseOptions):
            raise TypeError("Parse options expected in the second parameter")
        msg = LogMessage()
        _set(msg, RAW, raw.encode("utf-8", "surrogateescape") if isinstance(raw, str) else bytes(raw))
        return msg

    def get(self, name: Union[str, bytes], default: Any = None) -> Any:
        """The value of a name; `default` when it is not set."""
        try:
            return self[name]
        except KeyError:
            return default

    def get_as_str(
        self,
        name: Union[str, bytes],
        default: Any = _NOT_GIVEN,
        encoding: str = "utf-8",
        errors: str = "strict",
        repr: str = "internal",
    ) -> str:
        """The value of a name as str, whatever its type is.

        A name that is not set is a KeyError unless there is a default. `errors` is what becomes of bytes that
        are none of the encoding, as in bytes.decode().
        """
        if repr != "internal" and repr != "external":
            raise ValueError("repr is 'internal' or 'external'")
        value = last_set(self, name, _NOT_GIVEN) if len(self) else _NOT_GIVEN
        if value is _NOT_GIVEN:
            place = self._names.get(name)
            value = self._asked(name) if place is None else self._row[place]
            if value.__class__ is bytes:
                return value.decode(encoding, errors)
            if value is None:
                if default is _NOT_GIVEN:
                    raise KeyError("No such name-value pair {}".format(name))
                return default
        return _text(value, encoding, errors)

    def keys(self) -> List[bytes]:
        """The names that are set."""
        names = [name.encode("utf-8") for name in self._value(KEYS) or ()]
        for name in dict.keys(self):
            if name.__class__ is not Beside:
                name = called(_name(name)).encode("utf-8", "surrogatepass")
                if name not in names:
                    names.append(name)
        return names

    def __contains__(self, name) -> bool:
        return self.get(name, _NOT_GIVEN) is not _NOT_GIVEN

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return "<LogMessage {!r}>".format(self.get("MESSAGE"))

    def set_pri(self, pri: int) -> None:
        """Sets facility and severity, 8 * facility + severity."""
        if pri.__class__ is not int or not 0 <= pri < 1024:
            raise ValueError("a priority is a number from 0 to 1023")
        self._set_beside(PRI, pri)

    def get_pri(self) -> int:
        """Facility and severity, 8 * facility + severity."""
        pri = _get(self, PRI)
        if pri is None:
            pri = self._value("PRI")
        return _PRI_DEFAULT if pri is None else int(pri)

    def _value(self, name):
        """A value that cannot be set under this name."""
        place = self._names.get(name)
        return self._asked(name) if place is None else self._row[place]

    def set_timestamp(self, timestamp: datetime) -> None:
        """Sets the time stamp. One without a zone is read as syslog-ng does: in UTC, shown in the local zone."""
        if not isinstance(timestamp, datetime):
            raise TypeError("datetime expected in the first parameter")
        since = timestamp.replace(tzinfo=timezone.utc) - _EPOCH
        offset = timestamp.utcoffset()
        if offset is None:
            offset = timestamp.astimezone().utcoffset()
        else:
            since -= offset
        seconds = since.days * 86400 + since.seconds
        self._set_beside(STAMP, (seconds, since.microseconds, int(offset.total_seconds())))

    def get_timestamp(self) -> datetime:
        """The time stamp as the message has it, in its own zone; the datetime says no zone."""
        stamp = _get(self, STAMP) or self._value(STAMP_ASKED)
        if stamp is None:
            return datetime.now()
        seconds, microseconds, offset = stamp
        return _EPOCH.replace(tzinfo=None) + timedelta(seconds=seconds + offset, microseconds=microseconds)

    def set_source_ipaddress(self, ip: Union[str, bytes]) -> bool:
        """Sets SOURCEIP, and HOST_FROM with it. False: it is no address."""
        text = ip.decode("ascii", "replace") if isinstance(ip, bytes) else ip
        for family in (socket.AF_INET, socket.AF_INET6):
            try:
                text = socket.inet_ntop(family, socket.inet_pton(family, text))
            except OSError:
                continue
            self._set_beside(PEER, text)
            return True
        return False

    def set_recvd_rawmsg_size(self, size: int) -> None:
        """Has no effect: the program counts the bytes that come from this process."""

    def set_bookmark(self, bookmark: Any) -> None:
        """What the ack tracker of a source gives back when the message is delivered."""
        self._bookmark = bookmark


class Received(LogMessage):
    """A message that came from the program."""

    __slots__ = ()

    def __init__(self, batch):
        self._batch = batch
        self._names = batch.names


class ReadOnly(Received):
    """A message at a destination."""

    __slots__ = ()

    def __setitem__(self, name, value):
        raise TypeError(
            "Log message is read only, cannot set name-value pair {}: "
            "a destination cannot change a message".format(name)
        )

    def _set_beside(self, what, value):
        raise TypeError("Log message is read only: a destination cannot change a message")


def changes(message):
    """What was set, in the form that goes to the program."""
    made = {}
    for name, value in dict.items(message):
        if name.__class__ is Beside:
            made[name.number] = value
        else:
            name = _name(name)
            # Of two spellings the last one counts, and of two names of a value.
            made.pop(name, None)
            made[name] = _written(value)
    return made


def _read(value):
    """A value as the class sees it: those that have another text than Python's come as (type, text, value)."""
    if value is ...:
        return None
    if value.__class__ is list:
        return [item.encode("utf-8", "surrogateescape") if item.__class__ is str else item for item in value]
    if value.__class__ is not tuple:
        # One of a class derived from str, that was set.
        return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
    kind, _, plain = value
    return datetime.fromtimestamp(plain / 1000) if kind == "t" else plain


def _text(value, encoding, errors):
    if value.__class__ is tuple:
        value = value[1]
    if value is None or value is ...:
        return ""
    if value.__class__ is bytes:
        return value.decode(encoding, errors)
    if value is True:
        return "true"
    if value is False:
        return "false"
    if value.__class__ is float:
        return "{:f}".format(value)
    if value.__class__ is list:
        return ",".join(_text(item, encoding, errors) for item in value)
    if value.__class__ is datetime:
        return "{:.3f}".format(value.timestamp())
    return str(value)


def plain_text(value):
    """What is a str or bytes as that itself: a class derived from it cannot go to the program. None: it is neither."""
    if isinstance(value, str):
        return str.__str__(value)
    return bytes(value) if isinstance(value, bytes) else None


def _written(value):
    """A value as the program takes it."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, int):
        if not -_INT_MAX <= value < _INT_MAX:
            raise OverflowError("{} does not fit into 64 bits".format(value))
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, list):
        return [_written_item(item) for item in value]
    if isinstance(value, datetime):
        stamp = value.timestamp()
        return ("t", "{:.3f}".format(stamp).encode(), int(stamp * 1000))
    raise ValueError("Error extracting value from Python object: {} cannot be a value".format(type(value).__name__))


def _written_item(item):
    if isinstance(item, str):
        return str.__str__(item)
    if isinstance(item, bytes):
        return bytes(item)
    raise ValueError("Error extracting value from str/bytes")
