//! Dead letters: messages that a destination refuses for good, kept on disk with the reason until somebody
//! looks at them.
//!
//! They are a queue of their own, `dead-letters`, in the log of the state folder; what a letter is on disk
//! stands in docs/queues.md.

use crate::chunk::Chunk;
use crate::durable::{Durable, LogFolder, Stored};
use crate::ledger::Count;
use crate::outlet::Form;
use diag::Fault;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};
use store::{Full, Queue, Safe};

/// The name of their queue.
pub const NAME: &str = "dead-letters";
/// Bytes of letters that may lie on disk; further ones are dropped, as without `dead-letters()`.
pub const CAPACITY_BYTES: u64 = 1 << 30;

/// Bytes of messages that become letters at a time.
const PIECE_BYTES: usize = 256 << 10;

/// Of letters that say nothing of their form.
const MAGIC: [u8; 5] = *b"PSDL\x01";
const MAGIC_FORMED: [u8; 5] = *b"PSDL\x02";
/// Of a destination's name, and of a reason.
const WORDS_BYTES_MAX: usize = 4096;

/// One of them: `magic, 5 bytes | microseconds since 1970 u64 | length of destination u16 | length of reason
/// u16 | destination | reason | message`, little endian. With a form, `length of form u16 | begin of text
/// u32 | length of text u32 | shows text u8` stands in front of the destination, and the form behind the
/// reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Letter<'a> {
    /// When it was refused, in microseconds since 1970.
    pub time: u64,
    /// `<statement>#<n>`.
    pub destination: &'a [u8],
    pub reason: &'a [u8],
    /// As it was to leave, in its form.
    pub message: &'a [u8],
    /// The name of [`Form`]; empty where it is not known.
    pub form: &'a [u8],
    /// What of the message is not put around it by the form: a part of it.
    pub text: &'a [u8],
    /// Whether people are shown that alone: [`Form::shows_bare`].
    pub shows_text: bool,
}

impl<'a> Letter<'a> {
    pub fn encode(&self) -> Vec<u8> {
        let cut = |words: &'a [u8]| words.get(..WORDS_BYTES_MAX).unwrap_or(words);
        let (destination, reason, form) = (cut(self.destination), cut(self.reason), cut(self.form));
        let words = destination.len() + reason.len() + form.len();
        let mut out = Vec::with_capacity(28 + words + self.message.len());
        out.extend_from_slice(if form.is_empty() { &MAGIC } else { &MAGIC_FORMED });
        out.extend_from_slice(&self.time.to_le_bytes());
        out.extend_from_slice(&(destination.len() as u16).to_le_bytes());
        out.extend_from_slice(&(reason.len() as u16).to_le_bytes());
        if !form.is_empty() {
            let (begin, length) = place(self.message, self.text);
            out.extend_from_slice(&(form.len() as u16).to_le_bytes());
            out.extend_from_slice(&begin.to_le_bytes());
            out.extend_from_slice(&length.to_le_bytes());
            out.push(self.shows_text.into());
        }
        for part in [destination, reason, form, self.message] {
            out.extend_from_slice(part);
        }
        out
    }

    /// What people are shown.
    pub fn shown(&self) -> &'a [u8] {
        if self.shows_text { self.text } else { self.message }
    }

    /// `None` when this is no letter.
    pub fn decode(bytes: &'a [u8]) -> Option<Letter<'a>> {
        let formed = bytes.strip_prefix(&MAGIC_FORMED);
        let rest = formed.or_else(|| bytes.strip_prefix(&MAGIC))?;
        let (time, rest) = rest.split_first_chunk::<8>()?;
        let (destination, rest) = rest.split_first_chunk::<2>()?;
        let (reason, mut rest) = rest.split_first_chunk::<2>()?;
        let (mut form, mut place, mut shows_text) = (0, None, false);
        if formed.is_some() {
            let (length_of_form, more) = rest.split_first_chunk::<2>()?;
            let (begin, more) = more.split_first_chunk::<4>()?;
            let (length, more) = more.split_first_chunk::<4>()?;
            let (shows, more) = more.split_first_chunk::<1>()?;
            shows_text = *shows != [0];
            let (begin, length) = (u32::from_le_bytes(*begin) as usize, u32::from_le_bytes(*length) as usize);
            (form, place, rest) =
                (usize::from(u16::from_le_bytes(*length_of_form)), Some((begin, length)), more);
        }
        let (destination, rest) = rest.split_at_checked(u16::from_le_bytes(*destination).into())?;
        let (reason, rest) = rest.split_at_checked(u16::from_le_bytes(*reason).into())?;
        let (form, message) = rest.split_at_checked(form)?;
        let text = match place {
            Some((begin, length)) => message.get(begin..begin.checked_add(length)?)?,
            None => message,
        };
        Some(Letter { time: u64::from_le_bytes(*time), destination, reason, message, form, text, shows_text })
    }
}

/// Where a part of a message is in it; all of it when it is no part.
fn place(message: &[u8], text: &[u8]) -> (u32, u32) {
    let begin = (text.as_ptr() as usize).wrapping_sub(message.as_ptr() as usize);
    match begin.checked_add(text.len()) {
        Some(end) if end <= message.len() => (begin as u32, text.len() as u32),
        _ => (0, message.len() as u32),
    }
}

impl<'a> Letter<'a> {
    /// Of a message in a form, where that is known.
    fn of(message: &'a [u8], form: Option<&Form>, time: u64, words: Words<'a>) -> Letter<'a> {
        let Words { destination, reason } = words;
        let (name, text, shows_text) = match form {
            Some(form) => (form.name.as_bytes(), (form.bare)(message), form.shows_bare),
            None => (&b""[..], message, false),
        };
        Letter { time, destination, reason, message, form: name, text, shows_text }
    }
}

/// Why a message is a letter, and whose it is.
#[derive(Clone, Copy)]
struct Words<'a> {
    destination: &'a [u8],
    reason: &'a [u8],
}

/// Where they are put.
pub struct DeadLetters {
    /// `None` once the log is left to another process, or at the end.
    queue: Mutex<Option<Queue>>,
    pub kept: Count,
    /// Letters before this number were given to destinations again and are gone once those have them.
    replayed: AtomicU64,
}

impl DeadLetters {
    /// Opens their queue. The error says why it cannot be had.
    pub fn open(durable: &Durable) -> Result<Arc<DeadLetters>, Fault> {
        let place = durable.state_place().map_err(|fault| fault.at("dead-letters()"))?;
        let queue = place.log.queue(NAME.as_bytes(), CAPACITY_BYTES, Box::new(|| ())).map_err(|error| {
            Fault::local(format!("dead-letters() cannot use {}: {error}", place.dir.display()))
        })?;
        place.begin_use(NAME.as_bytes());
        Ok(Arc::new(DeadLetters {
            queue: Mutex::new(Some(queue)),
            kept: Count::default(),
            replayed: AtomicU64::new(0),
        }))
    }

    fn keep(&self, destination: &str, reason: &str, message: &[u8], form: Option<&Form>) {
        let reason = &*oplog::hidden(reason);
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64);
        let words = Words { destination: destination.as_bytes(), reason: reason.as_bytes() };
        let letter = Letter::of(message, form, time, words).encode();
        let why = match self.append(&letter) {
            Ok(()) => return self.kept.add(1),
            Err(why) => why,
        };
        oplog::limited(
            "dead-letters",
            oplog::Level::Error,
            "A message that a destination refuses cannot be kept among the dead letters, dropping it",
            &[("destination", &destination), ("reason", &format_args!("{why:?}"))],
        );
    }

    /// Keeps what is left of a chunk as letters; its tickets are settled once these are on the disk. The
    /// error says why nothing was kept.
    pub(crate) fn keep_all(
        &self,
        destination: &str,
        reason: &str,
        form: Option<&Form>,
        chunk: &mut Chunk,
    ) -> Result<usize, Fault> {
        // The server's words, which may repeat what it was asked with.
        let reason = &*oplog::hidden(reason);
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64);
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        chunk.seal();
        let words = Words { destination: destination.as_bytes(), reason: reason.as_bytes() };
        for message in chunk.iter() {
            bytes.extend_from_slice(&Letter::of(message, form, time, words).encode());
            ends.push(bytes.len() as u32);
        }
        let queue = self.queue.lock();
        let queue = queue.as_ref().ok_or_else(|| Fault::bug("the log of the state folder is closed"))?;
        let held = Box::new(Stored::of(std::mem::take(&mut chunk.tickets)));
        match queue.append(&bytes, &ends, Safe::Synced, held) {
            Ok(_) => {
                self.kept.add(ends.len());
                Ok(ends.len())
            }
            Err((why, held)) => {
                chunk.tickets = Stored::tickets_of(held);
                Err(Fault::local(format!("the log of the state folder does not take them: {why:?}")))
            }
        }
    }

    /// Keeps messages that nobody waits for here as letters. The error says why some of them are not kept.
    pub fn keep_chunks(
        &self,
        destination: &str,
        reason: &str,
        chunks: impl IntoIterator<Item = Chunk>,
    ) -> Result<(), Fault> {
        chunks
            .into_iter()
            .try_for_each(|mut chunk| self.keep_all(destination, reason, None, &mut chunk).map(drop))
    }

    /// Everything in a queue that nobody uses becomes letters, each safe before the queue forgets it; the
    /// queue is removed then. Returns how many that were; the error says why the rest stays.
    pub(crate) fn take_queue(
        &self,
        place: &LogFolder,
        name: &[u8],
        destination: &str,
        reason: &str,
    ) -> (usize, Result<(), Fault>) {
        let mut kept = 0;
        let outcome = self.take_over(place, name, destination, reason, &mut kept);
        if outcome.is_ok() {
            place.log.remove(name);
        }
        (kept, outcome)
    }

    fn take_over(
        &self,
        place: &LogFolder,
        name: &[u8],
        destination: &str,
        reason: &str,
        kept: &mut usize,
    ) -> Result<(), Fault> {
        let local = |error: std::io::Error| Fault::local(error.to_string());
        let queue = place.log.queue(name, CAPACITY_BYTES, Box::new(|| ())).map_err(local)?;
        let (mut at, end) = (queue.first_waiting(), queue.end());
        while at < end {
            let read = queue.read(at, PIECE_BYTES).map_err(local)?;
            if read.seqs.end <= at {
                return Ok(());
            }
            let (messages, bytes) = (read.ends.len(), read.bytes.len() as u64);
            let mut chunk = Chunk::read_back(read.bytes, read.ends, 0, None);
            if messages > 0 {
                self.keep_all(destination, reason, None, &mut chunk)?;
            }
            if !place.log.flush() {
                return Err(Fault::local("the disk does not take them"));
            }
            queue.done(read.seqs.end, messages as u64 + read.lost, bytes);
            *kept += messages;
            at = read.seqs.end;
        }
        Ok(())
    }

    fn append(&self, letter: &[u8]) -> Result<(), Full> {
        let queue = self.queue.lock();
        let queue = queue.as_ref().ok_or(Full::Closed)?;
        let outcome = queue.append(letter, &[letter.len() as u32], Safe::Synced, Box::new(()));
        outcome.map(drop).map_err(|(why, _)| why)
    }

    /// Their queue, to be let go of soon.
    pub fn queue(&self) -> Option<Queue> {
        self.queue.lock().clone()
    }

    /// Lets go of the log.
    pub(crate) fn close(&self) {
        self.queue.lock().take();
    }

    /// Puts a letter to the end. Whether it is there.
    pub fn again(&self, letter: &[u8]) -> bool {
        self.append(letter).is_ok()
    }

    /// Everything before `next` was given to destinations; returns where that begins.
    pub fn begin_replay(&self, next: u64) -> u64 {
        let first = self.queue().map_or(0, |queue| queue.first_waiting());
        self.replayed.fetch_max(next, Ordering::SeqCst).max(first)
    }

    /// Of what [`DeadLetters::begin_replay`] was told of, what comes from `at` on was not given to anybody:
    /// the next one has it.
    pub fn end_replay(&self, next: u64, at: u64) {
        // Where another one has begun meanwhile, that has told of what came later, and only a start finds
        // this again.
        let _ = self.replayed.compare_exchange(next, at.min(next), Ordering::SeqCst, Ordering::SeqCst);
    }
}

/// Where one destination or source puts its letters; nowhere unless the configuration says so.
#[derive(Default)]
pub struct Tray {
    letters: Mutex<Option<(Arc<DeadLetters>, String)>>,
    /// The one in which its messages stand.
    form: OnceLock<Form>,
}

impl Tray {
    /// From now on, for the destination or source of this name.
    pub(crate) fn set(&self, letters: Option<(&Arc<DeadLetters>, &str)>) {
        *self.letters.lock() = letters.map(|(letters, name)| (Arc::clone(letters), name.to_owned()));
    }

    pub(crate) fn set_form(&self, form: Form) {
        let _ = self.form.set(form);
    }

    /// Whether messages put here are kept.
    pub fn is_wanted(&self) -> bool {
        self.letters.lock().is_some()
    }

    /// A message that the destination will never take, which has to be counted as dropped; or one that a
    /// source had and that its parsers do not survive.
    pub fn put(&self, reason: &str, message: &[u8]) {
        let tray = self.letters.lock();
        if let Some((letters, destination)) = &*tray {
            letters.keep(destination, reason, message, self.form.get());
        }
    }
}

impl std::fmt::Debug for Tray {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tray({})", self.letters.lock().is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_come_back_and_what_is_none_does_not() {
        let message = &b"<13>x\ny"[..];
        let (destination, reason) = (&b"d#0"[..], &b"too large"[..]);
        let (form, text, shows_text) = (&b""[..], message, false);
        let letter = Letter { time: 7, destination, reason, message, form, text, shows_text };
        let formed = Letter { form: b"form", text: &message[4..], ..letter };
        assert_eq!((letter.shown(), formed.shown()), (message, message));
        let bare = Letter { shows_text: true, ..formed };
        assert_eq!(bare.shown(), b"x\ny");
        for (letter, head) in [(letter, 17), (formed, 32), (bare, 32)] {
            let bytes = letter.encode();
            assert_eq!(Letter::decode(&bytes), Some(letter));
            for cut in 0..head + 3 + 9 {
                assert_eq!(Letter::decode(&bytes[..cut]), None, "{cut}");
            }
        }
        let long = Letter { reason: &[b'x'; 70_000], ..letter }.encode();
        assert_eq!(Letter::decode(&long).map(|l| (l.reason.len(), l.message)), Some((4096, letter.message)));
    }

    #[test]
    fn they_are_kept_on_disk_and_beyond_the_end() {
        let dir = tempfile::tempdir().expect("folder");
        let durable = Durable::default();
        durable.set_state_dir(dir.path().to_owned());
        let tray = Tray::default();
        tray.put("nobody listens", b"lost");
        let letters = durable.letters().expect("opened");
        tray.set(Some((&letters, "d#0")));
        oplog::hide("open-sesame", "`file:/run/token`");
        tray.put("too large for open-sesame", b"kept");
        durable.close();

        let durable = Durable::default();
        durable.set_state_dir(dir.path().to_owned());
        let letters = durable.letters().expect("opened");
        let queue = letters.queue().expect("open");
        let read = queue.read(queue.first_waiting(), 1 << 20).expect("read");
        let letter = Letter::decode(&read.bytes).expect("a letter");
        assert_eq!(
            (letter.destination, letter.reason, letter.message),
            (&b"d#0"[..], &b"too large for `file:/run/token`"[..], &b"kept"[..])
        );
        assert_eq!(read.ends.len(), 1);
        durable.close();
    }

    #[test]
    fn what_a_replay_did_not_give_is_tried_with_the_next() {
        let dir = tempfile::tempdir().expect("folder");
        let durable = Durable::default();
        durable.set_state_dir(dir.path().to_owned());
        let letters = durable.letters().expect("opened");
        assert!(letters.begin_replay(10) < 4, "the first one that waits");
        // It came to the fourth letter, which could not be read.
        letters.end_replay(10, 4);
        assert_eq!(letters.begin_replay(12), 4);
        // Another one began meanwhile: what that has told of stays told.
        letters.end_replay(10, 2);
        assert_eq!(letters.begin_replay(12), 12);
        durable.close();
    }
}
