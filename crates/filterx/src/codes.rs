//! Stable codes of this crate.

/// (code, title, what it means and what to do).
pub const CODES: &[(&str, &str, &str)] = &[
    (
        "Y0101",
        "a FilterX block that cannot be read",
        "The text of the block is not what the grammar says: a sign is missing, or a word stands where none can. All such places of a block are \
         reported.",
    ),
    ("Y0102", "unknown FilterX function", "No function has this name. The message names the nearest one."),
    (
        "Y0103",
        "wrong argument of a FilterX function",
        "An argument is missing, was given twice, has an unknown name, or is not of the kind that the function takes.",
    ),
    (
        "Y0104",
        "an argument that has to be known beforehand",
        "Patterns, formats and switches of FilterX functions are fixed when the configuration is read; `$NAME` in a text makes it depend on the \
         message.",
    ),
    ("Y0105", "wrong pattern in FilterX", "The text is not a regular expression, see the X01xx codes."),
    (
        "Y0106",
        "wrong template in FilterX",
        "A text with `$` in it is a template, and this one does not compile. A dollar sign is written `$$`.",
    ),
    (
        "Y0107",
        "a FilterX expression that always fails",
        "Whatever the message is, the expression is an error: types that never go together, a division by zero, a number out of range.",
    ),
    (
        "Y0108",
        "something that cannot be set",
        "Assignments, unset(), isset() and the like are about variables and elements of them. Macros that are computed from the message cannot be \
         set.",
    ),
    (
        "Y0109",
        "a case of a FilterX switch that is never reached",
        "The same case stands in the switch before, or nothing is in its range.",
    ),
    (
        "Y0111",
        "a FilterX function that has been removed",
        "The function was part of the language once. The message says what to write instead.",
    ),
    ("Y0112", "too many names of FilterX variables", "The table of names is full."),
    (
        "Y0113",
        "a file of FilterX that cannot be taken",
        "The file of cache_json_file() is not there, cannot be read, or is no object or array of JSON. With `default_value=` it may come later.",
    ),
];
