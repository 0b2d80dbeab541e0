//! Blocks that only decide: they compare values of the message with texts and numbers, and set texts, as most
//! do that classify; before that they may take pairs out of a text. They are run straight on the message,
//! without variables. Where anything is out of the ordinary, a value that is not set for one, the message is
//! left as it came, for [`super::Run`].

mod shape;

use super::Memory;
use super::text::put_literal;
use crate::program::{Block, Expr, Extract, Of, Statement, Switch, Target, Texts};
use filter::{FilterContext, span_in};
use record::{Batch, Record, ValueType};
use shape::{member, name_of, taking};
use template::{Msg, Template};
use value::{Span, Value, integer_of};

impl Block {
    /// Runs it on a message. `None`, with nothing changed: not on this one.
    #[inline]
    pub(super) fn decide(
        &self,
        batch: &mut Batch,
        index: usize,
        cx: &mut FilterContext,
        memory: &mut Memory,
    ) -> Option<()> {
        let before = *batch.records.get(index)?;
        let mut decider = Decider { block: self, batch, index, before, cx, memory, start: 0 };
        let done = match taking(&self.statements) {
            Some((extractor, rest)) => decider.take(extractor).and_then(|()| decider.body(rest)),
            None => decider.body(&self.statements),
        };
        if done.is_none()
            && let Some(record) = batch.records.get_mut(index)
        {
            *record = before;
        }
        done
    }
}

/// The text of a value that is set to one.
#[inline(always)]
fn text_of<'b>(block: &Block, batch: &'b Batch, index: usize, number: u32) -> Option<&'b [u8]> {
    let name = name_of(number, &block.variables)?;
    let record = batch.records.get(index)?;
    if batch.held(record, name).is_some() {
        return None;
    }
    let value = batch.value(record, name)?;
    (value.kind == ValueType::String).then_some(value.bytes)
}

struct Decider<'a> {
    block: &'a Block,
    batch: &'a mut Batch,
    index: usize,
    before: Record,
    cx: &'a mut FilterContext,
    memory: &'a mut Memory,
    /// Where the text begins that pairs were taken out of.
    start: u32,
}

impl Decider<'_> {
    /// Takes pairs out of a text; a variable that an earlier block declared has more than those.
    fn take(&mut self, extractor: &dyn Extract) -> Option<()> {
        let Expr::Variable(number) = *extractor.text() else { return None };
        let variable = self.block.variables.get(extractor.variable() as usize)?;
        let record = self.batch.records.get(self.index)?;
        let (Of::Block(name) | Of::Message(name)) = variable.of;
        if self.batch.held(record, name).is_some() {
            return None;
        }
        let text = text_of(self.block, self.batch, self.index, number)?;
        self.start = span_in(self.batch, text)?.start;
        extractor.extract(text, self.memory).then_some(())
    }

    /// The place of what was taken by a key. One with escapes stands nowhere.
    #[inline(always)]
    fn taken(&self, key: u32) -> Option<Span> {
        let found = self.memory.known.iter().find(|known| known.key == key)?;
        (found.escaped == 0).then_some(Span { start: self.start + found.start, len: found.len })
    }

    fn body(&mut self, statements: &[Statement]) -> Option<()> {
        for statement in statements {
            match &statement.expr {
                Expr::Assign(parts) => self.set(&parts.0, &parts.1)?,
                Expr::If(branches, otherwise) => {
                    let mut body = otherwise.as_deref();
                    for branch in branches {
                        if self.holds(&branch.condition)? {
                            body = Some(&branch.body);
                            break;
                        }
                    }
                    self.arm(body.unwrap_or_default())?;
                }
                Expr::Chain(chain) => {
                    let found = self.look_up(chain.variable, &chain.texts)?;
                    let branch = found.and_then(|number| chain.branches.get(number));
                    let body = branch.map(|branch| &*branch.body).or(chain.otherwise.as_deref());
                    self.arm(body.unwrap_or_default())?;
                }
                Expr::Switch(switch) => self.switch(switch)?,
                _ => return None,
            }
        }
        Some(())
    }

    /// Mostly one text is set.
    #[inline(always)]
    fn arm(&mut self, body: &[Statement]) -> Option<()> {
        match body {
            [Statement { expr: Expr::Assign(parts), .. }] => self.set(&parts.0, &parts.1),
            body => self.body(body),
        }
    }

    #[inline(always)]
    fn switch(&mut self, switch: &Switch) -> Option<()> {
        let Expr::Variable(number) = switch.selector else { return None };
        let Some(first) = self.look_up(number, &switch.texts)?.or(switch.default) else { return Some(()) };
        for case in switch.cases.get(first..).unwrap_or_default() {
            self.arm(&case.body)?;
            if !case.falls_through {
                break;
            }
        }
        Some(())
    }

    #[inline(always)]
    fn set(&mut self, target: &Target, value: &Expr) -> Option<()> {
        let name = name_of(target.variable, &self.block.variables)?;
        let span = match value {
            Expr::Text(number) => self.literal(*number)?,
            taken => self.taken(member(taken)?.1)?,
        };
        self.batch.set_span(self.index, name, span, ValueType::String);
        Some(())
    }

    #[inline(always)]
    fn literal(&mut self, number: u32) -> Option<Span> {
        match self.memory.texts.get(number as usize)? {
            Some(span) => Some(*span),
            None => put_literal(self.batch, &self.block.texts, &mut self.memory.texts, number),
        }
    }

    /// What is compared, where it is a text of the message.
    #[inline(always)]
    fn subject(&self, of: &Expr) -> Option<&[u8]> {
        match of {
            Expr::Variable(number) => self.text(*number),
            other => Some(self.batch.bytes(self.taken(member(other)?.1)?)),
        }
    }

    #[inline(always)]
    fn text(&self, number: u32) -> Option<&[u8]> {
        text_of(self.block, self.batch, self.index, number)
    }

    /// What is decided by the text of a value.
    #[inline(always)]
    fn look_up(&self, number: u32, texts: &Texts) -> Option<Option<usize>> {
        let text = self.text(number)?;
        Some(match span_in(self.batch, text).filter(|span| !span.is_empty()) {
            Some(span) => texts.at(&self.batch.text, span.start as usize, span.end()),
            None => texts.get(text),
        })
    }

    fn holds(&mut self, expr: &Expr) -> Option<bool> {
        Some(match expr {
            Expr::IsText(of, literal, equal) => {
                let literal = &**self.block.texts.get(*literal as usize)?;
                let same = match &**of {
                    Expr::Template(template) => self.printed(template, |text, kind, _| {
                        (kind == ValueType::String).then_some(text == literal)
                    })?,
                    of => self.subject(of)? == literal,
                };
                same == *equal
            }
            Expr::Compare(compare, _, sides) => match &**sides {
                (of, Expr::Value(Value::Integer(number))) => compare.holds(Some(self.whole(of)?.cmp(number))),
                (Expr::Value(Value::Integer(number)), of) => {
                    compare.holds(Some(number.cmp(&self.whole(of)?)))
                }
                _ => return None,
            },
            Expr::Matches(matches, parts) => {
                let found = match &parts.0 {
                    Expr::Template(template) => self.printed(template, |text, kind, cx| {
                        (kind == ValueType::String).then(|| parts.1.is_match(text, &mut cx.work.patterns))
                    })?,
                    Expr::Variable(number) => {
                        let text = text_of(self.block, self.batch, self.index, *number)?;
                        parts.1.is_match(text, &mut self.cx.work.patterns)
                    }
                    other => {
                        let taken = self.taken(member(other)?.1)?;
                        parts.1.is_match(self.batch.bytes(taken), &mut self.cx.work.patterns)
                    }
                };
                found == *matches
            }
            Expr::And(sides) => self.holds(&sides.0)? && self.holds(&sides.1)?,
            Expr::Or(sides) => self.holds(&sides.0)? || self.holds(&sides.1)?,
            Expr::Not(inner) => !self.holds(inner)?,
            Expr::Variable(number) => !self.text(*number)?.is_empty(),
            _ => return None,
        })
    }

    /// A value that is a whole number.
    fn whole(&mut self, of: &Expr) -> Option<i64> {
        match of {
            Expr::Template(template) => self.printed(template, |text, kind, _| {
                matches!(kind, ValueType::Int | ValueType::String).then(|| integer_of(text)).flatten()
            }),
            of => integer_of(self.subject(of)?),
        }
    }

    /// What a template prints of the message as it came.
    fn printed<R>(
        &mut self,
        template: &Template,
        made: impl FnOnce(&[u8], ValueType, &mut FilterContext) -> Option<R>,
    ) -> Option<R> {
        let mut out = self.cx.work.text();
        let msg = Msg { batch: self.batch, record: &self.before };
        let kind = template.render_typed(msg, &mut self.cx.render, &mut out);
        let result = made(&out, kind, self.cx);
        self.cx.work.keep_text(out);
        result
    }
}
