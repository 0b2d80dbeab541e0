//! Random writes, acknowledgements and cuts, against a peer that remembers what its kernel has acknowledged.

use super::*;
use crate::single::SinkContext;
use crate::testing::{Rig, chunk, template};
use crate::writer::Writer;
use engine::ledger::DestinationCounters;
use engine::{Acknowledge, Budget, Mark, Progress, Window};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

fn place(rig: &Rig) -> SinkContext {
    SinkContext {
        id: rig.outlet.id,
        home: rig.engine.shared().any_worker().expect("a worker").clone(),
        counters: Arc::default(),
        nudge: Arc::default(),
        restart: Arc::default(),
    }
}

fn idle() -> Rig {
    struct Nothing;
    impl engine::Sink for Nothing {
        fn write(&mut self, chunks: &mut VecDeque<Chunk>, _progress: &mut Progress<'_>) -> engine::Status {
            chunks.clear();
            engine::Status::Done
        }

        fn close(&mut self, _queue: &mut VecDeque<Chunk>) {}
    }
    let writer = Writer::new(template("$MSG\n"), &crate::testing::identity());
    Rig::with(writer, Box::new(|_| Box::new(Nothing)))
}

/// The sink's part, without sockets.
struct Model {
    kept: Kept,
    chunks: VecDeque<Chunk>,
    place: SinkContext,
    /// What the connection carried, and how much of it the peer's kernel has acknowledged.
    wire: Vec<u8>,
    acknowledged: usize,
    /// What was acknowledged of earlier connections, up to the last whole message.
    got: Vec<u8>,
}

impl Model {
    /// Writes up to `room` bytes, as the kernel takes them.
    fn write(&mut self, mut room: usize) {
        while room > 0 {
            if let Some(chunk) = self.kept.again() {
                let n = chunk.pending().len().min(room);
                self.wire.extend_from_slice(&chunk.pending()[..n]);
                self.kept.wrote_again(n);
                room -= n;
                continue;
            }
            let Some(chunk) = self.chunks.front_mut() else { return };
            self.kept.begin(chunk, &self.place);
            let n = chunk.pending().len().min(room);
            self.wire.extend_from_slice(&chunk.pending()[..n]);
            let whole = chunk.advance(n);
            self.kept.wrote(n, whole, &self.place);
            room -= n;
            if chunk.pending().is_empty()
                && let Some(chunk) = self.chunks.pop_front()
            {
                self.kept.keep(chunk);
            }
        }
    }

    fn acknowledge(&mut self, bytes: usize) {
        self.acknowledged = (self.acknowledged + bytes).min(self.wire.len());
        self.kept.acknowledged(self.wire.len() - self.acknowledged, &self.place);
        let sum = self.got.iter().chain(&self.wire[..self.acknowledged]).filter(|b| **b == b'\n').count();
        assert!(self.delivered() <= sum, "more is delivered than the peer has");
    }

    fn cut(&mut self) {
        self.kept.broke(self.wire.len() - self.acknowledged, &self.place);
        self.kept.rewind(&mut self.chunks, &self.place);
        let has = &self.wire[..self.acknowledged];
        let whole = has.iter().rposition(|b| *b == b'\n').map_or(0, |last| last + 1);
        self.got.extend_from_slice(&has[..whole]);
        self.wire.clear();
        self.acknowledged = 0;
        assert_eq!(self.delivered(), self.got.iter().filter(|b| **b == b'\n').count());
        // Bytes that were written twice, or of which the peer has a beginning only, are not delivered.
        assert_eq!(self.place.counters.delivered_bytes.value(), self.got.len() as u64);
    }

    fn delivered(&self) -> usize {
        self.place.counters.delivered.value() as usize
    }
}

#[derive(Default)]
struct Heard(Mutex<Vec<(u64, bool)>>);

impl Acknowledge for Heard {
    fn done(&self, number: u64) {
        self.0.lock().expect("no panic").push((number, true));
    }

    fn undone(&self, number: u64) {
        self.0.lock().expect("no panic").push((number, false));
    }
}

#[test]
fn a_source_that_wants_to_hear_does_so_when_the_peer_has_its_messages() {
    let (rig, heard) = (idle(), Arc::<Heard>::default());
    let window = Window::new(1000, None, Budget::new(1000));
    let guarded = |number, flow_control| {
        let mut chunk = chunk(&[format!("message {number}\n")]);
        let mark = Mark::new(Arc::clone(&heard) as Arc<dyn Acknowledge>, number);
        chunk.tickets.push(window.marked(10, 1, Some(mark)));
        chunk.flow_control = flow_control;
        chunk
    };
    let chunks = [guarded(1, true), guarded(2, true), guarded(3, false)].into();
    let mut model = Model {
        kept: Kept::default(),
        chunks,
        place: place(&rig),
        wire: Vec::new(),
        acknowledged: 0,
        got: Vec::new(),
    };
    let told = || std::mem::take(&mut *heard.0.lock().expect("no panic"));
    model.write(usize::MAX);
    assert_eq!(told(), [(3, true)], "whoever does not wait is not held back");
    assert!(model.kept.is_awaited());
    model.acknowledge(15);
    assert_eq!(told(), [(1, true)]);
    model.cut();
    model.write(usize::MAX);
    assert_eq!(told(), [], "nobody but us has it");
    let mut copies = model.kept.copies(&model.chunks);
    model.kept.let_go();
    assert!(!model.kept.is_awaited() && told().is_empty(), "the copies hold it");
    copies.iter_mut().for_each(|copy| copy.tickets.settle());
    assert_eq!(told(), [(2, true)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn nothing_is_lost_and_nothing_acknowledged_comes_again(
        sizes in proptest::collection::vec(1usize..6, 1..8),
        steps in proptest::collection::vec((0u8..5, 1usize..60), 0..60),
    ) {
        let rig = idle();
        let mut number = 0;
        let mut all = Vec::new();
        let chunks = sizes.iter().map(|count| {
            let messages: Vec<String> = (0..*count).map(|_| { number += 1; format!("message {number}\n") }).collect();
            all.extend(messages.concat().into_bytes());
            chunk(&messages)
        }).collect();
        let mut model = Model {
            kept: Kept::default(), chunks, place: place(&rig), wire: Vec::new(), acknowledged: 0, got: Vec::new(),
        };
        for (what, size) in steps {
            match what {
                0 | 1 => model.write(size),
                2 | 3 => model.acknowledge(size),
                _ => model.cut(),
            }
        }
        model.write(usize::MAX);
        model.acknowledge(usize::MAX / 2);
        let counters: &DestinationCounters = &model.place.counters;
        prop_assert_eq!((counters.delivered.value(), counters.waiting.value()), (number, 0));
        let mut got = model.got.clone();
        got.extend_from_slice(&model.wire);
        prop_assert_eq!(String::from_utf8(got), String::from_utf8(all));
    }
}
