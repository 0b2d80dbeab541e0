//! What a protocol is to a [`crate::Dialogue`].

use flight::{Outcome, Part, Receipt};
use std::time::Instant;

/// Why a connection is of no use any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// It broke, or nobody understands what comes from it.
    Broken(String),
    /// The server refuses this side: a password, a right.
    Refused(String),
}

/// One protocol from the side of a client. Nothing here does any I/O.
pub trait Session: Send {
    /// Whether another batch may begin.
    fn has_room(&self) -> bool;

    /// Somebody follows messages of the batch that begins next, of these places in it: their receipts are to
    /// be told what this side and the server call them.
    fn follow(&mut self, receipts: Vec<(usize, Receipt)>);

    /// A batch, whether there is a connection or not. Its outcome is said later, once.
    fn begin(&mut self, id: u32, part: &Part<'_>);

    /// There is a new connection: nothing was said on it.
    fn open(&mut self);

    /// What is to be sent now.
    fn output(&self) -> &[u8];

    /// So many bytes of it were taken.
    fn sent(&mut self, bytes: usize);

    /// The server has said `input`, from what was not understood before on. Returns how many bytes of it are
    /// understood, and appends what became of batches.
    fn hear(&mut self, input: &[u8], out: &mut Vec<(u32, Outcome)>) -> Result<usize, Loss>;

    /// Appends what became of batches without a word of the server.
    fn settled(&mut self, out: &mut Vec<(u32, Outcome)>);

    /// The greeting is over: the server takes messages.
    fn is_open(&self) -> bool;

    /// Whether the server owes an answer.
    fn awaits(&self) -> bool;

    /// The connection has ended, or there was none: appends an outcome for each batch.
    fn lost(&mut self, fault: &Loss, out: &mut Vec<(u32, Outcome)>);

    /// Bytes of batches.
    fn held_bytes(&self) -> usize;

    /// Nothing was heard since `quiet`: what is to be said to stay connected can be said.
    fn rest(&mut self, quiet: Instant, now: Instant);

    /// The last words on a connection in order; nothing of what waits is sent any more.
    fn leave(&mut self) -> Vec<u8>;
}
