//! The bytes with which texts begin that a pattern tied to the beginning can match: most others are refused
//! with one look.

use crate::front::is_tied;
use crate::node::Node;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FirstBytes([u64; 4]);

impl FirstBytes {
    /// `None` where any text may be matched, the empty one among them. Assertions are taken to hold.
    pub fn of(pattern: &Node) -> Option<FirstBytes> {
        let mut bytes = FirstBytes::default();
        (is_tied(pattern) && !bytes.add(pattern)).then_some(bytes)
    }

    #[inline]
    pub fn has(&self, byte: u8) -> bool {
        self.0[usize::from(byte) / 64] & 1 << (byte % 64) != 0
    }

    /// Adds what a part of the pattern may begin with; says whether it may be empty, so that what follows
    /// counts too.
    fn add(&mut self, node: &Node) -> bool {
        match node {
            Node::Empty | Node::Assert(_) => true,
            Node::Literal { bytes, icase } => {
                let first = bytes.first().copied();
                first.into_iter().for_each(|byte| self.byte(byte));
                let folded = first.filter(|_| *icase).into_iter();
                folded
                    .flat_map(|b| [b.to_ascii_lowercase(), b.to_ascii_uppercase()])
                    .for_each(|b| self.byte(b));
                first.is_none()
            }
            Node::Set(set) => {
                let ranges = set.ranges().iter().flat_map(|(from, to)| *from..=*to.min(&255));
                ranges.for_each(|byte| self.byte(byte as u8));
                false
            }
            Node::Repeat { node, min, .. } => self.add(node) || *min == 0,
            Node::Group(inner) => self.add(inner),
            Node::Concat(items) => items.iter().all(|item| self.add(item)),
            Node::Alt(items) => items.iter().fold(false, |empty, item| self.add(item) | empty),
        }
    }

    fn byte(&mut self, byte: u8) {
        self.0[usize::from(byte) / 64] |= 1 << (byte % 64);
    }
}

#[cfg(test)]
mod tests {
    use super::FirstBytes;
    use crate::parse::{Mode, parse};
    use crate::pcre::{Pcre, Spent};
    use crate::{Cache, Pattern, PatternOptions, Slots};
    use proptest::prelude::*;

    #[test]
    fn first_bytes() {
        for (text, expected) in [
            (r"^\<\d+\>", Some("<")),
            ("^(?:x*|(?i)ab+)[yz]{1,2}", Some("Aaxyz")),
            ("^a*", None),
            ("a", None),
            ("^(a|^)", None),
            (r"^\bq.*|^[0-2]+$", Some("012q")),
        ] {
            let parsed = parse(text, Mode { utf8: false, icase: false }).expect("understood");
            let bytes = FirstBytes::of(&parsed.node);
            let listed = bytes.map(|bytes| (0..=255).filter(|b| bytes.has(*b)).map(char::from).collect());
            assert_eq!(listed, expected.map(str::to_owned), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_refused_matches_nothing(
            text in "\\^(a|[ab]|(a|bc)|\\(\\?i\\)B|\\.|\\(a\\|bc\\*\\)){1,3}([*+?]|\\{2\\}|\\{1,3\\})?(c|\\[\\^b\\]\\+|\\\\b|\\$){0,2}",
            texts in prop::collection::vec("[abcB\n]{0,6}", 1..12),
        ) {
            let pcre = Pcre::new(&text, &PatternOptions::default()).expect("a pattern");
            let pattern = Pattern::compile(&text, &PatternOptions::default()).expect("a pattern");
            let (mut cache, mut slots) = (Cache::new(), Slots::new());
            for text in &texts {
                let text = text.as_bytes();
                let expected = pcre.captures(text, 0, &mut cache, &mut slots, &mut Spent::default());
                prop_assert_eq!(pattern.is_match(text, &mut cache), expected, "{:?}", text);
                prop_assert_eq!(pattern.captures(text, 0, &mut cache, &mut slots), expected, "{:?}", text);
            }
        }
    }
}
