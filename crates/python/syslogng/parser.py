"""LogParser: the base of classes for `parser { python(class("module.Class")) };`"""

from syslogng.message import LogMessage


class LogParser:
    """A parser of one's own.

    One object is made in each process of the pool, so two messages may be parsed at the same time by two
    objects, and what an object remembers the other does not know.
    """

    def init(self, options: dict) -> bool:
        """Called once before the first message, with what options() says. False: the program does not start."""
        return True

    def deinit(self) -> None:
        """Called at the end, and when a reload takes the parser away."""

    def parse(self, msg: LogMessage) -> bool:
        """Reads and sets values. False: the message is not for this parser."""
        raise NotImplementedError
