//! A pattern on a text of the message: `program()`, `host()`, `message()`, `match()`, `source()`.

use crate::context::Workspace;
use crate::matches::store_matches;
use crate::subject::{Subject, span_in};
use pattern::{Engine, MultiPattern, Pattern};
use record::{Batch, NameId, Record, Span};
use std::sync::Arc;
use template::{Msg, RenderContext};

pub struct Matcher {
    pub subject: Subject,
    pub pattern: Arc<Pattern>,
    /// With store-matches: the names of the pattern's groups.
    pub store: Option<Vec<Option<NameId>>>,
    /// For costly patterns on values that come again and again: answers are remembered.
    memo: Option<MultiPattern>,
}

impl Matcher {
    pub fn new(subject: Subject, pattern: Arc<Pattern>, store: Option<Vec<Option<NameId>>>) -> Matcher {
        let costly = matches!(pattern.engine(), Engine::Automaton | Engine::Pcre2(_));
        let memo =
            (costly && subject.repeats()).then(|| MultiPattern::compile(std::slice::from_ref(&pattern)));
        Matcher { subject, pattern, store, memo }
    }

    /// The outcome, where no message is needed to know it.
    pub fn constant(&self) -> Option<bool> {
        match (&self.subject, &self.store) {
            (Subject::Template(template), None) => {
                Some(self.pattern.is_match(template.literal()?, &mut pattern::Cache::new()))
            }
            _ => None,
        }
    }

    #[inline]
    fn is_match(&self, text: &[u8], work: &mut Workspace) -> bool {
        match &self.memo {
            Some(memo) => memo.matches_often(text, &mut work.patterns) != 0,
            None => self.pattern.is_match(text, &mut work.patterns),
        }
    }

    pub fn holds(
        &self,
        batch: &Batch,
        record: &Record,
        work: &mut Workspace,
        render: &mut RenderContext,
    ) -> bool {
        self.subject.with(Msg { batch, record }, work, render, |text, work| self.is_match(text, work))
    }

    pub fn narrow(
        &self,
        batch: &mut Batch,
        selection: &mut Vec<u32>,
        work: &mut Workspace,
        render: &mut RenderContext,
    ) {
        if let Some(names) = &self.store {
            selection.retain(|index| self.store(batch, *index as usize, names, work, render));
            return;
        }
        let batch = &*batch;
        selection.retain(|index| match batch.records.get(*index as usize) {
            Some(record) => self.holds(batch, record, work, render),
            None => false,
        });
    }

    fn store(
        &self,
        batch: &mut Batch,
        index: usize,
        names: &[Option<NameId>],
        work: &mut Workspace,
        render: &mut RenderContext,
    ) -> bool {
        let Some(record) = batch.records.get(index) else { return false };
        let mut slots = std::mem::take(&mut work.slots);
        let mut buffer = work.text();
        let text = self.subject.text(Msg { batch, record }, render, &mut buffer);
        let found = self.pattern.captures(text, 0, &mut work.patterns, &mut slots);
        if found {
            // Text that was made for this match is kept in the batch: the matches point into it.
            let place: Option<Span> = span_in(batch, text);
            let place = place.unwrap_or_else(|| batch.append(&std::mem::take(&mut buffer)));
            store_matches(batch, index, place, &slots, names, &[&work.wanted]);
        }
        work.keep_text(buffer);
        work.slots = slots;
        found
    }
}
