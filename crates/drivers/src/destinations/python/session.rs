//! What runs for one outlet: it takes batches one after the other, gives each to the class, and says what
//! became of it.

use super::packed::Load;
use flight::{Outcome, Verdict};
use guest::{Answer, Job, Jobs, Order, Waited};
use python::marshal::{self, Malformed, Reader};
use python::{Ended, Fate, Fault, Messages, Names, Post, Sent};
use record::{Batch, Context, Record, Stamp, Unpacker};
use std::sync::Arc;
use std::time::Duration;
use template::python::Values;
use template::value_pairs::ValuePairs;
use template::{Identity, Msg, RenderContext, TemplateOptions};

/// Batches that a class may keep until its flush() takes them.
pub const KEPT_MAX: usize = 64;
/// While it keeps some and no others come, flush() is called so often.
const FLUSH_EVERY: Duration = Duration::from_secs(1);

/// How the messages of a destination are taken.
pub struct Taking {
    pub options: TemplateOptions,
    /// Of templates that are not printed with those.
    pub globals: TemplateOptions,
    pub identity: Identity,
    pub pairs: Option<Arc<ValuePairs>>,
    /// So often a message is tried for which the class raises.
    pub retries: u32,
    /// Between two attempts.
    pub pause: Duration,
}

pub struct Session {
    taking: Arc<Taking>,
    post: Post,
    values: Values,
    render: RenderContext,
    batch: Batch,
    unpacker: Unpacker,
    /// Of each message of the batch, its number at the destination.
    numbers: Vec<u64>,
    /// The message that failed last, and how often.
    failing: (Vec<u8>, u32),
    /// Batches of which flush() has kept messages, in their order.
    kept: Vec<(Answer, Sent)>,
}

impl Session {
    pub fn new(taking: Arc<Taking>, post: Post) -> Session {
        let (values, render) = (
            Values::of_driver(&taking.options, &taking.globals),
            RenderContext::new(taking.identity.clone()),
        );
        let (batch, unpacker, numbers, failing, kept) = Default::default();
        Session { taking, post, values, render, batch, unpacker, numbers, failing, kept }
    }

    /// Takes batches until the outlet is closed.
    pub fn serve(mut self, jobs: &Jobs<Load>) {
        loop {
            let waited = match self.kept.is_empty() {
                true => jobs.wait().map_or(Waited::Closed, Waited::Order),
                false => jobs.wait_within(FLUSH_EVERY),
            };
            match waited {
                Waited::Closed => break,
                Waited::Nothing => self.flush(),
                Waited::Order(Order::Reopen) => {
                    self.post.close();
                    self.settle(&Fate::Again);
                }
                Waited::Order(Order::Send(job)) => self.take(job),
            }
        }
        self.post.end();
    }

    /// Gives a batch to the class, and says what became of it, unless the class keeps some of it.
    fn take(&mut self, Job { load, answer }: Job<Load>) {
        self.unpack(&load);
        let sent = self.send();
        self.say_where(&answer);
        match sent {
            Ok(sent) => {
                self.settle(&sent.before);
                if sent.fates.contains(&Fate::Kept) {
                    // The next one may come: the class waits for more.
                    answer.load_is_sent();
                    self.kept.push((answer, sent));
                    return self.say_when_full();
                }
                answer.say(self.judge(&load, sent));
            }
            Err(outcome) => {
                self.settle(&Fate::Again);
                answer.say(outcome);
            }
        }
    }

    /// Asks for what the class keeps, without further messages.
    fn flush(&mut self) {
        self.begin();
        let before = self.send().map_or(Fate::Again, |sent| sent.before);
        self.settle(&before);
    }

    /// What became of the messages that the class has kept.
    fn settle(&mut self, fate: &Fate) {
        if *fate == Fate::Kept {
            return;
        }
        let after = (*fate == Fate::Again).then_some(self.taking.pause);
        for (answer, mut sent) in self.kept.drain(..) {
            sent.settle(fate);
            let verdicts: Vec<Verdict> = sent.fates.into_iter().map(verdict).collect();
            answer.say(match verdicts.iter().all(|verdict| *verdict == Verdict::Again) {
                true => {
                    Outcome::Again { after, counts: false, why: "flush() has not taken what it kept".into() }
                }
                false => outcome(verdicts, after),
            });
        }
    }

    fn say_when_full(&self) {
        if self.kept.len() > KEPT_MAX {
            oplog::limited(
                "python.kept",
                oplog::Level::Warning,
                "A Python destination keeps messages, and gets no more before its flush() has taken them",
                &[("class", &self.post.class()), ("batches", &self.kept.len())],
            );
        }
    }

    /// Of messages that somebody follows: which class got them, and what they are numbered there.
    fn say_where(&self, answer: &guest::Answer) {
        answer.is_at(|at| {
            let number = self.numbers.get(at).filter(|number| **number > 0);
            let number = number.map(|number| ("number", (*number).into()));
            [("class", self.post.class().into())].into_iter().chain(number)
        });
    }

    fn begin(&mut self) {
        let received = Stamp::now(0);
        self.batch.reset();
        self.batch.received = received;
        self.numbers.clear();
        self.render.begin_batch(received);
        self.render.number_all = true;
    }

    fn unpack(&mut self, load: &Load) {
        self.begin();
        for at in 0..load.count() {
            let number = match self.unpacker.unpack(load.message(at), &mut self.batch) {
                Some((_, number)) => number,
                None => {
                    // Damaged, or of another version: the text is what it is.
                    self.batch.contexts.push(Arc::new(Context::local("", "", "")));
                    let mut record = Record::new(self.batch.append(load.message(at)));
                    record.message = record.frame;
                    record.context = (self.batch.contexts.len() - 1) as u16;
                    self.batch.records.push(record);
                    0
                }
            };
            self.numbers.push(number);
        }
    }

    fn send(&mut self) -> Result<Sent, Outcome> {
        let Session { taking, post, values, render, batch, numbers, kept, .. } = self;
        let pairs = taking.pairs.as_deref();
        let sent = post.send(&mut Passing { batch, numbers, values, render, pairs }, !kept.is_empty());
        sent.map_err(|fault| match fault {
            Fault::Refused(_) => Outcome::Hold(fault.to_string()),
            fault => Outcome::Away(fault.to_string()),
        })
    }

    /// What a batch comes to. A message that has failed too often is refused, and the others go on.
    fn judge(&mut self, load: &Load, sent: Sent) -> Outcome {
        let pause = self.taking.pause;
        let is_begun = sent.fates.iter().any(|fate| *fate != Fate::Again);
        let mut after = Some(pause);
        let mut verdicts: Vec<Verdict> = sent.fates.into_iter().map(verdict).collect();
        match sent.ended {
            Ended::Well => after = None,
            Ended::Failed(at, why) => {
                if self.has_failed(load.message(at)) {
                    if let Some(place) = verdicts.get_mut(at) {
                        *place = Verdict::Refused(why.into());
                    }
                    after = Some(Duration::ZERO);
                } else if !is_begun {
                    return Outcome::Again { after, counts: false, why };
                }
            }
            Ended::NotFlushed(why) if !is_begun => return Outcome::Again { after, counts: true, why },
            Ended::Away(why) if !is_begun => return Outcome::Away(why),
            Ended::NotFlushed(_) | Ended::Away(_) => {}
        }
        outcome(verdicts, after)
    }

    /// Counts an attempt; whether it was the last one.
    fn has_failed(&mut self, message: &[u8]) -> bool {
        if self.failing.0 != message {
            self.failing = (message.to_vec(), 0);
        }
        self.failing.1 += 1;
        let is_last = self.failing.1 >= self.taking.retries;
        if is_last {
            self.failing = Default::default();
        }
        is_last
    }
}

fn outcome(verdicts: Vec<Verdict>, after: Option<Duration>) -> Outcome {
    match verdicts.iter().all(|verdict| *verdict == Verdict::Delivered) {
        true => Outcome::Delivered,
        false => Outcome::Judged { verdicts, after },
    }
}

fn verdict(fate: Fate) -> Verdict {
    match fate {
        Fate::Again | Fate::Kept => Verdict::Again,
        Fate::Delivered => Verdict::Delivered,
        Fate::Dropped => Verdict::Refused("send() or flush() returned DROP".into()),
        Fate::Killed(why) => Verdict::Refused(why.into()),
    }
}

/// The messages of a batch on their way to the class.
struct Passing<'a> {
    batch: &'a Batch,
    numbers: &'a [u64],
    values: &'a mut Values,
    render: &'a mut RenderContext,
    pairs: Option<&'a ValuePairs>,
}

impl<'a> Passing<'a> {
    /// A message, once the context knows its number.
    fn msg(&mut self, at: usize) -> Option<Msg<'a>> {
        let batch: &'a Batch = self.batch;
        self.render.seqnum = self.numbers.get(at).copied().filter(|number| *number > 0);
        Some(Msg { batch, record: batch.records.get(at)? })
    }
}

impl Messages for Passing<'_> {
    fn count(&self) -> usize {
        self.batch.records.len()
    }

    fn row(&mut self, at: usize, names: &Arc<Names>, out: &mut Vec<u8>) {
        if let Some(msg) = self.msg(at) {
            self.values.row(msg, names, self.render, out);
        }
    }

    fn value(&mut self, at: usize, name: &str, out: &mut Vec<u8>) {
        if let Some(msg) = self.msg(at) {
            self.values.value(msg, name, self.render, out);
        }
    }

    /// Its number, and what value-pairs() finds.
    fn arguments(&mut self, at: usize, out: &mut Vec<u8>) {
        marshal::tuple(2, out);
        marshal::int(self.numbers.get(at).map_or(0, |number| *number as i64), out);
        let pairs = self.pairs;
        match (pairs, self.msg(at)) {
            (Some(pairs), Some(msg)) => self.values.pairs(msg, pairs, self.render, out),
            _ => marshal::none(out),
        }
    }

    fn answer(&mut self, _at: usize, _answer: &mut Reader<'_>) -> Result<(), Malformed> {
        Err(Malformed)
    }
}
