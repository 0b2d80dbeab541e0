//! The codes of the compiler of log paths: (code, title, what it means and what to do). Feeds docs/errors.md.

pub const CODES: &[(&str, &str, &str)] = &[
    (
        "E0101",
        "a block in another language",
        "`python` blocks are not available where the program was built without Python. Remove the \
         block and what refers to it.",
    ),
    (
        "E0102",
        "no such object",
        "A log path refers to a source, destination, filter, parser or rewrite that no statement defines. The help names the nearest \
         one; a note says when an object of another kind has this name.",
    ),
    (
        "E0103",
        "an object that is not used",
        "No log path refers to this statement, so it does nothing: its sockets are not opened, its files not written. Remove it, or \
         refer to it.",
    ),
    (
        "E0104",
        "two log paths of one name",
        "Names of log paths are unique: statistics and the ledger go by them.",
    ),
    (
        "E0105",
        "a log path without a source",
        "No message can reach it. Add `source(name);`, or flags(catchall) for a path that takes from all sources.",
    ),
    (
        "E0106",
        "a flag of a log path that does nothing",
        "It is unknown, or has no effect here, and is ignored.",
    ),
    (
        "E0107",
        "a source in the wrong place",
        "Sources stand at the beginning of a top-level log path or in a source statement; inside a branch there is nothing for them to feed.",
    ),
    (
        "E0109",
        "a driver by itself in a log path",
        "Drivers, parsers and rewrite operations stand inside `source { }`, `parser { }`, `rewrite { }` or `destination { }`, also when \
         these are written inline.",
    ),
    (
        "E0110",
        "an object that contains itself",
        "The statement refers to itself, directly or through others. Break the circle.",
    ),
    (
        "E0111",
        "two drivers that are the same",
        "They bind, open or connect to the same, so that after a reload nobody could tell which is which. Refer to one statement from \
         several log paths, or give one of the drivers a persist-name() of its own.",
    ),
    (
        "E0112",
        "a step in a source statement",
        "Filters, parsers and rewrites inside a source statement belong to certain drivers: put both into a `channel { }`.",
    ),
    (
        "E0114",
        "unknown option of a template",
        "A template statement has `template()` and `template-escape()`.",
    ),
    ("E0115", "a template without text", "Add `template(\"...\");`."),
    (
        "E0116",
        "unknown type of a template",
        "Types are those of the manual's page on templates; the help names the nearest one.",
    ),
    ("E0117", "wrong template", "The text of a template does not compile; the message says where and why."),
    (
        "E0118",
        "a log path no message reaches",
        "An earlier log path of the same sources takes every message for itself: it has flags(final) and no filter. Move the path before \
         it, give the earlier one a filter, or take flags(final) away.",
    ),
    (
        "E0119",
        "a partition key that never changes",
        "worker-partition-key() tells messages apart; a text without a macro is the same for all of them. Put a macro in it, or leave it \
         out.",
    ),
    (
        "E0120",
        "app-parser() without a topic",
        "It tries the `application` blocks of one topic: say which, as in `app-parser(topic(syslog))`. app-transform() needs the variable that has the \
         application's name, as in `filterx-app-variable(app)`.",
    ),
    (
        "E0121",
        "a topic without applications",
        "No `application NAME[TOPIC]` has this topic, so no message matches. Those of the configuration library come with \
         `@include \"scl.conf\"`; their topics are `syslog` and `syslog-raw`.",
    ),
    (
        "E0122",
        "a misspelt macro",
        "A template reads a value that nothing in the configuration sets, and whose name is almost that of a macro; in its place there \
         will be nothing. Correct the name, or set the value.",
    ),
    (
        "E0123",
        "two sources in one place",
        "Two sources want the same port of the same address, or the same path for a socket; the second could not be opened. An address \
         that stands for all of them (0.0.0.0, ::) has every other one in it. Change one, or refer to one source statement from several \
         log paths; so-reuseport(yes) on both shares a port.",
    ),
    (
        "E0124",
        "a python block that fails",
        "The text of a `python { }` block is no Python, or raised when it was run, or there is no `python3`. The message is Python's \
         traceback.",
    ),
];
