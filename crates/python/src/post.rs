//! The process that an instance has for itself: that of a destination. It may take its time: nobody else
//! waits for it.

use crate::child::Child;
use crate::fault::Fault;
use crate::instance::Instance;
use crate::marshal::{self, Item, Malformed, Reader};
use crate::pool::Chair;
use crate::run::{Messages, SEND};
use parking_lot::{Condvar, Mutex};
use std::ops::Range;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// At the end of the program, so long a batch under way is waited for.
const LAST_BATCH: Duration = Duration::from_secs(5);

static POSTS: Mutex<Vec<Weak<Mutex<Chair>>>> = Mutex::new(Vec::new());

pub struct Post {
    instance: Arc<Instance>,
    chair: Arc<Mutex<Chair>>,
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was not sent, or nobody knows.
    Again,
    Delivered,
    /// The class returned DROP.
    Dropped,
    /// The class has it, and says later what became of it: flush() returned QUEUED.
    Kept,
    /// The process died of it, each time.
    Killed(String),
}

/// How a batch ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    Well,
    /// At this message, with these words.
    Failed(usize, String),
    /// When all were sent: flush() did not take those that were queued.
    NotFlushed(String),
    /// It is not connected.
    Away(String),
}

/// What became of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub fates: Vec<Fate>,
    pub ended: Ended,
    /// What became of those that the class has kept in earlier batches; [`Fate::Kept`] of all or of none.
    pub before: Fate,
}

impl Post {
    pub fn new(instance: Arc<Instance>) -> Post {
        let chair = Arc::new(Mutex::new(Chair::default()));
        let mut posts = POSTS.lock();
        posts.retain(|post| post.strong_count() > 0);
        posts.push(Arc::downgrade(&chair));
        Post { instance, chair }
    }

    pub fn class(&self) -> &str {
        self.instance.class()
    }

    /// Starts the process and makes the object, unless they are there.
    pub fn begin(&self) -> Result<(), Fault> {
        self.instance.pool.known(&mut self.chair.lock(), &self.instance).map(drop)
    }

    /// Sends messages. What a process did not survive is sent again one by one: so the message that it dies
    /// of is known, and no other suffers. An error: there is no process, or no object in it. `keeps`: the
    /// class has kept messages of earlier batches, which its process would take with it. Without messages
    /// flush() is called alone.
    pub fn send(&self, messages: &mut dyn Messages, keeps: bool) -> Result<Sent, Fault> {
        let count = messages.count();
        let mut chair = self.chair.lock();
        if !keeps {
            // What its deinit() puts in order, the next one may need.
            Child::end_all(self.instance.pool.outgrown(&mut chair).into_iter().collect());
        }
        let fault = match self.exchange(&mut chair, 0..count, messages) {
            Err(fault @ (Fault::Ended(_) | Fault::Silent(_) | Fault::Malformed)) => fault,
            result => return result,
        };
        oplog::limited(
            "python.again",
            oplog::Level::Warning,
            "Python failed; its messages are sent again one by one",
            &[("class", &self.class()), ("messages", &count), ("reason", &fault)],
        );
        let mut sent = Sent { fates: Vec::with_capacity(count), ended: Ended::Well, before: Fate::Again };
        for at in 0..count {
            let result = match self.exchange(&mut chair, at..at + 1, messages) {
                // Somebody else may have killed the process just now.
                Err(Fault::Ended(_)) => self.exchange(&mut chair, at..at + 1, messages),
                result => result,
            };
            match result {
                Ok(Sent { mut fates, ended, before }) => {
                    sent.settle(&before);
                    sent.fates.append(&mut fates);
                    match ended {
                        Ended::Well => continue,
                        Ended::Failed(_, why) => sent.ended = Ended::Failed(at, why),
                        ended => sent.ended = ended,
                    }
                    break;
                }
                Err(fault @ (Fault::Ended(_) | Fault::Silent(_) | Fault::Malformed)) => {
                    self.instance.note_lost(&fault);
                    sent.settle(&Fate::Again);
                    sent.fates.push(Fate::Killed(fault.to_string()));
                }
                Err(fault) if sent.fates.is_empty() => return Err(fault),
                Err(fault) => {
                    sent.settle(&Fate::Again);
                    sent.ended = Ended::Away(fault.to_string());
                    break;
                }
            }
        }
        sent.fates.resize(count, Fate::Again);
        Ok(sent)
    }

    fn exchange(
        &self,
        chair: &mut Chair,
        part: Range<usize>,
        messages: &mut dyn Messages,
    ) -> Result<Sent, Fault> {
        let instance = &self.instance;
        let mut sent = None;
        let result = instance.pool.known(chair, instance).and_then(|child| {
            instance.ask(child, SEND, part.clone(), true, messages)?;
            instance.hear(child, part.clone(), messages, &mut |answer, _| {
                sent = Some(sent_of(answer, part.len())?);
                Ok(())
            })
        });
        instance.pool.settle(chair, result)?;
        sent.ok_or(Fault::Malformed)
    }

    /// Asks the object for something beside messages. `write` writes so many arguments.
    pub(crate) fn call(
        &self,
        name: &str,
        arguments: usize,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Result<Vec<u8>, Fault> {
        let mut chair = self.chair.lock();
        let instance = &self.instance;
        Child::end_all(instance.pool.outgrown(&mut chair).into_iter().collect());
        let result = instance.pool.known(&mut chair, instance).and_then(|child| {
            child.call(name, arguments + 1, |out| {
                marshal::int(instance.number as i64, out);
                write(out);
            })
        });
        instance.pool.settle(&mut chair, result)
    }

    /// Lets the class close its connection; the next batch opens another.
    pub fn close(&self) {
        let mut chair = self.chair.lock();
        let number = self.instance.number;
        let Some(child) = chair.child.as_mut().filter(|child| child.known.contains_key(&number)) else {
            return;
        };
        let closed = child.call("close", 1, |out| marshal::int(number as i64, out));
        // What is wrong with the process shows with the next batch.
        let _ = self.instance.pool.settle(&mut chair, closed);
    }

    /// Lets the class close and deinit(), and ends the process.
    pub fn end(&self) {
        let mut chair = self.chair.lock();
        Child::end_all(chair.child.take().into_iter().collect());
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        end_later(self.chair.lock().child.take());
    }
}

/// Processes that are told to end and have not yet.
static ENDING: Mutex<usize> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

/// Ends a process without waiting for what it does at its end; [`end`] waits.
pub(crate) fn end_later(child: Option<Child>) {
    let Some(child) = child else { return };
    *ENDING.lock() += 1;
    let end = move || {
        Child::end_all(vec![child]);
        *ENDING.lock() -= 1;
        ENDED.notify_all();
    };
    if std::thread::Builder::new().name("python-end".to_owned()).spawn(end).is_err() {
        *ENDING.lock() -= 1;
    }
}

/// Ends the processes of all posts, and waits for what they do at their end.
pub(crate) fn end() {
    let posts: Vec<_> = POSTS.lock().iter().filter_map(Weak::upgrade).collect();
    let chairs = posts.iter().filter_map(|post| post.try_lock_for(LAST_BATCH));
    Child::end_all(chairs.filter_map(|mut chair| chair.child.take()).collect());
    let until = Instant::now() + LAST_BATCH;
    let mut ending = ENDING.lock();
    while *ending > 0 && !ENDED.wait_until(&mut ending, until).timed_out() {}
}

impl Sent {
    /// What became of those that were kept.
    pub fn settle(&mut self, fate: &Fate) {
        self.fates.iter_mut().filter(|kept| **kept == Fate::Kept).for_each(|kept| *kept = fate.clone());
    }
}

fn fate_of(number: u8) -> Result<Fate, Malformed> {
    Ok(match number {
        0 => Fate::Again,
        1 => Fate::Delivered,
        2 => Fate::Dropped,
        3 => Fate::Kept,
        _ => return Err(Malformed),
    })
}

/// Reads what came of a batch: verdicts, how it ended, at which message, why, and what became of those that
/// were kept before.
fn sent_of(answer: &[u8], count: usize) -> Result<Sent, Malformed> {
    let mut reader = Reader::new(answer);
    let Item::Tuple(5) = reader.item()? else { return Err(Malformed) };
    let fates: Vec<Fate> = reader.text()?.iter().map(|fate| fate_of(*fate)).collect::<Result<_, _>>()?;
    let (Item::Int(how), Item::Int(at)) = (reader.item()?, reader.item()?) else { return Err(Malformed) };
    let why = String::from_utf8_lossy(reader.text()?).into_owned();
    let at = usize::try_from(at).map_err(|_| Malformed)?;
    let ended = match how {
        0 => Ended::Well,
        1 if at < count => Ended::Failed(at, why),
        2 => Ended::NotFlushed(why),
        3 => Ended::Away(why),
        _ => return Err(Malformed),
    };
    let Item::Int(before) = reader.item()? else { return Err(Malformed) };
    let before = fate_of(u8::try_from(before).map_err(|_| Malformed)?)?;
    if fates.len() == count && reader.is_empty() { Ok(Sent { fates, ended, before }) } else { Err(Malformed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_destination_answers_is_read_or_refused() {
        let answer = |fates: &[u8], how, at, why: &str| {
            let mut out = Vec::new();
            marshal::tuple(5, &mut out);
            marshal::bytes(fates, &mut out);
            marshal::int(how, &mut out);
            marshal::int(at, &mut out);
            marshal::text(why, &mut out);
            marshal::int(3, &mut out);
            out
        };
        let good = answer(&[1, 0, 2], 1, 1, "why");
        let sent = sent_of(&good, 3).expect("an answer");
        assert_eq!(sent.fates, [Fate::Delivered, Fate::Again, Fate::Dropped]);
        assert_eq!(sent.ended, Ended::Failed(1, "why".to_owned()));
        assert_eq!(sent.before, Fate::Kept);
        for wrong in [answer(&[1, 0], 0, 0, ""), answer(&[4, 0, 0], 0, 0, ""), answer(&[0; 3], 9, 0, "")] {
            assert_eq!(sent_of(&wrong, 3), Err(Malformed));
        }
        assert_eq!(sent_of(&answer(&[0; 3], 1, 3, ""), 3), Err(Malformed));
        (0..good.len()).for_each(|cut| assert_eq!(sent_of(&good[..cut], 3), Err(Malformed)));
    }
}
