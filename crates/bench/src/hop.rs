//! The second penstock of a chain, and the distance between the two: a proxy that hands on later what it
//! takes at once.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::cases::Hop;
use crate::place::Place;
use crate::process::Process;
use crate::receiver::{OwnProgram, Programs};
use crate::second;
use stdio::CommandError;

const BUFFER_BYTES: usize = 256 * 1024;

/// The processes behind the one that is measured first.
pub struct Behind {
    pub second: Process,
    distance: Option<Process>,
}

impl Behind {
    pub fn start(hop: &Hop, place: &Place, programs: &Programs) -> Result<Behind, CommandError> {
        let port = match hop.delay_ms {
            None => place.sink_port,
            Some(_) => free_port()?,
        };
        let config = format!(
            "@version: 3.38\noptions {{ keep-hostname(yes); use-dns(no); }};\n\
             source s_in {{ {}(ip(\"127.0.0.1\") port({port}) {}); }};\n\
             destination d_out {{ file(\"{}/all.log\"); }};\n\
             log {{ source(s_in); destination(d_out); flags(flow-control); }};\n",
            hop.driver,
            hop.source,
            place.output.display()
        );
        let second = second::start("second", &config, port, place, programs)?;
        let distance = hop.delay_ms.map(|delay| -> Result<Process, CommandError> {
            let words = ["distance".to_owned(), place.sink_port.to_string(), port.to_string()];
            let words = words.into_iter().chain([delay.to_string()]).map(OsString::from).collect();
            let command = OwnProgram::here()?.command(words);
            let mut process = Process::start(&command, place.root.join("distance.log"))?;
            process.wait_listening(place.sink_port, false)?;
            Ok(process)
        });
        Ok(Behind { second, distance: distance.transpose()? })
    }

    pub fn stop(self) {
        self.second.stop();
        if let Some(distance) = self.distance {
            distance.stop();
        }
    }
}

fn free_port() -> Result<u16, CommandError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    Ok(listener.map(|address| address.port()).map_err(|e| format!("no free port: {e}"))?)
}

/// `distance PORT TARGET MS`: runs until it is killed.
pub fn run(args: &[OsString]) -> ExitCode {
    let number = |at: usize| args.get(at)?.to_str()?.parse::<u32>().ok();
    let (Some(port), Some(target), Some(delay)) = (number(0), number(1), number(2)) else {
        stdio::err!("usage: distance PORT TARGET MS");
        return ExitCode::from(2);
    };
    let delay = Duration::from_millis(u64::from(delay));
    match serve(port as u16, target as u16, delay) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            stdio::err!("distance: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(port: u16, target: u16, delay: Duration) -> std::io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    loop {
        let (near, _) = listener.accept()?;
        let far = TcpStream::connect((Ipv4Addr::LOCALHOST, target))?;
        for stream in [&near, &far] {
            stream.set_nodelay(true)?;
        }
        for (from, to) in [(&near, &far), (&far, &near)] {
            let (from, to, way) = (from.try_clone()?, to.try_clone()?, Arc::new(Way::default()));
            let taking = Arc::clone(&way);
            std::thread::spawn(move || taking.take(from, delay));
            std::thread::spawn(move || way.give(to));
        }
    }
}

/// What is on the way in one direction, with the time at which it arrives; nothing is the end.
#[derive(Default)]
struct Way {
    state: Mutex<OnTheWay>,
    more: Condvar,
}

#[derive(Default)]
struct OnTheWay {
    pieces: VecDeque<Piece>,
    /// Read into again: the distance is to cost time, and little CPU.
    spare: Vec<Vec<u8>>,
}

struct Piece {
    arrives: Instant,
    buffer: Vec<u8>,
    length: usize,
}

impl Way {
    fn lock(&self) -> MutexGuard<'_, OnTheWay> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn take(&self, mut from: TcpStream, delay: Duration) {
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            let length = from.read(&mut buffer).unwrap_or(0);
            let arrives = Instant::now() + delay;
            let mut state = self.lock();
            // A little of a buffer is copied: otherwise small pieces would take the room of large ones.
            let full = if length < BUFFER_BYTES / 4 {
                buffer[..length].to_vec()
            } else {
                let next = state.spare.pop().unwrap_or_else(|| vec![0; BUFFER_BYTES]);
                std::mem::replace(&mut buffer, next)
            };
            state.pieces.push_back(Piece { arrives, buffer: full, length });
            drop(state);
            self.more.notify_one();
            if length == 0 {
                return;
            }
        }
    }

    fn give(&self, mut to: TcpStream) {
        loop {
            let mut state = self.lock();
            while state.pieces.is_empty() {
                state = self.more.wait(state).unwrap_or_else(|e| e.into_inner());
            }
            let Some(piece) = state.pieces.pop_front() else { continue };
            drop(state);
            std::thread::sleep(piece.arrives.saturating_duration_since(Instant::now()));
            if piece.length == 0 || to.write_all(&piece.buffer[..piece.length]).is_err() {
                let _ = to.shutdown(Shutdown::Both);
                return;
            }
            if piece.buffer.len() == BUFFER_BYTES {
                self.lock().spare.push(piece.buffer);
            }
        }
    }
}
