//! The second penstock of a chain, and the distance between the two: a proxy that hands on later what it takes at once.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use crate::cases::Hop;
use crate::place::Place;
use crate::process::Process;
use crate::receiver::{Command, OwnProgram, Programs};

const BUFFER_BYTES: usize = 256 * 1024;

/// The processes behind the one that is measured first.
pub struct Behind {
    pub second: Process,
    distance: Option<Process>,
}

impl Behind {
    pub fn start(hop: &Hop, place: &Place, programs: &Programs) -> Result<Behind, String> {
        let port = match hop.delay_ms {
            0 => place.sink_port,
            _ => free_port()?,
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
        let config = place.write("second.conf", &config)?;
        let state = place.root.join("second");
        std::fs::create_dir_all(&state).map_err(|e| format!("{}: {e}", state.display()))?;
        let words: [&std::ffi::OsStr; 5] =
            ["run".as_ref(), "--config".as_ref(), config.as_ref(), "--state-dir".as_ref(), state.as_ref()];
        let program = programs.penstock.clone().ok_or("penstock is not here")?;
        let args = words.iter().map(|&word| word.to_owned()).collect();
        let mut second = Process::start(&Command { program, args }, place.root.join("second.log"))?;
        second.wait_listening(port, false)?;
        let distance = (hop.delay_ms > 0).then(|| -> Result<Process, String> {
            let words = ["distance".to_owned(), place.sink_port.to_string(), port.to_string()];
            let words = words.into_iter().chain([hop.delay_ms.to_string()]).map(OsString::from).collect();
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

fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    listener.map(|address| address.port()).map_err(|e| format!("no free port: {e}"))
}

/// `distance PORT TARGET MS`: runs until it is killed.
pub fn run(args: &[OsString]) -> ExitCode {
    let number = |at: usize| args.get(at)?.to_str()?.parse::<u32>().ok();
    let (Some(port), Some(target), Some(delay)) = (number(0), number(1), number(2)) else {
        eprintln!("usage: distance PORT TARGET MS");
        return ExitCode::from(2);
    };
    let delay = Duration::from_millis(u64::from(delay));
    match serve(port as u16, target as u16, delay) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("distance: {error}");
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
    pieces: Mutex<VecDeque<(Instant, Vec<u8>)>>,
    more: Condvar,
}

impl Way {
    fn push(&self, piece: (Instant, Vec<u8>)) {
        self.pieces.lock().unwrap_or_else(|e| e.into_inner()).push_back(piece);
        self.more.notify_one();
    }

    fn take(&self, mut from: TcpStream, delay: Duration) {
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            let read = from.read(&mut buffer).unwrap_or(0);
            self.push((Instant::now() + delay, buffer[..read].to_vec()));
            if read == 0 {
                return;
            }
        }
    }

    fn give(&self, mut to: TcpStream) {
        loop {
            let mut pieces = self.pieces.lock().unwrap_or_else(|e| e.into_inner());
            while pieces.is_empty() {
                pieces = self.more.wait(pieces).unwrap_or_else(|e| e.into_inner());
            }
            let Some((at, piece)) = pieces.pop_front() else { continue };
            drop(pieces);
            std::thread::sleep(at.saturating_duration_since(Instant::now()));
            if piece.is_empty() || to.write_all(&piece).is_err() {
                let _ = to.shutdown(Shutdown::Both);
                return;
            }
        }
    }
}
