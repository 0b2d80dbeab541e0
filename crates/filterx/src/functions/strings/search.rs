//! Searches for fixed texts, and patterns of file names.

use super::text_argument;
use crate::compile::Arguments;
use crate::functions::convert::first;
use crate::program::{Expr, Operation};
use crate::run::{Eval, Failure, Halt, MADE_BYTES_MAX, Run};
use memchr::memmem;
use value::Value;

/// Where in a text something is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Where {
    Start,
    End,
    Anywhere,
}

struct Search {
    text: Expr,
    needle: Expr,
    place: Where,
    ignore_case: bool,
    /// Bytes of the text that are looked at; 0 for all.
    limit: usize,
}

pub fn build(args: &mut Arguments<'_, '_>, place: Where) -> Option<Expr> {
    let (text, needle) = (args.value(0), args.value(1));
    let ignore_case = args.flag(2, false)?;
    let limit = if place == Where::Anywhere { args.number(3, 0)? } else { 0 };
    let limit = usize::try_from(limit).unwrap_or(0);
    args.made(Search { text: text?, needle: needle?, place, ignore_case, limit })
}

impl Search {
    fn finds(&self, text: &[u8], needle: &[u8]) -> bool {
        let same = |a: &[u8]| if self.ignore_case { a.eq_ignore_ascii_case(needle) } else { a == needle };
        match self.place {
            Where::Start => text.get(..needle.len()).is_some_and(same),
            Where::End => {
                text.len().checked_sub(needle.len()).and_then(|at| text.get(at..)).is_some_and(same)
            }
            Where::Anywhere if self.ignore_case => {
                let (text, needle) = (text.to_ascii_lowercase(), needle.to_ascii_lowercase());
                memmem::find(&text, &needle).is_some()
            }
            Where::Anywhere => memmem::find(text, needle).is_some(),
        }
    }
}

impl Operation for Search {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let text = run.eval(&self.text)?;
        let span = text_argument(run, &[text], 0)?;
        let len = if self.limit > 0 { self.limit.min(span.len as usize) } else { span.len as usize };
        if let Expr::Text(needle) = self.needle {
            let text = run.batch.bytes(span).get(..len).unwrap_or_default();
            return Ok(Value::Boolean(self.finds(text, run.literal(needle))));
        }
        let needle = run.eval(&self.needle)?;
        let found = any_text(run, needle, |run, needle| {
            let text = run.batch.bytes(span).get(..len).unwrap_or_default();
            self.finds(text, run.bytes(needle))
        })?;
        Ok(Value::Boolean(found))
    }
}

/// Whether it holds for a text, or for one of a sequence of texts.
fn any_text(
    run: &mut Run<'_>,
    value: Value,
    mut holds: impl FnMut(&Run<'_>, Value) -> bool,
) -> Result<bool, Halt> {
    match value {
        Value::String(_) => Ok(holds(run, value)),
        list if list.is_sequence() => {
            let mut found = false;
            let count = run.cells(value).len();
            if count == 0 {
                return run.error("The list of texts must not be empty");
            }
            for at in 0..count {
                match run.cells(value).get(at).copied() {
                    Some(item @ Value::String(_)) => found = found || holds(run, item),
                    other => {
                        let kind = other.unwrap_or_default().type_name();
                        return run.fail(Failure::Type("Items must be string typed", kind));
                    }
                }
            }
            Ok(found)
        }
        other => {
            run.fail(Failure::Type("Argument must be string typed or a list of strings", other.type_name()))
        }
    }
}

pub fn replace(run: &mut Run<'_>, args: &[Value]) -> Eval {
    let text = text_argument(run, args, 0)?;
    let (old, new) = (text_argument(run, args, 1)?, text_argument(run, args, 2)?);
    let limit = match args.get(3) {
        None => usize::MAX,
        Some(Value::Integer(n)) if *n > 0 => usize::try_from(*n).unwrap_or(usize::MAX),
        Some(Value::Integer(_)) => usize::MAX,
        Some(other) => return run.fail(Failure::Type("limit must be integer", other.type_name())),
    };
    run.made(|run, out| {
        let (text, old, new) = (run.batch.bytes(text), run.batch.bytes(old), run.batch.bytes(new));
        let mut rest = text;
        for _ in 0..limit {
            if out.len() > MADE_BYTES_MAX {
                // Too long for a place in the batch: whoever wants one says so.
                return Ok(());
            }
            let Some(at) = memmem::find(rest, old) else { break };
            if old.is_empty() {
                out.extend_from_slice(new);
                let Some((byte, after)) = rest.split_first() else { return Ok(()) };
                out.push(*byte);
                rest = after;
                continue;
            }
            out.extend_from_slice(rest.get(..at).unwrap_or_default());
            out.extend_from_slice(new);
            rest = rest.get(at + old.len()..).unwrap_or_default();
        }
        out.extend_from_slice(rest);
        Ok(())
    })
}

pub fn casecmp(run: &mut Run<'_>, args: &[Value]) -> Eval {
    let (a, b) = (text_argument(run, args, 0)?, text_argument(run, args, 1)?);
    let lower = |b: &u8| b.to_ascii_lowercase();
    let order = run.batch.bytes(a).iter().map(lower).cmp(run.batch.bytes(b).iter().map(lower));
    Ok(Value::Integer(order as i64))
}

pub fn glob_match(run: &mut Run<'_>, args: &[Value]) -> Eval {
    let text = text_argument(run, args, 0)?;
    let pattern = args.get(1).copied().unwrap_or_else(|| first(args));
    any_text(run, pattern, |run, pattern| {
        let text = run.batch.bytes(text);
        is_glob(run.bytes(pattern), text)
    })
    .map(Value::Boolean)
}

/// fnmatch with FNM_PATHNAME and FNM_PERIOD, in time that grows with text times pattern at most.
pub fn is_glob(pattern: &[u8], text: &[u8]) -> bool {
    // A dot at the beginning of a name has to be written.
    let is_hidden = |at: usize| text.get(at) == Some(&b'.') && (at == 0 || text.get(at - 1) == Some(&b'/'));
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p + 1, t));
                p += 1;
                continue;
            }
            None if t == text.len() => return true,
            _ => {}
        }
        let is_written = !matches!(pattern.get(p), Some(b'?' | b'[')) || !is_hidden(t);
        if let Some(next) = text.get(t).filter(|_| is_written).and_then(|byte| one(pattern, p, *byte)) {
            (p, t) = (next, t + 1);
            continue;
        }
        match star {
            // The star takes one byte more, but never a slash.
            Some((after, from)) if !is_hidden(from) && text.get(from).is_some_and(|b| *b != b'/') => {
                star = Some((after, from + 1));
                (p, t) = (after, from + 1);
            }
            _ => return false,
        }
    }
}

/// Where the pattern goes on behind what stands for one byte.
fn one(pattern: &[u8], at: usize, byte: u8) -> Option<usize> {
    match pattern.get(at)? {
        b'?' => (byte != b'/').then_some(at + 1),
        b'\\' => (pattern.get(at + 1) == Some(&byte)).then_some(at + 2),
        b'[' => match class(pattern, at, byte) {
            Some((found, next)) => (found && byte != b'/').then_some(next),
            None => (byte == b'[').then_some(at + 1),
        },
        other => (*other == byte).then_some(at + 1),
    }
}

/// Whether a byte is in the class at a place, and where that ends.
fn class(pattern: &[u8], at: usize, byte: u8) -> Option<(bool, usize)> {
    let mut at = at + 1;
    let negated = matches!(pattern.get(at), Some(b'!' | b'^'));
    at += usize::from(negated);
    let start = at;
    let mut found = false;
    loop {
        let low = *pattern.get(at)?;
        if low == b']' && at > start {
            return Some((found != negated, at + 1));
        }
        if pattern.get(at + 1) == Some(&b'-')
            && let Some(high) = pattern.get(at + 2).filter(|b| **b != b']')
        {
            found |= (low..=*high).contains(&byte);
            at += 3;
        } else {
            found |= low == byte;
            at += 1;
        }
    }
}
