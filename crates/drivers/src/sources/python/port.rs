//! The port of a source in Python: it takes what the process posts, tells it what was dealt with, and starts
//! it again when it has ended.

use super::messages::{Maker, Making};
use engine::source::Source;
use engine::worker::{After, Port, PortContext};
use engine::{Acknowledge, Feed, Mark, Read};
use intake::listener::register;
use mio::unix::SourceFd;
use parking_lot::Mutex;
use python::{Answers, Came, Instance, Producer};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is started in a thread of its own: an interpreter takes its time.
type Started = Arc<Mutex<Option<Result<Producer, String>>>>;

pub struct Parts {
    pub instance: Arc<Instance>,
    pub pauses: (Duration, Duration),
    pub window_messages: Option<usize>,
    pub making: Arc<Making>,
    pub source: Arc<Source>,
    /// The first process.
    pub started: Started,
}

pub struct PythonPort {
    parts: Parts,
    feed: Feed,
    maker: Maker,
    token: mio::Token,
    producer: Option<Producer>,
    /// One is being started.
    is_starting: bool,
    start_at: Instant,
    queued: bool,
}

/// Tells the process which of its messages were dealt with. What was given up it is not told of: it comes
/// again from where its bookmark is.
struct Acked(Arc<Answers>);

impl Acknowledge for Acked {
    fn done(&self, number: u64) {
        self.0.done(number);
    }

    fn undone(&self, _number: u64) {}
}

impl PythonPort {
    pub fn new(parts: Parts, cx: &PortContext, token: mio::Token) -> PythonPort {
        let feed = Feed::new(Arc::clone(&parts.source), parts.window_messages, cx, token);
        PythonPort {
            maker: Maker::new(Arc::clone(&parts.making)),
            parts,
            feed,
            token,
            producer: None,
            is_starting: true,
            start_at: Instant::now(),
            queued: false,
        }
    }

    /// Takes a process that was started, or has one started when it is time.
    fn begin(&mut self, cx: &mut PortContext) {
        let started = self.parts.started.lock().take();
        let failed = match started {
            Some(Ok(producer)) => {
                self.is_starting = false;
                match register(&producer.descriptor(), cx.handle.registry(), self.token) {
                    Ok(()) => {
                        self.producer = Some(producer);
                        return;
                    }
                    Err(error) => error.to_string(),
                }
            }
            Some(Err(why)) => why,
            None if self.is_starting || Instant::now() < self.start_at => return,
            None => {
                self.is_starting = true;
                let (instance, pauses) = (Arc::clone(&self.parts.instance), self.parts.pauses);
                let (place, waker) = (Arc::clone(&self.parts.started), cx.handle.waker(self.token));
                let start = move || {
                    let started = Producer::start(&instance, pauses).map_err(|fault| fault.to_string());
                    *place.lock() = Some(started);
                    waker.wake();
                };
                match std::thread::Builder::new().name("python-start".to_owned()).spawn(start) {
                    Ok(_) => return,
                    Err(error) => error.to_string(),
                }
            }
        };
        self.failed(&failed);
    }

    fn failed(&mut self, why: &str) {
        self.is_starting = false;
        self.start_at = Instant::now() + self.parts.pauses.0;
        oplog::error(
            "The Python source ended, starting it again",
            &[
                ("class", &self.parts.instance.class()),
                ("seconds", &self.parts.pauses.0.as_secs()),
                ("reason", &why),
            ],
        );
    }

    fn leave_producer(&mut self, cx: &PortContext) {
        if let Some(producer) = self.producer.take() {
            let _ = cx.handle.registry().deregister(&mut SourceFd(&producer.descriptor()));
        }
    }

    /// Takes what was posted together, or answers a question. Whether there was something.
    fn step(&mut self, cx: &mut PortContext) -> Result<bool, String> {
        let began = Instant::now();
        let Some(producer) = &mut self.producer else { return Ok(false) };
        let answers = Arc::clone(producer.answers());
        let Some(came) = producer.next_came().map_err(|fault| fault.to_string())? else {
            return Ok(false);
        };
        let (mut batch, now) = (cx.batch(), cx.now());
        let taken = match came {
            Came::Posted(mut posted) => {
                self.maker.append(&mut batch, &mut posted, now).map(|()| Some(posted.number))
            }
            Came::Asked(mut asked) => self.maker.answer(&mut batch, &mut asked, now).map(|value| {
                answers.reply(&value);
                None
            }),
        };
        let Ok(Some(number)) = taken else {
            cx.recycle(batch);
            return taken.map(|_| true).map_err(|_| "it posted something that is no message".to_owned());
        };
        let mark = Mark::new(Arc::new(Acked(answers)), number);
        let bytes = batch.text.len();
        self.feed.run_marked(batch, Read { bytes, busy: true, began, mark: Some(mark) }, cx);
        Ok(true)
    }
}

impl Port for PythonPort {
    fn turn(&mut self, cx: &mut PortContext) -> After {
        match &self.producer {
            None => self.begin(cx),
            // What it did not take when it was told.
            Some(producer) => drop(producer.answers().flush()),
        }
        if self.producer.is_none() || !self.feed.may_read() {
            return After::Idle;
        }
        match self.step(cx) {
            Ok(true) => After::Again,
            Ok(false) => After::Idle,
            Err(why) => {
                self.leave_producer(cx);
                self.failed(&why);
                After::Idle
            }
        }
    }

    fn queued(&mut self) -> &mut bool {
        &mut self.queued
    }

    fn retry(&self) -> bool {
        true
    }

    fn closed(&mut self, cx: &mut PortContext) {
        self.leave_producer(cx);
    }

    fn source(&self) -> Option<&Arc<Source>> {
        Some(&self.parts.source)
    }
}
