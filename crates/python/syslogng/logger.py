"""Logger: what a class says goes to the log of the program, and so to internal()."""

import logging

from syslogng import _wire


class Logger:
    """Texts for the log of the program, by level."""

    def error(self, text) -> None:
        _wire.say("e", str(text))

    def warning(self, text) -> None:
        _wire.say("w", str(text))

    warn = warning

    def info(self, text) -> None:
        _wire.say("i", str(text))

    def debug(self, text) -> None:
        _wire.say("d", str(text))

    def trace(self, text) -> None:
        _wire.say("t", str(text))


class _Handler(logging.Handler):
    """What Python's own logging says goes the same way."""

    def emit(self, record):
        level = record.levelno
        letter = "e" if level >= 40 else "w" if level >= 30 else "i" if level >= 20 else "d"
        _wire.say(letter, self.format(record))


class _Bytes:
    """What stands behind a stream of text, for those who write bytes."""

    closed = False

    def __init__(self, stream):
        self.stream = stream
        self.fileno, self.flush = stream.fileno, stream.flush
        self.isatty, self.readable, self.writable = stream.isatty, stream.readable, stream.writable

    def write(self, data):
        data = bytes(data)
        self.stream.write(data.decode("utf-8", "replace"))
        return len(data)


class Stream:
    """Standard output or error of the classes: lines for the log of the program."""

    encoding = "utf-8"
    errors = "replace"
    closed = False

    def __init__(self, level, fd):
        self.level = level
        self.fd = fd
        self.rest = ""
        self.buffer = _Bytes(self)

    def write(self, text):
        lines = (self.rest + str(text)).split("\n")
        self.rest = lines.pop()
        for line in lines:
            _wire.say(self.level, line)
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        if self.rest:
            rest, self.rest = self.rest, ""
            _wire.say(self.level, rest)

    def fileno(self):
        return self.fd

    def isatty(self):
        return False

    def readable(self):
        return False

    def writable(self):
        return True


def install():
    import sys

    sys.stdout = Stream("i", 1)
    sys.stderr = Stream("w", 2)
    root = logging.getLogger()
    root.addHandler(_Handler())
    root.setLevel(logging.DEBUG)
