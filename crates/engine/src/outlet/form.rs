//! The form in which the messages of an outlet stand in its chunks, as its peer wants them: what waits for a
//! peer that is to get another form after a reload is put into that one.

use super::Outlet;
use crate::chunk::Chunk;
use std::borrow::Cow;
use std::sync::atomic::Ordering;

/// How a message stands between its neighbours.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    pub name: &'static str,
    /// The message without what the form has put around it.
    pub bare: fn(&[u8]) -> &[u8],
    /// Appends a bare message in this form.
    pub put: fn(&mut Vec<u8>, &[u8]),
    /// What of a message, in this form, goes to the end of the queue once more, by hand: it has lost its
    /// place among others.
    pub again: fn(&[u8]) -> &[u8],
    /// People are shown the bare message of a dead letter: what is put around it is for the sink alone. In
    /// other forms that is a part of what the message says.
    pub shows_bare: bool,
}

impl Form {
    /// All of it: for forms that say nothing of a message's place.
    pub fn whole(message: &[u8]) -> &[u8] {
        message
    }

    /// The messages of a chunk that are not dealt with, whole, in another form.
    pub(super) fn to(self, other: Form, mut chunk: Chunk) -> Chunk {
        if self.name == other.name {
            return chunk;
        }
        // What is put in when it leaves has its place in the old form.
        chunk.seal();
        let mut made = chunk.copy(0, 0);
        for message in chunk.iter() {
            (other.put)(&mut made.bytes, (self.bare)(message));
            made.ends.push(made.bytes.len() as u32);
        }
        made.tickets = std::mem::take(&mut chunk.tickets);
        made
    }
}

impl Outlet {
    /// Called once, before there are messages.
    pub fn set_form(&self, form: Form) {
        let _ = self.form.set(form);
        self.counters.dead_letters.set_form(form);
    }

    /// A message of some form in the one of this outlet; `text` is what that form has nothing put around.
    pub(crate) fn formed<'m>(&self, name: &[u8], message: &'m [u8], text: &[u8]) -> Cow<'m, [u8]> {
        match self.form() {
            Some(form) if !name.is_empty() && form.name.as_bytes() != name => {
                let mut made = Vec::new();
                (form.put)(&mut made, text);
                Cow::Owned(made)
            }
            _ => Cow::Borrowed(message),
        }
    }

    /// Forms in which what waits on disk from before may stand, to be put into its own. Called once, before
    /// there are messages.
    pub fn set_kin(&self, kin: &'static [Form]) {
        let _ = self.kin.set(kin);
    }

    /// The form of this name, if what stands in it can be put into the one of this outlet.
    pub(crate) fn kin(&self, name: &[u8]) -> Option<&'static Form> {
        self.kin.get()?.iter().find(|form| form.name.as_bytes() == name)
    }

    /// What its form puts around messages is for its sink alone. Called before there are messages.
    pub fn has_parts(&self) {
        self.has_parts.store(true, Ordering::Relaxed);
    }

    pub(crate) fn form(&self) -> Option<&Form> {
        self.form.get()
    }

    /// What of a message goes to its end once more.
    pub(crate) fn again<'m>(&self, message: &'m [u8]) -> &'m [u8] {
        self.form().map_or(message, |form| (form.again)(message))
    }

    /// A message as people are shown it.
    pub(crate) fn shown<'m>(&self, message: &'m [u8]) -> &'m [u8] {
        match self.form() {
            Some(form) if self.has_parts.load(Ordering::Relaxed) => (form.bare)(message),
            _ => message,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_chunk_gets_another_form() {
        let put = |out: &mut Vec<u8>, message: &[u8]| out.extend_from_slice(message);
        let plain = Form { name: "plain", bare: Form::whole, put, again: Form::whole, shows_bare: false };
        let put = |out: &mut Vec<u8>, message: &[u8]| {
            out.push(b'<');
            out.extend_from_slice(message);
        };
        let marked = Form { name: "marked", bare: |m| m.strip_prefix(b"<").unwrap_or(m), put, ..plain };
        let mut chunk = Chunk::of(b"abbccc".to_vec(), vec![1, 3, 6]).expect("a chunk");
        chunk.flow_control = true;
        chunk.skip(1);
        let chunk = plain.to(marked, chunk);
        assert_eq!((chunk.bytes.as_slice(), chunk.ends.as_slice()), (&b"<bb<ccc"[..], &[3, 7][..]));
        assert!(chunk.flow_control);
        assert_eq!(marked.to(plain, chunk).bytes.as_slice(), b"bbccc");
    }
}
