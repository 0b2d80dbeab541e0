//! Where the groups of a match stand.

/// Spans of the groups of the last match, group 0 being the whole; reused from match to match.
#[derive(Clone, Debug, Default)]
pub struct Slots {
    spans: Vec<Option<(usize, usize)>>,
}

impl Slots {
    pub fn new() -> Slots {
        Slots::default()
    }

    /// Start and end of a group; `None` when it took no part in the match or does not exist.
    pub fn get(&self, group: usize) -> Option<(usize, usize)> {
        self.spans.get(group).copied().flatten()
    }

    /// Groups of the pattern, the whole match included.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = Option<(usize, usize)>> + '_ {
        self.spans.iter().copied()
    }

    /// Moves all spans by so many bytes.
    pub(crate) fn shift(&mut self, by: usize) {
        self.spans.iter_mut().flatten().for_each(|(start, end)| (*start, *end) = (*start + by, *end + by));
    }

    /// Room for so many groups, none of which has taken part yet.
    pub(crate) fn clear(&mut self, groups: usize) -> &mut [Option<(usize, usize)>] {
        self.spans.clear();
        self.spans.resize(groups, None);
        &mut self.spans
    }

    pub(crate) fn fill(&mut self, spans: impl Iterator<Item = Option<(usize, usize)>>) {
        self.spans.clear();
        self.spans.extend(spans);
    }
}
