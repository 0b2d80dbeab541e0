//! FilterX, the expression language of AxoSyslog: `filterx { $user = json($MSG).user ?? "nobody"; };`.
//!
//! The text of a block is read ([`grammar`]), compiled ([`compile()`]) to expressions whose names are
//! places and whose patterns are prepared, and run on the messages of a batch ([`Block::run`]). Values are
//! [`value::Value`]s: texts are spans of the batch, containers are nodes of its trees. What a block sets is
//! written to the message when it has succeeded; a message whose block fails is what it was.

pub mod ast;
mod codes;
mod compile;
mod function;
mod functions;
pub mod grammar;
mod program;
mod run;
mod tally;
mod token;
mod types;

#[cfg(test)]
mod tests;

pub use codes::CODES;
pub use compile::{
    AppVariable, Setting, compile, compile_text, is_application, name_application, switch_applications,
};
pub use function::{Form, Function, Parameter};
pub use functions::{GROUPS, all as functions, is_block_variable};
pub use program::{Block, Role, Written};
pub use run::{
    CAUSES, Cause, Causes, Evaluation, Falsy, Followed, Judgement, MADE_BYTES_MAX, Operand, Outcome, Report,
};
pub use tally::COUNTED_FROM;
pub use types::Types;
