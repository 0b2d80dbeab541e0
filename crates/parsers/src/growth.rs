//! No parser makes more of a text than a small multiple of it, whatever the text. The test goes over all
//! parsers there are, so a new one is covered.

use crate::ALL;
use crate::testing::{batch, context, parser};
use record::{Batch, Demand, NameId, ValueType};

/// Bytes of values for each byte of the text: control characters take six as JSON, and twice that quoted in a
/// list.
const TIMES: usize = 16;
/// What a text has at least: the names of its format, numbers printed.
const LEAST: usize = 64 << 10;
const TEXT_BYTES: usize = 32 << 10;

/// Texts that made more than was good in one parser or another, and their relatives.
const PIECES: &[&str] = &[
    "a=\"",
    "a='a=\"",
    "a=\"b\"c=\"d\"",
    "a=\"\\\"",
    "a=1 ",
    "comm=\"6120\" a0=\"",
    "\"",
    ",\"",
    "',",
    "\u{1}",
    "/",
    "\\",
    "<a>",
    "<a b='c'/>",
    "<a>x</a>",
    "&lt;",
    "a:b;",
    "%",
    "{",
    "[",
    "[[1],",
    "\n",
    "\t",
    ".",
    "x",
    "ü",
    "\u{fffd}",
];

/// What stands before the pieces, and what behind them.
const FRAMES: &[(&str, &str)] = &[
    ("", ""),
    ("{\"a\":\"", "\"}"),
    ("{\"a\":[\"", "\"]}"),
    ("{\"a\":{\"b\":[[\"", "\"]]}}"),
    ("<a>", "</a>"),
    ("<a b=\"", "\"/>"),
    ("[a b=\"", "\"]"),
    ("<13>1 - - - - - [a b=\"", "\"] x"),
    ("CEF:0|a|b|c|d|e|f|", ""),
    ("LEEF:1.0|a|b|c|d|", ""),
    ("user=", ""),
];

/// Bytes of the values the message has, each as long as it would be printed.
fn printed(batch: &Batch, index: usize) -> usize {
    let record = &batch.records[index];
    let fields = (NameId::HOST.0..=NameId::FILE_NAME.0).map(NameId).filter_map(|n| batch.value(record, n));
    let own = fields.map(|v| v.bytes.len()).sum::<usize>();
    batch.entries(record).filter_map(|(_, value)| value).map(|v| v.bytes.len()).sum::<usize>() + own
}

fn names(batch: &Batch, index: usize) -> usize {
    batch.entries(&batch.records[index]).map(|(name, _)| batch.name_of(name).len()).sum()
}

#[test]
fn no_parser_makes_much_more_than_it_is_given() {
    for (component, _) in ALL {
        let made = parser(component.example);
        let mut reads = Demand::default();
        made.reads(&mut reads);
        let mut cx = context();
        for (before, after) in FRAMES {
            for piece in PIECES {
                let count = TEXT_BYTES.saturating_sub(before.len() + after.len()) / piece.len();
                let text = format!("{before}{}{after}", piece.repeat(count));
                let mut batch = batch(&[text.as_bytes()]);
                let message = batch.records[0].message;
                for name in reads.names.iter().filter(|n| n.0 > NameId::FILE_NAME.0) {
                    batch.set_span(0, *name, message, ValueType::String);
                }
                let (given, footprint) = (printed(&batch, 0), batch.footprint());
                made.parse(&mut batch, &mut vec![0], &mut cx);
                let shown = format!("{} on {before}{piece}...", component.name);
                let most = given + TIMES * text.len() + LEAST;
                assert!(printed(&batch, 0) <= most, "{shown}: {} bytes of values", printed(&batch, 0));
                assert!(
                    names(&batch, 0) <= 128 * text.len() + LEAST,
                    "{shown}: {} of names",
                    names(&batch, 0)
                );
                let grown = batch.footprint() - footprint;
                assert!(grown <= TIMES * text.len() + LEAST, "{shown}: {grown} bytes kept");
            }
        }
    }
}
