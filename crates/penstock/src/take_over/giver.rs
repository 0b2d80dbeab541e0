//! The old process: hands over what it has, goes on as before when the new one fails, and stays for what only
//! it can read.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use control::take_over::{Kind, Reader, VERSION, Writer, receive, send};
use delivery::writer::Numbers;
use engine::hand_over::{Handed, Queue};
use engine::{Engine, Parted, Rest};
use transport::inherited::{self, Inherited, is_managed_socket};

use super::taker::adopt;
use super::words;
use crate::program::Daemon;
use crate::run::{DRAIN_MAX, last_run, notify};

/// The new process has prepared everything before it asks, and opens what it got at once.
const READY_MAX: Duration = Duration::from_secs(60);
/// How long a new process that failed may take to let go of the state file.
const STATE_MAX: Duration = Duration::from_secs(10);
/// Pause between two looks at what stays: connections in their handshakes, then only such as are passed on.
const LOOK_SOON: Duration = Duration::from_millis(20);
const LOOK: Duration = Duration::from_millis(250);
/// For the other process to have what this one could not deliver on its disk.
const REST_MAX: Duration = Duration::from_secs(30);
/// What peers get to go after they were asked to.
const FAREWELL_MAX: Duration = Duration::from_secs(10);

/// Hands over to the process behind `stream`. Returns when that has failed, or when this process may end.
pub fn give(program: &Daemon, stream: &UnixStream, linger: Duration) {
    let mut slot = program.engine();
    let Some(engine) = slot.as_mut() else {
        let _ = send(stream, Kind::Failed, None, b"it is about to end");
        return;
    };
    if let Err(error) = greet(program, stream) {
        oplog::warning("A process that wanted to take over has gone", &[("error", &error)]);
        return;
    }
    oplog::notice("Another process takes over", &[]);
    let began = Instant::now();
    let parted = engine.part();
    Numbers::save_all();
    let outcome = hand_over(program, stream, &parted);
    match outcome {
        Ok(disinherited) => {
            oplog::notice(
                "Another process has taken over",
                &[("milliseconds", &began.elapsed().as_millis()), ("connections", &parted.handed.len())],
            );
            engine.goes_on_alone(disinherited.clone());
            engine.put_back(
                parted.queues.into_iter().filter(|q| disinherited.contains(&q.destination)).collect(),
            );
            drop(parted.handed);
            program.given();
            program.door.close();
            let engine = slot.take();
            drop(slot);
            if let Some(engine) = engine {
                stay(program, engine, stream, linger);
            }
        }
        Err(error) => {
            oplog::error("Another process failed to take over, going on", &[("error", &error)]);
            go_on(program, engine, parted);
        }
    }
}

/// Says who this is and waits until the other one is prepared.
fn greet(program: &Daemon, stream: &UnixStream) -> Result<(), String> {
    let state = program.shared.state().path().unwrap_or_default();
    let body = Writer::new().number(VERSION).text(&state.to_string_lossy());
    let body =
        body.bytes(notify::socket().as_bytes()).number(program.watchdog.load(Ordering::Relaxed)).done();
    let spoken = || {
        stream.set_read_timeout(Some(READY_MAX))?;
        stream.set_write_timeout(Some(READY_MAX))?;
        send(stream, Kind::Hello, None, &body)?;
        receive(stream)
    };
    match spoken().map_err(|error| error.to_string())? {
        frame if frame.kind == Kind::Stop => Ok(()),
        frame => Err(String::from_utf8_lossy(&frame.body).into_owned()),
    }
}

/// Destinations the other one does not have. After an error it is not going to work.
fn hand_over(program: &Daemon, stream: &UnixStream, parted: &Parted) -> Result<Vec<String>, String> {
    let text = |error: std::io::Error| error.to_string();
    program.shared.state().release().map_err(text)?;
    send_parted(stream, &parted.handed, &parted.queues).map_err(text)?;
    send(stream, Kind::Released, None, &[]).map_err(text)?;
    let frame = receive(stream).map_err(|error| format!("it has gone: {error}"))?;
    if frame.kind != Kind::Ready {
        return Err(String::from_utf8_lossy(&frame.body).into_owned());
    }
    let mut fields = Reader(&frame.body);
    let mut disinherited = Vec::new();
    for _ in 0..fields.number().unwrap_or(0) {
        disinherited.extend(fields.text());
    }
    // From here on the other one counts on it.
    send(stream, Kind::Done, None, &[]).map_err(text)?;
    Ok(disinherited)
}

fn send_parted(stream: &UnixStream, handed: &[Handed], queues: &[Queue]) -> std::io::Result<()> {
    handed.iter().try_for_each(|one| words::send_handed(stream, one))?;
    queues.iter().try_for_each(|queue| words::send_queue(stream, queue))
}

/// As before: the same sockets, the same connections, the same queues.
fn go_on(program: &Daemon, engine: &mut Engine, parted: Parted) {
    let until = Instant::now() + STATE_MAX;
    while let Err(error) = program.shared.state().resume() {
        if Instant::now() >= until {
            oplog::critical("The state file cannot be opened again", &[("error", &error)]);
            break;
        }
        std::thread::park_timeout(LOOK_SOON);
    }
    let mut connections = Vec::new();
    let mut sockets = Vec::new();
    for handed in parted.handed {
        match handed {
            Handed::Socket(fd) => sockets.push(Inherited { managed: is_managed_socket(&fd), fd }),
            Handed::Connection(connection) => connections.push(connection),
        }
    }
    inherited::offer(sockets);
    if let Err(error) = program.restart(engine, parted.queues) {
        oplog::critical("What ran before cannot be opened again", &[("error", &error)]);
    }
    inherited::withdraw();
    inherited::own();
    connections.into_iter().for_each(|connection| adopt(program, connection));
}

/// Until nothing is left that only this process can do.
fn stay(program: &Daemon, mut engine: Engine, stream: &UnixStream, linger: Duration) {
    let began = Instant::now();
    let mut asked = false;
    let mut queues = engine.end_contexts();
    loop {
        let parted = engine.part();
        queues.extend(parted.queues);
        if let Err(error) = send_parted(stream, &parted.handed, &queues) {
            oplog::error("The process that has taken over has gone", &[("error", &error)]);
            engine.put_back(queues);
            break;
        }
        queues = Vec::new();
        let late = began.elapsed() >= linger;
        let is_done = parted.staying == 0 && parted.passing == 0 && engine.is_through_or_stuck();
        if is_done || began.elapsed() >= linger + FAREWELL_MAX {
            break;
        }
        if late && !asked {
            asked = true;
            engine.farewell();
        }
        std::thread::park_timeout(if parted.staying > 0 || asked { LOOK_SOON } else { LOOK });
    }
    let mut give = |queues: &[Queue]| give_rest(stream, queues);
    let left = engine.stop(DRAIN_MAX, Rest::Given(&mut give));
    if let Some(state_dir) = program.shared.durable.state_dir() {
        last_run::note_late(state_dir, &left);
    }
}

/// The other process keeps what this one could not deliver: it has the store.
fn give_rest(stream: &UnixStream, queues: &[Queue]) -> Result<(), String> {
    let spoken = || {
        send_parted(stream, &[], queues)?;
        send(stream, Kind::Released, None, &[])?;
        stream.set_read_timeout(Some(REST_MAX))?;
        receive(stream)
    };
    let frame =
        spoken().map_err(|error| format!("the process that has taken over does not answer: {error}"))?;
    match frame.kind {
        Kind::Done => Ok(()),
        _ => Err(String::from_utf8_lossy(&frame.body).into_owned()),
    }
}

/// The process that is behind a control connection.
pub fn serve(program: &Arc<Daemon>, stream: UnixStream, linger: Duration) {
    give(program, &stream, linger);
    if program.is_given() {
        // The way every end takes. It can fail only for a signal that does not exist.
        let _ = signal_hook::low_level::raise(signal_hook::consts::SIGTERM);
    }
}
