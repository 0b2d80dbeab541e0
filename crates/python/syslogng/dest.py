"""LogDestination: the base of classes for `destination { python(class("module.Class")); };`"""

from syslogng.message import LogMessage


class LogDestination:
    """A destination of one's own.

    Each worker of the destination has a process with one object. Batches are sent one after the other: open()
    when it is not open, send() for each message, flush() at the end.
    """

    # What send() and flush() return. True is SUCCESS, False is ERROR.
    DROP, ERROR, SUCCESS, QUEUED, NOT_CONNECTED, RETRY, MAX = 0, 1, 3, 4, 5, 6, 7

    # For LogTemplate.format(): templates are printed as the options of the destination say.
    template_options = None
    # The number of the message that is being sent.
    seqnum = 0
    # persist-name(), or what stands for it.
    persist_name = ""

    def init(self, options: dict) -> bool:
        """Called once, with what options() says. False: the program does not start."""
        return True

    def deinit(self) -> None:
        """Called at the end, and when a reload takes the destination away."""

    def open(self) -> bool:
        """Opens a connection. False: it is tried again after time-reopen()."""
        return True

    def close(self) -> None:
        """Closes the connection: after an error, before it is opened anew, and before deinit()."""

    def is_opened(self) -> bool:
        """Asked before each message; open() is called when it is false."""
        return True

    def send(self, msg: LogMessage):
        """Sends a message, or a dict of value-pairs(). SUCCESS: it is delivered, and so are those before it that
        were QUEUED. QUEUED: flush() will tell. DROP: it will never be taken."""
        raise NotImplementedError

    def stats_written_bytes_add(self, count: int) -> None:
        """Has no effect: the program counts the bytes of what it has delivered."""

    def flush(self):
        """Called at the end of each batch: what became of the messages that were QUEUED."""
        return self.SUCCESS
