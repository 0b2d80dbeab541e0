//! Messages through a class: sent in batches, asked about, answered, and one by one when a process fails.

use crate::child::Child;
use crate::fault::Fault;
use crate::instance::{Instance, Kind, Names};
use crate::marshal::{self, Item, Malformed, Reader};
use crate::pool::Chair;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Messages in one request.
pub const MESSAGES_MAX: usize = 512;
/// Between two looks whether a process can be started.
const HOLD_STEP: Duration = Duration::from_millis(100);
/// Questions of a class about one batch that are answered; one that asks on and on is ended.
const QUESTIONS_MAX: usize = 1 << 16;
/// Requests for parsers, for functions, and for destinations.
const PARSE: i64 = 0;
const CALL: i64 = 1;
pub(crate) const SEND: i64 = 2;

/// Who takes the bytes of an answer.
pub(crate) type Take<'a> = &'a mut dyn FnMut(&[u8], &mut dyn Messages) -> Result<(), Malformed>;

/// The messages of a step, as the processes see them.
pub trait Messages {
    fn count(&self) -> usize;

    /// Writes the values of a message that go with it, as many as there are names.
    fn row(&mut self, at: usize, names: &Arc<Names>, out: &mut Vec<u8>);

    /// Writes one value of a message, which was asked for.
    fn value(&mut self, at: usize, name: &str, out: &mut Vec<u8>);

    /// Writes the arguments of a function's call, a tuple; for a destination the number of the message, and
    /// a dictionary or None.
    fn arguments(&mut self, _at: usize, out: &mut Vec<u8>) {
        marshal::tuple(0, out);
    }

    /// Told of a message that no process could answer for.
    fn lost(&mut self, _at: usize, _fault: &Fault) {}

    /// Takes what the class has made of a message.
    fn answer(&mut self, at: usize, answer: &mut Reader<'_>) -> Result<(), Malformed>;
}

impl Instance {
    /// Runs messages through the class. Those that no process could answer for are not answered, counted and
    /// said.
    pub fn run(&self, messages: &mut dyn Messages) {
        let count = messages.count();
        let mut seat = self.pool.seat();
        let mut from = 0;
        while from < count {
            let part = from..count.min(from + MESSAGES_MAX);
            from = part.end;
            if let Err(fault) = self.exchange(&mut seat, part.clone(), messages) {
                self.one_by_one(&mut seat, part, messages, &fault);
            }
        }
        crate::post::end_later(self.pool.outgrown(&mut seat));
    }

    /// What came of a batch that a process did not survive: the message it died of is lost, no other.
    fn one_by_one(&self, seat: &mut Chair, part: Range<usize>, messages: &mut dyn Messages, fault: &Fault) {
        let lose = |at: usize, fault: &Fault, messages: &mut dyn Messages| {
            self.note_lost(fault);
            messages.lost(at, fault);
        };
        if part.len() == 1 {
            let at = part.start;
            let again = match fault {
                Fault::Ended(_) => self.exchange(seat, part, messages),
                _ => Err(fault.clone()),
            };
            return again.unwrap_or_else(|fault| lose(at, &fault, messages));
        }
        oplog::limited(
            "python.again",
            oplog::Level::Warning,
            "Python failed; its messages are run again one by one",
            &[("class", &self.class()), ("messages", &part.len()), ("reason", fault)],
        );
        for at in part {
            let result = match self.exchange(seat, at..at + 1, messages) {
                // Somebody else may have killed the process just now.
                Err(Fault::Ended(_)) => self.exchange(seat, at..at + 1, messages),
                result => result,
            };
            result.unwrap_or_else(|fault| lose(at, &fault, messages));
        }
    }

    fn exchange(
        &self,
        seat: &mut Chair,
        part: Range<usize>,
        messages: &mut dyn Messages,
    ) -> Result<(), Fault> {
        while let Err(fault) = self.pool.known(seat, self) {
            if !seat.holds() {
                return Err(fault);
            }
            oplog::limited(
                "python.holds",
                oplog::Level::Error,
                "Messages wait for Python, which cannot be started",
                &[("class", &self.class()), ("reason", &fault)],
            );
            std::thread::sleep(HOLD_STEP);
        }
        let result = match self.pool.known(seat, self) {
            Ok(child) => self.talk(child, part, messages),
            Err(fault) => Err(fault),
        };
        self.pool.settle(seat, result)
    }

    fn talk(&self, child: &mut Child, part: Range<usize>, messages: &mut dyn Messages) -> Result<(), Fault> {
        let is_call = self.identity.kind == Kind::Function;
        self.ask(child, if is_call { CALL } else { PARSE }, part.clone(), is_call, messages)?;
        self.hear(child, part.clone(), messages, &mut |answer, messages| {
            let mut reader = Reader::new(answer);
            if reader.list()? as usize != part.len() {
                return Err(Malformed);
            }
            part.clone().try_for_each(|at| messages.answer(at, &mut reader))?;
            if reader.is_empty() { Ok(()) } else { Err(Malformed) }
        })
    }

    /// Sends messages, each with its values, and with its arguments where they are asked for.
    pub(crate) fn ask(
        &self,
        child: &mut Child,
        request: i64,
        part: Range<usize>,
        with_arguments: bool,
        messages: &mut dyn Messages,
    ) -> Result<(), Fault> {
        let names = self.names();
        let told = child.known.insert(self.number, names.version) == Some(names.version) && names.version > 0;
        child.ask(|out| {
            marshal::tuple(if with_arguments { 5 } else { 4 }, out);
            marshal::int(request, out);
            marshal::int(self.number as i64, out);
            if told {
                marshal::none(out);
            } else {
                marshal::list(names.list.len(), out);
                names.list.iter().for_each(|name| marshal::text(name, out));
            }
            marshal::list(part.len(), out);
            for at in part.clone() {
                marshal::tuple(names.list.len(), out);
                messages.row(at, &names, out);
            }
            if with_arguments {
                marshal::list(part.len(), out);
                part.clone().for_each(|at| messages.arguments(at, out));
            }
        })
    }

    /// Answers what the class asks about the messages, and takes what it has made of them.
    pub(crate) fn hear(
        &self,
        child: &mut Child,
        part: Range<usize>,
        messages: &mut dyn Messages,
        take: Take<'_>,
    ) -> Result<(), Fault> {
        for _ in 0..QUESTIONS_MAX {
            let answer = child.answer()?;
            let Some(name) = question(answer).map_err(|Malformed| Fault::Malformed)? else {
                return take(answer, messages).map_err(|Malformed| Fault::Malformed);
            };
            self.learn(&name);
            child.ask(|out| {
                marshal::list(part.len(), out);
                part.clone().for_each(|at| messages.value(at, &name, out));
            })?;
        }
        Err(Fault::Malformed)
    }
}

/// The name of a value that is asked for; `None` when this is an answer.
fn question(answer: &[u8]) -> Result<Option<String>, Malformed> {
    let mut reader = Reader::new(answer);
    match (reader.item()?, reader.item()) {
        (Item::Tuple(2), Ok(Item::Text(b"need"))) => {
            // A name that is no UTF-8 is none that a message has.
            Ok(Some(String::from_utf8_lossy(reader.text()?).into_owned()))
        }
        _ => Ok(None),
    }
}
