//! Blocks that only decide: they compare values of the message with texts and numbers, and set texts, as most
//! do that classify. They are run straight on the message, without variables. Where anything is out of the
//! ordinary, a value that is not set for one, the message is left as it came, for [`super::Run`].

use super::Memory;
use super::text::put_literal;
use crate::ast::By;
use crate::program::{Block, Body, Expr, Of, Statement, Switch, Target, Texts, Variable};
use filter::{FilterContext, span_in};
use record::{Batch, NameId, Record, ValueType};
use template::{Msg, Template};
use value::{Span, Value, integer_of};

impl Block {
    /// Whether all it does is what [`Block::decide`] knows.
    pub(crate) fn only_decides(&self) -> bool {
        !self.statements.is_empty() && sets_texts(&self.statements, &self.variables)
    }

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
        let done = Decider { block: self, batch, index, before, cx, texts: &mut memory.texts }
            .body(&self.statements);
        if done.is_none()
            && let Some(record) = batch.records.get_mut(index)
        {
            *record = before;
        }
        done
    }
}

fn sets_texts(body: &[Statement], variables: &[Variable]) -> bool {
    let is_known = |body: &Option<Body>| body.as_ref().is_none_or(|body| sets_texts(body, variables));
    body.iter().all(|statement| match &statement.expr {
        Expr::Assign(parts) => is_settable(&parts.0, variables) && matches!(parts.1, Expr::Text(_)),
        Expr::If(branches, otherwise) => {
            is_known(otherwise)
                && branches.iter().all(|branch| {
                    is_test(&branch.condition, variables) && sets_texts(&branch.body, variables)
                })
        }
        Expr::Chain(chain) => {
            is_known(&chain.otherwise)
                && is_name(chain.variable, variables)
                && chain.branches.iter().all(|branch| sets_texts(&branch.body, variables))
        }
        Expr::Switch(switch) => {
            switch.labels.is_empty()
                && matches!(switch.selector, Expr::Variable(number) if is_name(number, variables))
                && switch.cases.iter().all(|case| sets_texts(&case.body, variables))
        }
        _ => false,
    })
}

fn name_of(number: u32, variables: &[Variable]) -> Option<NameId> {
    match variables.get(number as usize)?.of {
        Of::Message(name) => Some(name),
        Of::Block(_) => None,
    }
}

fn is_name(number: u32, variables: &[Variable]) -> bool {
    name_of(number, variables).is_some()
}

/// What is known of a MESSAGE is known of that text alone.
fn is_settable(target: &Target, variables: &[Variable]) -> bool {
    target.path.is_empty() && name_of(target.variable, variables).is_some_and(|name| name != NameId::MESSAGE)
}

fn is_test(expr: &Expr, variables: &[Variable]) -> bool {
    let is_subject = |of: &Expr| match of {
        Expr::Variable(number) => is_name(*number, variables),
        Expr::Template(_) => true,
        _ => false,
    };
    match expr {
        Expr::IsText(of, ..) => is_subject(of),
        Expr::Compare(_, By::Value, sides) => match &**sides {
            (of, Expr::Value(Value::Integer(_))) | (Expr::Value(Value::Integer(_)), of) => is_subject(of),
            _ => false,
        },
        Expr::Matches(_, parts) => is_subject(&parts.0),
        Expr::And(sides) | Expr::Or(sides) => is_test(&sides.0, variables) && is_test(&sides.1, variables),
        Expr::Not(inner) => is_test(inner, variables),
        Expr::Variable(number) => is_name(*number, variables),
        _ => false,
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
    /// Where the block's texts stand in the batch.
    texts: &'a mut [Option<Span>],
}

impl Decider<'_> {
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
        let Expr::Text(number) = *value else { return None };
        let name = name_of(target.variable, &self.block.variables)?;
        let span = match self.texts.get(number as usize)? {
            Some(span) => *span,
            None => put_literal(self.batch, &self.block.texts, self.texts, number)?,
        };
        self.batch.set_span(self.index, name, span, ValueType::String);
        Some(())
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
                let literal = self.block.texts.get(*literal as usize)?;
                let same = match &**of {
                    Expr::Variable(number) => self.text(*number)? == &**literal,
                    Expr::Template(template) => self.printed(template, |text, kind, _| {
                        (kind == ValueType::String).then(|| text == &**literal)
                    })?,
                    _ => return None,
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
                    Expr::Variable(number) => {
                        let text = text_of(self.block, self.batch, self.index, *number)?;
                        parts.1.is_match(text, &mut self.cx.work.patterns)
                    }
                    Expr::Template(template) => self.printed(template, |text, kind, cx| {
                        (kind == ValueType::String).then(|| parts.1.is_match(text, &mut cx.work.patterns))
                    })?,
                    _ => return None,
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
            Expr::Variable(number) => integer_of(self.text(*number)?),
            Expr::Template(template) => self.printed(template, |text, kind, _| {
                matches!(kind, ValueType::Int | ValueType::String).then(|| integer_of(text)).flatten()
            }),
            _ => None,
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
