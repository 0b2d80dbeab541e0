//! `filterx { }` to a step.

use super::paths::Paths;
use crate::ledger::FailureCounters;
use crate::program::{FilterXOp, Op, Row, Step};
use crate::watch::Kind;
use conf_syntax::RawBlock;
use diag::{Diagnostics, Origin, Span};
use filterx::Setting;
use std::sync::Arc;

impl Paths<'_, '_> {
    pub fn filterx(&self, raw: &RawBlock, diags: &mut Diagnostics) -> Option<Step> {
        self.block(raw.inner, raw.span, diags, |setting, diags| filterx::compile(raw, setting, diags))
    }

    /// A block that is not written as one; the call that asks for it stands at `at`.
    pub fn made_block(
        &self,
        at: Span,
        diags: &mut Diagnostics,
        compile: impl FnOnce(Setting<'_>, &mut Diagnostics) -> Option<filterx::Block>,
    ) -> Option<Step> {
        self.block(at, at, diags, compile)
    }

    /// A place that no other has: of what stands in blocks that are called, also where in each.
    fn place_of(&self, span: Span) -> String {
        let mut place = self.texts.locate(self.texts.outermost(span)).to_string();
        // The innermost call first; where it stands is in the block of the next.
        let mut inside = self.texts.locate(span);
        let mut ways = Vec::new();
        for (origin, at) in self.texts.chain(span) {
            match origin {
                Origin::Expanded { block, .. } => {
                    ways.push(format!(", in {block}() at {inside}"));
                    inside = at;
                }
                Origin::Resolved { .. } => {}
                Origin::Root | Origin::Included { .. } => break,
            }
        }
        ways.iter().rev().for_each(|way| place.push_str(way));
        place
    }

    /// The counters of the block at a place; one that stood there before the reload has left its own.
    fn failures_at(&self, span: Span) -> Arc<FailureCounters> {
        let place = self.place_of(span);
        let mut blocks = self.blocks.borrow_mut();
        let earlier = || self.existing.blocks.get(&place).cloned().unwrap_or_default();
        Arc::clone(blocks.entry(place.clone()).or_insert_with(earlier))
    }

    fn block(
        &self,
        inner: Span,
        whole: Span,
        diags: &mut Diagnostics,
        compile: impl FnOnce(Setting<'_>, &mut Diagnostics) -> Option<filterx::Block>,
    ) -> Option<Step> {
        let is_counted = self.names.counters().level() >= i64::from(filterx::COUNTED_FROM);
        let setting = Setting { env: self.names, sources: self.texts, is_counted };
        let made = compile(setting, diags);
        self.names.report(diags);
        let block = made?;
        self.names.values().set(block.writes().iter().copied());
        // Where it is written, whatever it begins with.
        let inner = self.texts.unresolved(inner);
        let failures = self.failures_at(inner);
        let op = FilterXOp {
            block: Arc::new(block),
            counters: Arc::default(),
            failures,
            here: None,
            row: Row::default(),
        };
        Some(Step::new(Op::FilterX(op), self.statement(Kind::FilterX, None, inner), whole))
    }
}

/// Tells the blocks that follow one another where they stand, where templates in later ones look at the
/// message.
pub fn note_rows(steps: &mut [Step]) {
    for row in steps.chunk_by_mut(|a, b| matches!((&a.op, &b.op), (Op::FilterX(_), Op::FilterX(_)))) {
        let later = row.get(1..).unwrap_or_default();
        if !later.iter().any(|step| matches!(&step.op, Op::FilterX(op) if op.block.has_templates())) {
            continue;
        }
        for (at, step) in row.iter_mut().enumerate() {
            if let Op::FilterX(op) = &mut step.op {
                op.row = if at == 0 { Row::First } else { Row::Later };
            }
        }
    }
}
