"""Tries a class without the collector: `python3 -m syslogng.check module.Class`.

The class is imported, made, and its init() called; a parser gets a message, a destination one too with flush(), a fetcher is
asked once, a source runs for a second. What is set, posted and returned is printed.
"""

import argparse
import importlib
import os
import re
import sys
import threading
import traceback

import syslogng
from syslogng import _produce, _wire
from syslogng._deliver import RESULTS, Unexpected, result_of
from syslogng._names import RAW
from syslogng.message import KEYS, Batch, ReadOnly, Received, changes

SOURCE_SECONDS = 1.0
MESSAGES_SHOWN = 10


class _State:
    """In the place of the program: what a Persist keeps lives until the end of the check."""

    def __init__(self):
        self.kept = {}

    def ask(self, kind, what, name=None, *more):
        if kind == "template":
            return None
        if kind != "persist":
            raise RuntimeError("there is no program to ask")
        entries = self.kept.setdefault(name, {})
        if what == "get":
            return [entries[more[0]]] if more[0] in entries else []
        if what == "keys":
            return list(entries)
        if what == "set":
            entries[more[0]] = more[1]
        else:
            entries.pop(more[0], None)
        return True


def _format(self, msg, options=None, tz=0, seqnum=0):
    """Names and braces alone: there is no program that knows the functions of templates."""
    if "$(" in self.template:
        raise syslogng.LogTemplateException("`{}`: functions need the program".format(self.template))
    name = re.compile(r"\$(\$)|\$\{([^}:]+)(?::-([^}]*))?\}|\$(\w+)")
    return name.sub(
        lambda found: "$" if found[1] else msg.get_as_str(found[2] or found[4], found[3] or ""), self.template
    )


def _taken_whole(self, name):
    """There is no program that parses: the text is the MESSAGE."""
    raw = dict.get(self, RAW)
    return ["MESSAGE"] if name == KEYS and raw is not None else raw if name == "MESSAGE" else None


def _say(level, text, who=None):
    words = {"c": "critical", "e": "error", "w": "warning", "n": "notice", "i": "info", "d": "debug", "t": "trace"}
    sys.stderr.write("{}: {}\n".format(words.get(level, level), text))


def _pair(text):
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise argparse.ArgumentTypeError("write it as NAME=VALUE")
    return name, value


def _option(text):
    """As the configuration has it: numbers and yes, no, True, False are no texts."""
    name, value = _pair(text)
    if value in ("yes", "True", "no", "False"):
        return name, value in ("yes", "True")
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            pass
    return name, value


def _resolve(name):
    module, _, last = name.rpartition(".")
    if not module:
        raise ImportError("write it as module.Class")
    found = getattr(importlib.import_module(module), last, None)
    if found is None:
        raise ImportError("there is no `{}` in the module `{}`".format(last, module))
    return found


def _kind(found):
    for method, kind in (
        ("parse", "parser"),
        ("send", "destination"),
        ("fetch", "fetcher"),
        ("run", "source"),
        ("get_headers", "headers"),
    ):
        if callable(getattr(found, method, None)):
            return kind
    return "function" if callable(found) and not isinstance(found, type) else None


class _Came(Batch):
    """In the place of the program: the values that a message came with, and no others."""

    def column(self, name):
        names = [known for known in self.names if known not in ("MSG", "MSGONLY")]
        return [names if name == KEYS else None]


def _message(args, kind=Received):
    """As the program would give it to a class."""
    values = {"MESSAGE": args.message, "HOST": "host", "PROGRAM": "app", "PID": "7"}
    values.update(args.values)
    values["MSG"] = values["MSGONLY"] = values["MESSAGE"]
    msg = kind(_Came({name: place for place, name in enumerate(values)}))
    msg._row = tuple(value.encode("utf-8", "surrogateescape") for value in values.values())
    msg._at = 0
    return msg


def _show(msg, before=None):
    before = before or {}
    for name in msg.keys():
        text = name.decode("utf-8", "replace")
        value = msg[text]
        if before.get(text, before) != value:
            print("  {} = {!r}".format(text, value))


def _parser(one, args):
    msg = _message(args)
    before = {name.decode(): msg[name.decode()] for name in msg.keys()}
    matched = one.parse(msg)
    # Refused by the program, what cannot be a name or a value.
    changes(msg)
    print("parse() returned {!r}: {}".format(matched, "matches" if matched else "does not match"))
    _show(msg, before)
    return bool(matched)


def _result(name, value):
    try:
        word = {number: word for word, number in RESULTS.items()}[result_of(value, name[:-2])]
    except Unexpected:
        word = "ERROR"
    print("{} returned {!r}: {}".format(name, value, word))
    return word in ("SUCCESS", "QUEUED")


def _destination(one, args):
    is_open = getattr(one, "open", lambda: True)()
    if is_open is False:
        print("open() returned False")
        return False
    well = _result("send()", one.send(_message(args, ReadOnly)))
    if hasattr(one, "flush"):
        well = _result("flush()", one.flush()) and well
    getattr(one, "close", lambda: None)()
    return well


def _fetcher(one, _):
    getattr(one, "open", lambda: True)()
    result, msg = _produce.fetched(one.fetch())
    print("fetch() returned {}".format(_produce.FETCHED[result]))
    if _produce.FETCHED[result] == "SUCCESS":
        changes(msg)
        _show(msg)
    getattr(one, "close", lambda: None)()
    return result in (2, 3, 4)


def _source(one, _):
    failed = []

    def run():
        try:
            one.run()
        except BaseException:
            failed.append(traceback.format_exc())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(SOURCE_SECONDS)
    getattr(one, "request_exit", lambda: None)()
    thread.join(5 * SOURCE_SECONDS)
    print("run() posted {} messages".format(len(_POSTED)))
    for msg in _POSTED[:MESSAGES_SHOWN]:
        _show(msg)
        print("  --")
    if failed:
        sys.stderr.write(failed[0])
    if thread.is_alive():
        print("run() did not return after request_exit()")
    return not failed and not thread.is_alive()


def _headers(one, args):
    made = one.get_headers(args.message, ["content-type: text/plain"])
    print("get_headers() returned {!r}".format(made))
    getattr(one, "on_http_response_received", lambda status: None)(200)
    return isinstance(made, list) and all(isinstance(line, (str, bytes)) and b":" in _bytes(line) for line in made)


def _bytes(line):
    return line.encode("utf-8") if isinstance(line, str) else line


def _function(one, args):
    value = one(_message(args), *args.arguments)
    print("it returned {!r}".format(value))
    return isinstance(value, (str, bytes))


_POSTED = []


def _post(self, msg):
    if not isinstance(msg, syslogng.LogMessage):
        raise TypeError("post_message() takes a LogMessage")
    changes(msg)
    _POSTED.append(msg)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python3 -m syslogng.check",
        description="Tries a class or function of a configuration without the collector.",
        epilog="Exit code: 0 it works, 1 it does not, 2 wrong usage.",
    )
    parser.add_argument("name", metavar="MODULE.CLASS")
    parser.add_argument("arguments", metavar="ARGUMENT", nargs="*", help="arguments of a template function")
    parser.add_argument("--message", default="hello world", help="MESSAGE of the message")
    parser.add_argument("--set", dest="values", action="append", default=[], type=_pair, metavar="NAME=VALUE")
    parser.add_argument(
        "--option", dest="options", action="append", default=[], type=_option, metavar="NAME=VALUE",
        help="an entry of options()",
    )
    args = parser.parse_args(arguments)
    sys.path.insert(0, os.getcwd())
    _wire.wire, _wire.say = _State(), _say
    syslogng.LogTemplate.format = _format
    syslogng.LogMessage._made = _taken_whole
    syslogng.LogSource.post_message = _produce.post = _post
    try:
        found = _resolve(args.name)
        kind = _kind(found)
        if kind is None:
            print("`{}` has none of parse(), send(), fetch(), run() and get_headers()".format(args.name))
            return 1
        print("{}: a {}".format(args.name, kind))
        if kind == "function":
            return 0 if _function(found, args) else 1
        _produce.prepare(found, kind, args.name, {})
        if kind == "headers":
            return 0 if _headers(found(dict(args.options)), args) else 1
        one = found()
        if hasattr(one, "init") and not one.init(dict(args.options)):
            print("init() did not return True")
            return 1
        works = {"parser": _parser, "destination": _destination, "fetcher": _fetcher, "source": _source}[kind]
        well = works(one, args)
        getattr(one, "deinit", lambda: None)()
        return 0 if well else 1
    except KeyboardInterrupt:
        raise
    except BaseException:
        # sys.exit() of the class too: the program would say that it raised.
        traceback.print_exc()
        return 1


if __name__ == "__main__":
    sys.exit(main())
