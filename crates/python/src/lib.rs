//! Python beside the program: classes and functions of a configuration run in processes of their own, and
//! batches of messages go to them and back, never message by message.
//!
//! A [`Pool`] is a number of `python3` processes that have the same python blocks and modules. A worker that
//! comes to a step with Python in it takes a process of the pool ([`pool`]), sends the values of its messages
//! that the class has asked for so far ([`Names`]), and reads what the class has set ([`marshal`]). A process
//! that dies or does not answer is replaced, and its messages are run again one by one: the one that it died
//! of is lost, with a word in the log, the others are not ([`run`]).
//!
//! A destination has a process for itself ([`Post`]): it may wait for whom it sends to, and holds nobody up.
//! So has a class that makes headers of HTTP requests ([`Headers`]).
//!
//! A source has one too, and runs there by itself ([`Producer`]).
//!
//! Blocks that define calls of the configuration's language run while it is read ([`Generators`]).
//!
//! What the classes import as `syslogng` is in `crates/python/syslogng` and part of the program.

mod child;
mod fault;
mod generators;
mod headers;
mod instance;
pub mod marshal;
mod output;
mod package;
mod persist;
mod pool;
mod post;
mod producer;
mod program;
mod run;
mod sources;
mod templates;

pub use fault::Fault;
pub use generators::Generators;
pub use headers::Headers;
pub use instance::{Failures, Identity, Instance, Kind, NAMES_MAX, Names, Printed, Seqnum, Wanted};
pub use package::write_package;
pub use persist::keep_in;
pub use pool::{Pool, defer, end, failures, pool, start};
pub use post::{Ended, Fate, Post, Sent};
pub use producer::{Answers, Asked, Came, Posted, Producer};
pub use program::{Block, Script};
pub use run::{MESSAGES_MAX, Messages};
pub use templates::judge_with;
