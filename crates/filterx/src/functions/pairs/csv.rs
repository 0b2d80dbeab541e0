//! `parse_csv()`, which reads with the scanner of csv-parser(), and `format_csv()`.

use crate::compile::Arguments;
use crate::functions::strings::text_argument;
use crate::program::{Expr, Operation};
use crate::run::{Eval, Failure, Halt, Run};
use parsers::scanners::csv::{Escape, Field, Scanner, Take};
use value::{Seen, Span, TEXT, Value, put_string};

struct Parse {
    text: Expr,
    columns: Option<Expr>,
    scanner: Scanner,
    greedy: bool,
    strip: bool,
}

const DIALECTS: [(&str, Escape); 4] = [
    ("escape-none", Escape::None),
    ("escape-backslash", Escape::Backslash),
    ("escape-backslash-with-sequences", Escape::Sequences),
    ("escape-double-char", Escape::DoubleChar),
];

pub fn parse(args: &mut Arguments<'_, '_>) -> Option<Expr> {
    let text = args.value(0);
    let columns = args.optional(1);
    let delimiter = args.text(2, ",")?;
    let strings = args.texts(3)?;
    let dialect = args.string(4, "escape-none")?;
    let greedy = args.flag(5, false)?;
    let strip = args.flag(6, false)? | args.flag(8, false)?;
    let quotes = match args.is_given(7) {
        true => args.texts(7)?.concat(),
        false => b"\"\"''".to_vec(),
    };
    let normal = dialect.replace('_', "-");
    let Some((_, escape)) = DIALECTS.iter().find(|(name, _)| *name == normal) else {
        let known = DIALECTS.map(|(name, _)| name).join(", ");
        args.wrong(4, format!("unknown dialect: {dialect}"), &format!("dialects are {known}"));
        return None;
    };
    if quotes.len() % 2 != 0 {
        args.wrong(
            7,
            "quote_pairs has an opening and a closing quote for each pair",
            "as quote_pairs=\"()\"",
        );
        return None;
    }
    let quotes: Vec<(u8, u8)> = quotes.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    let strings: Vec<Box<[u8]>> =
        strings.into_iter().filter(|s| !s.is_empty()).map(Vec::into_boxed_slice).collect();
    if delimiter.is_empty() && strings.is_empty() {
        args.wrong(2, "there is no delimiter", "as delimiter=\";\"");
        return None;
    }
    let scanner = Scanner::new(&delimiter, strings, &quotes, *escape);
    args.made(Parse { text: text?, columns: columns?, scanner, greedy, strip })
}

impl Parse {
    /// The field at a place, and where the next begins.
    fn field(&self, run: &mut Run<'_>, span: Span, at: usize) -> Result<(Value, usize), Halt> {
        let mut out = run.cx.work.text();
        let mut marks = self.scanner.marks();
        let text = run.batch.bytes(span);
        let mut take = Take { wanted: true, strip: self.strip, marks: &mut marks, out: &mut out };
        let (field, next) = self.scanner.field(text, at, &mut take);
        let value = self.value(run, span, field, &out);
        run.cx.work.keep_text(out);
        Ok((value?, next))
    }

    fn value(&self, run: &mut Run<'_>, span: Span, field: Field, made: &[u8]) -> Eval {
        let (mut start, mut end) = (field.start, field.end);
        let source = if field.made { made } else { run.batch.bytes(span) };
        if field.made {
            (start, end) = (0, made.len());
        }
        if self.strip {
            let value = source.get(start..end).unwrap_or_default();
            let front = if field.quoted { value } else { value.trim_ascii_start() };
            start += value.len() - front.len();
            end = start + front.trim_ascii_end().len();
        }
        match field.made {
            true => run.string(made.get(start..end).unwrap_or_default()),
            false => Ok(Value::String(Span::new(span.start as usize + start, end.saturating_sub(start)))),
        }
    }
}

impl Operation for Parse {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let text = run.eval(&self.text)?;
        let span = text_argument(run, &[text], 0)?;
        let columns = match &self.columns {
            Some(columns) => Some(run.eval(columns)?),
            None => None,
        };
        let columns = columns_of(run, columns)?;
        let len = span.len as usize;
        let count = columns.map(|columns| run.cells(columns).len());
        let (mut at, mut number) = (0, 0);
        let mark = run.memory.stack.len();
        let (mut seen, mut repeated) = (Seen::default(), false);
        while at < len && count.is_none_or(|count| number < count) {
            let value = if self.greedy && count == Some(number + 1) {
                let rest = Span::new(span.start as usize + at, len - at);
                at = len;
                Value::String(rest)
            } else {
                let (value, next) = self.field(run, span, at)?;
                at = next;
                value
            };
            if let Some(columns) = columns {
                let name = run.cells(columns).get(number).copied().unwrap_or_default();
                let Value::String(key) = name else {
                    return run.fail(Failure::Type("Names of columns must be strings", name.type_name()));
                };
                repeated |= seen.is_again(&run.memory.stack, mark, key, &run.batch.text);
                run.memory.stack.push(name);
            }
            run.memory.stack.push(value);
            number += 1;
        }
        let node = run.node_of_stack(mark, repeated)?;
        Ok(if columns.is_none() { Value::List(node) } else { Value::Dict(node) })
    }
}

fn columns_of(run: &mut Run<'_>, columns: Option<Value>) -> Result<Option<Value>, Halt> {
    match columns.filter(|columns| !columns.is_sequence()) {
        Some(other) => run.fail(Failure::Type("columns must be a list", other.type_name())),
        None => Ok(columns),
    }
}

struct Format {
    value: Expr,
    columns: Option<Expr>,
    delimiter: u8,
    default: Vec<u8>,
}

pub fn format(args: &mut Arguments<'_, '_>) -> Option<Expr> {
    let value = args.value(0);
    let columns = args.optional(1);
    let delimiter = args.text(2, ",")?;
    let default = args.text(3, "")?;
    let [delimiter] = *delimiter else {
        args.wrong(2, "delimiter is one character", "as delimiter=\";\"");
        return None;
    };
    args.made(Format { value: value?, columns: columns?, delimiter, default })
}

impl Operation for Format {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let value = run.eval(&self.value)?;
        let columns = match &self.columns {
            Some(columns) => Some(run.eval(columns)?),
            None => None,
        };
        let columns = columns_of(run, columns)?;
        let fields: Vec<Option<Value>> = match (run.pair_count(value), columns) {
            (Some(_), Some(columns)) => {
                let names = run.cells(columns).to_vec();
                names.iter().map(|name| run.value_of(value, *name)).collect()
            }
            (Some(count), None) => {
                (0..count).filter_map(|at| run.pair(value, at)).map(|(_, value)| Some(value)).collect()
            }
            _ if value.is_sequence() => run.cells(value).iter().copied().map(Some).collect(),
            _ => return run.fail(Failure::Type("Argument must be a dict or list", value.type_name())),
        };
        run.made(|run, out| {
            let mut text = Vec::new();
            for (at, field) in fields.iter().enumerate() {
                if at > 0 {
                    out.push(self.delimiter);
                }
                text.clear();
                match field {
                    Some(field) => run.put(*field, TEXT, &mut text),
                    None => text.extend_from_slice(&self.default),
                }
                match text.contains(&self.delimiter) {
                    true => put_string(&text, out),
                    false => out.extend_from_slice(&text),
                }
            }
            Ok(())
        })
    }
}
