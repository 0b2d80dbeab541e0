//! `format_xml()`.

use crate::compile::Arguments;
use crate::program::{Expr, Operation};
use crate::run::{Eval, Failure, Halt, Run};
use value::{TEXT, Value};

/// Elements inside one another.
const DEPTH_MAX: usize = 256;

struct Format {
    dict: Expr,
    windows: bool,
}

pub fn build(args: &mut Arguments<'_, '_>, windows: bool) -> Option<Expr> {
    let dict = args.value(0)?;
    args.made(Format { dict, windows })
}

impl Operation for Format {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let dict = run.eval(&self.dict)?;
        if run.pair_count(dict).is_none() {
            return run.fail(Failure::Type("Argument must be a dict", dict.type_name()));
        }
        run.made(|run, out| self.content(run, dict, out, 0))
    }
}

impl Format {
    /// The elements and texts of a dict.
    fn content(&self, run: &mut Run<'_>, dict: Value, out: &mut Vec<u8>, depth: usize) -> Result<(), Halt> {
        if depth >= DEPTH_MAX {
            return run.error("Failed to format XML: too many elements inside one another");
        }
        for at in 0..run.pair_count(dict).unwrap_or(0) {
            let Some((key, value)) = run.pair(dict, at) else { continue };
            let name = run.bytes(key).to_vec();
            match name.first() {
                Some(b'@') => continue,
                _ if self.windows && name == b"EventIDQualifiers" => continue,
                _ if name == b"#text" => {
                    text(run, value, out);
                    continue;
                }
                _ if is_name(&name) => {}
                _ => return run.fail(Failure::Value("Dict key can't contain special characters", key)),
            }
            let items = if value.is_sequence() { run.cells(value).to_vec() } else { vec![value] };
            for item in items {
                self.element(run, (&name, item), dict, out, depth)?;
            }
        }
        Ok(())
    }

    fn element(
        &self,
        run: &mut Run<'_>,
        (name, value): (&[u8], Value),
        around: Value,
        out: &mut Vec<u8>,
        depth: usize,
    ) -> Result<(), Halt> {
        if self.windows && name == b"Data" && run.pair_count(value).is_some() {
            return self.data(run, value, out);
        }
        out.push(b'<');
        out.extend_from_slice(name);
        if self.windows && name == b"EventID" {
            let qualifiers = (0..run.pair_count(around).unwrap_or(0))
                .filter_map(|at| run.pair(around, at))
                .find(|(key, _)| run.bytes(*key) == b"EventIDQualifiers");
            if let Some((_, qualifiers)) = qualifiers {
                attribute(run, b"Qualifiers", qualifiers, out);
            }
        }
        let mark = out.len();
        if let Some(count) = run.pair_count(value) {
            for at in 0..count {
                let Some((key, value)) = run.pair(value, at) else { continue };
                if let Some(name) = run.bytes(key).strip_prefix(b"@") {
                    let name = name.to_vec();
                    if !is_name(&name) {
                        return run.fail(Failure::Value("Dict key can't contain special characters", key));
                    }
                    attribute(run, &name, value, out);
                }
            }
            out.push(b'>');
            let inside = out.len();
            self.content(run, value, out, depth + 1)?;
            if out.len() > inside {
                close(name, out);
                return Ok(());
            }
            out.truncate(inside - 1);
        } else {
            out.push(b'>');
            let inside = out.len();
            text(run, value, out);
            if out.len() > inside {
                close(name, out);
                return Ok(());
            }
            out.truncate(mark);
        }
        out.extend_from_slice(b"/>");
        Ok(())
    }

    /// The data of an event by their names.
    fn data(&self, run: &mut Run<'_>, dict: Value, out: &mut Vec<u8>) -> Result<(), Halt> {
        for at in 0..run.pair_count(dict).unwrap_or(0) {
            let Some((key, value)) = run.pair(dict, at) else { continue };
            out.extend_from_slice(b"<Data");
            attribute(run, b"Name", key, out);
            out.push(b'>');
            text(run, value, out);
            out.extend_from_slice(b"</Data>");
        }
        Ok(())
    }
}

fn close(name: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"</");
    out.extend_from_slice(name);
    out.push(b'>');
}

fn attribute(run: &Run<'_>, name: &[u8], value: Value, out: &mut Vec<u8>) {
    out.push(b' ');
    out.extend_from_slice(name);
    out.extend_from_slice(b"='");
    text(run, value, out);
    out.push(b'\'');
}

fn text(run: &Run<'_>, value: Value, out: &mut Vec<u8>) {
    let mut plain = Vec::new();
    run.put(value, TEXT, &mut plain);
    for byte in plain {
        match byte {
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            b'\'' => out.extend_from_slice(b"&apos;"),
            byte => out.push(byte),
        }
    }
}

fn is_name(name: &[u8]) -> bool {
    let starts = |b: &u8| b.is_ascii_alphabetic() || matches!(b, b'_' | b':') || *b >= 0x80;
    name.first().is_some_and(starts)
        && name.iter().all(|b| starts(b) || b.is_ascii_digit() || matches!(b, b'.' | b'-'))
}
