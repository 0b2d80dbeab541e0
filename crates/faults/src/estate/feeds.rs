//! What edges are fed with: numbered messages over RELP, TCP, TLS and UDP, each way a sender of its own, at a
//! pace. RELP acknowledges. The others do not, so their senders rest while their edge is killed; nothing else
//! that happens gives them leave to lose anything.

use crate::source::{Load, PADDING, Source, message_of};
use crate::tally::LANE;
use crate::tls;
use crate::trial::reached;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle, sleep};
use std::time::Duration;

/// Names of senders, by lane: those of an edge are four, one for each way.
pub const HOSTS: [&str; 8] =
    ["sender0", "sender1", "sender2", "sender3", "sender4", "sender5", "sender6", "sender7"];
pub const WAYS: usize = 4;
/// Messages at once, and how long a sender waits then.
const LINES: u64 = 5;
const PAUSE: Duration = Duration::from_millis(20);
/// A sender that rests, or waits for its edge.
const LOOK: Duration = Duration::from_millis(5);
const PATIENCE: Duration = Duration::from_secs(60);

/// Where an edge takes messages.
pub struct Ports {
    pub relp: u16,
    pub tcp: u16,
    pub tls: Option<(u16, Arc<ClientConfig>)>,
    pub udp: u16,
}

enum Way {
    Tcp(u16),
    Tls(u16, Arc<ClientConfig>),
    Udp(u16),
}

enum Link {
    Tcp(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
    Udp(UdpSocket),
}

/// All senders of an edge.
pub struct Feeds {
    relp: Arc<Source>,
    others: Vec<Feed>,
    is_over: Arc<AtomicBool>,
}

/// How many messages of a lane were sent, and how many of them may not be missing.
#[derive(Clone, Copy, Default)]
pub struct Count {
    pub lane: usize,
    pub sent: u64,
    pub owed: u64,
}

struct Feed {
    lane: usize,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    sent: AtomicU64,
    rests: AtomicBool,
    /// It has no connection, and sends nothing.
    is_idle: AtomicBool,
    /// Its connection ends in order, and it makes another.
    reconnects: AtomicBool,
    is_over: AtomicBool,
    broken: Mutex<Vec<String>>,
}

impl Feeds {
    pub fn start(edge: usize, ports: Ports) -> Feeds {
        let first = edge * WAYS;
        let lane = first as u64 * LANE;
        let load = Load { count: 0, base: lane, host: HOSTS[first], look: LOOK, ..Load::default() };
        let relp = Arc::new(Source::start(ports.relp, load));
        let is_over = Arc::new(AtomicBool::new(false));
        let (paced, over) = (Arc::clone(&relp), Arc::clone(&is_over));
        thread::spawn(move || {
            while !over.load(Ordering::SeqCst) {
                paced.raise(LINES);
                sleep(PAUSE);
            }
        });
        let mut ways = vec![(first + 1, Way::Tcp(ports.tcp)), (first + 3, Way::Udp(ports.udp))];
        ways.extend(ports.tls.map(|(port, config)| (first + 2, Way::Tls(port, config))));
        let others = ways.into_iter().map(|(lane, way)| Feed::start(lane, way)).collect();
        Feeds { relp, others, is_over }
    }

    pub fn counts(&self) -> Vec<Count> {
        let first = self.others.iter().map(|feed| feed.lane).min().unwrap_or(1) - 1;
        let relp = Count { lane: first, sent: self.relp.sent(), owed: self.relp.acknowledged() };
        std::iter::once(relp).chain(self.unacknowledged()).collect()
    }

    /// Of those whose protocol acknowledges nothing: each of their messages is owed.
    pub fn unacknowledged(&self) -> Vec<Count> {
        let count = |feed: &Feed| {
            let sent = feed.shared.sent.load(Ordering::SeqCst);
            Count { lane: feed.lane, sent, owed: sent }
        };
        self.others.iter().map(count).collect()
    }

    /// Senders without acknowledgements end their connections in order and rest.
    pub fn rest(&self) -> bool {
        self.others.iter().for_each(|feed| feed.shared.rests.store(true, Ordering::SeqCst));
        reached(PATIENCE, || self.others.iter().all(|feed| feed.shared.is_idle.load(Ordering::SeqCst)))
    }

    pub fn go_on(&self) {
        self.others.iter().for_each(|feed| feed.shared.rests.store(false, Ordering::SeqCst));
    }

    /// Connections end in order, and others take their place: those with TLS stay with the process that has
    /// their keys.
    pub fn reconnect(&self) {
        self.others.iter().for_each(|feed| feed.shared.reconnects.store(true, Ordering::SeqCst));
    }

    /// Nothing new is sent. Whether all that was sent over RELP is acknowledged, and what broke.
    pub fn finish(&mut self) -> (bool, Vec<String>) {
        self.is_over.store(true, Ordering::SeqCst);
        // A raise that was under way is over.
        sleep(PAUSE);
        self.relp.finish();
        let all = reached(PATIENCE, || self.relp.is_finished());
        let mut broken = Vec::new();
        for feed in &mut self.others {
            feed.shared.is_over.store(true, Ordering::SeqCst);
            if let Some(thread) = feed.thread.take() {
                let _ = thread.join();
            }
            broken.append(&mut feed.shared.broken.lock().unwrap_or_else(PoisonError::into_inner));
        }
        (all, broken)
    }
}

impl Feed {
    fn start(lane: usize, way: Way) -> Feed {
        let shared = Arc::new(Shared::default());
        let sending = Arc::clone(&shared);
        let thread = Some(thread::spawn(move || sending.run(lane, &way)));
        Feed { lane, shared, thread }
    }
}

impl Drop for Feeds {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
    }
}

impl Shared {
    fn run(&self, lane: usize, way: &Way) {
        let mut link = None;
        while !self.is_over.load(Ordering::SeqCst) {
            let rests = self.rests.load(Ordering::SeqCst);
            if (rests || self.reconnects.swap(false, Ordering::SeqCst))
                && let Some(link) = link.take()
            {
                self.note(lane, end(link));
            }
            self.is_idle.store(rests, Ordering::SeqCst);
            if rests {
                sleep(LOOK);
                continue;
            }
            if link.is_none() {
                link = way.connect().ok();
            }
            let Some(open) = &mut link else {
                sleep(LOOK);
                continue;
            };
            if let Err(error) = self.send(lane, open) {
                self.note(lane, Err(error));
                link = None;
            }
            sleep(PAUSE);
        }
        if let Some(link) = link {
            self.note(lane, end(link));
        }
    }

    fn send(&self, lane: usize, link: &mut Link) -> std::io::Result<()> {
        let next = self.sent.load(Ordering::SeqCst);
        let first = lane as u64 * LANE;
        let lines = (next..next + LINES).map(|n| message_of(HOSTS[lane], first + n, PADDING) + "\n");
        // Owed from the moment in which a part of them may have gone.
        self.sent.store(next + LINES, Ordering::SeqCst);
        match link {
            Link::Tcp(stream) => stream.write_all(lines.collect::<String>().as_bytes()),
            Link::Tls(stream) => {
                stream.write_all(lines.collect::<String>().as_bytes())?;
                stream.flush()
            }
            Link::Udp(socket) => {
                lines.into_iter().try_for_each(|line| socket.send(line.as_bytes()).map(drop))
            }
        }
    }

    fn note(&self, lane: usize, done: std::io::Result<()>) {
        if let Err(error) = done {
            let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
            broken.push(format!("{}: {error}", HOSTS[lane]));
        }
    }
}

impl Way {
    fn connect(&self) -> std::io::Result<Link> {
        match self {
            Way::Tcp(port) => TcpStream::connect(("127.0.0.1", *port)).map(Link::Tcp),
            Way::Tls(port, config) => {
                tls::connected(*port, Arc::clone(config)).map(|stream| Link::Tls(Box::new(stream)))
            }
            Way::Udp(port) => {
                let socket = UdpSocket::bind("127.0.0.1:0")?;
                socket.connect(("127.0.0.1", *port))?;
                Ok(Link::Udp(socket))
            }
        }
    }
}

/// Returns when the other side has read everything.
fn end(link: Link) -> std::io::Result<()> {
    match link {
        Link::Tcp(mut stream) => {
            stream.shutdown(Shutdown::Write)?;
            stream.read_to_end(&mut Vec::new()).map(drop)
        }
        Link::Tls(stream) => tls::end(*stream),
        Link::Udp(_) => Ok(()),
    }
}

/// Ends the feeds of all edges. What their senders were told; what went wrong is added to `problems`.
pub fn finish_all(all: &mut [Feeds], problems: &mut Vec<String>) -> Vec<Count> {
    for (edge, feeds) in all.iter_mut().enumerate() {
        let (is_whole, broken) = feeds.finish();
        if !is_whole {
            problems.push(format!("edge {edge} does not acknowledge everything"));
        }
        problems.extend(broken.into_iter().map(|why| format!("broken: {why}")));
    }
    all.iter().flat_map(Feeds::counts).collect()
}
