//! Blocks tried one after another on one message: variables stay, and what the last expression gives is told.

use super::{Eval, Halt, Outcome, Report, Run};
use crate::program::{Block, Expr, Of, Statement};
use crate::types::Types;
use filter::FilterContext;
use record::Batch;
use value::{Print, Style, Value};

/// What became of a block that was tried.
#[derive(Debug)]
pub struct Evaluation {
    pub outcome: Outcome,
    /// What its last expression gave or its last assignment set; `None` where control did not come there.
    pub value: Option<Value>,
    /// Why it failed.
    pub report: Option<Report>,
}

impl Evaluation {
    /// The value as text.
    pub fn shown(&self, batch: &Batch, style: Style) -> Option<String> {
        let mut out = Vec::new();
        Print { text: &batch.text, trees: &batch.trees, style }.put(self.value?, &mut out);
        Some(String::from_utf8_lossy(&out).into_owned())
    }

    /// The name of the value's type.
    pub fn type_name(&self) -> Option<String> {
        self.value.map(|value| Types::of(value).describe())
    }
}

impl Block {
    /// Runs the block on a message. The last expression may be falsy, and variables live on behind the block.
    pub fn evaluate(&self, batch: &mut Batch, index: usize, cx: &mut FilterContext) -> Evaluation {
        let mut memory = self.memory();
        let mut run = self.begin(batch, index, cx, &mut memory);
        let mut value = None;
        run.keep_variables();
        let result = run.last_of(&self.statements).map(|last| value = last);
        let outcome = run.end(result);
        let report = (outcome == Outcome::Failed).then(|| Report::of(&mut run));
        Evaluation { outcome, value: value.filter(|_| outcome == Outcome::Passed), report }
    }
}

impl Run<'_> {
    /// Runs statements; what the last one gives.
    fn last_of(&mut self, statements: &[Statement]) -> Result<Option<Value>, Halt> {
        let Some((last, before)) = statements.split_last() else { return Ok(None) };
        self.body(before)?;
        let value = self.last(&last.expr);
        if value.is_err() {
            self.statement.get_or_insert(last.number);
        }
        value.map(Some)
    }

    fn last(&mut self, expr: &Expr) -> Eval {
        let value = self.eval(expr)?;
        let target = match expr {
            Expr::Assign(parts) | Expr::AssignUnlessNull(parts) | Expr::AddTo(parts) => &parts.0,
            Expr::AssignPath(parts, _) => &parts.0,
            Expr::Declare(variable, _) => return self.variable(*variable),
            _ => return Ok(value),
        };
        match self.read_target(target) {
            Ok(set) => Ok(set),
            // `l[] = 1` has no element that could be read; `x =?? null` may have set nothing.
            Err(Halt) => Ok(value),
        }
    }

    fn keep_variables(&mut self) {
        let variables = self.variables;
        for (variable, slot) in variables.iter().zip(&mut self.memory.slots) {
            slot.declared |= matches!(variable.of, Of::Block(_));
        }
    }
}
