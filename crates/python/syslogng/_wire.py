"""The way to the program and back: frames with a length in front, their contents as `marshal` has them."""

import marshal
import os
import threading
import time

# What the classes write to their output, and what Logger says, goes to the program as lines with a mark, so
# that it knows the level and who said it.
MARK = b"\x02"
BEHIND_NAME = b"\x03"
LINE_END = b"\x1d"
# More would be cut by the program.
TEXT_BYTES_MAX = 3500


class Gone(Exception):
    """The program has closed the connection."""


class Wire:
    """Both ends take turns: whoever has asked waits for the answer."""

    # Whether the program can be asked what messages of this process will be there.
    makes_messages = False

    def __init__(self, stream, file):
        self.stream = stream
        self.file = file
        self.thread = threading.get_ident()

    def read(self):
        head = self.file.read(4)
        if len(head) < 4:
            raise Gone
        size = int.from_bytes(head, "little")
        body = self.file.read(size)
        if len(body) < size:
            raise Gone
        return marshal.loads(body)

    def write(self, answer):
        body = marshal.dumps(answer, 2)
        self.stream.sendall(len(body).to_bytes(4, "little") + body)

    def ask(self, *question):
        """Asks the program something while it waits for an answer."""
        if threading.get_ident() != self.thread:
            raise RuntimeError("only the thread that was called by the program may ask for this")
        self.write(question)
        return self.read()


# The one connection of this process.
wire = None

# Who is at work: the class that the program has called.
current = "python"


def say(level, text, who=None):
    """Gives a text to the log of the program. `level` is one letter: c e w n i d t."""
    body = text.encode("utf-8", "replace")
    if len(body) > TEXT_BYTES_MAX:
        # The end of a traceback says what it is.
        body = body[: TEXT_BYTES_MAX // 4] + b" ... " + body[-TEXT_BYTES_MAX * 3 // 4 :]
    body = body.rstrip(b"\n").replace(b"\n", LINE_END)
    name = (who or current).encode("utf-8", "replace")[:200]
    line = MARK + level.encode() + name + BEHIND_NAME + body + b"\n"
    try:
        os.write(1, line)
    except OSError:
        pass


class Seldom:
    """Lets through a few in a while, and says how many it has held back."""

    COUNT = 5
    SECONDS = 10

    def __init__(self):
        self.until = 0.0
        self.passed = 0
        self.held = 0

    def admits(self):
        now = time.monotonic()
        if now >= self.until:
            self.until, self.passed = now + self.SECONDS, 0
        self.passed += 1
        if self.passed <= self.COUNT:
            return True
        self.held += 1
        return False

    def taken(self):
        held, self.held = self.held, 0
        return held
