//! The receiver: knows the number of every line it got, can go away and come back, and be slow. What begins
//! with a request is answered.

mod requests;

use crate::source::PADDING;
use crate::{tally, tls};
use rustix::net::RecvFlags;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use rustls::ServerConfig;
use socket2::{SockFilter, SockRef};
use std::fs::File;
use std::io::Read;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::ops::Range;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

#[derive(Default)]
struct Shared {
    /// Numbers in the order of their arrival, by connection in the order in which those brought their first
    /// byte. Two connections are read at the same time, and whichever is read faster says nothing of the
    /// order in which they were written to.
    numbers: Mutex<Vec<Vec<u64>>>,
    /// Connections that have no place among those yet, in the order in which they were made.
    silent: Mutex<Vec<Silent>>,
    open: Mutex<Vec<TcpStream>>,
    /// Lines that are none of ours.
    foreign: AtomicU64,
    is_up: AtomicBool,
    is_over: AtomicBool,
    /// Connections that are not read to their ends.
    reading: AtomicU64,
    /// Milliseconds between two reads.
    slow: AtomicU64,
    /// Requests so far, and those that were taken and not answered.
    requests: AtomicU64,
    unanswered: AtomicU64,
    /// Connections so far, after their handshakes.
    connections: AtomicU64,
    /// What new connections begin with, where they are encrypted.
    tls: Mutex<Option<Arc<ServerConfig>>>,
    /// Why handshakes came to nothing.
    failed: Mutex<Vec<String>>,
    /// When something came last, and the longest time between two arrivals, since that was asked.
    pause: Mutex<(Option<Instant>, Duration)>,
}

/// A connection that has brought nothing, as far as anybody has looked.
struct Silent {
    stream: TcpStream,
    place: Arc<OnceLock<usize>>,
}

pub struct Target {
    port: u16,
    /// Name of the network namespace it listens in, when that is another one.
    namespace: Option<String>,
    shared: Arc<Shared>,
}

/// Nobody can connect any more: who did between the last look and the close of the listener would have sent
/// messages that the kernel acknowledges and forgets.
fn deafen(listener: &TcpListener) {
    // A filter of one instruction, BPF_RET: take no byte.
    let nothing = SockFilter::new(6, 0, 0, 0);
    SockRef::from(listener).attach_filter(&[nothing]).expect("a filter is attached");
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

impl Target {
    /// Not listening yet.
    pub fn new(port: u16) -> Target {
        Target { port, namespace: None, shared: Arc::default() }
    }

    /// In a network namespace, on all its addresses; it stays up.
    pub fn within(port: u16, namespace: &str) -> Target {
        Target { port, namespace: Some(namespace.to_owned()), shared: Arc::default() }
    }

    /// Listens.
    pub fn up(&self) {
        if self.shared.is_up.swap(true, Ordering::SeqCst) {
            return;
        }
        let listener = self.listen();
        let shared = Arc::clone(&self.shared);
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if !shared.is_up.load(Ordering::SeqCst) {
                    // Who came before the end may have sent messages that the kernel has acknowledged;
                    // nothing encrypted, without us.
                    deafen(&listener);
                    let _ = listener.set_nonblocking(true);
                    let _ = stream.shutdown(Shutdown::Write);
                    if lock(&shared.tls).is_some() {
                        continue;
                    }
                } else if let Ok(copy) = stream.try_clone() {
                    lock(&shared.open).push(copy);
                }
                let shared = Arc::clone(&shared);
                shared.reading.fetch_add(1, Ordering::SeqCst);
                let place = shared.wait_for_first_byte(&stream);
                thread::spawn(move || {
                    shared.serve(stream, &place);
                    shared.reading.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
    }

    fn listen(&self) -> TcpListener {
        let port = self.port;
        let bind =
            move |address: &str| TcpListener::bind((address, port)).expect("the port of the target is free");
        match self.namespace.clone() {
            None => bind("127.0.0.1"),
            // A socket belongs to the namespace of the thread that made it.
            Some(name) => thread::spawn(move || {
                let place = File::open(format!("/run/netns/{name}")).expect("the namespace is there");
                move_into_link_name_space(place.as_fd(), Some(LinkNameSpaceType::Network))
                    .expect("root may move");
                bind("0.0.0.0")
            })
            .join()
            .expect("the port of the target is free"),
        }
    }

    /// Stops listening and ends all connections in order: what the kernel has taken is still read.
    pub fn down(&self) {
        if self.namespace.is_some() || !self.shared.is_up.swap(false, Ordering::SeqCst) {
            return;
        }
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        for stream in lock(&self.shared.open).drain(..) {
            let _ = stream.shutdown(Shutdown::Write);
        }
        testkit::wait_until("the port of the target is free", || !testkit::sockets::tcp_listening(self.port));
    }

    pub fn slow(&self, milliseconds: u64) {
        self.shared.slow.store(milliseconds, Ordering::SeqCst);
    }

    /// Nothing is on its way any more.
    pub fn is_idle(&self) -> bool {
        self.shared.reading.load(Ordering::SeqCst) == 0
    }

    pub fn received(&self) -> usize {
        lock(&self.shared.numbers).iter().map(Vec::len).sum()
    }

    /// What came, connection by connection.
    pub fn numbers(&self) -> Vec<u64> {
        lock(&self.shared.numbers).concat()
    }

    /// How many messages each connection brought.
    pub fn by_connection(&self) -> Vec<usize> {
        lock(&self.shared.numbers).iter().map(Vec::len).collect()
    }

    /// The numbers of each connection between two borders, as runs without a gap: the first, and the one
    /// behind the last.
    pub fn runs(&self, from: u64, to: u64) -> Vec<Vec<Range<u64>>> {
        let all = lock(&self.shared.numbers);
        let between = |numbers: &Vec<u64>| {
            let mut runs: Vec<Range<u64>> = Vec::new();
            for number in
                numbers.iter().filter(|number| (from..to).contains(number)).map(|number| number - from)
            {
                match runs.last_mut() {
                    Some(run) if run.end == number => run.end += 1,
                    _ => runs.push(number..number + 1),
                }
            }
            runs
        };
        all.iter().map(between).collect()
    }

    /// Counts the lines of a file as if they had come, but for those that are not whole; returns how many
    /// these are. A killed program may leave the beginning of a line.
    pub fn count_file(&self, path: &Path) -> usize {
        let bytes = std::fs::read(path).unwrap_or_default();
        let end = PADDING.as_bytes();
        let (whole, torn): (Vec<&[u8]>, Vec<&[u8]>) = bytes
            .split(|b| *b == b'\n')
            .filter(|line| !line.is_empty())
            .partition(|line| line.ends_with(end));
        let connection = self.shared.new_connection();
        whole.into_iter().for_each(|line| self.shared.count(line, connection));
        torn.len()
    }

    /// Connections so far, after their handshakes.
    pub fn connections(&self) -> u64 {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// From now on new connections have to be encrypted so.
    pub fn encrypt(&self, config: Arc<ServerConfig>) {
        *lock(&self.shared.tls) = Some(config);
    }

    /// Why handshakes came to nothing.
    pub fn failed(&self) -> Vec<String> {
        lock(&self.shared.failed).clone()
    }

    /// The longest time between two arrivals since the last call.
    pub fn longest_pause(&self) -> Duration {
        std::mem::take(&mut lock(&self.shared.pause).1)
    }

    /// Requests whose messages were counted, and whose sender was not told.
    pub fn unanswered(&self) -> u64 {
        self.shared.unanswered.load(Ordering::SeqCst)
    }

    /// Begins to count anew.
    pub fn forget(&self) {
        lock(&self.shared.numbers).iter_mut().for_each(Vec::clear);
    }

    /// Lines that were nobody's message.
    pub fn foreign(&self) -> u64 {
        self.shared.foreign.load(Ordering::SeqCst)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        self.down();
    }
}

impl Shared {
    fn new_connection(&self) -> usize {
        let mut numbers = lock(&self.numbers);
        numbers.push(Vec::new());
        numbers.len() - 1
    }

    /// Where the connection has its place among the others, once it has one.
    fn wait_for_first_byte(&self, stream: &TcpStream) -> Arc<OnceLock<usize>> {
        let place: Arc<OnceLock<usize>> = Arc::default();
        if let Ok(stream) = stream.try_clone() {
            lock(&self.silent).push(Silent { stream, place: Arc::clone(&place) });
        }
        place
    }

    /// A connection has brought something: the earlier ones that have as well come before it. Each is read by
    /// a thread of its own, and which of them comes here first says nothing.
    fn give_places(&self) {
        let has_bytes = |stream: &TcpStream| {
            let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
            rustix::net::recv(stream, &mut [0u8; 1][..], flags).is_ok_and(|(n, _)| n > 0)
        };
        lock(&self.silent).retain(|silent| {
            let speaks = has_bytes(&silent.stream);
            if speaks {
                silent.place.get_or_init(|| self.new_connection());
            }
            !speaks
        });
    }

    fn serve(&self, stream: TcpStream, place: &Arc<OnceLock<usize>>) {
        let config = lock(&self.tls).clone();
        match config {
            None => {
                self.connections.fetch_add(1, Ordering::SeqCst);
                let mut first = [0];
                if stream.peek(&mut first).is_ok_and(|n| n > 0) {
                    self.give_places();
                    let connection = *place.get_or_init(|| self.new_connection());
                    match requests::begin(&first) {
                        true => self.answer(stream, connection),
                        false => self.read(stream, connection),
                    }
                }
                lock(&self.silent).retain(|silent| !Arc::ptr_eq(&silent.place, place));
            }
            Some(config) => match tls::accepted(stream, config) {
                Ok(stream) => {
                    self.connections.fetch_add(1, Ordering::SeqCst);
                    self.read(stream, self.new_connection());
                }
                Err(error) => lock(&self.failed).push(error.to_string()),
            },
        }
    }

    fn came(&self) {
        let now = Instant::now();
        let mut pause = lock(&self.pause);
        if let Some(last) = pause.0.replace(now) {
            pause.1 = pause.1.max(now - last);
        }
    }

    fn read(&self, mut stream: impl Read, connection: usize) {
        let mut rest = Vec::new();
        let mut buffer = vec![0; 1 << 16];
        while !self.is_over.load(Ordering::SeqCst) {
            let slow = self.slow.load(Ordering::SeqCst);
            if slow > 0 {
                thread::sleep(Duration::from_millis(slow));
            }
            let Ok(n) = stream.read(&mut buffer) else { return };
            if n == 0 {
                return;
            }
            self.came();
            rest.extend_from_slice(&buffer[..n]);
            let end = rest.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
            self.count(&rest[..end], connection);
            rest.drain(..end);
        }
    }

    /// Notes the numbers of whole lines.
    fn count(&self, lines: &[u8], connection: usize) {
        let mut all = lock(&self.numbers);
        let numbers = &mut all[connection];
        for line in lines.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
            match tally::number(line) {
                Some(number) => numbers.push(number),
                None => drop(self.foreign.fetch_add(1, Ordering::SeqCst)),
            }
        }
    }
}
