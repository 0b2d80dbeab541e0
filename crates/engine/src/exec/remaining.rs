//! What the next of sibling branches may take. Of hundreds of siblings most only count that, so what final
//! branches took is left out when somebody looks at it.

use super::Run;

pub(super) struct Remaining {
    list: Vec<u32>,
    /// How many of the list final branches took since somebody looked.
    gone: usize,
}

impl Remaining {
    /// All that comes to the branches; `empty` has room for it.
    pub fn of(input: &[u32], mut empty: Vec<u32>) -> Remaining {
        empty.extend_from_slice(input);
        Remaining { list: empty, gone: 0 }
    }

    pub fn len(&self) -> usize {
        self.list.len() - self.gone
    }

    /// Final branches have taken so many more.
    pub fn took(&mut self, count: usize) {
        self.gone += count;
    }

    /// Those that remain, given the marks of what final branches took.
    pub fn all(&mut self, run: &Run<'_, '_>, gone: &[bool]) -> &[u32] {
        if self.gone > 0 {
            self.without(run, gone);
        }
        &self.list
    }

    /// How many different messages remain.
    pub fn messages(&mut self, run: &Run<'_, '_>, gone: &[bool]) -> usize {
        if run.copied { run.messages(self.all(run, gone)) } else { self.len() }
    }

    /// Leaves out what is marked, what final branches took among it.
    pub fn without(&mut self, run: &Run<'_, '_>, marks: &[bool]) {
        self.list.retain(|index| !run.is_taken(marks, *index));
        self.gone = 0;
    }

    pub fn into_list(self) -> Vec<u32> {
        self.list
    }
}
