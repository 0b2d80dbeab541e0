//! Handshakes beside what is measured: TLS connections that are opened and closed at a steady rate and bring
//! nothing.

use crate::receiver::OwnProgram;
use loggen::wire::{Tls, Wire};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::process::{Child, ChildStdout, Command as Spawn, ExitCode, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use stdio::CommandError;

/// Connections that may be in their handshake at once.
const THREADS: u32 = 16;
/// What is open stays open while so many more are opened, so that there are always some.
const OPEN_MAX: usize = 4;
/// A second's rate is looked at in pieces of this length.
const LOOK: Duration = Duration::from_millis(100);

/// The hidden command: `storm PORT PER_SECOND`. It goes on until it is killed, and prints how many handshakes
/// are over, a line each time.
pub fn run(args: &[OsString]) -> ExitCode {
    let numbers: Vec<u32> = args.iter().filter_map(|word| word.to_str()?.parse().ok()).collect();
    let (&[port, per_second], Ok(tls)) = (numbers.as_slice(), Tls::new(None)) else {
        stdio::err!("storm PORT PER_SECOND");
        return ExitCode::from(2);
    };
    let done = Arc::new(AtomicU64::new(0));
    for thread in 0..THREADS {
        let (done, tls) = (Arc::clone(&done), tls.clone());
        std::thread::spawn(move || side(port, per_second, thread, &tls, &done));
    }
    loop {
        std::thread::sleep(LOOK);
        let mut out = std::io::stdout();
        // The reader has gone, and with it the measurement.
        if writeln!(out, "{}", done.load(Ordering::Relaxed)).and_then(|()| out.flush()).is_err() {
            return ExitCode::SUCCESS;
        }
    }
}

/// One of the sides the storm comes from. Late handshakes are not made up for all at once: a receiver that is
/// slow gets fewer.
fn side(port: u32, per_second: u32, thread: u32, tls: &Tls, done: &AtomicU64) {
    let interval = Duration::from_secs(1) * THREADS / per_second.max(1);
    let mut next = Instant::now() + interval * thread / THREADS;
    let mut open = std::collections::VecDeque::new();
    loop {
        let now = Instant::now();
        if now < next {
            std::thread::sleep(next - now);
        }
        next = (next + interval).max(now.checked_sub(LOOK).unwrap_or(now));
        let Ok(stream) = TcpStream::connect(("127.0.0.1", port as u16)) else { continue };
        let mut wire = Wire::new(OwnedFd::from(stream));
        if wire.encrypt(tls, "localhost").is_ok() {
            done.fetch_add(1, Ordering::Relaxed);
            open.push_back(wire);
        }
        if open.len() > OPEN_MAX
            && let Some(mut old) = open.pop_front()
        {
            old.finish();
        }
    }
}

/// The storm in a process of its own.
pub struct Storm {
    child: Child,
    done: Arc<Mutex<u64>>,
}

impl Storm {
    pub fn start(port: u16, per_second: u32) -> Result<Storm, CommandError> {
        let words = ["storm".to_owned(), port.to_string(), per_second.to_string()];
        let command = OwnProgram::here()?.command(words.into_iter().map(OsString::from).collect());
        let mut spawn = Spawn::new(&command.program);
        spawn.args(&command.args).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = spawn.spawn().map_err(|e| format!("cannot start the storm: {e}"))?;
        let done = Arc::new(Mutex::new(0));
        if let Some(stdout) = child.stdout.take() {
            let done = Arc::clone(&done);
            std::thread::spawn(move || read(stdout, &done));
        }
        Ok(Storm { child, done })
    }

    /// Handshakes so far.
    pub fn handshakes(&self) -> u64 {
        self.done.lock().map_or(0, |done| *done)
    }
}

fn read(stdout: ChildStdout, done: &Mutex<u64>) {
    let lines = BufReader::new(stdout).lines().map_while(Result::ok);
    for count in lines.filter_map(|line| line.parse().ok()) {
        if let Ok(mut done) = done.lock() {
            *done = count;
        }
    }
}

impl Drop for Storm {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
