//! The new process: gets what the running one has, and says when it works.

use diag::Fault;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use control::take_over::{Kind, Reader, VERSION, Writer, receive, send};
use engine::dead_letters::DeadLetters;
use engine::hand_over::{Connection, Queue};
use engine::{Chunk, take_in};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use transport::inherited::Inherited;

use super::words;
use crate::program::Daemon;
use crate::run::notify;

/// The other process answers at once, or after a reload that is under way.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// Why messages of the other process are dead letters.
const GONE: &str = "its destination was gone when another process took over";

/// A connection to the process whose place is to be taken.
pub struct Taker {
    stream: UnixStream,
    /// 0: the service manager wants no signs of life.
    watchdog: u64,
}

/// What it had.
#[derive(Default)]
pub struct Taken {
    pub sockets: Vec<Inherited>,
    pub connections: Vec<Connection>,
    pub queues: Vec<Queue>,
}

fn connect(control: &Path) -> std::io::Result<UnixStream> {
    let (family, flags) = (AddressFamily::UNIX, SocketFlags::CLOEXEC);
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    transport::unix_path::connect(&socket, control)?;
    Ok(socket.into())
}

/// The connection to the other process.
fn broken(error: std::io::Error) -> Fault {
    Fault::of_connection(&error, error.to_string())
}

impl Taker {
    /// Asks for the process behind a control socket, which goes on for now. `None` when there is none.
    /// `linger` says how long it may pass on what only it can read.
    pub fn ask(control: &Path, state: &Path, linger: Duration) -> Result<Option<Taker>, Fault> {
        let stream = match connect(control) {
            Ok(stream) => stream,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => {
                return Ok(None);
            }
            Err(error) => {
                let why = format!("cannot connect to {}: {error}", control.display());
                return Err(Fault::of_connection(&error, why));
            }
        };
        let mut taker = Taker { stream, watchdog: 0 };
        let ask = || {
            taker.stream.set_read_timeout(Some(ANSWER_MAX))?;
            std::io::Write::write_all(
                &mut &taker.stream,
                format!("TAKE_OVER {}\n", linger.as_secs()).as_bytes(),
            )
        };
        ask().map_err(|error| Fault::peer(format!("cannot ask the running program: {error}")))?;
        let hello = taker.hear(Kind::Hello).map_err(|fault| {
            let said = fault.said();
            Fault::peer(format!(
                "the running program does not hand over: {said}; stop it and start this one instead"
            ))
        })?;
        let mut fields = Reader(&hello);
        let (version, theirs) = (fields.number(), fields.text());
        if let (Some(socket), Some(watchdog)) = (fields.bytes(), fields.number()) {
            notify::inherit(OsStr::from_bytes(socket).to_owned());
            taker.watchdog = watchdog;
        }
        if version != Some(VERSION) {
            return Err(Fault::peer(
                "the running program is of a version that hands over in another way; stop it and start this one instead",
            ));
        }
        let same = |theirs: &String| std::fs::canonicalize(theirs).ok() == std::fs::canonicalize(state).ok();
        match theirs {
            Some(theirs) if !same(&theirs) => Err(Fault::misconfigured(format!(
                "the running program keeps its state in {theirs}, and this one in {}: give both the same --state-dir",
                state.display()
            ))),
            _ => Ok(Some(taker)),
        }
    }

    /// Microseconds within which the service manager wanted signs of life from that one.
    pub fn watchdog(&self) -> Option<u64> {
        Some(self.watchdog).filter(|micros| *micros > 0)
    }

    fn hear(&self, expected: Kind) -> Result<Vec<u8>, Fault> {
        let frame = receive(&self.stream).map_err(broken)?;
        match frame.kind {
            kind if kind == expected => Ok(frame.body),
            Kind::Failed => Err(Fault::peer(String::from_utf8_lossy(&frame.body))),
            kind => Err(Fault::peer(format!("it says {kind:?} where {expected:?} is due"))),
        }
    }

    /// From now on nobody reads: stops the other process and gets what it has.
    pub fn stop(&self) -> Result<Taken, Fault> {
        let broken = |error: std::io::Error| broken(error).at("the running program does not hand over");
        send(&self.stream, Kind::Stop, None, &[]).map_err(broken)?;
        let mut taken = Taken::default();
        loop {
            let frame = receive(&self.stream).map_err(broken)?;
            let understood =
                match (frame.kind, frame.fd) {
                    (Kind::Socket, Some(fd)) => words::socket(fd, &frame.body).map(|s| taken.sockets.push(s)),
                    (Kind::Connection, Some(fd)) => {
                        words::connection(fd, &frame.body).map(|c| taken.connections.push(c))
                    }
                    (Kind::Queue, _) => words::piece(&frame.body).map(|(destination, outlet, chunk)| {
                        match taken.queues.iter_mut().find(|queue| queue.destination == destination) {
                            Some(queue) => queue.chunks.push(chunk),
                            None => taken.queues.push(Queue { destination, outlet, chunks: vec![chunk] }),
                        }
                    }),
                    (Kind::Released, _) => return Ok(taken),
                    (Kind::Failed, _) => return Err(Fault::peer(String::from_utf8_lossy(&frame.body))),
                    _ => None,
                };
            understood.ok_or_else(|| Fault::peer("the running program hands over something strange"))?;
        }
    }

    /// Tells the other process that it can go; after an error it has not, and this one must. `disinherited`
    /// are destinations whose queues it has to empty itself.
    pub fn ready(&self, disinherited: &[String]) -> Result<(), Fault> {
        let mut body = Writer::new().number(disinherited.len() as u64);
        body = disinherited.iter().fold(body, |body, id| body.text(id));
        let sent = send(&self.stream, Kind::Ready, None, &body.done()).map_err(broken);
        let heard = sent.and_then(|()| self.hear(Kind::Done)).map(drop);
        heard.map_err(|fault| fault.at("the running program goes on"))
    }

    /// Why nothing comes of it; the other process goes on.
    pub fn failed(&self, text: &str) {
        // It notices anyway, when the connection ends.
        let _ = send(&self.stream, Kind::Failed, None, text.as_bytes());
    }

    /// Takes what comes late, connections whose handshake was under way say, until the other process ends.
    pub fn listen(self, program: &Arc<Daemon>) {
        let program = Arc::clone(program);
        // It may live as long as its peers do.
        let _ = self.stream.set_read_timeout(None);
        let listening = std::thread::Builder::new().name("take-over".into()).spawn(move || {
            let mut all_kept = true;
            while let Ok(frame) = receive(&self.stream) {
                match (frame.kind, frame.fd) {
                    (Kind::Connection, Some(fd)) => {
                        words::connection(fd, &frame.body).into_iter().for_each(|c| adopt(&program, c));
                    }
                    (Kind::Queue, _) => all_kept &= late(&program, &frame.body),
                    (Kind::Released, _) => answer_rest(&program, &self.stream, all_kept),
                    _ => {}
                }
            }
            oplog::notice("The program before this one has ended", &[]);
        });
        if let Err(error) = listening {
            oplog::error("Cannot start the thread that takes over late connections", &[("error", &error)]);
        }
    }
}

/// Goes on with a connection, or closes it.
pub fn adopt(program: &Daemon, connection: Connection) {
    let (client, local) = (connection.client.clone(), connection.local.clone());
    if let Err(error) = program.shared.adopt(connection) {
        oplog::notice(
            "Cannot take a connection over, closing it",
            &[("client", &client), ("local", &local), ("error", &error)],
        );
    }
}

/// Something that waited in the other process: for the destination of that name, or as dead letters where it
/// is gone. Whether it is kept.
fn late(program: &Daemon, body: &[u8]) -> bool {
    let Some((destination, outlet, chunk)) = words::piece(body) else { return false };
    let running = program.running();
    let all = running.view.destinations.iter().map(|(id, d)| (id.as_str(), d));
    let Err(queue) = take_in(all, Queue { destination, outlet, chunks: vec![chunk] }) else { return true };
    let messages: usize = queue.chunks.iter().map(Chunk::messages).sum();
    let id = &queue.destination;
    let letters = program.shared.durable.letters();
    let keep = |letters: Arc<DeadLetters>| letters.keep_chunks(id, GONE, queue.chunks);
    let outcome = letters.and_then(keep);
    match &outcome {
        Ok(()) => oplog::warning(
            "Messages of the program before this one have no destination here and are kept as dead letters",
            &[("destination", id), ("messages", &messages)],
        ),
        Err(error) => oplog::error(
            "Messages of the program before this one have no destination here and are dropped",
            &[("destination", id), ("messages", &messages), ("error", error)],
        ),
    }
    outcome.is_ok()
}

/// The other process has sent all it had, and ends once it hears that this is safe: in memory as whatever
/// waits there, or on disk.
fn answer_rest(program: &Daemon, stream: &UnixStream, all_kept: bool) {
    let safe = all_kept && program.shared.durable.places().iter().all(|place| place.log.flush());
    let kind = if safe { Kind::Done } else { Kind::Failed };
    let _ = send(stream, kind, None, b"its store takes nothing");
}
