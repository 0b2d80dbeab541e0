"""What the process does: loads classes, calls them for the messages that come, answers."""

import faulthandler
import importlib
import linecache
import os
import signal
import sys
import threading
import time
import types

import syslogng
from syslogng import _produce, _wire, confgen, logger
from syslogng._deliver import Sender, Served, raised, words
from syslogng.message import PLAIN, Batch, Received, changes, plain_text

MAIN = "_syslogng_main"
held, size, items, copy, clear = sys.getrefcount, dict.__len__, dict.items, dict.copy, dict.clear
# Requests that come for each batch.
PARSE, CALL, SEND = 0, 1, 2


# What a class has to have.
METHODS = {
    "parser": "parse",
    "destination": "send",
    "source": "run",
    "fetcher": "fetch",
    "headers": "get_headers",
}

served = {}


def resolve(name):
    """The class or function of a name, `module.Name`, or `Name` of the python blocks."""
    module, _, last = name.rpartition(".")
    found = importlib.import_module(module) if module else sys.modules[MAIN]
    try:
        return getattr(found, last)
    except AttributeError:
        where = "module `{}`".format(module) if module else "python blocks"
        raise ImportError("there is no `{}` in the {}".format(last, where)) from None


def setup(blocks, debuglevel):
    """The python blocks, in their order."""
    syslogng.debuglevel = debuglevel
    main = sys.modules.get(MAIN)
    if main is None:
        main = sys.modules[MAIN] = types.ModuleType(MAIN)
        main.__dict__["syslogng"] = syslogng
    for file, line, text in blocks:
        # So that tracebacks show the lines of the configuration.
        linecache.cache[file] = linecache.cache.get(file) or (len(text), None, lines_of(file), file)
        exec(compile("\n" * (line - 1) + text, file, "exec"), main.__dict__)


def lines_of(file):
    try:
        with open(file, encoding="utf-8", errors="replace") as text:
            return text.readlines()
    except OSError:
        return []


def load(kind, name, loaders):
    """Imports what the configuration names; nothing is made of it yet."""
    for module in loaders:
        importlib.import_module(module)
    found = resolve(name)
    if kind == "function":
        if not callable(found):
            raise TypeError("`{}` is no function".format(name))
    else:
        method = METHODS[kind]
        if not callable(getattr(found, method, None)):
            raise TypeError("the class `{}` has no method {}()".format(name, method))
    return files()


def init(number, kind, name, options, place, flags):
    """Makes the object and calls its init(). `place` is what the configuration calls it, `flags` are those of a source."""
    if number in served:
        return None
    found = resolve(name)
    if kind == "function":
        served[number] = Served(name, found)
        return None
    options = {key: syslogng.LogTemplate(*value) if value.__class__ is tuple else value for key, value in options}
    # Before the constructor may look at it.
    _produce.prepare(found, kind, place, flags)
    if kind == "headers":
        # As in syslog-ng, there is no init().
        served[number] = Served(name, found(options))
        return None
    made = found()
    start = getattr(made, "init", None)
    if start is not None and not start(options):
        raise RuntimeError("init() of `{}` did not return True".format(name))
    kinds = {"destination": Sender, "source": _produce.Producer, "fetcher": _produce.Fetcher}
    served[number] = kinds.get(kind, Served)(name, made)
    return None


def drop(number):
    one = served.pop(number, None)
    if isinstance(one, Sender):
        one.close()
    end = getattr(one.value, "deinit", None) if one else None
    if end is not None:
        _wire.current = one.name
        try:
            end()
        except BaseException:
            one.failed("deinit() failed")


def files():
    """The files that were imported from outside the standard library, for a reload to look at."""
    library = os.path.dirname(os.__file__)
    found = []
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and os.path.isabs(file) and (
            not file.startswith(library) or "-packages" in file
        ):
            found.append(file)
    return found


def parse(number, names, rows):
    one = served[number]
    if names is not None:
        one.names = {name: place for place, name in enumerate(names)}
    _wire.current = one.name
    batch = Batch(one.names)
    call = one.value.parse
    answers = []
    append = answers.append
    message = Received(batch)
    at = 0
    for row in rows:
        # An object that nobody has kept is the next message.
        if held(message) != 2:
            message = Received(batch)
        else:
            clear(message)
        message._row = row
        message._at = at
        try:
            if not call(message):
                append(False)
            elif not size(message):
                append(True)
            else:
                for name, value in items(message):
                    if name.__class__ is not str or value.__class__ not in PLAIN:
                        append(changes(message))
                        break
                else:
                    append(copy(message))
        except (_wire.Gone, MemoryError):
            raise
        except BaseException:
            one.failed("parse() failed")
            # Somebody may look at a message that comes alone.
            append(words() if len(rows) == 1 else None)
        at += 1
    batch.open = False
    return answers


def call(number, names, rows, arguments):
    one = served[number]
    if names is not None:
        one.names = {name: place for place, name in enumerate(names)}
    _wire.current = one.name
    batch = Batch(one.names)
    function = one.value
    results = []
    at = 0
    for row, given in zip(rows, arguments):
        message = Received(batch)
        message._row = row
        message._at = at
        try:
            result = function(message, *given)
            if result.__class__ is not str and result.__class__ is not bytes:
                plain = plain_text(result)
                if plain is None:
                    raise TypeError("{} returned {}, not str or bytes".format(one.name, type(result).__name__))
                result = plain
        except (_wire.Gone, MemoryError):
            raise
        except BaseException:
            one.failed("the function failed")
            result = None
        results.append(result)
        at += 1
    batch.open = False
    return results


def send(number, names, rows, arguments):
    one = served[number]
    if names is not None:
        one.names = {name: place for place, name in enumerate(names)}
    _wire.current = one.name
    return one.send(rows, arguments)


def close(number):
    """New connections are asked for."""
    one = served.get(number)
    if one is not None:
        _wire.current = one.name
        one.close()


def headers(number, body, lines):
    """What a class adds to the headers of a request."""
    one = served[number]
    _wire.current = one.name
    made = one.value.get_headers(body.decode("utf-8", "replace"), lines)
    if not isinstance(made, list) or not all(isinstance(line, (str, bytes)) for line in made):
        raise TypeError("get_headers() returned {!r}, not a list of str".format(made))
    return [plain_text(line) for line in made]


def answered(number, status):
    one = served[number]
    _wire.current = one.name
    hear = getattr(one.value, "on_http_response_received", None)
    if hear is not None:
        hear(status)


def run(number, reopen, no_data):
    """From now on this is the process of a source."""
    _produce.current = served[number]
    _produce.current.pauses = (reopen, no_data)


REQUESTS = {
    "run": run,
    "setup": setup,
    "load": load,
    "init": init,
    "drop": drop,
    "close": close,
    "headers": headers,
    "answered": answered,
    "generators": lambda: list(confgen._registered),
    "generate": confgen._generate,
}


def other(request):
    """Requests beside messages: ("ok", what) or ("error", traceback)."""
    _wire.current = request[2] if request[0] == "load" else request[3] if request[0] == "init" else "python"
    try:
        return ("ok", REQUESTS[request[0]](*request[1:]))
    except _wire.Gone:
        raise
    except BaseException:
        why = raised()
        # What was printed without a line end.
        for stream in (sys.stdout, sys.stderr):
            getattr(stream, "flush", bool)()
        return ("error", why)


def watch_parent(parent):
    """A class that never ends would otherwise outlive a program that was killed."""
    while os.getppid() == parent:
        time.sleep(5)
    os._exit(1)


def serve(stream, file, debuglevel):
    wire = _wire.wire = _wire.Wire(stream, file)
    # Told to end by whoever ends the program, not by its signals: it says so by closing the connection.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, lambda *_: None)
    # Asked by the program where a class is that does not end.
    faulthandler.enable(file=2)
    faulthandler.register(signal.SIGUSR1, file=2, all_threads=False)
    logger.install()
    threading.Thread(target=watch_parent, args=(os.getppid(),), daemon=True).start()
    try:
        while True:
            request = wire.read()
            kind = request[0]
            if kind == PARSE:
                answer = parse(*request[1:])
            elif kind == CALL:
                answer = call(*request[1:])
            elif kind == SEND:
                answer = send(*request[1:])
            else:
                answer = other(request)
            wire.write(answer)
            if _produce.current is not None:
                _wire.current = _produce.current.name
                _produce.current.serve(wire)
                break
    except (_wire.Gone, BrokenPipeError, ConnectionResetError):
        pass
    for number in list(served):
        drop(number)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
