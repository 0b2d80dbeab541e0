//! Messages whose destination wants more of each than its text: a key, a topic, headers. They are put around
//! the text when it is formatted, so that what waits on disk is what leaves.

use super::Writer;
use super::shape::Room;
use engine::{Chunk, Form};
use record::{Batch, Demand};
use template::RenderContext;

pub trait Parts: Send + Sync {
    /// How messages with parts wait. Its name tells them from others, in the name of their queue on disk too.
    fn form(&self) -> Form;

    /// Whether each message stands behind a key that all of a batch have in common, see [`flight::enclose`].
    fn are_keys(&self) -> bool;

    /// Adds what it looks at.
    fn reads(&self, demand: &mut Demand);

    /// Appends the selected messages to a chunk, each with its parts around its text. `texts`: of the
    /// messages, one behind the other, and their ends. Each template begins with the number in `render`.
    fn enclose(
        &self,
        messages: (&Batch, &[u32]),
        texts: (&[u8], &[u32]),
        render: &mut RenderContext,
        chunk: &mut Chunk,
    );
}

impl Writer {
    /// The form in which its messages wait.
    pub fn form(&self) -> Form {
        match &self.parts {
            Some(parts) => parts.form(),
            None => self.envelope.form(),
        }
    }

    /// Moves texts into a chunk with their parts.
    pub(super) fn enclose(
        &self,
        parts: &dyn Parts,
        messages: (&Batch, &[u32]),
        room: &Room,
        render: &mut RenderContext,
        chunk: &mut Chunk,
    ) {
        // The caller counts the texts that were too large; a part that is too large is empty.
        let oversized = std::mem::take(&mut render.oversized);
        parts.enclose(messages, (&room.bytes, &room.ends), render, chunk);
        render.oversized = oversized;
    }
}
