//! The text a parser reads, and the walk over a selection that every parser shares.

use crate::found::Found;
use crate::learned::Learned;
use filter::{FilterContext, Subject, span_in};
use record::{Batch, Demand, NameId, Span};
use std::sync::Arc;
use template::{Msg, Template};

/// Where a parser's text comes from.
#[derive(Clone)]
pub struct Input {
    subject: Arc<From>,
}

enum From {
    Subject(Subject),
    /// Printed for each message.
    Template(Arc<Template>),
}

impl Input {
    pub fn message() -> Input {
        Input { subject: Arc::new(From::Subject(Subject::Message)) }
    }

    pub fn of(template: &Arc<Template>) -> Input {
        let subject = match template.single_name() {
            Some(name) if !name.is_sdata() => From::Subject(Subject::of_name(name)),
            _ => From::Template(Arc::clone(template)),
        };
        Input { subject: Arc::new(subject) }
    }

    /// The value it is, where nothing has to be printed.
    pub fn name(&self) -> Option<NameId> {
        match &*self.subject {
            From::Subject(subject) => subject.name(),
            From::Template(_) => None,
        }
    }

    pub fn reads(&self, demand: &mut Demand) {
        match &*self.subject {
            From::Subject(subject) => subject.reads(demand),
            From::Template(template) => template.reads(demand),
        }
    }

    /// The place of a message's text in the batch; text that has to be made is put there.
    #[inline]
    pub fn span(&self, batch: &mut Batch, index: usize, cx: &mut FilterContext) -> Option<Span> {
        let record = batch.records.get(index)?;
        match &*self.subject {
            From::Subject(subject) => match subject.field(record) {
                Some(span) => Some(span),
                None => Some(value_span(batch, index, subject)),
            },
            From::Template(template) => {
                let mut text = cx.work.text();
                template.render(Msg { batch, record }, &mut cx.render, &mut text);
                let span = batch.append(&text);
                cx.work.keep_text(text);
                Some(span)
            }
        }
    }

    /// Gives `parse` the text of each selected message, with an empty [`Found`]; leaves those for which it is
    /// true, with what was found as their values.
    #[inline]
    pub fn each(
        &self,
        batch: &mut Batch,
        selection: &mut Vec<u32>,
        cx: &mut FilterContext,
        found: &mut Found,
        learned: &mut Learned,
        mut parse: impl FnMut(&[u8], &mut Found, &mut Learned) -> bool,
    ) {
        selection.retain(|index| {
            let index = *index as usize;
            let Some(span) = self.span(batch, index, cx) else { return false };
            found.clear();
            let good = learned.of(batch, |batch, learned| parse(batch.bytes(span), found, learned));
            if good {
                found.store(batch, index, span);
            }
            good
        });
    }
}

/// Values of a peer's context stand outside the batch's text: they are copied there.
fn value_span(batch: &mut Batch, index: usize, subject: &Subject) -> Span {
    let (Subject::Value(name), Some(record)) = (subject, batch.records.get(index)) else {
        return Span::EMPTY;
    };
    let name: NameId = *name;
    let Some(value) = batch.value(record, name) else { return Span::EMPTY };
    if let Some(span) = span_in(batch, value.bytes) {
        return span;
    }
    let copy = value.bytes.to_vec();
    batch.append(&copy)
}
