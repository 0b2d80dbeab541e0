//! A RELP client that knows what was acknowledged: numbered messages in a window, sent again after a cut
//! until somebody answers for them.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Messages sent and not acknowledged.
pub const WINDOW: u64 = 256;
/// How soon a connection that was refused is tried again.
const RETRY: Duration = Duration::from_millis(2);
/// A peer that says nothing for so long is taken for gone.
const SILENCE: Duration = Duration::from_secs(10);
/// Whose messages they are, where that is all the same.
const HOST: &str = "host";
pub const PADDING: &str = "the quick brown fox jumps over the lazy dog and the slow one sleeps in the sun all day; \
     then it gets up, has a look at the numbers above, and asks whether all of them have arrived yet";

#[derive(Default)]
struct Shared {
    /// All below are acknowledged.
    acknowledged: AtomicU64,
    /// Acknowledged beyond that.
    beyond: Mutex<BTreeSet<u64>>,
    sent: AtomicU64,
    /// Nothing new is sent from here on.
    limit: AtomicU64,
    /// Held while it is decided what is sent next.
    deciding: Mutex<()>,
    over: AtomicBool,
    refused: AtomicU64,
}

/// What a source sends, and how.
#[derive(Clone, Copy)]
pub struct Load {
    /// Messages.
    pub count: u64,
    /// Their length, in paddings.
    pub times: usize,
    /// Sent and not acknowledged, at most.
    pub window: u64,
    /// The number of the first message, a multiple of [`crate::tally::LANE`].
    pub base: u64,
    /// Whose messages they are.
    pub host: &'static str,
    /// How soon it is seen that there is more to send while nothing is on the way.
    pub look: Duration,
}

impl Default for Load {
    fn default() -> Load {
        Load {
            count: u64::MAX,
            times: 1,
            window: WINDOW,
            base: 0,
            host: HOST,
            look: Duration::from_millis(50),
        }
    }
}

pub struct Source {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Source {
    /// Sends as fast as is taken: all messages of the load, or until [`Source::finish`].
    pub fn start(port: u16, load: Load) -> Source {
        let shared = Arc::new(Shared { limit: AtomicU64::new(load.count), ..Shared::default() });
        let sending = Arc::clone(&shared);
        let thread = Some(thread::spawn(move || sending.run(port, load)));
        Source { shared, thread }
    }

    /// Sends `count` messages and no more.
    pub fn exactly(port: u16, count: u64) -> Source {
        Source::start(port, Load { count, ..Load::default() })
    }

    /// Sends `count` more.
    pub fn raise(&self, count: u64) {
        self.shared.limit.fetch_add(count, Ordering::SeqCst);
    }

    pub fn acknowledged(&self) -> u64 {
        self.shared.acknowledged.load(Ordering::SeqCst)
    }

    pub fn sent(&self) -> u64 {
        self.shared.sent.load(Ordering::SeqCst)
    }

    /// Messages the peer refused by name.
    pub fn refused(&self) -> u64 {
        self.shared.refused.load(Ordering::SeqCst)
    }

    /// Nothing new is sent; what was sent is sent again until it is acknowledged.
    pub fn finish(&self) {
        let _decided = self.shared.deciding.lock().unwrap_or_else(|e| e.into_inner());
        self.shared.limit.fetch_min(self.sent(), Ordering::SeqCst);
    }

    pub fn is_finished(&self) -> bool {
        self.acknowledged() >= self.shared.limit.load(Ordering::SeqCst)
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            // A panic in it has been printed; the counts then tell.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn run(&self, port: u16, load: Load) {
        let padding = PADDING.repeat(load.times);
        while !self.over.load(Ordering::SeqCst) {
            if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) {
                let _ = self.session(stream, &padding, load);
            }
            thread::sleep(RETRY);
        }
    }

    /// One connection, until it breaks or everything is acknowledged.
    fn session(&self, mut stream: TcpStream, padding: &str, load: Load) -> std::io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(load.look))?;
        let offers = "relp_version=0\nrelp_software=faults\ncommands=syslog";
        stream.write_all(format!("1 open {} {offers}\n", offers.len()).as_bytes())?;
        // A session never counts past the 999,999,999 of the protocol: it would have to last for days.
        let first = self.acknowledged.load(Ordering::SeqCst);
        let mut next = first;
        let mut answers = Answers::default();
        let mut heard = Instant::now();
        let mut out = Vec::new();
        while !self.over.load(Ordering::SeqCst) {
            let deciding = self.deciding.lock().unwrap_or_else(|e| e.into_inner());
            let limit = self.limit.load(Ordering::SeqCst);
            let acknowledged = self.acknowledged.load(Ordering::SeqCst);
            out.clear();
            while answers.opened && next < limit.min(acknowledged + load.window) {
                let text = message_of(load.host, load.base + next, padding);
                out.extend_from_slice(
                    format!("{} syslog {} {text}\n", next - first + 2, text.len()).as_bytes(),
                );
                next += 1;
            }
            self.sent.fetch_max(next, Ordering::SeqCst);
            drop(deciding);
            stream.write_all(&out)?;
            let read = answers.read(&mut stream, |txnr, accepted| {
                if !accepted {
                    self.refused.fetch_add(1, Ordering::SeqCst);
                } else if let Some(number) = (first + u64::from(txnr)).checked_sub(2) {
                    self.note(number);
                }
            });
            match read {
                Ok(()) => heard = Instant::now(),
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    let waits = next > self.acknowledged.load(Ordering::SeqCst);
                    if waits && heard.elapsed() > SILENCE {
                        return Ok(());
                    }
                }
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    fn note(&self, number: u64) {
        let mut beyond = self.beyond.lock().unwrap_or_else(|e| e.into_inner());
        beyond.insert(number);
        let mut acknowledged = self.acknowledged.load(Ordering::SeqCst);
        while beyond.remove(&acknowledged) {
            acknowledged += 1;
        }
        // What was acknowledged before the cut and comes again.
        while beyond.first().is_some_and(|first| *first < acknowledged) {
            beyond.pop_first();
        }
        self.acknowledged.store(acknowledged, Ordering::SeqCst);
    }
}

/// The text of a message; [`crate::tally::number`] finds its number again.
pub fn message(number: u64, padding: &str) -> String {
    message_of(HOST, number, padding)
}

/// The same of a host of its own.
pub fn message_of(host: &str, number: u64, padding: &str) -> String {
    format!("<13>Nov 22 12:00:00 {host} app: n={number:010} {padding}")
}

/// Answers of the server, in pieces as they come.
#[derive(Default)]
struct Answers {
    bytes: Vec<u8>,
    opened: bool,
}

impl Answers {
    fn read(&mut self, stream: &mut TcpStream, mut each: impl FnMut(u32, bool)) -> std::io::Result<()> {
        let mut buffer = [0; 1 << 14];
        let n = stream.read(&mut buffer)?;
        if n == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.bytes.extend_from_slice(&buffer[..n]);
        let mut at = 0;
        while let Some((used, txnr, accepted)) = answer(&self.bytes[at..]) {
            at += used;
            match txnr {
                0 => return Err(ErrorKind::ConnectionAborted.into()),
                1 => self.opened = true,
                _ => each(txnr, accepted),
            }
        }
        self.bytes.drain(..at);
        Ok(())
    }
}

/// `TXNR rsp LEN DATA LF`: bytes, number, whether it says 200.
fn answer(bytes: &[u8]) -> Option<(usize, u32, bool)> {
    let mut words = bytes.splitn(4, |b| *b == b' ');
    let (txnr, _command, length) = (words.next()?, words.next()?, words.next()?);
    // `0 serverclose 0` has no data and ends with its line.
    let length = length.split(|b| *b == b'\n').next()?;
    let number = |word: &[u8]| std::str::from_utf8(word).ok()?.parse::<usize>().ok();
    let (txnr, length) = (number(txnr)?, number(length)?);
    let head = bytes.iter().enumerate().filter(|(_, b)| matches!(**b, b' ' | b'\n')).nth(2)?.0;
    let end = if length == 0 { head + 1 } else { head + 1 + length + 1 };
    let data = bytes.get(head + 1..end)?;
    Some((end, txnr as u32, data.starts_with(b"200")))
}
