//! What stands behind a destination: writes what comes to a file, and notes the longest time in which nothing
//! came.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use stdio::CommandError;

const BUFFER_BYTES: usize = 256 * 1024;

#[derive(Default)]
struct Seen {
    lines: AtomicU64,
    connections: AtomicU64,
    ended: AtomicBool,
    /// When something came last, and the longest pause since it was asked to forget.
    pause: Mutex<(Option<Instant>, Duration)>,
}

impl Seen {
    fn came(&self) {
        let now = Instant::now();
        let mut pause = self.pause.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(last) = pause.0.replace(now) {
            pause.1 = pause.1.max(now - last);
        }
    }
}

pub struct Sink {
    port: u16,
    path: PathBuf,
    seen: Arc<Seen>,
    accepting: JoinHandle<std::io::Result<()>>,
}

impl Sink {
    pub fn open(path: PathBuf) -> Result<Sink, CommandError> {
        let failed = |e: std::io::Error| format!("cannot open a sink: {e}");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let file = File::create(&path).map_err(failed)?;
        let seen = Arc::new(Seen::default());
        let (told, file) = (Arc::clone(&seen), Arc::new(Mutex::new(file)));
        let accepting = std::thread::spawn(move || {
            let mut reading = Vec::new();
            loop {
                let (stream, _) = listener.accept()?;
                if told.ended.load(Ordering::SeqCst) {
                    break;
                }
                told.connections.fetch_add(1, Ordering::SeqCst);
                let (seen, file) = (Arc::clone(&told), Arc::clone(&file));
                reading.push(std::thread::spawn(move || read(stream, &seen, &file)));
            }
            for thread in reading {
                let _ = thread.join();
            }
            Ok(())
        });
        Ok(Sink { port, path, seen, accepting })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn lines(&self) -> u64 {
        self.seen.lines.load(Ordering::SeqCst)
    }

    pub fn connections(&self) -> u64 {
        self.seen.connections.load(Ordering::SeqCst)
    }

    pub fn forget_pauses(&self) {
        self.seen.pause.lock().unwrap_or_else(|e| e.into_inner()).1 = Duration::ZERO;
    }

    /// The one that lasts counts as well.
    pub fn longest_pause(&self) -> Duration {
        let pause = self.seen.pause.lock().unwrap_or_else(|e| e.into_inner());
        pause.1.max(pause.0.map_or(Duration::ZERO, |last| last.elapsed()))
    }

    /// When whoever sent has ended: the file with all that came.
    pub fn close(self) -> Result<PathBuf, CommandError> {
        self.seen.ended.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        drop(TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)));
        match self.accepting.join() {
            Ok(Ok(())) => Ok(self.path),
            Ok(Err(error)) => Err(format!("a sink failed: {error}").into()),
            Err(_) => Err("a sink failed".into()),
        }
    }
}

fn read(mut stream: TcpStream, seen: &Seen, file: &Mutex<File>) {
    let mut buffer = vec![0; BUFFER_BYTES];
    while let Ok(n) = stream.read(&mut buffer) {
        let Some(bytes) = buffer.get(..n).filter(|bytes| !bytes.is_empty()) else { return };
        seen.came();
        if file.lock().unwrap_or_else(|e| e.into_inner()).write_all(bytes).is_err() {
            return;
        }
        seen.lines.fetch_add(memchr::memchr_iter(b'\n', bytes).count() as u64, Ordering::SeqCst);
    }
}
