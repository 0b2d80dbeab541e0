//! The same of a pattern that was understood: its groups are looked into as well.

use super::LENGTH_MIN;
use crate::node::Node;
use crate::simplify::{End, Texts};

/// Times a repeated text is written down.
const TIMES_MAX: u32 = 8;

/// The longest text that each match contains; `None` when there is none worth looking for.
pub fn required_inside(node: &Node) -> Option<Texts> {
    let mut walk = Walk::default();
    walk.node(node);
    walk.end_run();
    let (bytes, icase) = walk.best;
    let worth = bytes.len() >= LENGTH_MIN;
    worth.then(|| Texts { at_start: false, end: End::Anything, texts: vec![bytes], icase })
}

#[derive(Default)]
struct Walk {
    /// The bytes that follow each other up to here.
    run: Vec<u8>,
    /// Whether the letters of the run are folded; `None` as long as it has no letters.
    folded: Option<bool>,
    best: (Vec<u8>, bool),
}

impl Walk {
    fn end_run(&mut self) {
        let (run, folded) = (std::mem::take(&mut self.run), self.folded.take());
        if run.len() > self.best.0.len() {
            self.best = (run, folded.unwrap_or_default());
        }
    }

    fn text(&mut self, bytes: &[u8], icase: bool) {
        if bytes.iter().any(u8::is_ascii_alphabetic) {
            if self.folded.is_some_and(|folded| folded != icase) {
                self.end_run();
            }
            self.folded = Some(icase);
        }
        self.run.extend_from_slice(bytes);
    }

    fn node(&mut self, node: &Node) {
        match node {
            // What looks at a place takes nothing: its neighbours stand side by side.
            Node::Empty | Node::Assert(_) => {}
            Node::Literal { bytes, icase } => self.text(bytes, *icase),
            Node::Group(inner) => self.node(inner),
            Node::Concat(items) => items.iter().for_each(|item| self.node(item)),
            Node::Repeat { node, min, max, .. } if *min > 0 => {
                let times = (*min).min(TIMES_MAX);
                (0..times).for_each(|_| self.node(node));
                if *max != Some(times) {
                    self.end_run();
                }
            }
            Node::Set(_) | Node::Repeat { .. } | Node::Alt(_) => self.end_run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Mode, parse};

    #[test]
    fn texts_every_match_has() {
        for (pattern, expected) in [
            ("^(?<pri><\\d+>)(?<host>[^ ]+).* (?<sdata>\\[\\w+@6876[^\\]]+\\])", Some(("@6876", false))),
            ("(foo)(bar)x*", Some(("foobar", false))),
            ("(?i)foo(?-i)barx", Some(("barx", false))),
            ("(?i)fail: x+", Some(("fail: x", true))),
            ("12(?i)ab", Some(("12ab", true))),
            ("(ab){2}c", Some(("ababc", false))),
            ("(ab){2,}c", Some(("abab", false))),
            ("fo\\bo$", Some(("foo", false))),
            ("(foo|bar)", None),
            ("(foo)?ab", Some(("ab", false))),
            ("a.b", None),
        ] {
            let parsed = parse(pattern, Mode { utf8: false, icase: false }).expect("a pattern");
            let found = required_inside(&parsed.node).map(|t| (t.texts.concat(), t.icase));
            let expected = expected.map(|(text, icase)| (text.as_bytes().to_vec(), icase));
            assert_eq!(found, expected, "{pattern}");
        }
    }
}
