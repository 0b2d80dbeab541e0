//! Runs a block on the messages of a batch.

mod access;
mod add;
mod calculate;
mod compare;
mod conditional;
mod eval;
mod failure;
mod message;
mod text;

pub use failure::{Failure, Report, Signal};

use crate::functions::{Piece, Places};
use crate::program::{Block, Statement, Variable};
use filter::FilterContext;
use record::Batch;
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
pub(crate) struct Memory {
    pub slots: Vec<Slot>,
    /// Where the block's texts stand in the batch.
    pub texts: Vec<Option<Span>>,
    /// Keys of a path, and values of a list, that are being evaluated.
    pub stack: Vec<Value>,
    /// What a scanner has found in a text.
    pub pieces: Vec<Piece>,
    pub places: Places,
    /// Of the text whose pairs were read last.
    pub outline: Outline,
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
    /// Where the text of the batch may end.
    pub(crate) text_end: usize,
    /// The innermost statement that control left.
    pub(crate) statement: Option<u32>,
}

impl Block {
    /// Runs it on the selected messages, and leaves those that go on; those that were dropped are added to
    /// `dropped`. A message that does not go on is what it was.
    pub fn run(
        &self,
        batch: &mut Batch,
        selection: &mut Vec<u32>,
        cx: &mut FilterContext,
        dropped: &mut Vec<u32>,
    ) {
        if self.statements.is_empty() {
            return;
        }
        let mut memory = cx.work.take_state(self.asker, Memory::default);
        memory.texts.clear();
        memory.texts.resize(self.literals(), None);
        selection.retain(|index| {
            let (outcome, _) = self.run_one(batch, *index as usize, cx, &mut memory);
            if outcome == Outcome::Dropped {
                dropped.push(*index);
            }
            outcome == Outcome::Passed
        });
        cx.work.keep_state(self.asker, memory);
    }

    /// The same for one message, with what is to be told of a failure.
    pub fn judge(
        &self,
        batch: &mut Batch,
        index: usize,
        cx: &mut FilterContext,
    ) -> (Outcome, Option<Report>) {
        let mut memory = Memory::default();
        memory.texts.resize(self.literals(), None);
        let (outcome, failed) = self.run_one(batch, index, cx, &mut memory);
        let report = failed.map(|(signal, statement)| Report::of(self, batch, signal, statement));
        (outcome, report)
    }

    fn literals(&self) -> usize {
        self.texts.len()
    }

    fn run_one(
        &self,
        batch: &mut Batch,
        index: usize,
        cx: &mut FilterContext,
        memory: &mut Memory,
    ) -> (Outcome, Option<(Signal, Option<u32>)>) {
        memory.slots.clear();
        memory.slots.resize(self.variables.len(), Slot::default());
        memory.stack.clear();
        let text_end = batch.text.len() + MADE_BYTES_MAX;
        let before = batch.records.get(index).copied();
        let mut run = Run {
            batch,
            index,
            cx,
            variables: &self.variables,
            literals: &self.texts,
            memory,
            signal: Signal::Done,
            text_end,
            statement: None,
        };
        let result = run.body(&self.statements);
        let stopped = match (result, run.signal) {
            (Ok(()), _) | (Err(Halt), Signal::Done | Signal::Break) => match run.write_back() {
                Ok(()) => return (Outcome::Passed, None),
                Err(Halt) => run.signal,
            },
            (Err(Halt), signal) => signal,
        };
        // What was set at once, times and PRI, is not set after all.
        if let (Some(before), Some(record)) = (before, run.batch.records.get_mut(index)) {
            *record = before;
        }
        match stopped {
            Signal::Drop => (Outcome::Dropped, None),
            signal => (Outcome::Failed, Some((signal, run.statement))),
        }
    }
}

impl Run<'_> {
    pub(crate) fn body(&mut self, statements: &[Statement]) -> Result<(), Halt> {
        for statement in statements {
            self.statement(statement)?;
        }
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), Halt> {
        let value = match self.eval(&statement.expr) {
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
