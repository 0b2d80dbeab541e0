//! For tests of sinks: an engine with one destination, to which chunks are handed as a worker would.

use super::single::{MakeSink, SingleDestination};
use crate::writer::Writer;
use engine::driver::Destination;
use engine::ledger::DestinationCounters;
use engine::{Chunk, Engine, EngineOptions, Outlet, QueueLimits};
use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, Instant};
use template::{Identity, NoScope, Template, TemplateOptions};

pub fn identity() -> Identity {
    Identity::new("collector")
}

pub fn template(text: &str) -> Arc<Template> {
    Arc::new(Template::compile(text, &TemplateOptions::default(), &NoScope).expect("template"))
}

pub struct Rig {
    pub engine: Engine,
    pub destination: SingleDestination,
    pub outlet: Arc<Outlet>,
}

impl Rig {
    pub fn new(make: MakeSink) -> Rig {
        Rig::with(Writer::new(template("$MSG\n"), &identity()), make)
    }

    pub fn with(writer: Writer, make: MakeSink) -> Rig {
        let options = EngineOptions { workers: 2, memory_max: 1 << 30, sharing: false, identity: identity() };
        let engine = Engine::new(&options).expect("engine");
        let limits = QueueLimits { messages_max: 1_000_000 };
        let destination = SingleDestination::new(("test", "test".into()), writer, limits, false, make);
        destination.start(engine.shared()).expect("start");
        let outlet = destination.outlets().remove(0);
        Rig { engine, destination, outlet }
    }

    pub fn send<T: AsRef<[u8]>>(&self, messages: &[T]) {
        self.outlet.push_new(chunk(messages));
        self.outlet.pump();
    }

    pub fn counters(&self) -> &DestinationCounters {
        &self.destination.counters
    }

    /// `accepted = delivered + waiting + dropped`. It comes to hold once the thread that delivers has counted
    /// the whole chunk: a message is delivered before it is no longer waiting.
    #[track_caller]
    pub fn wait_balanced(&self) {
        let c = self.counters();
        wait_until("the balance", || {
            c.accepted.value() == c.delivered.value() + c.waiting.value() + c.dropped.total()
        });
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.outlet.close();
    }
}

pub fn chunk<T: AsRef<[u8]>>(messages: &[T]) -> Chunk {
    let mut chunk = Chunk::default();
    chunk.flow_control = true;
    for message in messages {
        chunk.bytes.extend_from_slice(message.as_ref());
        chunk.ends.push(chunk.bytes.len() as u32);
    }
    chunk
}

/// Waits for a state that other threads bring about.
#[track_caller]
pub fn wait_until(what: &str, mut is: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !is() {
        assert!(Instant::now() < until, "waited in vain for {what}");
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

pub fn numbered(from: usize, to: usize) -> Vec<String> {
    (from..to).map(|n| format!("message {n}\n")).collect()
}

/// Reads exactly as many bytes as `lines` are and compares.
#[track_caller]
pub fn expect(peer: &mut impl Read, lines: &[String]) {
    let expected = lines.concat();
    let mut got = vec![0; expected.len()];
    peer.read_exact(&mut got).expect("read");
    assert_eq!(String::from_utf8_lossy(&got), expected);
}
