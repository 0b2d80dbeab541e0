//! CEF and LEEF, read with the scanners of their parsers.

use crate::compile::Arguments;
use crate::functions::strings::text_argument;
use crate::program::{Expr, Operation};
use crate::run::{Eval, Failure, Halt, Run};
use parsers::scanners::event::{delimited, delimiter, pairs, unescape};
use std::ops::Range;
use value::{Key, Span, TEXT, Value};

/// One of the two formats.
pub struct Kind {
    signature: &'static str,
    headers: &'static [&'static str],
    is_leef: bool,
}

pub static CEF: Kind = Kind {
    signature: "CEF",
    headers: &[
        "cef_version",
        "device_vendor",
        "device_product",
        "device_version",
        "device_event_class_id",
        "event_name",
        "agent_severity",
    ],
    is_leef: false,
};

pub static LEEF: Kind = Kind {
    signature: "LEEF",
    headers: &["leef_version", "vendor_name", "product_name", "product_version", "event_id"],
    is_leef: true,
};

/// Fields of a header.
const HEADERS_MAX: usize = 7;

const DELIMITER: &str = "leef_delimiter";
const EXTENSIONS: &str = "extensions";

/// Names and values as places in a text.
pub(crate) type Places = Vec<(Range<usize>, Range<usize>)>;

struct Parse {
    text: Expr,
    kind: &'static Kind,
    /// Where the separators are not the usual ones.
    separators: Option<(Vec<u8>, Vec<u8>)>,
    separate: bool,
}

/// The separators as given; `None` in the second place where they are the usual ones.
fn separators(args: &mut Arguments<'_, '_>, kind: &Kind) -> Option<Option<(Vec<u8>, Vec<u8>)>> {
    let usual = if kind.is_leef { "\t" } else { " " };
    let pair = args.text(1, usual)?;
    let value = args.text(2, "=")?;
    if pair.is_empty() || value.is_empty() || pair.len() > 4 || value.len() > 4 {
        args.wrong(1, "separators are one to four characters", "as pair_separator=\"|\"");
        return None;
    }
    let is_usual = pair == usual.as_bytes() && value == b"=";
    Some((!is_usual).then_some((pair, value)))
}

pub fn parse(args: &mut Arguments<'_, '_>, kind: &'static Kind) -> Option<Expr> {
    let text = args.value(0);
    let separators = separators(args, kind)?;
    let separate = args.flag(3, false)?;
    args.made(Parse { text: text?, kind, separators, separate })
}

/// The field that begins at `at`, up to a bar that no backslash stands before.
fn field(text: &[u8], at: usize) -> Option<Range<usize>> {
    let mut end = at;
    loop {
        match text.get(end)? {
            b'|' => return Some(at..end),
            b'\\' => end += 2,
            _ => end += 1,
        }
    }
}

impl Operation for Parse {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let text = run.eval(&self.text)?;
        let span = text_argument(run, &[text], 0)?;
        let Header { fields, by, rest } = self.header(run, span)?;
        let dict = run.new_dict()?;
        for (name, range) in self.kind.headers.iter().zip(fields) {
            let value = self.value(run, span, range)?;
            run.set_text(dict, name.as_bytes(), value)?;
        }
        if let Some((range, _)) = &by {
            let value = self.value(run, span, range.clone())?;
            run.set_text(dict, DELIMITER.as_bytes(), value)?;
        }
        let extensions = if self.separate { run.new_dict()? } else { dict };
        let mut found = std::mem::take(&mut run.memory.places);
        found.clear();
        self.pairs(run.batch.bytes(span), rest, by.map(|(_, by)| by), &mut found);
        let result = found.iter().try_for_each(|(name, value)| {
            let name = Value::String(Span::new(span.start as usize + name.start, name.len()));
            let value = self.value(run, span, value.clone())?;
            run.set_key(extensions, name, value)
        });
        run.memory.places = found;
        result?;
        if self.separate {
            run.set_text(dict, EXTENSIONS.as_bytes(), Value::Dict(extensions))?;
        }
        Ok(Value::Dict(dict))
    }
}

/// What stands in front of the extensions.
struct Header {
    fields: [Range<usize>; HEADERS_MAX],
    /// Of LEEF 2, the place of the separator and which one it is.
    by: Option<(Range<usize>, u8)>,
    /// Where the extensions begin.
    rest: usize,
}

impl Parse {
    fn header(&self, run: &mut Run<'_>, span: Span) -> Result<Header, Halt> {
        let text = run.batch.bytes(span);
        let Some(colon) = memchr::memchr(b':', text) else {
            let text = format!("no log signature {} found", self.kind.signature);
            return run.error_made(&text);
        };
        let found = text.get(..colon).unwrap_or_default();
        if found != self.kind.signature.as_bytes() {
            let found = String::from_utf8_lossy(found);
            let text =
                format!("the log signature differs. actual: {found}, expected: {}", self.kind.signature);
            return run.error_made(&text);
        }
        let mut at = colon + 1;
        let mut fields: [Range<usize>; HEADERS_MAX] = Default::default();
        for (name, place) in self.kind.headers.iter().zip(&mut fields) {
            let Some(range) = field(text, at) else {
                let text = format!("Header '{name}' is missing");
                return run.error_made(&text);
            };
            at = range.end + 1;
            *place = range;
        }
        let version = fields.first().and_then(|range| text.get(range.clone())).unwrap_or_default();
        let mut by = None;
        if self.kind.is_leef
            && version.starts_with(b"2")
            && let Some((range, byte)) = field(text, at)
                .and_then(|range| Some((range.clone(), delimiter(text.get(range)?)?)))
                .filter(|(range, _)| range.len() <= 4)
        {
            at = range.end + 1;
            by = Some((range, byte));
        }
        Ok(Header { fields, by, rest: at })
    }

    /// The extensions as places in the text.
    fn pairs(&self, text: &[u8], rest: usize, by: Option<u8>, found: &mut Places) {
        match (&self.separators, self.kind.is_leef) {
            (Some((pair, value)), _) => split(text, rest, pair, value, found),
            (None, true) => {
                delimited(text, rest, by.unwrap_or(b'\t'), |name, value| found.push((name, value)))
            }
            (None, false) => pairs(text, rest, |name, value| found.push((name, value))),
        }
    }

    fn value(&self, run: &mut Run<'_>, span: Span, range: Range<usize>) -> Eval {
        let place = Span::new(span.start as usize + range.start, range.len());
        if self.kind.is_leef || !run.batch.bytes(place).contains(&b'\\') {
            return Ok(Value::String(place));
        }
        run.made(|run, out| {
            unescape(run.batch.bytes(place), out);
            Ok(())
        })
    }
}

fn split(text: &[u8], start: usize, pair: &[u8], value: &[u8], found: &mut Places) {
    let mut at = start;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let len = memchr::memmem::find(rest, pair).unwrap_or(rest.len());
        let piece = rest.get(..len).unwrap_or_default();
        if let Some(equals) = memchr::memmem::find(piece, value).filter(|equals| *equals > 0) {
            found.push((at..at + equals, at + equals + value.len()..at + len));
        }
        at += len + pair.len();
    }
}

struct Format {
    dict: Expr,
    kind: &'static Kind,
    /// What is written between pairs; `None` where the event says so itself.
    pair: Option<Vec<u8>>,
    value: Vec<u8>,
}

pub fn format(args: &mut Arguments<'_, '_>, kind: &'static Kind) -> Option<Expr> {
    let dict = args.value(0);
    let (pair, value) = separators(args, kind)?.unzip();
    let value = value.unwrap_or(b"=".to_vec());
    args.made(Format { dict: dict?, kind, pair, value })
}

impl Operation for Format {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let dict = run.eval(&self.dict)?;
        if run.pair_count(dict).is_none() {
            return run.fail(Failure::Type("Argument must be dict typed", dict.type_name()));
        }
        let mut headers = Vec::new();
        for name in self.kind.headers {
            match get(run, dict, name) {
                Some(value) => headers.push(value),
                None => {
                    let text = format!("Failed to get value for header: {name}");
                    return run.error_made(&text);
                }
            }
        }
        let by = get(run, dict, DELIMITER);
        let extensions = get(run, dict, EXTENSIONS);
        let usual = if self.kind.is_leef { b'\t' } else { b' ' };
        let said = by.filter(|_| self.kind.is_leef).and_then(|by| delimiter(run.bytes(by)));
        let usual = [said.unwrap_or(usual)];
        let between = self.pair.as_deref().unwrap_or(&usual);
        run.made(|run, out| {
            out.extend_from_slice(self.kind.signature.as_bytes());
            out.push(b':');
            let mut text = Vec::new();
            for header in headers.into_iter().chain(by) {
                text.clear();
                run.put(header, TEXT, &mut text);
                self.escape(&text, b'|', out);
                out.push(b'|');
            }
            let own = extensions.is_none();
            let mut first = true;
            let pairs = extensions.unwrap_or(dict);
            let count = run.pair_count(pairs).unwrap_or(0);
            for (key, value) in (0..count).filter_map(|at| run.pair(pairs, at)) {
                let name = run.bytes(key);
                let is_header = self.kind.headers.iter().chain([&DELIMITER]).any(|h| h.as_bytes() == name);
                if own && is_header {
                    continue;
                }
                if !std::mem::replace(&mut first, false) {
                    out.extend_from_slice(between);
                }
                run.put(key, TEXT, out);
                out.extend_from_slice(&self.value);
                text.clear();
                run.put(value, TEXT, &mut text);
                self.escape(&text, b'=', out);
            }
            Ok(())
        })
    }
}

impl Format {
    /// Of LEEF only bars are escaped, in the header.
    fn escape(&self, text: &[u8], special: u8, out: &mut Vec<u8>) {
        for byte in text {
            let escaped = *byte == special || *byte == b'\\';
            if escaped && (!self.kind.is_leef || special == b'|') {
                out.push(b'\\');
            }
            out.push(*byte);
        }
    }
}

fn get(run: &mut Run<'_>, dict: Value, name: &str) -> Option<Value> {
    if let Value::Dict(node) = dict {
        let batch = &mut *run.batch;
        return batch.trees.get(node, Key::Text(name.as_bytes()), &batch.text);
    }
    let count = run.pair_count(dict)?;
    // Of several labels with one name the last counts.
    let mut pairs = (0..count).rev().filter_map(|at| run.pair(dict, at));
    pairs.find(|(key, _)| run.bytes(*key) == name.as_bytes()).map(|(_, value)| value)
}
