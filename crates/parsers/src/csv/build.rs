//! The table and the builder of `csv-parser()`.

use super::scan::{Escape, Scanner};
use super::{Column, Csv, OnTypeError, Rules};
use crate::build::Build;
use crate::options::{ON_TYPE_ERROR, PARSER, PREFIX};
use crate::parse::Parse;
use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings, Word};
use conf_syntax::{Arg, ArgKind};
use record::{NameId, ValueType};
use std::sync::Arc;
use template::TypeHint;

const DIALECTS: &[Word] = &[
    Word::new("escape-none", "There are no escapes in quotes."),
    Word::new("escape-backslash", "`\\` takes the meaning from the next character."),
    Word::new("escape-backslash-with-sequences", "The same, and `\\n`, `\\t`, `\\x41` and the like."),
    Word::new("escape-double-char", "A quote is written twice."),
];

const FLAGS: &[Word] = &[
    Word::new("strip-whitespace", "Take blanks off both ends of a value (default when no flags are given)."),
    Word::new("greedy", "The last column takes the rest as it is."),
    Word::new("drop-invalid", "As `drop-invalid(yes)`."),
    Word::new("escape-none", "As `dialect(escape-none)`.")
        .undoes(&["escape-backslash", "escape-double-char"]),
    Word::new("escape-backslash", "As `dialect(escape-backslash)`.")
        .undoes(&["escape-none", "escape-double-char"]),
    Word::new("escape-double-char", "As `dialect(escape-double-char)`.")
        .undoes(&["escape-none", "escape-backslash"]),
];

pub static CSV_PARSER: Component = Component {
    context: Context::Parser,
    name: "csv-parser",
    aliases: &[],
    positional: &[],
    groups: &[&PARSER],
    own: &[
        Opt::new(
            "columns",
            Kind::Any,
            Preset::Described("`$1`, `$2` ..."),
            "The names of the columns; `int(\"name\")` gives a column a type.",
        ),
        PREFIX,
        Opt::new(
            "delimiters",
            Kind::Any,
            Preset::Described("a blank"),
            "Characters of which each ends a column: `delimiters(\",;\")`, or `chars(\"...\")` and `strings(\"...\" ...)`.",
        ),
        Opt::new(
            "quotes",
            Kind::Text,
            Preset::None,
            "Quotes: each character opens and closes. Of this and `quote-pairs()`, the one that stands last holds.",
        ),
        Opt::new(
            "quote-pairs",
            Kind::Text,
            Preset::Described("`\"\"''`"),
            "Quotes by pairs: a character that opens, the one that closes.",
        ),
        Opt::new("null", Kind::Text, Preset::None, "A value that stands for none: the column becomes empty."),
        Opt::new(
            "dialect",
            Kind::Choice(DIALECTS),
            Preset::Text("escape-none"),
            "How quotes are written inside quotes.",
        ),
        Opt::new("flags", Kind::Flags(FLAGS), Preset::Described("strip-whitespace"), "See below."),
        Opt::new(
            "drop-invalid",
            Kind::Bool,
            Preset::Bool(false),
            "A message with more or fewer columns, or with a value of a wrong type, does not match.",
        ),
        ON_TYPE_ERROR,
    ],
    presets: &[],
    not_yet: &[],
    summary: "Splits a text into columns: comma separated values and anything like it. Only columns that something reads are \
              copied.",
    example: "csv-parser(columns(\"HOST\", int(\"bytes\"), \"rest\") delimiters(\",\") flags(strip-whitespace, greedy) prefix(\".csv.\"))",
    cost: Some(Cost::bench(
        "One pass up to the last column that is read; the others are passed over.",
        "csv",
    )),
};

/// `$1` ... when no columns are named.
const MATCHES_MAX: u8 = 255;

pub fn build(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    let input = b.input(settings);
    let prefix = settings.text("prefix").unwrap_or_default();
    let columns = columns(settings, prefix, b);
    let delimiters = delimiters(settings, b);
    let quotes = quotes(settings, b);
    let given = settings.is_set("flags");
    let flag = |word| settings.flag("flags", word);
    let escapes = [
        (flag("escape-backslash"), Escape::Backslash),
        (flag("escape-double-char"), Escape::DoubleChar),
        (flag("escape-none"), Escape::None),
    ];
    let dialect = match settings.choice("dialect") {
        Some("escape-backslash") => Escape::Backslash,
        Some("escape-backslash-with-sequences") => Escape::Sequences,
        Some("escape-double-char") => Escape::DoubleChar,
        _ => Escape::None,
    };
    let flags_hold = |option| holds(settings, "flags", option);
    let by_flags = escapes.iter().find(|(on, _)| *on).filter(|_| flags_hold("dialect"));
    let escape = by_flags.map_or(dialect, |(_, escape)| *escape);
    let strip = flag("strip-whitespace") || !given;
    // As in syslog-ng: a value of a wrong type makes a message invalid, and on-type-error(drop-message) drops
    // all that are invalid. Where nothing is said the value is left out: the default of the global on-error()
    // does not count.
    let said = settings.choice("on-type-error");
    let wrong_type = said.filter(|what| settings.is_set("on-type-error") || *what != "drop-message");
    let drop_invalid = flag("drop-invalid") && flags_hold("drop-invalid")
        || settings.bool("drop-invalid").unwrap_or(false)
        || wrong_type == Some("drop-message");
    let on_type_error = match wrong_type {
        Some("fallback-to-string") => OnTypeError::FallbackToString,
        None if drop_invalid => OnTypeError::DropMessage,
        Some("drop-message") => OnTypeError::DropMessage,
        _ => OnTypeError::DropProperty,
    };
    let null = settings.text("null").filter(|n| !n.is_empty()).map(|n| n.as_bytes().into());
    let greedy = flag("greedy");
    let (chars, strings) = delimiters?;
    let scanner = Scanner::new(&chars, strings, &quotes?, escape);
    // Where no columns are named any number of them will do.
    let drop_invalid = drop_invalid && !settings.args("columns").is_empty();
    let rules = Rules { scanner, greedy, strip, drop_invalid, null, on_type_error };
    Some(Arc::new(Csv::new(input?, rules, columns?)))
}

fn columns(settings: &Settings, prefix: &str, b: &mut Build<'_>) -> Option<Vec<Column>> {
    let args = settings.args("columns");
    if args.is_empty() {
        let column = |n| Column { name: NameId::of_match(n), kind: ValueType::String, wanted: true };
        return Some((1..=MATCHES_MAX).map(column).collect());
    }
    let mut columns = Vec::with_capacity(args.len());
    for arg in args {
        let (text, kind) = match &arg.kind {
            ArgKind::Call(typed) => {
                let kind = TypeHint::named(&typed.name.norm()).and_then(TypeHint::value_type);
                if kind.is_none() {
                    b.wrong(
                        format!("unknown type `{}`", typed.name.text),
                        Some(typed.name.span),
                        "as int(\"name\")",
                    );
                }
                (typed.args.first().filter(|_| typed.args.len() == 1).and_then(Arg::text), kind)
            }
            _ => (arg.text(), Some(ValueType::String)),
        };
        let Some(text) = text else {
            b.wrong(
                "a column is a name or a type with a name in it",
                Some(arg.span),
                "as columns(\"a\", int(\"b\"))",
            );
            continue;
        };
        let name = format!("{prefix}{text}");
        if b.stays_macro(&name, "column", arg.span) {
            columns.push(Column { name: NameId::of_match(0), kind: ValueType::String, wanted: false });
            continue;
        }
        let name = b.name(&name, arg.span);
        if let (Some(name), Some(kind)) = (name, kind) {
            // A column without a name is skipped over.
            columns.push(Column { name, kind, wanted: !(prefix.is_empty() && text.is_empty()) });
        }
    }
    (columns.len() == args.len()).then_some(columns)
}

type Delimiters = (Vec<u8>, Vec<Box<[u8]>>);

fn delimiters(settings: &Settings, b: &mut Build<'_>) -> Option<Delimiters> {
    let mut chars: Option<Vec<u8>> = None;
    let mut strings: Vec<Box<[u8]>> = Vec::new();
    let mut good = true;
    for arg in settings.args("delimiters") {
        match &arg.kind {
            ArgKind::Call(call) if call.is("chars") || call.is("strings") => {
                let texts: Vec<&str> = call.args.iter().filter_map(Arg::text).collect();
                good &= texts.len() == call.args.len();
                match call.is("chars") {
                    true => chars.get_or_insert_default().extend(texts.concat().bytes()),
                    false => {
                        strings.extend(texts.iter().filter(|t| !t.is_empty()).map(|t| t.as_bytes().into()))
                    }
                }
            }
            _ => match arg.text() {
                Some(text) => chars.get_or_insert_default().extend(text.bytes()),
                None => good = false,
            },
        }
    }
    if !good {
        let help = "as delimiters(\",\") or delimiters(chars(\",\") strings(\"::\"))";
        b.wrong("delimiters() takes characters, chars() and strings()", settings.span("delimiters"), help);
    }
    good.then(|| (chars.unwrap_or_else(|| b" ".to_vec()), strings))
}

/// Of two options that say the same, the one that stands last holds.
fn holds(settings: &Settings, option: &str, other: &str) -> bool {
    match (settings.span(option), settings.span(other)) {
        (Some(option), Some(other)) => option.file != other.file || option.start > other.start,
        _ => true,
    }
}

/// quotes() and quote-pairs() set the same in syslog-ng, and the later one forgets the earlier.
fn quotes(settings: &Settings, b: &mut Build<'_>) -> Option<Vec<(u8, u8)>> {
    let (own, pairs) = (settings.text("quotes"), settings.text("quote-pairs"));
    if pairs.is_some_and(|pairs| pairs.len() % 2 != 0) {
        b.wrong(
            "quote-pairs() takes pairs of characters",
            settings.span("quote-pairs"),
            "as quote-pairs(\"[]\")",
        );
        return None;
    }
    Some(match (own, pairs.filter(|_| holds(settings, "quote-pairs", "quotes"))) {
        (_, Some(pairs)) => pairs.as_bytes().chunks_exact(2).map(|pair| (pair[0], pair[1])).collect(),
        (Some(own), None) => own.bytes().map(|quote| (quote, quote)).collect(),
        (None, None) => vec![(b'"', b'"'), (b'\'', b'\'')],
    })
}
