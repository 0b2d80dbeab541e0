"""LogSource and LogFetcher: the bases of classes for sources, `python()` and `python-fetcher()`."""

import time
from typing import Any

from syslogng import _produce
from syslogng.message import LogMessage, ParseOptions


class _Source:
    # persist-name(), or what stands for it.
    persist_name = ""
    # InstantAckTracker, ConsecutiveAckTracker or BatchedAckTracker, set in init(); None: nobody wants to know.
    ack_tracker = None
    # What flags() says, by name, for those who parse themselves: {"parse": True, "syslog-protocol": False ...}.
    flags = {}
    # For LogMessage.parse().
    parse_options = ParseOptions()

    def init(self, options: dict) -> bool:
        """Called once, with what options() says. False: the program does not start."""
        return True

    def deinit(self) -> None:
        """Called at the end, and when a reload takes the source away."""

    def set_transport_name(self, name: str) -> None:
        """What the macro TRANSPORT prints for the messages of this source."""
        self._transport = str(name)


class LogSource(_Source):
    """A source that has a loop of its own. run() is called in a thread."""

    # Messages go on at once; there is nothing that has to be closed.
    auto_close_batches = True

    def run(self) -> None:
        """Posts messages until request_exit() is called."""
        raise NotImplementedError

    def request_exit(self) -> None:
        """Called from another thread: run() has to return."""

    def post_message(self, msg: LogMessage) -> None:
        """Gives a message to the program. While that takes no more, it waits, or calls suspend() where the class
        has that, and wakeup() later."""
        _produce.post(self, msg)

    def close_batch(self) -> None:
        """Messages go on as soon as they are posted."""


class LogFetcher(_Source):
    """A source that is asked for one message after the other."""

    # What fetch() returns: one of them, or FETCH_SUCCESS and a message.
    FETCH_ERROR, FETCH_NOT_CONNECTED, FETCH_SUCCESS, FETCH_TRY_AGAIN, FETCH_NO_DATA = range(5)
    ERROR, NOT_CONNECTED, SUCCESS, TRY_AGAIN, NO_DATA = range(5)

    def open(self) -> bool:
        """Opens a connection. False: it is tried again after time-reopen()."""
        return True

    def close(self) -> None:
        """Closes the connection."""

    def fetch(self) -> Any:
        """(LogFetcher.FETCH_SUCCESS, message), or a result without a message."""
        raise NotImplementedError

    def request_exit(self) -> None:
        """Called from another thread: fetch() has to return."""


class InstantAckTracker:
    """Calls `ack_callback(bookmark)` for each message that is dealt with, in any order."""

    def __init__(self, ack_callback):
        self._callback = ack_callback

    def _acked(self, bookmarks, before, guarded):
        for bookmark in bookmarks:
            guarded(self._callback, bookmark)


class ConsecutiveAckTracker:
    """Calls `ack_callback(bookmark)` with the bookmark of the last message before which all are dealt with."""

    def __init__(self, ack_callback):
        self._callback = ack_callback

    def _acked(self, bookmarks, before, guarded):
        if before:
            guarded(self._callback, before[-1])


class BatchedAckTracker:
    """Calls `batched_ack_callback(bookmarks)` with a list, when there are `batch_size` of messages that are dealt
    with, or `timeout` milliseconds after the first."""

    def __init__(self, timeout: int, batch_size: int, batched_ack_callback):
        self._timeout = timeout / 1000
        self._size = max(1, batch_size)
        self._callback = batched_ack_callback
        self._waiting = []
        self._until = None

    def _acked(self, bookmarks, before, guarded):
        if bookmarks and self._until is None:
            self._until = time.monotonic() + self._timeout
        self._waiting.extend(bookmarks)
        while len(self._waiting) >= self._size:
            batch, self._waiting = self._waiting[: self._size], self._waiting[self._size :]
            guarded(self._callback, batch)
        if not self._waiting:
            self._until = None

    def _late(self, now, at_end=False):
        """Seconds until it has to be called, None when not."""
        if self._until is None:
            return None
        if now < self._until and not at_end:
            return self._until - now
        batch, self._waiting, self._until = self._waiting, [], None
        self._callback(batch)
        return None
