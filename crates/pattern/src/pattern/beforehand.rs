//! What is known of the texts that a pattern matches before it is asked: for whoever asks many of them.

use super::{Pattern, Search};
use crate::first::FirstBytes;
use crate::node::Node;
use crate::options::Kind;
use crate::required::needed;

impl Pattern {
    /// The texts, when a match is "contains one of these" (`true`: in any case).
    pub(crate) fn contained(&self) -> Option<(&[Box<[u8]>], bool)> {
        match &self.search {
            Search::Literal(literal) if !self.options.utf8 => literal.contained(),
            _ => None,
        }
    }

    /// A text of so many bytes at least that each match needs, where the pattern is no plain text itself.
    pub(crate) fn needed(&self, bytes_min: usize) -> Option<Vec<u8>> {
        if !matches!(self.search, Search::Linear(_) | Search::Pcre(_)) || self.options.kind != Kind::Pcre {
            return None;
        }
        let node = self.parsed.as_ref().map(|parsed| &parsed.node);
        needed(&self.text, node, self.options.ignore_case).filter(|text| text.len() >= bytes_min)
    }

    /// The same of any pattern.
    pub fn essential(&self, bytes_min: usize) -> Option<crate::Needle> {
        match &self.search {
            Search::Literal(literal) if !self.options.utf8 => literal.needle(bytes_min),
            _ => self.needed(bytes_min).map(|text| crate::Needle::new(&text)),
        }
    }

    /// How texts begin that it matches, where it has to be asked of an engine and is tied to the beginning.
    pub(crate) fn beginning(&self) -> Option<Node> {
        let searched = matches!(self.search, Search::Linear(_) | Search::Pcre(_)) && !self.options.utf8;
        crate::front::beginning(&self.parsed.as_ref().filter(|_| searched)?.node)
    }

    /// Whether a text that begins with this byte can match.
    pub(crate) fn can_begin(&self, byte: u8) -> bool {
        match &self.search {
            Search::Literal(literal) => literal.can_begin(byte),
            _ => self.begins.as_ref().is_none_or(|begins| begins.has(byte)),
        }
    }

    /// Whether its first byte excludes that anything is found in a text.
    #[inline]
    pub(super) fn is_out(&self, text: &[u8]) -> bool {
        let begins = |begins: &FirstBytes| text.first().is_some_and(|byte| begins.has(*byte));
        self.begins.as_ref().is_some_and(|all| !begins(all))
    }
}
