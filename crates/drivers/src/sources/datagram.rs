//! Datagram sockets, UDP and unix: many datagrams a call, one batch of them, and the kernel's drops in the ledger.

use super::encoding::decode_datagram;
use super::listener::register;
use super::senders::Senders;
use engine::ledger::Reason;
use engine::source::Source;
use engine::worker::{After, Port, PortContext};
use engine::{Feed, Shared};
use mio::unix::SourceFd;
use record::{Batch, Context, Peer, Record, Transport};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;
use transport::mmsg::{Credentials, Datagram, Receiver};
use wire::{Framer, FramerOptions};

/// Datagrams taken with one call.
const RECEIVE_MAX: usize = 64;
/// Bytes of datagrams in one batch.
const BATCH_BYTES: usize = 128 * 1024;
/// Batches in one turn.
const TURN_BATCHES: usize = 4;

pub struct DatagramOptions {
    /// With [`wire::Framing::Datagram`].
    pub framing: FramerOptions,
    pub encoding: Option<&'static encoding_rs::Encoding>,
    pub window_messages: Option<usize>,
}

/// Who the datagrams come from.
pub enum Origin {
    Udp { senders: Senders, local: SocketAddr },
    Unix { group: Arc<str>, host: Arc<str>, path: String, contexts: HashMap<Credentials, Arc<Context>>, anonymous: Arc<Context> },
}

pub struct DatagramPort {
    socket: OwnedFd,
    receiver: Receiver,
    framer: Framer,
    origin: Origin,
    feed: Feed,
    options: DatagramOptions,
    dropped: Option<u32>,
    queued: bool,
}

impl DatagramPort {
    pub fn start(
        socket: OwnedFd,
        origin: Origin,
        options: DatagramOptions,
        source: &Arc<Source>,
        shared: &Arc<Shared>,
    ) -> Result<(), String> {
        let worker = shared.any_worker().ok_or("there are no workers")?;
        let source = Arc::clone(source);
        worker.add(move |token, cx| {
            register(&socket.as_raw_fd(), cx.handle.registry(), token)?;
            let feed = Feed::new(source, options.window_messages, cx, token);
            // One byte more than allowed tells a datagram that is too long from one that just fits.
            let receiver = Receiver::new(RECEIVE_MAX, options.framing.log_msg_size.clamp(1, 65_536) + 1);
            let framer = Framer::new(options.framing);
            Ok(Box::new(DatagramPort { socket, receiver, framer, origin, feed, options, dropped: None, queued: false }))
        });
        Ok(())
    }

    /// Fills one batch. `false` when the socket was emptied.
    fn step(&mut self, cx: &mut PortContext) -> std::io::Result<bool> {
        let may_read = self.feed.may_read();
        // With flow-control the kernel's buffer holds what it can, and counts what it cannot.
        if !may_read && self.feed.source.settings().program.flow_control {
            return Ok(false);
        }
        let began = Instant::now();
        let mut batch = cx.batch();
        let mut more = true;
        let mut bytes = 0;
        let outcome = loop {
            match self.receiver.receive(self.socket.as_fd()) {
                Ok(count) => {
                    bytes += self.take(count, &mut batch);
                    if count < RECEIVE_MAX {
                        more = false;
                        break Ok(());
                    }
                    if batch.text.len() >= BATCH_BYTES {
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
        if may_read {
            self.feed.run(batch, bytes, more, began, cx);
        } else {
            let lost = batch.records.len();
            let counters = &self.feed.source.counters;
            counters.received.add(lost);
            counters.received_bytes.add(bytes);
            counters.dropped.add(Reason::NoCredit, lost);
            cx.recycle(batch);
            oplog::limited(
                "udp-no-credit",
                oplog::Level::Error,
                "Destinations do not keep up with a datagram source, dropping messages",
                &[("location", &self.feed.source.id), ("dropped", &lost)],
            );
        }
        outcome.map(|()| more)
    }

    fn take(&mut self, count: usize, batch: &mut Batch) -> usize {
        let mut bytes = 0;
        let mut last: Option<(SocketAddr, u16)> = None;
        if let Origin::Udp { senders, local } = &mut self.origin {
            senders.refresh(*local);
        }
        for datagram in (0..count).filter_map(|at| self.receiver.datagram(at)) {
            bytes += datagram.bytes.len();
            if let Some(total) = datagram.dropped {
                note_drops(&self.feed.source, &mut self.dropped, total);
            }
            let start = batch.text.len();
            match self.options.encoding {
                Some(encoding) => decode_datagram(encoding, datagram.bytes, &mut batch.text),
                None => batch.text.extend_from_slice(datagram.bytes),
            }
            let mut frame = None;
            // Framing of a datagram cannot fail.
            let _ = self.framer.scan(&batch.text, start, |span| frame = Some(span));
            let Some(frame) = frame else { continue };
            let mut record = Record::new(frame);
            record.context = match (&mut self.origin, datagram.sender) {
                (Origin::Udp { .. }, Some(sender)) if last.is_some_and(|(a, _)| a == sender) => last.map_or(0, |l| l.1),
                (Origin::Udp { senders, local }, Some(sender)) => {
                    let at = place(batch, senders.context(sender, *local));
                    last = Some((sender, at));
                    at
                }
                (origin, _) => place(batch, origin.unix_context(&datagram)),
            };
            batch.records.push(record);
        }
        bytes
    }
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

impl Origin {
    pub fn unix(group: Arc<str>, host: Arc<str>, path: String) -> Origin {
        let anonymous = unix_context(&group, &host, Vec::new());
        Origin::Unix { group, host, path, contexts: HashMap::new(), anonymous }
    }

    fn unix_context(&mut self, datagram: &Datagram<'_>) -> Arc<Context> {
        match self {
            Origin::Unix { group, host, contexts, anonymous, .. } => {
                let Some(who) = datagram.credentials else { return Arc::clone(anonymous) };
                if contexts.len() >= PROCESSES_MAX {
                    contexts.clear();
                }
                let make = || unix_context(group, host, super::process_values(who.pid, who.uid, who.gid));
                Arc::clone(contexts.entry(who).or_insert_with(make))
            }
            // A datagram without an address: does not happen on a bound UDP socket, and is not worth dropping if it does.
            Origin::Udp { senders, local } => senders.context(*local, *local),
        }
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

/// The kernel counts all drops of a socket; what is new since the last datagram was received and lost there.
fn note_drops(source: &Source, known: &mut Option<u32>, total: u32) {
    let new = total.wrapping_sub(known.unwrap_or(0));
    *known = Some(total);
    if new > 0 {
        source.counters.received.add(new as usize);
        source.counters.dropped.add(Reason::Kernel, new as usize);
        oplog::limited(
            "kernel-drops",
            oplog::Level::Warning,
            "The kernel dropped datagrams for want of receive buffer; raise so-rcvbuf() and sysctl net.core.rmem_max",
            &[("location", &source.id), ("dropped", &new)],
        );
    }
}

impl Port for DatagramPort {
    fn turn(&mut self, cx: &mut PortContext) -> After {
        for _ in 0..TURN_BATCHES {
            match self.step(cx) {
                Ok(true) => {}
                Ok(false) => return After::Idle,
                Err(error) => {
                    oplog::limited(
                        "datagram",
                        oplog::Level::Error,
                        "Error receiving datagrams",
                        &[("location", &self.feed.source.id), ("error", &error)],
                    );
                    return After::Idle;
                }
            }
        }
        After::Again
    }

    fn queued(&mut self) -> &mut bool {
        &mut self.queued
    }

    fn closed(&mut self, cx: &mut PortContext) {
        // What the kernel still holds was sent before we stopped.
        while self.step(cx).unwrap_or(false) {}
        let _ = cx.handle.registry().deregister(&mut SourceFd(&self.socket.as_raw_fd()));
        if let Origin::Unix { path, .. } = &self.origin {
            let _ = std::fs::remove_file(path);
        }
    }

    fn source(&self) -> Option<&Arc<Source>> {
        Some(&self.feed.source)
    }
}
