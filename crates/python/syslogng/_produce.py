"""How sources run: the class in a thread, its messages to the program as fast as that takes them, and back what
became of them."""

import collections
import queue
import threading
import time
from functools import partial

from syslogng import _wire
from syslogng._deliver import RESULTS, Served
from syslogng.message import LogMessage, ParseOptions, changes
from syslogng.template import LogTemplateOptions

# Messages that wait in the process, and in one frame.
WAITING_MAX = 2000
FRAME_MAX = 500
# How long run() has to return when it is asked to.
EXIT_SECONDS = 4


# What fetch() returns, by number.
FETCHED = ("ERROR", "NOT_CONNECTED", "SUCCESS", "TRY_AGAIN", "NO_DATA")


class Frames:
    """What was sent and is not dealt with: the bookmarks of each frame, in order."""

    def __init__(self):
        self.lock = threading.Lock()
        self.sent = {}
        self.order = collections.deque()
        self.done = set()

    def add(self, number, bookmarks):
        with self.lock:
            self.sent[number] = bookmarks
            self.order.append(number)

    def settle(self, number):
        """A frame is dealt with: its bookmarks."""
        with self.lock:
            self.done.add(number)
            return self.sent.get(number, [])

    def pop_done(self):
        """The bookmarks of those at the front that are dealt with, which are forgotten."""
        bookmarks = []
        with self.lock:
            while self.order and self.order[0] in self.done:
                number = self.order.popleft()
                self.done.discard(number)
                bookmarks += self.sent.pop(number)
        return bookmarks


class Wire:
    """The way to the program once the source runs: one thread reads, all may write and ask."""

    makes_messages = True

    def __init__(self, wire):
        self.wire = wire
        self.writing = threading.Lock()
        self.asking = threading.Lock()
        self.replies = queue.Queue()
        self.gone = False

    def write(self, frame):
        with self.writing:
            self.wire.write(frame)

    def ask(self, *question):
        with self.asking:
            if self.gone:
                raise _wire.Gone
            self.write(question)
            reply = self.replies.get()
        if reply is None:
            raise _wire.Gone
        return reply[0]


class Producer(Served):
    """The object of a source, while it runs."""

    def __init__(self, name, value):
        super().__init__(name, value)
        self.outbox = collections.deque()
        self.changed = threading.Condition()
        self.suspended = False
        self.leaving = False
        self.events = queue.Queue()
        self.frames = Frames()
        self.numbers = 0
        self.pauses = (1.0, 1.0)

    def put(self, message, bookmark):
        """Takes a message on its way; waits while too many wait."""
        may_suspend = hasattr(self.value, "suspend") and hasattr(self.value, "wakeup")
        suspend = False
        with self.changed:
            while len(self.outbox) >= WAITING_MAX and not self.leaving and not may_suspend:
                self.changed.wait()
            self.outbox.append((message, bookmark))
            if len(self.outbox) >= WAITING_MAX and not self.suspended and may_suspend:
                self.suspended = suspend = True
            self.changed.notify_all()
        if suspend:
            self.value.suspend()

    def _send(self, wire):
        """What waits goes to the program, which takes it as it can."""
        while True:
            wakeup = False
            with self.changed:
                while not self.outbox:
                    self.changed.wait()
                count = min(len(self.outbox), FRAME_MAX)
                taken = [self.outbox.popleft() for _ in range(count)]
                if self.suspended and len(self.outbox) < WAITING_MAX // 2:
                    self.suspended, wakeup = False, True
                self.changed.notify_all()
                self.numbers += 1
                number = self.numbers
            if getattr(self.value, "ack_tracker", None) is not None:
                self.frames.add(number, [bookmark for _, bookmark in taken if bookmark is not None])
            try:
                wire.write(("post", number, [message for message, _ in taken]))
            except OSError:
                return
            if wakeup:
                self.guarded("wakeup", self.value.wakeup)

    def guarded(self, what, call, *arguments):
        try:
            return call(*arguments)
        except _wire.Gone:
            return None
        except BaseException:
            self.failed("{}() failed".format(what))
            return None

    def _read(self, wire):
        """The only thread that reads."""
        try:
            while True:
                frame = wire.wire.read()
                if frame[0] == "reply":
                    wire.replies.put((frame[1],))
                else:
                    self.events.put(frame)
        except (_wire.Gone, OSError):
            wire.gone = True
            wire.replies.put(None)
            self.events.put(("exit",))

    def _run(self):
        _wire.current = self.name
        try:
            self.body()
            if not self.leaving:
                _wire.say("n", "run() has returned: it is not called again before a start or a reload that changes it")
        except BaseException:
            if not self.leaving:
                self.failed("run() failed, and is not called again before a start or a reload that changes it")
        self.events.put(("ended",))

    def body(self):
        self.value.run()

    def acked(self, number):
        tracker = getattr(self.value, "ack_tracker", None)
        if tracker is not None:
            bookmarks = self.frames.settle(number)
            # One that raises for a bookmark is called for the next.
            tracker._acked(bookmarks, self.frames.pop_done(), partial(self.guarded, "the ack callback"))

    def serve(self, wire):
        """Runs until the program says that it has to end, or run() has ended."""
        _wire.wire = wire = Wire(wire)
        for target in (self._send, self._read):
            threading.Thread(target=target, args=(wire,), daemon=True).start()
        running = threading.Thread(target=self._run, name=self.name, daemon=True)
        running.start()
        wait = None
        while True:
            try:
                event = self.events.get(timeout=wait)
            except queue.Empty:
                event = ("late",)
            if event[0] == "done":
                self.acked(event[1])
            elif event[0] == "ended":
                running = None
                try:
                    self._drain()
                    wire.write(("ended",))
                except OSError:
                    break
            elif event[0] == "exit":
                break
            wait = self._late()
        self._leave(running)

    def _drain(self):
        """What was posted is sent before the program hears that it was all."""
        with self.changed:
            while self.outbox:
                self.changed.wait(1)

    def _late(self, at_end=False):
        late = getattr(getattr(self.value, "ack_tracker", None), "_late", None)
        return None if late is None else self.guarded("the ack callback", late, time.monotonic(), at_end)

    def _leave(self, running):
        self._late(True)
        with self.changed:
            self.leaving = True
            self.changed.notify_all()
        if running is not None:
            stop = getattr(self.value, "request_exit", None)
            if stop is not None:
                self.guarded("request_exit", stop)
            running.join(EXIT_SECONDS)


class Fetcher(Producer):
    """The object of python-fetcher(): run() is here."""

    def body(self):
        value = self.value
        reopen, no_data = self.pauses
        opened = False
        while not self.leaving:
            if not opened:
                start = getattr(value, "open", None)
                opened = start is None or bool(self.guarded("open", start))
                if not opened:
                    self.pause(reopen)
                    continue
            result = self.fetched()
            if result == value.FETCH_NO_DATA:
                self.pause(no_data)
            elif result != value.FETCH_TRY_AGAIN and result != value.FETCH_SUCCESS:
                opened = False
                self.close()
                self.pause(reopen)
        if opened:
            self.close()

    def fetched(self):
        """What fetch() has returned; a message is posted by then."""
        value = self.value
        try:
            result, message = fetched(value.fetch())
            if result == value.FETCH_SUCCESS:
                post(value, message)
            return result
        except BaseException:
            self.failed("fetch() failed")
            return value.FETCH_ERROR

    def close(self):
        end = getattr(self.value, "close", None)
        if end is not None:
            self.guarded("close", end)

    def pause(self, seconds):
        until = time.monotonic() + seconds
        with self.changed:
            while not self.leaving:
                left = until - time.monotonic()
                if left <= 0:
                    break
                self.changed.wait(left)


def prepare(found, kind, place, flags):
    """Gives a class what its base has, for those without one, and what is known of its place in the configuration."""
    if kind == "destination":
        found.template_options, found.seqnum, found.persist_name = LogTemplateOptions(), 0, place
        found.template_options._of_driver = True
        for result, meaning in RESULTS.items():
            setattr(found, result, meaning)
    if kind == "source" or kind == "fetcher":
        found.persist_name, found.flags, found.parse_options = place, flags, ParseOptions()
        if kind == "fetcher":
            for at, result in enumerate(FETCHED):
                setattr(found, "FETCH_" + result, at)
                setattr(found, result, at)
        elif not hasattr(found, "post_message"):
            found.post_message = post


# The one source of this process.
current = None


def fetched(result):
    """What fetch() has returned: one of LogFetcher's results, and a message with FETCH_SUCCESS."""
    message = None
    if isinstance(result, tuple):
        result, message = result
    if isinstance(result, bool) or result not in range(5):
        raise ValueError("fetch() returned {!r}, which is none of LogFetcher's results".format(result))
    if FETCHED[result] == "SUCCESS" and not isinstance(message, LogMessage):
        raise TypeError("fetch() returned FETCH_SUCCESS without a LogMessage")
    return result, message


def post(source, msg):
    if not isinstance(msg, LogMessage):
        raise TypeError("post_message() takes a LogMessage")
    if current is None or current.value is not source:
        raise RuntimeError("messages can be posted while run() runs")
    values = changes(msg)
    transport = getattr(source, "_transport", None)
    if transport is not None and "TRANSPORT" not in values:
        values["TRANSPORT"] = transport
    current.put(values, msg._bookmark)
