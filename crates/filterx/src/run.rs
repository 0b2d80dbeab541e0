//! Runs a block on the messages of a batch.

mod access;
mod add;
mod calculate;
mod compare;
mod conditional;
mod decide;
mod eval;
mod evaluate;
mod failure;
mod follow;
mod literal;
mod message;
mod text;

pub use evaluate::Evaluation;
pub(crate) use failure::json_text;
pub use failure::{CAUSES, Cause, Causes, Failure, Falsy, Operand, Report, Signal};
pub use follow::{Followed, Judgement};

use crate::functions::{Known, Piece, Places};
use crate::program::{Block, Expr, Statement, Variable, Written};
use filter::FilterContext;
use record::{Batch, Record};
use value::{Span, Value};
use wire::pairs::Outline;

/// Control goes elsewhere: [`Run::signal`] says where and why.
#[derive(Clone, Copy, Debug)]
pub struct Halt;

pub type Eval = Result<Value, Halt>;

/// Bytes of text that a block may make for one message.
pub const MADE_BYTES_MAX: usize = 16 << 20;

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    /// A statement did not hold, or went wrong.
    Failed,
    /// `drop`: it goes nowhere, and counts as matched.
    Dropped,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    /// Nobody has asked the message.
    #[default]
    Unread,
    Unset,
    Set,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slot {
    pub value: Value,
    pub state: State,
    /// It differs from what the message has.
    pub changed: bool,
    /// It lives on behind the block.
    pub declared: bool,
}

/// What a worker keeps for a block.
#[derive(Default)]
pub struct Memory {
    pub slots: Vec<Slot>,
    /// Where the block's texts stand in the batch.
    pub texts: Vec<Option<Span>>,
    /// Keys of a path, and values of a list, that are being evaluated.
    pub stack: Vec<Value>,
    /// What a scanner has found in a text.
    pub pieces: Vec<Piece>,
    /// The same of keys that are texts of the block.
    pub known: Vec<Known>,
    pub places: Places,
    /// Of the text whose pairs were read last.
    pub outline: Outline,
    /// How often each of what a tally counts was come to.
    pub taken: Vec<u64>,
}

/// A message and the block that is run on it.
pub struct Run<'a> {
    pub batch: &'a mut Batch,
    pub index: usize,
    pub cx: &'a mut FilterContext,
    pub(crate) variables: &'a [Variable],
    pub(crate) literals: &'a [Box<[u8]>],
    pub(crate) memory: &'a mut Memory,
    /// Why control went elsewhere.
    pub signal: Signal,
    /// Where it goes behind the statement.
    pub(crate) noted: Option<Signal>,
    /// Where its statements stand.
    pub(crate) places: &'a [Written],
    /// What failure_info_meta() has said.
    pub(crate) meta: Option<Value>,
    /// The message as it came.
    pub(crate) before: Option<Record>,
    /// Where the text of the batch may end.
    pub(crate) text_end: usize,
    /// The innermost statement that control left.
    pub(crate) statement: Option<u32>,
    /// Somebody watches, or evaluations are counted.
    pub(crate) is_followed: bool,
    /// The statements and conditions that have been taken, where somebody watches.
    pub(crate) trail: Option<Vec<Followed>>,
    /// Numbers for the tally of statements and conditions.
    pub(crate) tallied: &'a [u32],
}

impl Block {
    /// Runs it on the selected messages, and leaves those that go on; those that were dropped are added to
    /// `dropped`. A message that does not go on is what it was. Why messages failed is counted.
    pub fn run(
        &self,
        batch: &mut Batch,
        selection: &mut Vec<u32>,
        cx: &mut FilterContext,
        dropped: &mut Vec<u32>,
    ) -> Causes {
        let mut causes = Causes::default();
        if self.statements.is_empty() {
            return causes;
        }
        let mut memory = cx.work.take_state(self.asker, Memory::default);
        memory.texts.clear();
        memory.texts.resize(self.texts.len(), None);
        memory.slots.resize(self.variables.len(), Slot::default());
        memory.taken.resize(self.tally.as_ref().map_or(0, |tally| tally.taken.len()), 0);
        // What templates see of a message in a row of blocks is not what it was before this one.
        let decides = self.decides && !(cx.in_row && self.uses.has_templates);
        selection.retain(|index| {
            if decides && self.decide(batch, *index as usize, cx, &mut memory).is_some() {
                return true;
            }
            let mut run = self.begin(batch, *index as usize, cx, &mut memory);
            let result = run.body(&self.statements);
            let outcome = run.end(result);
            match outcome {
                Outcome::Passed => {}
                Outcome::Failed => causes.count(run.signal.cause()),
                Outcome::Dropped => dropped.push(*index),
            }
            outcome == Outcome::Passed
        });
        if let Some(tally) = &self.tally {
            tally.settle(&mut memory.taken);
        }
        cx.work.keep_state(self.asker, memory);
        causes
    }

    /// The same for one message, with what is to be told of it.
    pub fn judge(&self, batch: &mut Batch, index: usize, cx: &mut FilterContext) -> Judgement {
        let mut memory = self.memory();
        let mut run = self.begin(batch, index, cx, &mut memory);
        (run.trail, run.is_followed) = (Some(Vec::new()), true);
        let result = run.body(&self.statements);
        let outcome = run.end(result);
        let trail = run.trail.take().unwrap_or_default();
        let report = (outcome == Outcome::Failed).then(|| Report::of(&mut run));
        if let Some(tally) = &self.tally {
            tally.settle(&mut memory.taken);
        }
        Judgement { outcome, report, trail }
    }

    fn memory(&self) -> Memory {
        let (texts, slots) = (self.texts.len(), self.variables.len());
        let taken = vec![0; self.tally.as_ref().map_or(0, |tally| tally.taken.len())];
        Memory { texts: vec![None; texts], slots: vec![Slot::default(); slots], taken, ..Memory::default() }
    }

    #[inline(always)]
    fn begin<'r>(
        &'r self,
        batch: &'r mut Batch,
        index: usize,
        cx: &'r mut FilterContext,
        memory: &'r mut Memory,
    ) -> Run<'r> {
        memory.slots.iter_mut().for_each(|slot| *slot = Slot::default());
        memory.stack.clear();
        Run {
            places: &self.places,
            meta: None,
            before: batch.records.get(index).copied(),
            text_end: batch.text.len() + MADE_BYTES_MAX,
            batch,
            index,
            cx,
            variables: &self.variables,
            literals: &self.texts,
            memory,
            signal: Signal::Done,
            noted: None,
            statement: None,
            is_followed: self.tally.is_some(),
            trail: None,
            tallied: &self.tallied,
        }
    }
}

impl Run<'_> {
    /// What has changed is written to the message; one that does not go on is what it was.
    fn end(&mut self, result: Result<(), Halt>) -> Outcome {
        let has_passed = match (result, self.signal) {
            (Ok(()), _) | (Err(Halt), Signal::Done | Signal::Break) => self.write_back().is_ok(),
            (Err(Halt), _) => false,
        };
        if has_passed {
            return Outcome::Passed;
        }
        // What was set at once, times and PRI, is not set after all.
        if let (Some(before), Some(record)) = (self.before, self.batch.records.get_mut(self.index)) {
            *record = before;
        }
        if matches!(self.signal, Signal::Drop) {
            return Outcome::Dropped;
        }
        crate::functions::record_failure(self);
        Outcome::Failed
    }

    pub(crate) fn body(&mut self, statements: &[Statement]) -> Result<(), Halt> {
        for statement in statements {
            self.followed(statement.number, |run| run.statement(statement).map(|()| true))?;
        }
        Ok(())
    }

    #[inline(always)]
    fn statement(&mut self, statement: &Statement) -> Result<(), Halt> {
        let result = match &statement.expr {
            // As most statements are.
            Expr::Assign(parts) => self.assignment(&parts.0, &parts.1),
            expr => self.eval(expr),
        };
        let value = match result {
            Ok(value) => value,
            Err(Halt) => {
                self.statement.get_or_insert(statement.number);
                return Err(Halt);
            }
        };
        if statement.checked && !self.is_true(value) {
            self.signal = Signal::Falsy(value);
            self.statement.get_or_insert(statement.number);
            return Err(Halt);
        }
        Ok(())
    }
}
