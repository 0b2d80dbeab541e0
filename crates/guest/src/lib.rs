//! Client libraries as guests: they run on threads of their own, and no worker ever waits for one.
//!
//! A destination whose protocol is spoken by a library is two things. On its worker stands a [`Line`], which
//! is a [`flight::Client`]: it makes something to send out of each batch, puts it into a bounded channel, and
//! hears later what became of it. On the one runtime of this crate runs what the library does: a future that
//! takes [`Job`]s and answers each. A library that blocks, panics or spins costs threads of that runtime; the
//! workers go on, and the batches that it had are sent again.
//!
//! ```ignore
//! let make = guest::sinks(name, load, |jobs| async move {
//!     let mut client = Library::new();
//!     while let Some(order) = jobs.next().await {
//!         match order {
//!             Order::Send(job) => { let outcome = client.send(&job.load).await; job.answer.say(outcome); }
//!             Order::Reopen => client = Library::new(),
//!         }
//!     }
//! });
//! ```

mod answers;
mod jobs;
mod leaves;
mod line;
pub mod net;
mod pauses;
mod runtime;
mod sinks;
#[cfg(test)]
mod tests;

pub use answers::Answer;
pub use engine::Detail;
pub use jobs::{Job, Jobs, Order, Waited};
pub use leaves::wait_for_leaves;
pub use line::{Caller, Line};
pub use pauses::Pauses;
pub use runtime::{BLOCKING_MAX, THREADS, handle, on_a_thread};
pub use sinks::sinks;
