//! A batch through the database: rules are looked up, then values are set, then contexts and actions have
//! their turn.

use super::DbParser;
use super::actions::Actions;
use super::plan::Plan;
use crate::correlation::{Emitted, InjectMode, Pass};
use crate::found::assign;
use filter::FilterContext;
use patterndb::rules::{Found, Scratch};
use record::{Batch, NameId, Span, ValueType};
use std::sync::Arc;
use template::{Msg, Template};

/// A worker's buffers.
#[derive(Default)]
struct Memory {
    scratch: Scratch,
    pass: Pass,
    emitted: Emitted,
    /// The rule of each selected message whose values are not set yet.
    kept: Vec<(u32, u32)>,
    /// Messages of no rule that are to be dropped, in the order of their numbers.
    unmatched: Vec<u32>,
}

/// What every message of no rule gets.
const UNKNOWN: &[u8] = b"unknown";

pub(super) fn batch(parser: &DbParser, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
    let plan = parser.plan();
    if plan.compiled.is_absent {
        if parser.options.drop_unmatched {
            selection.clear();
        }
        return;
    }
    let mut memory = cx.work.take_state(parser.asker, Memory::default);
    let Memory { scratch, pass, emitted, kept, unmatched } = &mut *memory;
    kept.clear();
    unmatched.clear();
    let mut position = 0;
    let mut unknown = None;
    selection.retain(|index| {
        let number = *index as usize;
        let rule = lookup(parser, &plan, batch, number, scratch, cx);
        match rule {
            Some(rule) if plan.compiled.work.get(rule as usize).is_some_and(|w| w.keeping.is_some()) => {
                kept.push((position, rule));
            }
            Some(rule) => set_values(&plan, rule, batch, number, cx),
            // What is dropped says what time it is as well.
            None if parser.options.drop_unmatched && parser.contexts.is_some() => unmatched.push(*index),
            None if parser.options.drop_unmatched => return false,
            None => {
                if plan.class {
                    let span = *unknown.get_or_insert_with(|| batch.append(UNKNOWN));
                    batch.set_span(number, plan.compiled.class, span, ValueType::String);
                }
                batch.set_tag(number, plan.compiled.unknown);
            }
        }
        position += 1;
        true
    });
    if let Some(contexts) = &parser.contexts {
        emitted.clear();
        contexts.begin(pass, batch, selection, cx.render.now());
        let mut actions = Actions { plan: &plan, rates: &parser.rates, batch, cx, emitted, early: 0 };
        actions.enter(contexts.seed(), pass, selection, kept);
        let early = contexts.run(pass, &mut actions) + actions.early;
        let made_of = cx.work.made_of.as_deref();
        contexts.count(emitted.into(parser.options.mode, batch, selection, made_of), early);
        if !unmatched.is_empty() {
            unmatched.sort_unstable();
            selection.retain(|index| unmatched.binary_search(index).is_err());
        }
    } else if parser.options.mode == InjectMode::AggregateOnly {
        // No rule makes any.
        selection.clear();
    }
    cx.work.keep_state(parser.asker, memory);
}

/// Finds the rule of a message and sets what its patterns captured, its class and id.
fn lookup(
    parser: &DbParser,
    plan: &Plan,
    batch: &mut Batch,
    index: usize,
    scratch: &mut Scratch,
    cx: &mut FilterContext,
) -> Option<u32> {
    let program = parser.options.program.span(batch, index, cx)?;
    let message = parser.options.message.span(batch, index, cx)?;
    let found = plan.compiled.rules.find(batch.bytes(program), batch.bytes(message), scratch)?;
    let rule = plan.compiled.rules.rule(found.rule)?;
    if plan.class {
        batch.set(index, plan.compiled.class, rule.class.as_bytes(), ValueType::String);
    }
    if plan.rule_id {
        batch.set(index, plan.compiled.rule_id, rule.id.as_bytes(), ValueType::String);
    }
    if plan.any_program_name {
        for capture in &scratch.program.captures {
            let name = plan.program_names.get(capture.parser as usize);
            store(batch, index, name.copied().flatten(), program, capture.value);
        }
    }
    store_captures(plan, found, batch, index, message, scratch);
    if let Some(work) = plan.compiled.work.get(found.rule as usize) {
        work.tags.iter().for_each(|tag| batch.set_tag(index, *tag));
    }
    Some(found.rule)
}

#[inline]
fn store_captures(plan: &Plan, found: Found, batch: &mut Batch, index: usize, text: Span, scratch: &Scratch) {
    let Some(names) = plan.names.get(found.tree as usize) else { return };
    for capture in &scratch.message.captures {
        let name = names.get(capture.parser as usize).copied().flatten();
        store(batch, index, name, text, capture.value);
    }
}

#[inline]
fn store(batch: &mut Batch, index: usize, name: Option<(NameId, ValueType)>, text: Span, value: Span) {
    let Some((name, kind)) = name else { return };
    let span = Span { start: text.start.saturating_add(value.start), len: value.len };
    // Hexadecimal numbers and floats without digits are no numbers to others.
    let kind = match kind {
        ValueType::String => kind,
        _ if is_number(batch.bytes(span)) => kind,
        _ => ValueType::String,
    };
    assign(batch, index, name, span, kind);
}

fn is_number(text: &[u8]) -> bool {
    text.last().is_some_and(u8::is_ascii_digit) && !matches!(text, [b'0', b'x' | b'X', ..])
}

/// Sets the values a rule makes.
fn set_values(plan: &Plan, rule: u32, batch: &mut Batch, index: usize, cx: &mut FilterContext) {
    for (name, template) in plan.values.get(rule as usize).map_or(&[][..], |values| values) {
        set_value(*name, template, batch, index, cx);
    }
}

fn set_value(
    name: NameId,
    template: &Arc<Template>,
    batch: &mut Batch,
    index: usize,
    cx: &mut FilterContext,
) {
    let Some(record) = batch.records.get(index) else { return };
    let mut text = cx.work.text();
    let kind = template.render_typed(Msg { batch, record }, &mut cx.render, &mut text);
    let span = batch.append(&text);
    assign(batch, index, name, span, kind);
    cx.work.keep_text(text);
}
