//! Datagram sockets, UDP and unix: many datagrams a call, one batch of them, and the kernel's drops in the
//! ledger.

mod drops;
mod proxied;

use super::encoding::decode_datagram;
use super::listener::{inet_name, register};
use super::senders::Senders;
use crate::socket_file::SocketFile;
use diag::Fault;
use drops::Drops;
use engine::hand_over::{Handed, Part};
use engine::ledger::{Reason, TransportError};
use engine::source::Source;
use engine::worker::{After, Port, PortContext};
use engine::{Feed, Shared};
use mio::unix::SourceFd;
pub use proxied::Clients;
use record::{Batch, Context, Peer, Record, Transport};
use rustix::io::fcntl_dupfd_cloexec;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};
use transport::mmsg::{Credentials, Datagram, Receiver};
use wire::proxy::V2_MAX;
use wire::{Framer, FramerOptions};

/// Datagrams taken with one call.
const RECEIVE_MAX: usize = 64;
/// Fewer when datagrams may be very large: bytes of all slots together.
const SLOTS_BYTES: usize = 8 * 1024 * 1024;
/// The largest datagram: UDP has 16 bits for the length, unix sockets are bounded by net.core.wmem_max only.
const UDP_BYTES_MAX: usize = 65_536;
const UNIX_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of datagrams in one batch, and calls for it: empty datagrams have no bytes.
const BATCH_BYTES: usize = 128 * 1024;
const BATCH_CALLS: usize = 64;
/// Batches in one turn.
const TURN_BATCHES: usize = 4;
/// Batches taken when the socket is closed: as much as the largest receive buffer holds.
const LAST_BATCHES: usize = 1024;

pub struct DatagramOptions {
    /// With [`wire::Framing::Datagram`].
    pub framing: FramerOptions,
    pub encoding: Option<conf_schema::Encoding>,
    pub window_messages: Option<usize>,
}

/// Who the datagrams come from.
pub enum Origin {
    Udp {
        senders: Senders,
        local: SocketAddr,
    },
    /// UDP from load balancers.
    Proxied(Clients),
    Unix(Processes),
}

pub struct DatagramPort {
    socket: OwnedFd,
    receiver: Receiver,
    framer: Framer,
    origin: Origin,
    feed: Feed,
    options: DatagramOptions,
    /// Datagrams in one call.
    calls: usize,
    drops: Drops,
    /// The last turn ended with an error: there may be more that nothing will announce.
    failed: bool,
    queued: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Credit {
    Needed,
    /// The socket is closed: what is not read now is lost.
    NotNeeded,
}

impl DatagramPort {
    pub fn start(
        socket: OwnedFd,
        origin: Origin,
        options: DatagramOptions,
        source: &Arc<Source>,
        shared: &Arc<Shared>,
    ) -> Result<(), Fault> {
        let worker = shared.any_worker()?;
        let source = Arc::clone(source);
        worker.add(move |token, cx| {
            register(&socket.as_raw_fd(), cx.handle.registry(), token)?;
            let feed = Feed::new(source, options.window_messages, cx, token).impatient();
            let bytes_max = if matches!(origin, Origin::Unix(_)) { UNIX_BYTES_MAX } else { UDP_BYTES_MAX };
            // One byte more than allowed tells a datagram that is too long from one that just fits.
            let head = if matches!(origin, Origin::Proxied(_)) { V2_MAX } else { 0 };
            let slot = options.framing.log_msg_size.clamp(1, bytes_max) + 1 + head;
            let calls = (SLOTS_BYTES / slot).clamp(1, RECEIVE_MAX);
            let receiver = Receiver::new(calls, slot);
            let framer = Framer::new(options.framing);
            let port = DatagramPort {
                socket,
                receiver,
                framer,
                origin,
                feed,
                options,
                calls,
                drops: Drops::default(),
                failed: false,
                queued: false,
            };
            Ok(Box::new(port))
        });
        Ok(())
    }

    /// Fills one batch. `false` when the socket was emptied.
    fn step(&mut self, credit: Credit, cx: &mut PortContext) -> std::io::Result<bool> {
        // Without credit the kernel's buffer holds what it can, and counts what it cannot. Senders to a unix
        // socket wait.
        if !self.feed.may_read() && credit == Credit::Needed {
            self.drops.starved = true;
            return Ok(false);
        }
        let began = Instant::now();
        let mut batch = cx.batch();
        let mut more = true;
        let mut bytes = 0;
        let mut calls = 0;
        match &mut self.origin {
            Origin::Udp { senders, local } => senders.begin_batch(*local, began),
            Origin::Proxied(clients) => clients.begin_batch(began),
            Origin::Unix(_) => {}
        }
        let outcome = loop {
            calls += 1;
            match self.receiver.receive(self.socket.as_fd()) {
                Ok(count) => {
                    bytes += self.take(count, &mut batch, began);
                    if count < self.calls {
                        more = false;
                        break Ok(());
                    }
                    if batch.text.len() >= BATCH_BYTES || calls >= BATCH_CALLS {
                        break Ok(());
                    }
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    more = false;
                    break Ok(());
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => break Err(e),
            }
        };
        self.feed.source.counters.truncated.add(self.framer.take_truncated() as usize);
        self.feed.run(batch, bytes, more, began, cx);
        if !more {
            self.drops.starved = false;
        }
        outcome.map(|()| more)
    }

    fn ask_drops(&mut self) {
        if let Origin::Udp { .. } | Origin::Proxied(_) = &self.origin
            && let Some(total) = transport::mmsg::drops(&self.socket)
        {
            self.drops.note(&self.feed.source, &self.socket, total);
        }
    }

    fn take(&mut self, count: usize, batch: &mut Batch, began: Instant) -> usize {
        let mut bytes = 0;
        let mut dropped = None;
        let mut last: Option<(SocketAddr, u16)> = None;
        for datagram in (0..count).filter_map(|at| self.receiver.datagram(at)) {
            bytes += datagram.bytes.len();
            dropped = datagram.dropped.or(dropped);
            let (mut header, mut message) = (None, datagram.bytes);
            if let Origin::Proxied(_) = &self.origin {
                match proxied::header(datagram.bytes) {
                    Ok((found, rest)) => (header, message) = (Some(found), rest),
                    Err(error) => {
                        refused(&self.feed.source, (datagram.sender, datagram.bytes), &error);
                        continue;
                    }
                }
            }
            let start = batch.text.len();
            match self.options.encoding {
                Some(encoding) => decode_datagram(encoding, message, &mut batch.text),
                None => batch.text.extend_from_slice(message),
            }
            let mut frame = None;
            // Framing of a datagram cannot fail.
            let _ = self.framer.scan(&batch.text, start, |span| frame = Some(span));
            let Some(frame) = frame else { continue };
            if datagram.truncated && message.len() <= self.options.framing.log_msg_size {
                self.feed.source.counters.truncated.add(1);
            }
            let mut record = Record::new(frame);
            record.context = match (&mut self.origin, datagram.sender) {
                (Origin::Udp { .. }, Some(sender)) if last.is_some_and(|(a, _)| a == sender) => {
                    last.map_or(0, |l| l.1)
                }
                (Origin::Udp { senders, local }, Some(sender)) => {
                    let at = senders.place(sender, *local, batch);
                    last = Some((sender, at));
                    at
                }
                (Origin::Proxied(clients), sender) => {
                    let Some((header, sender)) = header.zip(sender) else { continue };
                    clients.place(&header, sender, batch)
                }
                (Origin::Unix(processes), _) => place(batch, processes.context(&datagram, began)),
                // Does not happen on a bound UDP socket, and is not worth dropping if it does.
                (Origin::Udp { senders, local }, None) => senders.place(*local, *local, batch),
            };
            batch.records.push(record);
        }
        if let Some(total) = dropped {
            self.drops.note(&self.feed.source, &self.socket, total);
        }
        bytes
    }
}

/// Without a header nobody knows whose message it is.
fn refused(source: &Source, (sender, datagram): (Option<SocketAddr>, &[u8]), error: &str) {
    source.counters.received.add(1);
    source.counters.dropped.add(Reason::Framing, 1);
    source.counters.remains.keep(Reason::Framing, 1, std::iter::once(datagram));
    source.counters.transport_errors.add(TransportError::ProxyHeader);
    let proxy = sender.map(inet_name).unwrap_or_default();
    oplog::limited(
        "proxied-datagram",
        oplog::Level::Error,
        "Cannot tell whom a proxy sends for, the datagram is dropped",
        &[("location", &source.id), ("proxy", &proxy), ("error", &error)],
    );
}

/// Index of a context in a batch, put there when it is new.
fn place(batch: &mut Batch, context: Arc<Context>) -> u16 {
    let found = batch.contexts.iter().rposition(|c| Arc::ptr_eq(c, &context));
    found.unwrap_or_else(|| {
        batch.contexts.push(context);
        batch.contexts.len() - 1
    }) as u16
}

/// Processes a unix datagram socket remembers by their credentials.
const PROCESSES_MAX: usize = 4096;
/// After this they are looked at again: numbers of processes come back, and a process can become another
/// program.
const PROCESS_LIFE: Duration = Duration::from_secs(10);

/// Who sends to a unix datagram socket.
pub struct Processes {
    group: Arc<str>,
    host: Arc<str>,
    file: SocketFile,
    known: HashMap<Credentials, Arc<Context>>,
    since: Instant,
    anonymous: Arc<Context>,
}

impl Processes {
    pub fn new(group: Arc<str>, host: Arc<str>, file: SocketFile) -> Processes {
        let anonymous = unix_context(&group, &host, Vec::new());
        Processes { group, host, file, known: HashMap::new(), since: Instant::now(), anonymous }
    }

    fn context(&mut self, datagram: &Datagram<'_>, now: Instant) -> Arc<Context> {
        let Some(who) = datagram.credentials else { return Arc::clone(&self.anonymous) };
        if self.known.len() >= PROCESSES_MAX || now.duration_since(self.since) >= PROCESS_LIFE {
            self.known.clear();
            self.since = now;
        }
        let make = || {
            unix_context(&self.group, &self.host, crate::processes::process_values(who.pid, who.uid, who.gid))
        };
        Arc::clone(self.known.entry(who).or_insert_with(make))
    }
}

fn unix_context(group: &Arc<str>, host: &Arc<str>, values: Vec<(record::NameId, Box<[u8]>)>) -> Arc<Context> {
    Arc::new(Context {
        source: Arc::clone(group),
        peer: Peer::Local,
        host_from: Arc::clone(host),
        transport: Transport("local+unix-dgram"),
        ip_protocol: 0,
        values,
    })
}

impl Port for DatagramPort {
    fn turn(&mut self, cx: &mut PortContext) -> After {
        self.failed = false;
        for _ in 0..TURN_BATCHES {
            match self.step(Credit::Needed, cx) {
                Ok(true) => {}
                Ok(false) => return After::Idle,
                Err(error) => {
                    oplog::limited(
                        "datagram",
                        oplog::Level::Error,
                        "Error receiving datagrams",
                        &[("location", &self.feed.source.id), ("error", &error)],
                    );
                    self.failed = true;
                    return After::Idle;
                }
            }
        }
        After::Again
    }

    fn retry(&self) -> bool {
        self.failed
    }

    /// Drops after which no datagram came are not told with one.
    fn tick(&mut self, _now: Instant) -> bool {
        self.ask_drops();
        true
    }

    fn queued(&mut self) -> &mut bool {
        &mut self.queued
    }

    fn closed(&mut self, cx: &mut PortContext) {
        // What the kernel still holds was sent before we stopped.
        for _ in 0..LAST_BATCHES {
            if !self.step(Credit::NotNeeded, cx).unwrap_or(false) {
                break;
            }
        }
        self.ask_drops();
        let _ = cx.handle.registry().deregister(&mut SourceFd(&self.socket.as_raw_fd()));
        if let Origin::Unix(processes) = &self.origin {
            processes.file.remove();
        }
    }

    /// What the kernel still holds is read by the other process.
    fn part(&mut self, cx: &mut PortContext) -> Part {
        match fcntl_dupfd_cloexec(&self.socket, 0) {
            Ok(fd) => {
                self.ask_drops();
                let _ = cx.handle.registry().deregister(&mut SourceFd(&self.socket.as_raw_fd()));
                Part::Gone(vec![Handed::Socket(fd)])
            }
            // Out of descriptors: it is tried again.
            Err(_) => Part::Stays,
        }
    }

    fn source(&self) -> Option<&Arc<Source>> {
        Some(&self.feed.source)
    }
}
