//! The codes of the language layer: (code, title, what it means and what to do). Feeds docs/errors.md.

/// Codes of the language layer. Other crates keep a list of the same shape; [`find_duplicate`] checks them
/// together.
pub const CODES: &[(&str, &str, &str)] = &[
    (
        "P0001",
        "unterminated quote",
        "A string has no closing quote. Strings may go over several lines, so the quote that is missing may \
         stand further up than the marked place. Close the string.",
    ),
    (
        "P0002",
        "unexpected character",
        "A character that cannot stand outside of quotes here. Values with `:`, `|`, `@`, `\\` or a leading \
         dot must be quoted; pragmas begin in the first column.",
    ),
    (
        "P0003",
        "number too large",
        "The number, with its suffix applied, does not fit into 64 bits. Write a smaller one, or quote it if \
         it is not meant as a number.",
    ),
    (
        "P0004",
        "value is not UTF-8",
        "The bytes of a value, after escapes are resolved, are not valid UTF-8. Save the file as UTF-8; write \
         single bytes in a regular expression as \\\\xHH.",
    ),
    (
        "P0005",
        "file is not UTF-8",
        "The file has bytes that are not UTF-8. In comments they do no harm; in values they are an error of \
         their own. Save the file as UTF-8.",
    ),
    (
        "P0010",
        "missing closing backtick",
        "A backtick opens the name of a variable, which must be closed on the same line. Write a backtick \
         that means itself twice.",
    ),
    (
        "P0011",
        "backtick after backslash",
        "In double quotes a backslash would escape the backtick, which cannot be done. Write the backslash as \
         `\\\\`, or use single quotes.",
    ),
    (
        "P0012",
        "value cannot stand in single quotes",
        "The value of a backtick variable contains ' and is used inside a string in single quotes, which has \
         no escapes. Use double quotes there.",
    ),
    (
        "P0013",
        "undefined backtick variable",
        "No block argument, `@define`, predefined name or environment variable has this name, so it stands \
         for an empty text. Define it, or correct the name.",
    ),
    (
        "P0020",
        "unknown pragma",
        "A line beginning with `@` is a pragma: version, include, define, module, requires, line, config-id. \
         Correct the name.",
    ),
    (
        "P0021",
        "malformed pragma",
        "The pragma has a known name but not the form it needs; the form is shown. A pragma ends with its \
         line.",
    ),
    (
        "P0022",
        "no version",
        "The configuration does not say which version of the language it is written for; the newest is \
         assumed. Begin the file with `@version: X.Y`.",
    ),
    (
        "P0023",
        "unusable version",
        "The version is not of the form X.Y, or older than 3.0. Correct it, or bring the configuration to a \
         newer syntax.",
    ),
    (
        "P0024",
        "version newer than the program",
        "The newest known version is used in its stead. Newer meanings are not known to this program.",
    ),
    (
        "P0025",
        "written for an older version",
        "Some meanings changed since then; the old ones are kept for this configuration. Check it and raise \
         the version.",
    ),
    ("P0026", "version given twice", "Only the first `@version` counts. Remove the other."),
    (
        "P0027",
        "missing module",
        "The configuration asks for a module this program does not have. Remove what needs it, or use another \
         program for this part.",
    ),
    (
        "P0028",
        "include without @",
        "Since version 3.20 files are included with `@include \"file\"` at the beginning of a line.",
    ),
    (
        "P0030",
        "file cannot be read",
        "A configuration file cannot be opened or read, for the reason given. Correct the name, the \
         permissions, or remove the include.",
    ),
    ("P0031", "include loop or depth", "A file includes itself, or includes go too deep. Remove the loop."),
    (
        "P0032",
        "nothing to include",
        "The include names a file that does not exist anywhere along the include path: without it, part of the \
         configuration is missing. Create it, or correct the name. A pattern (`conf.d/*.conf`) may match nothing.",
    ),
    (
        "P0033",
        "wrong include pattern",
        "The name in an include is a pattern that makes no sense, such as an unclosed `[`.",
    ),
    (
        "P0040",
        "malformed block definition",
        "The form is: block context name(argument(default) ...) { text };",
    ),
    (
        "P0041",
        "unknown block context",
        "The first word of a block definition says where it can be used: root, source, destination, parser, \
         rewrite, filter, log, options, inner-src, inner-dest.",
    ),
    (
        "P0042",
        "missing block argument",
        "The block has an argument without a default that the call does not give. Add it to the call.",
    ),
    (
        "P0043",
        "unknown block argument",
        "The block has no argument of this name and no `...` that would take any. Correct or remove it.",
    ),
    (
        "P0044",
        "malformed block call",
        "A block is called with `name(argument(value) ...)`: named arguments only.",
    ),
    (
        "P0045",
        "expansion too large",
        "Blocks call each other without end, or expand to more text than the bound allows. Remove the \
         recursion.",
    ),
    (
        "P0046",
        "command failed",
        "The command of a confgen failed, took too long, gave no usable text, or commands are not allowed \
         here.",
    ),
    (
        "P0047",
        "a secret cannot be read",
        "`` `file:PATH` `` or `` `credential:NAME` `` names a file that is not there, that this program's user may not read, or that \
         does not have a secret of at least 4 bytes in its first line. Correct the name, or the file's owner and mode.",
    ),
    (
        "P0048",
        "an old name",
        "The driver is written under a name of older versions, of a class in Java or of syslog-ng PE. What stands for it is named: write that.",
    ),
    (
        "P0100",
        "unknown statement",
        "The word at the beginning of a statement is neither a statement nor a block for the top level. \
         Correct the name.",
    ),
    (
        "P0101",
        "unexpected word or symbol",
        "Something stands where it cannot: the message says what was found and what was expected.",
    ),
    ("P0102", "missing semicolon", "Every statement and every item ends with `;`."),
    ("P0103", "missing closing bracket", "A bracket is not closed; where it was opened is shown. Close it."),
    (
        "P0104",
        "unexpected closing bracket",
        "A bracket is closed that was not opened. Remove it, or add the opening one.",
    ),
    ("P0105", "missing name", "A name is expected: a word or a string in quotes."),
    (
        "P0106",
        "missing bracket or value",
        "An opening bracket or a value is expected here; the message says which.",
    ),
    ("P0107", "nesting too deep", "Brackets, or `not`s, inside each other beyond any sensible depth."),
    (
        "P0108",
        "wrong order in a log path",
        "Items come first, then embedded log paths and channels, then `flags(...)`. Move it.",
    ),
    (
        "P0109",
        "else without if",
        "`elif` and `else` follow the closing brace of an `if` directly, without `;`.",
    ),
    (
        "P0110",
        "defined twice",
        "Two objects of one kind have the same name. Rename one, or write `@define allow-config-dups 1`: the \
         last one wins then.",
    ),
    (
        "P0111",
        "not a branch of a junction",
        "A junction has only `channel { ... };` and `log { ... };` in it.",
    ),
    (
        "P0112",
        "malformed template",
        "The forms are: template name \"text\"; template name type(\"text\"); template name { \
         template(\"text\"); };",
    ),
    (
        "P0113",
        "malformed application",
        "The form is: application name[topic] { filter { ... }; parser { ... }; };",
    ),
    (
        "P0120",
        "empty filter expression",
        "A filter needs one expression; an empty one would mean neither yes nor no.",
    ),
    (
        "P0121",
        "malformed filter expression",
        "Conditions are filter functions, comparisons, parentheses, and `not`, `and`, `or` between them.",
    ),
];

/// Title and explanation of a code in `lists`.
pub fn explain<'a>(lists: &[&'a [(&'a str, &'a str, &'a str)]], code: &str) -> Option<(&'a str, &'a str)> {
    lists.iter().flat_map(|l| l.iter()).find(|(c, ..)| *c == code).map(|(_, title, text)| (*title, *text))
}

/// A code that stands twice in `lists`, if there is one.
pub fn find_duplicate<'a>(lists: &[&'a [(&'a str, &'a str, &'a str)]]) -> Option<&'a str> {
    let mut seen = std::collections::HashSet::new();
    lists.iter().flat_map(|l| l.iter()).map(|(code, ..)| *code).find(|code| !seen.insert(*code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_code_stands_twice() {
        assert_eq!(find_duplicate(&[CODES]), None);
        assert_eq!(explain(&[CODES], "P0102").map(|(title, _)| title), Some("missing semicolon"));
        assert_eq!(find_duplicate(&[&[("A", "", "")], &[("A", "", "")]]), Some("A"));
    }
}
