//! The codes of the option layer: (code, title, what it means and what to do). Feeds docs/errors.md.

pub const CODES: &[(&str, &str, &str)] = &[
    (
        "O0101",
        "unknown option",
        "The component has no option of this name. `-` and `_` are the same. The help names the nearest known option; \
         the manual page of the component lists all of them.",
    ),
    (
        "O0102",
        "option not available",
        "syslog-ng has this option, this version of penstock does not. It is refused instead of ignored, because the \
         result would not be what the configuration says. The help says what to do instead.",
    ),
    (
        "O0103",
        "wrong type of value",
        "The option takes another kind of value: for example yes or no, a whole number, a quoted text.",
    ),
    ("O0104", "value out of range", "The value is smaller or larger than the option allows."),
    (
        "O0105",
        "unknown word",
        "The option takes one of a fixed set of words (or names of time zones, facilities, severities, encodings), and \
         this is none of them.",
    ),
    (
        "O0106",
        "option given twice",
        "The same option stands twice in one call. The last one counts. Options that collect (`tags()`, `flags()`) may \
         be repeated.",
    ),
    ("O0107", "obsolete option", "The option still works, but it has a new name or form. The help shows it."),
    ("O0108", "value missing", "The component or option needs a value that was not given."),
    ("O0109", "too many values", "The component or option takes fewer values than were given."),
    (
        "O0110",
        "word not available",
        "syslog-ng knows this word (a flag, a transport ...), this version of penstock does not do it yet.",
    ),
    (
        "O0111",
        "unknown component",
        "There is no driver (or parser) of this name. The help names the nearest known one. A driver defined by a \
         `block` must be included before it is used.",
    ),
    (
        "O0112",
        "component not available",
        "syslog-ng has this driver (or parser), this version of penstock does not, or it is a block of the configuration \
         library, which is not included. The help says what to do.",
    ),
    (
        "O0113",
        "option without effect",
        "The option is accepted, so that the configuration starts, but there is nothing it could change here. The note \
         says why. It can be removed.",
    ),
    (
        "O0114",
        "mode written in decimal",
        "File modes are octal and need a leading zero: `perm(0640)`. Without it the number is read as decimal, as \
         syslog-ng does, and gives another mode than it seems.",
    ),
];

#[cfg(test)]
mod tests {
    #[test]
    fn no_code_stands_twice() {
        assert_eq!(diag::find_duplicate(&[super::CODES, diag::CODES]), None);
    }
}
