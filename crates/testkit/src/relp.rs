//! A RELP client that remembers what it was told: the oracle of every test about acknowledged messages.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Messages without an answer, at most.
const WINDOW: usize = 128;

#[derive(Default)]
struct State {
    sent: usize,
    acknowledged: BTreeSet<usize>,
    ended: bool,
}

/// Sends numbered messages for as long as it is answered, beginning with a given one.
pub struct RelpSender {
    socket: TcpStream,
    state: Arc<(Mutex<State>, Condvar)>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl RelpSender {
    /// `text` makes the message of a number from `first` on; `None` ends it.
    pub fn start(
        port: u16,
        first: usize,
        text: impl Fn(usize) -> Option<String> + Send + 'static,
    ) -> RelpSender {
        let socket = TcpStream::connect(("127.0.0.1", port)).expect("the source listens");
        let state: Arc<(Mutex<State>, Condvar)> = Arc::default();
        let (reading, writing) = (socket.try_clone().expect("clone"), socket.try_clone().expect("clone"));
        let (heard, said) = (Arc::clone(&state), Arc::clone(&state));
        let reader = std::thread::spawn(move || {
            listen(reading, first, &heard);
            lock(&heard).ended = true;
            heard.1.notify_all();
        });
        let writer = std::thread::spawn(move || speak(writing, first, &text, &said));
        RelpSender { socket, state, threads: vec![reader, writer] }
    }

    /// Messages that were sent so far.
    pub fn sent(&self) -> usize {
        lock(&self.state).sent
    }

    /// The numbers of those that were answered with success.
    pub fn acknowledged(&self) -> BTreeSet<usize> {
        lock(&self.state).acknowledged.clone()
    }

    /// Whether the connection is over.
    pub fn has_ended(&self) -> bool {
        lock(&self.state).ended
    }

    /// Goes away without a word, and returns what was acknowledged until then.
    pub fn stop(mut self) -> BTreeSet<usize> {
        let _ = self.socket.shutdown(Shutdown::Both);
        self.threads.drain(..).for_each(|thread| thread.join().expect("a sender"));
        self.acknowledged()
    }
}

fn lock(state: &(Mutex<State>, Condvar)) -> MutexGuard<'_, State> {
    state.0.lock().expect("nobody panics with it")
}

/// Transaction 1 opens the session, so message `first` has number 2.
fn speak(
    mut socket: TcpStream,
    first: usize,
    text: &dyn Fn(usize) -> Option<String>,
    state: &(Mutex<State>, Condvar),
) {
    let offers = "relp_version=0\nrelp_software=test\ncommands=syslog";
    let mut bytes = format!("1 open {} {offers}\n", offers.len());
    let mut at = first;
    loop {
        if socket.write_all(bytes.as_bytes()).is_err() {
            return;
        }
        let mut known = lock(state);
        known.sent = at - first;
        let full = |s: &mut State| !s.ended && at - first - s.acknowledged.len() >= WINDOW;
        known = state.1.wait_while(known, full).expect("nobody panics with it");
        if known.ended {
            return;
        }
        drop(known);
        let Some(message) = text(at) else { return };
        bytes = format!("{} syslog {} {message}\n", at - first + 2, message.len());
        at += 1;
    }
}

fn listen(socket: TcpStream, first: usize, state: &(Mutex<State>, Condvar)) {
    let mut input = BufReader::new(socket);
    loop {
        let mut head = Vec::new();
        // Number, command, length.
        for _ in 0..3 {
            let before = head.len();
            if input.read_until(b' ', &mut head).is_err() || head.len() == before {
                return;
            }
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let words: Vec<&str> = head.split_whitespace().collect();
        let [number, command, length] = words[..] else { return };
        let length: usize = length.parse().unwrap_or(0);
        let mut data = vec![0; length + 1];
        if command != "rsp" || input.read_exact(&mut data).is_err() {
            return;
        }
        let number: usize = number.parse().expect("a number");
        if number >= 2 && data.starts_with(b"200") {
            lock(state).acknowledged.insert(first + number - 2);
            state.1.notify_all();
        }
    }
}
