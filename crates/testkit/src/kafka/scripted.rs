//! A broker written from the protocol's description: one node, one topic for every name, account of numbers
//! as Kafka keeps it, and answers by script. It reads record batches without compression, and checks every
//! length and checksum of what it is sent.

use std::collections::{HashMap, VecDeque};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// What happens to the next request to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Nothing is written, and this error is the answer for each partition.
    Error(i16),
    /// The connection is closed instead of writing.
    Cut,
    /// All is written, and the connection is closed instead of an answer.
    CutAfter,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub topic: String,
    pub partition: i32,
    pub key: Option<String>,
    pub value: String,
}

/// Of a producer in a partition: the last batches, by their first and last numbers.
type Numbers = VecDeque<(i32, i32)>;

#[derive(Default)]
struct State {
    written: Vec<Written>,
    numbers: HashMap<(String, i32, i64), Numbers>,
    script: VecDeque<Act>,
    open: Vec<TcpStream>,
    /// A batch with a value that has this in it is refused.
    bad: Option<String>,
    /// A batch that is larger is refused.
    bytes_max: Option<usize>,
    /// What is written is answered so much later.
    pause: Duration,
    /// Requests to write that came and are not answered.
    unanswered: usize,
    producers: i64,
}

/// Ends with the test program.
pub struct ScriptedKafka {
    port: u16,
    state: Arc<Mutex<State>>,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl ScriptedKafka {
    pub fn start(partitions: i32) -> ScriptedKafka {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state: Arc<Mutex<State>> = Arc::default();
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let state = Arc::clone(&shared);
                lock(&state).open.extend(stream.try_clone());
                std::thread::spawn(move || Connection { stream, port, partitions, state }.serve());
            }
        });
        ScriptedKafka { port, state }
    }

    pub fn server(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// What happens to the next requests to write, one after the other.
    pub fn then(&self, acts: impl IntoIterator<Item = Act>) {
        lock(&self.state).script.extend(acts);
    }

    /// Acts that have not come to pass yet.
    pub fn to_come(&self) -> usize {
        lock(&self.state).script.len()
    }

    /// Refuses batches with a value that has this in it, and names the record.
    pub fn refuse(&self, text: &str) {
        lock(&self.state).bad = Some(text.to_owned());
    }

    /// Refuses larger batches.
    pub fn refuse_larger(&self, bytes: usize) {
        lock(&self.state).bytes_max = Some(bytes);
    }

    /// Answers requests to write so much later.
    pub fn slow(&self, pause: Duration) {
        lock(&self.state).pause = pause;
    }

    /// Requests to write that came and are not answered.
    pub fn unanswered(&self) -> usize {
        lock(&self.state).unanswered
    }

    /// Closes all connections.
    pub fn hang_up(&self) {
        for stream in lock(&self.state).open.drain(..) {
            // It may be gone already.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    pub fn written(&self) -> Vec<Written> {
        lock(&self.state).written.clone()
    }

    pub fn values(&self) -> Vec<String> {
        lock(&self.state).written.iter().map(|written| written.value.clone()).collect()
    }
}

/// What is left of a request.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, length: usize) -> &'a [u8] {
        let (head, rest) = self.0.split_at(length);
        self.0 = rest;
        head
    }

    fn number(&mut self, length: usize) -> i64 {
        let bytes = self.take(length);
        let begin = if bytes[0] & 0x80 != 0 { -1 } else { 0 };
        bytes.iter().fold(begin, |n, byte| n << 8 | i64::from(*byte))
    }

    fn text(&mut self) -> String {
        let length = self.number(2).max(0) as usize;
        String::from_utf8(self.take(length).to_vec()).expect("a text")
    }

    fn varint(&mut self) -> i64 {
        let (mut n, mut shift) = (0u64, 0);
        loop {
            let byte = self.take(1)[0];
            n |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return (n >> 1) as i64 ^ -((n & 1) as i64);
            }
        }
    }

    fn varint_text(&mut self) -> Option<String> {
        let length = usize::try_from(self.varint()).ok()?;
        Some(String::from_utf8(self.take(length).to_vec()).expect("a text"))
    }
}

/// CRC-32C bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0x82f6_3b78 & 0u32.wrapping_sub(crc & 1)))
    })
}

/// Values with their keys, producer and first number of a batch.
fn batch(bytes: &[u8]) -> (Vec<(Option<String>, String)>, i64, i32) {
    let mut input = Input(bytes);
    assert_eq!(input.number(8), 0, "base offset");
    assert_eq!(input.number(4) as usize, bytes.len() - 12, "length of the batch");
    input.number(4);
    assert_eq!(input.number(1), 2, "magic");
    assert_eq!(input.number(4) as u32, crc32c(&bytes[21..]), "checksum");
    assert_eq!(input.number(2) & 7, 0, "compression is not spoken here");
    let last = input.number(4);
    input.take(16);
    let (producer, _, first) = (input.number(8), input.number(2), input.number(4) as i32);
    let count = input.number(4);
    assert_eq!(last + 1, count, "last offset");
    let mut records = Vec::new();
    for at in 0..count {
        let length = input.varint() as usize;
        let mut record = Input(input.take(length));
        record.take(1);
        record.varint();
        assert_eq!(record.varint(), at, "place");
        let (key, value) = (record.varint_text(), record.varint_text().expect("a value"));
        for _ in 0..record.varint() {
            record.varint_text().expect("a name");
            record.varint_text();
        }
        assert!(record.0.is_empty(), "{} bytes behind a record", record.0.len());
        records.push((key, value));
    }
    assert!(input.0.is_empty(), "{} bytes behind the records", input.0.len());
    (records, producer, first)
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as i16).to_be_bytes());
    out.extend(text.as_bytes());
}

struct Connection {
    stream: TcpStream,
    port: u16,
    partitions: i32,
    state: Arc<Mutex<State>>,
}

impl Connection {
    fn serve(mut self) {
        let mut length = [0; 4];
        while self.stream.read_exact(&mut length).is_ok() {
            let mut request = vec![0; u32::from_be_bytes(length) as usize];
            if self.stream.read_exact(&mut request).is_err() {
                return;
            }
            let mut input = Input(&request);
            let (api, version, correlation) = (input.number(2), input.number(2), input.number(4) as i32);
            input.text();
            let pause = self.begin(api);
            let answer = self.answer(api, version, &mut input);
            std::thread::park_timeout(pause);
            lock(&self.state).unanswered -= usize::from(api == 0);
            let Some(body) = answer else {
                // It may be gone already.
                let _ = self.stream.shutdown(Shutdown::Both);
                return;
            };
            let mut out = ((body.len() + 4) as i32).to_be_bytes().to_vec();
            out.extend(correlation.to_be_bytes());
            out.extend(body);
            if self.stream.write_all(&out).is_err() {
                return;
            }
        }
    }

    /// How long the answer takes.
    fn begin(&self, api: i64) -> Duration {
        let mut state = lock(&self.state);
        if api != 0 {
            return Duration::ZERO;
        }
        state.unanswered += 1;
        state.pause
    }

    fn answer(&self, api: i64, version: i64, input: &mut Input<'_>) -> Option<Vec<u8>> {
        match (api, version) {
            (18, 0) => {
                let mut out = vec![0, 0, 0, 0, 0, 4];
                for (api, most) in [(0i16, 8i16), (3, 9), (18, 3), (22, 4)] {
                    [api, 0, most].iter().for_each(|n| out.extend(n.to_be_bytes()));
                }
                Some(out)
            }
            (3, 4) => Some(self.metadata(input)),
            (22, 1) => {
                let mut state = lock(&self.state);
                state.producers += 1;
                let mut out = vec![0; 6];
                out.extend(state.producers.to_be_bytes());
                out.extend([0, 0]);
                Some(out)
            }
            (0, 8) => self.produce(input),
            other => panic!("a request that nobody sends: {other:?}"),
        }
    }

    fn metadata(&self, input: &mut Input<'_>) -> Vec<u8> {
        let topics: Vec<String> = (0..input.number(4)).map(|_| input.text()).collect();
        let mut out = vec![0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 7];
        put_text(&mut out, "127.0.0.1");
        out.extend(i32::from(self.port).to_be_bytes());
        out.extend([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 7]);
        out.extend((topics.len() as i32).to_be_bytes());
        for topic in topics {
            out.extend([0, 0]);
            put_text(&mut out, &topic);
            out.push(0);
            out.extend(self.partitions.to_be_bytes());
            for partition in 0..self.partitions {
                out.extend([0, 0]);
                out.extend(partition.to_be_bytes());
                out.extend([0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 7]);
            }
        }
        out
    }

    /// `None` closes the connection.
    fn produce(&self, input: &mut Input<'_>) -> Option<Vec<u8>> {
        let mut state = lock(&self.state);
        let act = state.script.pop_front();
        assert_eq!((input.number(2), input.number(2)), (-1, -1), "no transaction, all replicas");
        input.number(4);
        let topics = input.number(4) as i32;
        let mut out = topics.to_be_bytes().to_vec();
        for _ in 0..topics {
            let topic = input.text();
            let partitions = input.number(4) as i32;
            put_text(&mut out, &topic);
            out.extend(partitions.to_be_bytes());
            for _ in 0..partitions {
                let partition = input.number(4) as i32;
                let length = input.number(4) as usize;
                let bytes = input.take(length);
                let offset = state.end(&topic, partition);
                let (error, bad) = match &act {
                    Some(Act::Error(error)) => (*error, None),
                    Some(Act::Cut) => return None,
                    Some(Act::CutAfter) | None => state.write(&topic, partition, bytes),
                };
                out.extend(partition.to_be_bytes());
                out.extend(error.to_be_bytes());
                out.extend(offset.to_be_bytes());
                out.extend([0; 16]);
                out.extend(i32::from(bad.is_some()).to_be_bytes());
                if let Some(at) = bad {
                    out.extend((at as i32).to_be_bytes());
                    put_text(&mut out, "scripted to be bad");
                }
                out.extend([0xff, 0xff]);
            }
        }
        out.extend([0; 4]);
        (act != Some(Act::CutAfter)).then_some(out)
    }
}

impl State {
    /// The offset of the next record of a partition.
    fn end(&self, topic: &str, partition: i32) -> u64 {
        self.written.iter().filter(|one| one.topic == topic && one.partition == partition).count() as u64
    }

    /// The error, and which record is bad.
    fn write(&mut self, topic: &str, partition: i32, bytes: &[u8]) -> (i16, Option<usize>) {
        let (records, producer, first) = batch(bytes);
        if self.bytes_max.is_some_and(|max| bytes.len() > max) {
            return (10, None);
        }
        let bad = self.bad.as_ref().and_then(|bad| records.iter().position(|(_, value)| value.contains(bad)));
        if bad.is_some() {
            return (87, bad);
        }
        let last = first + records.len() as i32 - 1;
        let numbers = self.numbers.entry((topic.to_owned(), partition, producer)).or_default();
        if numbers.contains(&(first, last)) {
            return (0, None);
        }
        if numbers.back().is_some_and(|(_, before)| before + 1 != first) {
            return (45, None);
        }
        numbers.push_back((first, last));
        if numbers.len() > 5 {
            numbers.pop_front();
        }
        let written = |(key, value)| Written { topic: topic.to_owned(), partition, key, value };
        self.written.extend(records.into_iter().map(written));
        (0, None)
    }
}
