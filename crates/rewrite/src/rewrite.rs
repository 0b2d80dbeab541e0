//! The compiled operation with its condition, and what can be asked of it.

use crate::compile;
use crate::op::{Op, Tag, assign_span, span_of};
use conf_syntax::Call;
use diag::Diagnostics;
use filter::{Filter, FilterContext, FilterEnv, clear_matches};
use record::{Batch, Demand, NameId, ValueType};
use template::list::Items;
use template::{Msg, Template};

/// One rewrite operation. Shared by all workers; each brings its [`FilterContext`].
pub struct Rewrite {
    op: Op,
    condition: Option<Filter>,
    /// Its condition never holds.
    is_idle: bool,
}

/// What an operation may change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writes {
    pub names: Vec<NameId>,
    pub stamp: bool,
    pub pri: bool,
    pub tags: bool,
    /// Any value: known only when the message is.
    pub everything: bool,
}

impl Rewrite {
    /// Reports everything wrong with the operation; `None` when there was an error.
    pub fn compile(call: &Call, env: &dyn FilterEnv, diags: &mut Diagnostics) -> Option<Rewrite> {
        compile::operation(call, env, diags)
    }

    pub(crate) fn new(op: Op, condition: Option<Filter>) -> Rewrite {
        let condition = condition.filter(|condition| condition.constant() != Some(true));
        let is_idle = condition.as_ref().is_some_and(|condition| condition.constant() == Some(false));
        Rewrite { op, condition, is_idle }
    }

    /// Changes no message, whatever it is.
    pub fn is_idle(&self) -> bool {
        self.is_idle
    }

    /// Changes the selected records, those for which the condition holds.
    pub fn apply(&self, batch: &mut Batch, selection: &[u32], cx: &mut FilterContext) {
        let Some(condition) = &self.condition else { return self.change(batch, selection, cx) };
        let mut part = cx.work.selection();
        part.extend_from_slice(selection);
        condition.select(batch, &mut part, cx);
        self.change(batch, &part, cx);
        cx.work.keep_selection(part);
    }

    pub fn condition(&self) -> Option<&Filter> {
        self.condition.as_ref()
    }

    /// Changes the selected records, whatever the condition says of them.
    pub fn change(&self, batch: &mut Batch, selection: &[u32], cx: &mut FilterContext) {
        match &self.op {
            Op::Set(set) => set.apply(batch, selection, cx),
            Op::Unset(name) => selection.iter().for_each(|i| batch.unset(*i as usize, *name)),
            Op::Subst(subst) => subst.apply(batch, selection, cx),
            Op::Tag { tag: Tag::Known(tag), on } => {
                selection.iter().for_each(|i| put_tag(batch, *i as usize, *tag, *on));
            }
            Op::Tag { tag: Tag::Made(template), on } => tags(template, *on, batch, selection, cx),
            Op::Group(group) => group.apply(batch, selection, cx),
            Op::Rename { from, to } => {
                for index in selection.iter().map(|i| *i as usize) {
                    if let Some((span, kind)) = span_of(batch, index, *from) {
                        batch.unset(index, *from);
                        assign_span(batch, index, *to, span, kind);
                    }
                }
            }
            Op::SetMatches(template) => set_matches(template, batch, selection, cx),
            Op::UnsetMatches => {
                selection.iter().for_each(|i| clear_matches(batch, *i as usize, 0..=NameId::MATCH_MAX));
            }
            Op::Header(header) => header.apply(batch, selection, cx),
            Op::Zone(change) => change.apply(batch, selection, cx),
        }
    }

    /// Adds what it looks at.
    pub fn reads(&self, demand: &mut Demand) {
        if let Some(condition) = &self.condition {
            condition.reads(demand);
        }
        match &self.op {
            Op::Set(set) => set.reads(demand),
            Op::Subst(subst) => subst.reads(demand),
            Op::Tag { tag: Tag::Made(template), .. } | Op::SetMatches(template) => template.reads(demand),
            Op::Group(group) => group.reads(demand),
            Op::Rename { from, .. } => demand.name(*from),
            Op::Header(header) => header.reads(demand),
            Op::Zone(change) => change.reads(demand),
            Op::Unset(_) | Op::UnsetMatches | Op::Tag { tag: Tag::Known(_), .. } => {}
        }
    }

    /// What it may change, the matches its condition stores included.
    pub fn writes(&self) -> Writes {
        let mut writes = Writes::default();
        if let Some(condition) = &self.condition {
            writes.names = condition.writes();
        }
        match &self.op {
            Op::Set(set) => writes.names.push(set.name),
            Op::Unset(name) => writes.names.push(*name),
            Op::Subst(subst) => {
                writes.names.push(subst.name);
                writes.names.extend(
                    (0..subst.groups.len()).filter_map(|n| u8::try_from(n).ok()).map(NameId::of_match),
                );
                writes.names.extend(subst.groups.iter().flatten());
            }
            Op::Tag { .. } => writes.tags = true,
            Op::Group(_) => writes.everything = true,
            Op::Rename { from, to } => writes.names.extend([*from, *to]),
            Op::SetMatches(_) | Op::UnsetMatches => writes.names.extend((0..=NameId::MATCH_MAX).map(NameId)),
            Op::Header(_) => writes.pri = true,
            Op::Zone(change) => writes.stamp = change.changes_message(),
        }
        writes.names.sort_unstable();
        writes.names.dedup();
        writes
    }

    /// How its patterns are matched, for `check --explain`.
    pub fn explain(&self) -> Vec<String> {
        let mut lines = self.condition.as_ref().map(Filter::explain).unwrap_or_default();
        if let Op::Subst(subst) = &self.op {
            lines.push(subst.explain());
        }
        lines
    }
}

fn put_tag(batch: &mut Batch, index: usize, tag: record::TagId, on: bool) {
    match on {
        true => batch.set_tag(index, tag),
        false => batch.clear_tag(index, tag),
    }
}

fn tags(template: &Template, on: bool, batch: &mut Batch, selection: &[u32], cx: &mut FilterContext) {
    let mut name = cx.work.text();
    for index in selection {
        let Some(record) = batch.records.get(*index as usize) else { continue };
        name.clear();
        template.render(Msg { batch, record }, &mut cx.render, &mut name);
        if let Some(tag) = batch.tag(&name) {
            put_tag(batch, *index as usize, tag, on);
        }
    }
    cx.work.keep_text(name);
}

/// `$1`, `$2` ... become the items of a list; `$0` and matches beyond the last item are unset.
fn set_matches(template: &Template, batch: &mut Batch, selection: &[u32], cx: &mut FilterContext) {
    let (mut text, mut item) = (cx.work.text(), cx.work.text());
    for index in selection.iter().map(|i| *i as usize) {
        let Some(record) = batch.records.get(index) else { continue };
        text.clear();
        template.render(Msg { batch, record }, &mut cx.render, &mut text);
        clear_matches(batch, index, 0..=0);
        let (mut items, mut count) = (Items::of(&text), 0u32);
        while count < NameId::MATCH_MAX
            && let Some(item) = items.next(&mut item)
        {
            count += 1;
            batch.set(index, NameId(count), item, ValueType::String);
        }
        clear_matches(batch, index, count.saturating_add(1)..=NameId::MATCH_MAX);
    }
    cx.work.keep_text(text);
    cx.work.keep_text(item);
}
