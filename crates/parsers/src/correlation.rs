//! Correlation: messages that belong together by a key are kept in contexts until a condition or a timeout
//! closes them, and new messages are made of what was kept. What grouping-by(), group-lines() and the actions
//! of pattern databases share.
//!
//! A parser that correlates owns [`Contexts`], shared by all its copies: those of the programs of every
//! source that feeds its log path, and, over a reload, those of the configuration before. The contexts are
//! spread over shards by the hash of their key. A batch takes each shard's lock at most once: the parser puts
//! the keys of the selected messages into a [`Pass`], [`Contexts::run`] goes through the shards and calls the
//! parser's [`Handler`]. Messages made on the way are put in front of the message that caused them by
//! [`Emitted::into`].

mod clock;
mod contexts;
mod emitted;
mod grouped;
pub mod options;
mod pass;
mod scope;
mod shard;
mod state;
mod synthetic;

pub use contexts::{Contexts, Handler, PORTION_BYTES};
pub use emitted::{Emitted, InjectMode, set_internal_sink};
pub use grouped::{Grouped, succeed};
pub use pass::{Entry, Moment, Pass};
pub use record::Seed;
pub use scope::Scope;
pub use shard::{Context, ContextId, Shard};
pub use state::{Made, State, StateCounters};
pub use synthetic::{Inherit, Synthetic};

#[cfg(test)]
pub mod testing;
