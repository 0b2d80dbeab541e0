//! The process of a source: it sends messages when it has some, hears what became of them, and asks for what
//! it remembers. Nothing here waits: the worker that reads is woken when there is something.

use crate::child::Child;
use crate::fault::Fault;
use crate::instance::Instance;
use crate::marshal::{self, Item, Reader};
use crate::persist;
use crate::pool::Chair;
use crate::templates;
use parking_lot::Mutex;
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of what a source sends at a time: up to 500 messages.
const FRAME_BYTES_MAX: usize = 64 << 20;
/// Bytes read at a time.
const READ_BYTES: usize = 256 << 10;
/// Answers that wait for a process that does not read them; one that lets more wait is ended.
const ANSWERS_BYTES_MAX: usize = 4 << 20;

pub struct Producer {
    child: Option<Child>,
    stream: UnixStream,
    answers: Arc<Answers>,
    input: Vec<u8>,
    /// Of `input`, what was taken.
    taken: usize,
}

/// What goes to the process.
pub struct Answers {
    out: Mutex<(UnixStream, Vec<u8>)>,
}

/// Messages that came together.
pub struct Posted<'a> {
    /// To be answered with, once they are dealt with.
    pub number: u64,
    pub count: usize,
    /// Of each message a dictionary, see `syslogng.message`.
    pub messages: Reader<'a>,
}

/// What came from the process.
pub enum Came<'a> {
    Posted(Posted<'a>),
    Asked(Asked<'a>),
}

/// A question about a message that is not posted yet: what it is in the program.
pub struct Asked<'a> {
    /// As `syslogng.message` writes what it asks for.
    pub name: String,
    /// A dictionary, as of a message that is posted.
    pub message: Reader<'a>,
}

impl Producer {
    /// Starts the process, makes the object, and lets it run. `pauses`: of a fetcher, until it opens again
    /// and until it asks again.
    pub fn start(instance: &Arc<Instance>, pauses: (Duration, Duration)) -> Result<Producer, Fault> {
        let mut chair = Chair::default();
        instance.pool.known(&mut chair, instance)?;
        let number = instance.number as i64;
        let begun = chair.child.as_mut().ok_or(Fault::Malformed)?.call("run", 3, |out| {
            marshal::int(number, out);
            marshal::float(pauses.0.as_secs_f64(), out);
            marshal::float(pauses.1.as_secs_f64(), out);
        });
        instance.pool.settle(&mut chair, begun)?;
        let child = chair.child.take().ok_or(Fault::Malformed)?;
        let cannot = |error: std::io::Error| Fault::CannotStart(error.to_string());
        let stream = child.stream().try_clone().map_err(cannot)?;
        stream.set_nonblocking(true).map_err(cannot)?;
        let out = stream.try_clone().map_err(cannot)?;
        let answers = Arc::new(Answers { out: Mutex::new((out, Vec::new())) });
        Ok(Producer { child: Some(child), stream, answers, input: Vec::new(), taken: 0 })
    }

    pub fn descriptor(&self) -> RawFd {
        self.stream.as_raw_fd()
    }

    pub fn answers(&self) -> &Arc<Answers> {
        &self.answers
    }

    /// What is there next; `None` when nothing is. An error: the process has ended.
    pub fn next_came(&mut self) -> Result<Option<Came<'_>>, Fault> {
        loop {
            let Some((begin, end)) = self.whole()? else {
                if !self.read()? {
                    return Ok(None);
                }
                continue;
            };
            self.taken = end;
            let frame = self.input.get(begin..end).unwrap_or_default();
            if let Some(reply) = persist::reply(frame).or_else(|| templates::reply(frame)) {
                self.answers.reply(&reply);
                continue;
            }
            if begins_with(frame, b"post") {
                break self.posted(begin, end).map(|posted| Some(Came::Posted(posted)));
            }
            if begins_with(frame, b"made") {
                break self.asked(begin, end).map(|asked| Some(Came::Asked(asked)));
            }
            if !is_ended(frame) {
                return Err(Fault::Malformed);
            }
        }
    }

    fn posted(&self, begin: usize, end: usize) -> Result<Posted<'_>, Fault> {
        let mut reader = Reader::new(self.input.get(begin..end).unwrap_or_default());
        let mut parse = || {
            reader.item()?;
            reader.text()?;
            let Item::Int(number) = reader.item()? else { return Err(marshal::Malformed) };
            Ok((number as u64, reader.list()? as usize))
        };
        let (number, count) = parse().map_err(|marshal::Malformed| Fault::Malformed)?;
        Ok(Posted { number, count, messages: reader })
    }

    fn asked(&self, begin: usize, end: usize) -> Result<Asked<'_>, Fault> {
        let mut reader = Reader::new(self.input.get(begin..end).unwrap_or_default());
        let mut parse = || {
            reader.item()?;
            reader.text()?;
            reader.text().map(|name| String::from_utf8_lossy(name).into_owned())
        };
        let name = parse().map_err(|marshal::Malformed| Fault::Malformed)?;
        Ok(Asked { name, message: reader })
    }

    /// Where a whole frame stands.
    fn whole(&self) -> Result<Option<(usize, usize)>, Fault> {
        let rest = self.input.get(self.taken..).unwrap_or_default();
        let Some((length, body)) = rest.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*length) as usize;
        if length > FRAME_BYTES_MAX {
            return Err(Fault::Malformed);
        }
        let begin = self.taken + 4;
        Ok((body.len() >= length).then_some((begin, begin + length)))
    }

    /// Reads what is there; whether anything was.
    fn read(&mut self) -> Result<bool, Fault> {
        self.input.drain(..self.taken);
        self.taken = 0;
        if self.input.is_empty() && self.input.capacity() > 4 * READ_BYTES {
            self.input = Vec::new();
        }
        let filled = self.input.len();
        self.input.resize(filled + READ_BYTES, 0);
        let result = self.stream.read(self.input.get_mut(filled..).unwrap_or_default());
        self.input.truncate(filled + result.as_ref().copied().unwrap_or(0));
        match result {
            Ok(0) => Err(self.ended(&ErrorKind::UnexpectedEof.into())),
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(self.ended(&error)),
        }
    }

    fn ended(&mut self, error: &std::io::Error) -> Fault {
        self.child.as_mut().map_or(Fault::Malformed, |child| child.ended(error))
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        // Told by the end of the connection, which others may have open.
        let _ = self.stream.shutdown(Shutdown::Both);
        crate::post::end_later(self.child.take());
    }
}

impl Answers {
    /// Messages with this number are dealt with.
    pub fn done(&self, number: u64) {
        self.write(|out| {
            marshal::tuple(2, out);
            marshal::text("done", out);
            marshal::int(number as i64, out);
        });
    }

    /// Answers a question, with a value in the format of `marshal`.
    pub fn reply(&self, value: &[u8]) {
        self.write(|out| {
            marshal::tuple(2, out);
            marshal::text("reply", out);
            out.extend_from_slice(value);
        });
    }

    /// Writes what waits; whether nothing is left.
    pub fn flush(&self) -> bool {
        let mut out = self.out.lock();
        flush(&mut out);
        out.1.is_empty()
    }

    fn write(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut out = self.out.lock();
        let begin = out.1.len();
        out.1.extend_from_slice(&[0; 4]);
        write(&mut out.1);
        let length = (out.1.len() - begin - 4) as u32;
        if let Some(place) = out.1.get_mut(begin..begin + 4) {
            place.copy_from_slice(&length.to_le_bytes());
        }
        flush(&mut out);
    }
}

fn flush((stream, waiting): &mut (UnixStream, Vec<u8>)) {
    while !waiting.is_empty() {
        match stream.write(waiting) {
            Ok(0) => break,
            Ok(count) => drop(waiting.drain(..count)),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(_) => waiting.clear(),
        }
    }
    if waiting.len() > ANSWERS_BYTES_MAX {
        waiting.clear();
        let _ = stream.shutdown(Shutdown::Both);
    }
}

fn begins_with(frame: &[u8], word: &[u8]) -> bool {
    let mut reader = Reader::new(frame);
    matches!((reader.item(), reader.text()), (Ok(Item::Tuple(1..)), Ok(first)) if first == word)
}

/// run() has returned, or raised: nothing more is posted. The process stays, and hears what became of its
/// messages.
fn is_ended(frame: &[u8]) -> bool {
    begins_with(frame, b"ended")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the process writes it when run() has ended: `marshal.dumps(("ended",), 2)`.
    #[test]
    fn the_end_of_run_is_known() {
        assert!(is_ended(b"(\x01\0\0\0u\x05\0\0\0ended"));
        assert!(!is_ended(b"(\0\0\0\0") && !is_ended(b"u\x05\0\0\0ended") && !is_ended(b""));
    }
}
