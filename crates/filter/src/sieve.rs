//! What a filter needs to hold, looked for in all of a batch at once: for whoever asks of many messages
//! about a few.

use crate::filter::Filter;
use crate::node::Node;
use crate::subject::Subject;
use pattern::Needle;
use record::{Batch, Record, Span};

/// Shorter texts stand everywhere.
const BYTES_MIN: usize = 2;
/// Fields up to this length are looked at in one step.
const STEP_BYTES: usize = 16;
/// A one in each byte.
const ONES: u128 = u128::MAX / 255;

/// Texts of fields without which the filter cannot hold.
#[derive(Debug, Default)]
pub struct Sieve(Vec<Mesh>);

#[derive(Debug)]
struct Mesh {
    field: fn(&Record) -> Span,
    /// Values of the field are short: HOST, PROGRAM.
    is_short: bool,
    needle: Needle,
    /// The first two bytes of the needle, each repeated.
    pair: [u128; 2],
}

impl Sieve {
    pub fn of(filter: &Filter) -> Sieve {
        let mut sieve = Sieve::default();
        if filter.is_pure() {
            sieve.add(filter.node());
        }
        sieve
    }

    fn add(&mut self, node: &Node) {
        match node {
            Node::And(nodes) => nodes.iter().for_each(|node| self.add(node)),
            Node::Filter(called) => self.add(called.filter.node()),
            Node::Match(matcher) => {
                let field: fn(&Record) -> Span = match matcher.subject {
                    Subject::Host => |record| record.host,
                    Subject::Program => |record| record.program,
                    Subject::Message => |record| record.message,
                    _ => return,
                };
                let is_short = !matches!(matcher.subject, Subject::Message);
                let needle = matcher.pattern.essential(BYTES_MIN);
                self.0.extend(needle.and_then(|needle| {
                    let [first, second, ..] = *needle.text() else { return None };
                    let pair = [u128::from(first) * ONES, u128::from(second) * ONES];
                    Some(Mesh { field, is_short, needle, pair })
                }));
            }
            _ => {}
        }
    }

    /// Takes places of records out of `selection` for which the filter does not hold. Fields of a message are
    /// parts of its batch's text.
    pub fn sift(&self, batch: &Batch, selection: &mut Vec<u32>) {
        for mesh in &self.0 {
            if mesh.is_short {
                selection.retain(|at| match batch.records.get(*at as usize) {
                    Some(record) => mesh.may_stand_in(&batch.text, (mesh.field)(record)),
                    None => false,
                });
            } else if !mesh.needle.stands_in(&batch.text) {
                selection.clear();
            }
            if selection.is_empty() {
                return;
            }
        }
    }
}

impl Mesh {
    /// `true` is no promise.
    #[inline]
    fn may_stand_in(&self, text: &[u8], field: Span) -> bool {
        let length = field.len as usize;
        if length < self.needle.text().len() {
            return false;
        }
        // A pair of bytes that begins in the step: all pairs of a field that is no longer.
        let step = |from: usize| text.get(from..)?.first_chunk::<STEP_BYTES>();
        let start = field.start as usize;
        let (true, Some(one), Some(next)) = (length <= STEP_BYTES, step(start), step(start + 1)) else {
            // What stands at the end of the text has no whole step.
            let value = text.get(start..start + length).unwrap_or_default();
            return length > STEP_BYTES || self.needle.stands_in(value);
        };
        let [first, second] = self.pair;
        zeros(u128::from_le_bytes(*one) ^ first) & zeros(u128::from_le_bytes(*next) ^ second) != 0
    }
}

/// The highest bit of each byte that is zero, and perhaps of one behind such a byte.
#[inline]
fn zeros(bytes: u128) -> u128 {
    bytes.wrapping_sub(ONES) & !bytes & (ONES << 7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{World, context};
    use proptest::prelude::*;

    /// What is left of messages with these programs and texts.
    fn batch<'t>(messages: impl Iterator<Item = (&'t str, &'t str)>) -> Batch {
        let mut batch = Batch::default();
        for (program, text) in messages {
            let mut record = Record::new(Span::EMPTY);
            (record.program, record.message) =
                (batch.append(program.as_bytes()), batch.append(text.as_bytes()));
            batch.records.push(record);
        }
        batch
    }

    #[track_caller]
    fn check(expr: &str, expected: &[u32]) {
        let programs = ["sshd", "a-very-long-program-name-sshd", "cron", "", "ssh"];
        let batch = batch(programs.into_iter().zip(["failed", "x", "failed for root", "y", "z"]));
        let filter = World::new(&format!("filter f {{ {expr}; }};"), (4, 2)).filter("f");
        let mut left = (0..5).collect();
        Sieve::of(&filter).sift(&batch, &mut left);
        assert_eq!(left, expected, "{expr}");
    }

    #[test]
    fn what_cannot_be_is_taken_out() {
        check("program('sshd')", &[0, 1]);
        check("program('^sshd$')", &[0, 1]);
        check("program('sshd') and message('failed')", &[0, 1]);
        check("message('nowhere')", &[]);
        check("program('never[0-9]+')", &[1]);
        // Of these nothing is known beforehand.
        for expr in
            ["not program('sshd')", "program('x') or program('y')", "program('SSHD' flags(ignore-case))"]
        {
            check(expr, &[0, 1, 2, 3, 4]);
        }
    }

    proptest! {
        #[test]
        fn nothing_is_taken_out_that_holds(
            programs in proptest::collection::vec("[ab]{0,20}", 1..8),
            needle in "[ab]{2,4}",
        ) {
            let mut batch = batch(programs.iter().map(|text| (text.as_str(), text.as_str())));
            let expr = format!("program('{needle}') and message('{needle}')");
            let filter = World::new(&format!("filter f {{ {expr}; }};"), (4, 2)).filter("f");
            let all: Vec<u32> = (0..programs.len() as u32).collect();
            let (mut left, mut held) = (all.clone(), all);
            Sieve::of(&filter).sift(&batch, &mut left);
            filter.select(&mut batch, &mut held, &mut context());
            prop_assert!(held.iter().all(|at| left.contains(at)), "{held:?} in {left:?}");
        }
    }
}
