//! `filterx { }` to a step.

use super::paths::Paths;
use crate::program::{FilterXOp, Op, Step};
use crate::watch::Kind;
use conf_syntax::RawBlock;
use diag::Diagnostics;
use filterx::Setting;
use std::sync::Arc;

impl Paths<'_, '_> {
    pub fn filterx(&self, raw: &RawBlock, diags: &mut Diagnostics) -> Option<Step> {
        let setting = Setting { env: self.names, sources: self.texts };
        let made = filterx::compile(raw, setting, diags);
        self.names.report(diags);
        let block = made?;
        self.names.values().set(block.writes().iter().copied());
        let op = FilterXOp { block: Arc::new(block), counters: Arc::default(), here: None };
        Some(Step::new(Op::FilterX(op), self.statement(Kind::FilterX, None, raw.inner), raw.span))
    }
}
