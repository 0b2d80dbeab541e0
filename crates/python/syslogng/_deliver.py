"""How the classes of destinations are called: batch by batch, with a verdict for each message."""

import sys
import traceback

from syslogng import _wire
from syslogng.dest import LogDestination
from syslogng.message import Batch, ReadOnly, _read

# What send() and flush() return, with syslog-ng's numbers.
RESULTS = {"DROP": 0, "ERROR": 1, "SUCCESS": 3, "QUEUED": 4, "NOT_CONNECTED": 5, "RETRY": 6, "MAX": 7}
DROP, ERROR, SUCCESS, QUEUED, NOT_CONNECTED, RETRY = 0, 1, 3, 4, 5, 6

# Of each message, for the program.
AGAIN, DELIVERED, REFUSED, KEPT = 0, 1, 2, 3
# Why a batch has ended before its end.
FINE, FAILED, FLUSH_FAILED, AWAY = 0, 1, 2, 3


class Served:
    """A class, or a function, that the configuration names, in this process."""

    def __init__(self, name, value):
        self.name = name
        # The object or function.
        self.value = value
        self.names = {}
        self.seldom = _wire.Seldom()

    def failed(self, what):
        """Says what was raised, with the traceback."""
        if self.seldom.admits():
            held = self.seldom.taken()
            more = " ({} more like it were not said)".format(held) if held else ""
            _wire.say("e", "{}{}\n{}".format(what, more, raised()), self.name)


def raised():
    """The traceback of what is being handled, without the frames of this package."""
    kind, value, trace = sys.exc_info()
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith("<penstock>"):
        trace = trace.tb_next
    return "".join(traceback.format_exception(kind, value, trace)).rstrip()


class Unexpected(Exception):
    """A result that is none."""


def result_of(result, method):
    """The number of a result; truth values count as success and error."""
    if result is True:
        return SUCCESS
    if result is False:
        return ERROR
    if isinstance(result, int):
        result = int.__int__(result)
        if 0 <= result < 7 and result != 2:
            return result
    raise Unexpected("{}() returned {!r}, not a truth value or one of LogDestination's results".format(method, result))


def words():
    """The last line of the traceback of what is being handled."""
    kind, value = sys.exc_info()[:2]
    return traceback.format_exception_only(kind, value)[-1].strip()


class Sender(Served):
    """The object of a destination."""

    def __init__(self, name, value):
        super().__init__(name, value)
        self.opened = False
        # What has become of messages that flush() has kept in earlier batches.
        self.before = AGAIN
        asked = getattr(value, "is_opened", None)
        # That of the base is always true.
        self.is_opened = None if getattr(asked, "__func__", None) is LogDestination.is_opened else asked

    def _open(self):
        """Whether it is open, or was opened."""
        try:
            if self.opened and (self.is_opened is None or self.is_opened()):
                return None
            start = getattr(self.value, "open", None)
            good = start is None or start()
            # As in syslog-ng, an open() that returns nothing has done well.
            if good is None or good:
                self.opened = True
                if self.is_opened is None or self.is_opened():
                    return None
                return "is_opened() is false after open()"
            return "open() returned {!r}".format(good)
        except (_wire.Gone, MemoryError):
            raise
        except BaseException:
            self.failed("open() failed")
            return words()

    def close(self):
        end = getattr(self.value, "close", None)
        if not self.opened or end is None:
            return
        self.opened = False
        try:
            if self.is_opened is None or self.is_opened():
                end()
        except (_wire.Gone, MemoryError):
            raise
        except BaseException:
            self.failed("close() failed")

    def send(self, rows, arguments):
        """Sends a batch: (verdicts, how it ended, at which message, why, the verdict on what was kept before)."""
        verdicts = bytearray(len(rows))
        self.before = AGAIN
        batch = Batch(self.names)
        ended = self._send_all(batch, rows, arguments, verdicts)
        batch.open = False
        return (bytes(verdicts), *ended, self.before)

    def _send_all(self, batch, rows, arguments, verdicts):
        value = self.value
        call = value.send
        queued = []
        at = 0
        why = self._open()
        if why is not None:
            return (AWAY, 0, why)
        for row, (number, pairs) in zip(rows, arguments):
            if at and self.is_opened is not None:
                why = self._open()
                if why is not None:
                    return (AWAY, at, why)
            if pairs is None:
                message = ReadOnly(batch)
                message._row = row
                message._at = at
            else:
                message = {name: _plain(one) for name, one in pairs.items()}
            try:
                value.seqnum = batch.number = number
                result = call(message)
                if result is True or result.__class__ is int and result == SUCCESS:
                    result = SUCCESS
                else:
                    result = result_of(result, "send")
                why = "send() returned {}".format(result) if result in (ERROR, RETRY, NOT_CONNECTED) else ""
            except (_wire.Gone, MemoryError):
                raise
            except BaseException:
                self.failed("send() failed")
                result, why = ERROR, words()
            if result == SUCCESS:
                verdicts[at] = DELIVERED
                for place in queued:
                    verdicts[place] = DELIVERED
                queued.clear()
                self.before = DELIVERED
            elif result == QUEUED:
                queued.append(at)
            elif result == DROP:
                verdicts[at] = REFUSED
            else:
                if result != RETRY:
                    self.close()
                return (AWAY if result == NOT_CONNECTED else FAILED, at, why)
            at += 1
        return self._flush(queued, verdicts)

    def _flush(self, queued, verdicts):
        flush = getattr(self.value, "flush", None)
        first = queued[0] if queued else len(verdicts)
        try:
            result = SUCCESS if flush is None else result_of(flush(), "flush")
            why = "flush() returned {}".format(result)
        except (_wire.Gone, MemoryError):
            raise
        except BaseException:
            self.failed("flush() failed")
            result, why = ERROR, words()
        if result == SUCCESS or result == DROP:
            verdict = DELIVERED if result == SUCCESS else REFUSED
            for place in queued:
                verdicts[place] = verdict
            if self.before == AGAIN:
                self.before = verdict
            return (FINE, 0, "")
        if result == QUEUED:
            # The class keeps them: flush() is called again, with more messages or without.
            for place in queued:
                verdicts[place] = KEPT
            if self.before == AGAIN:
                self.before = KEPT
            return (FINE, 0, "")
        if result != RETRY:
            self.close()
        return (AWAY if result == NOT_CONNECTED else FLUSH_FAILED, first, why)


def _plain(value):
    """A value of value-pairs(): texts are str."""
    value = _read(value)
    if value.__class__ is bytes:
        return value.decode("utf-8", "replace")
    return value
