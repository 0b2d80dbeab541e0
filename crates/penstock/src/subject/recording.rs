//! Recordings of what comes to the running program, and messages of recordings that come again.

use crate::program::Daemon;
use ::recording::{Entry, HEAD, entries};
use control::Refusal;
use control::capture::{CaptureRequest, ReplayRequest, Taken};
use engine::capture::Capture;
use engine::ledger::DestinationCounters;
use engine::replay::{Again, Replayer};
use engine::source::{Carrier, Source};
use engine::{View, driver::Destination};
use parking_lot::Mutex;
use record::{Context, Peer, Stamp};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Recordings under way at one time.
const CAPTURES_MAX: usize = 4;
/// Bytes that one has in memory until they are asked for.
const CAPTURE_BYTES_MAX: usize = 8 << 20;
/// One that is not asked for for so long has been forgotten.
const FORGOTTEN: Duration = Duration::from_secs(30);
/// Messages that come again in one batch.
const BATCH_MAX: usize = 512;

/// What is being recorded, by number.
#[derive(Default)]
pub struct Captures(Mutex<Open>);

#[derive(Default)]
struct Open {
    last: u64,
    captures: BTreeMap<u64, (Arc<Capture>, Instant)>,
}

impl Captures {
    pub fn answer(&self, view: &View, request: &CaptureRequest) -> Result<String, Refusal> {
        match request {
            CaptureRequest::Begin { source } => self.begin(view, source.clone()),
            CaptureRequest::Take { number, patience } => {
                let capture = match self.0.lock().captures.get_mut(number) {
                    None => return Err("this recording is over".into()),
                    Some((capture, asked)) => {
                        *asked = Instant::now() + *patience;
                        Arc::clone(capture)
                    }
                };
                let caught = capture.take(*patience);
                let (messages, missed) = (caught.messages, caught.missed);
                Ok(Taken { entries: caught.bytes, messages, missed }.line())
            }
            CaptureRequest::End { number } => {
                self.0.lock().captures.remove(number);
                Ok("ended".to_owned())
            }
        }
    }

    fn begin(&self, view: &View, source: Option<String>) -> Result<String, Refusal> {
        if let Some(name) = &source {
            let found = view.sources.iter().filter(|source| is_named(source, name));
            let mut found = found.peekable();
            if found.peek().is_none() {
                return Err(no_source(view, name).into());
            }
            if found.all(|source| source.settings().is_ready_made()) {
                return Err(format!(
                    "`{name}` makes its messages itself: there is nothing to record as it came"
                )
                .into());
            }
        }
        self.expire();
        let mut open = self.0.lock();
        if open.captures.len() >= CAPTURES_MAX {
            return Err(format!("{CAPTURES_MAX} recordings are under way already").into());
        }
        open.last += 1;
        let (number, capture) = (open.last, Capture::begin(source, CAPTURE_BYTES_MAX));
        open.captures.insert(number, (Arc::new(capture), Instant::now()));
        Ok(number.to_string())
    }

    /// Ends those that nobody asks for any more.
    pub fn expire(&self) {
        let is_alive = |asked: &Instant| asked.elapsed() < FORGOTTEN;
        self.0.lock().captures.retain(|_, (_, asked)| is_alive(asked));
    }
}

fn is_named(source: &Source, name: &str) -> bool {
    *source.group == *name || source.id == name
}

fn no_source(view: &View, name: &str) -> String {
    let names: Vec<&str> = view.sources.iter().map(|source| source.id.as_str()).collect();
    format!("there is no source `{name}`; there are: {}", names.join(", "))
}

/// Gives messages to their sources again. Without messages it is only asked whether they could come.
pub fn replay(program: &Daemon, request: &ReplayRequest) -> Result<String, Refusal> {
    let running = program.running();
    let view = &running.view;
    let only = destinations(view, &request.to)?;
    if let Some(name) = &request.source {
        reader(view, name)?;
    }
    let mut replayer = Replayer::new(&program.shared, program.identity(), only);
    let mut recording = HEAD.to_vec();
    recording.extend_from_slice(&request.entries);
    let all: Result<Vec<Entry<'_>>, _> = entries(&recording).map_err(|e| e.to_string())?.collect();
    let all = all.map_err(|error| error.to_string())?;
    let mut taken = 0;
    for together in all.chunk_by(|a, b| (a.time, a.source, a.peer) == (b.time, b.source, b.peer)) {
        for part in together.chunks(BATCH_MAX) {
            let Some(first) = part.first() else { continue };
            let name = request.source.as_deref().unwrap_or(first.source);
            let source = reader(view, name)?;
            let texts: Vec<&[u8]> = part.iter().map(|entry| entry.text).collect();
            let context = context(source, first.peer, &view.loghost);
            let again = Again { context, received: stamp(first.time), texts: &texts };
            replayer.run(source, &again).map_err(|why| {
                format!("after {}: {why}", stdio::counted(taken as u64, "message", "messages"))
            })?;
            taken += texts.len();
        }
    }
    Ok(taken.to_string())
}

/// The source of this name, if it reads texts.
fn reader<'a>(view: &'a View, name: &str) -> Result<&'a Source, Refusal> {
    let source = view.sources.iter().find(|source| is_named(source, name));
    let source = source.ok_or_else(|| no_source(view, name))?;
    if source.settings().is_ready_made() {
        return Err(format!("`{name}` makes its messages itself, it reads no text").into());
    }
    Ok(source)
}

fn destinations(view: &View, names: &[String]) -> Result<Vec<Arc<DestinationCounters>>, Refusal> {
    let mut found = Vec::new();
    for name in names {
        let fits = |id: &str| id == name || id.rsplit_once('#').is_some_and(|(group, _)| group == name);
        let before = found.len();
        let fitting = view.destinations.iter().filter(|(id, _)| fits(id));
        found.extend(
            fitting
                .map(|(_, destination): &(String, Arc<dyn Destination>)| Arc::clone(destination.counters())),
        );
        if found.len() == before {
            let names: Vec<&str> = view.destinations.iter().map(|(id, _)| id.as_str()).collect();
            return Err(format!("there is no destination `{name}`; there are: {}", names.join(", ")).into());
        }
    }
    Ok(found)
}

/// Who sent it then: the address, and not the name, which may be another one by now.
fn context(source: &Source, peer: Option<SocketAddr>, own_name: &str) -> Context {
    let host = peer.map_or_else(|| own_name.to_owned(), |peer| peer.ip().to_canonical().to_string());
    let mut context = Context::local(&source.group, &host, "replay");
    if let Some(remote) = peer {
        let local = SocketAddr::new(if remote.is_ipv4() { [0; 4].into() } else { [0; 16].into() }, 0);
        context.peer = Peer::Inet { remote, local, proxy: None };
        context.ip_protocol = if source.carrier == Carrier::Datagrams { 17 } else { 6 };
    }
    context
}

/// Of microseconds since 1970.
pub fn stamp(micros: i64) -> Stamp {
    let now = Stamp::now(0);
    Stamp { secs: micros.div_euclid(1_000_000), usec: micros.rem_euclid(1_000_000) as u32, ..now }
}
