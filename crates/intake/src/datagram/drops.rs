//! What the kernel dropped on a datagram socket: into the ledger, and into one warning that says what to
//! raise.

use engine::ledger::Reason;
use engine::source::Source;
use std::os::fd::OwnedFd;
use transport::receive;

/// The kernel counts all drops of a socket since it was made; this is what of them is in the ledger.
#[derive(Default)]
pub struct Drops {
    known: u32,
    /// Destinations hold all credit, or have held it and the socket was not emptied since: the kernel's
    /// buffer filled up for them.
    pub starved: bool,
}

impl Drops {
    /// What is new was received and lost in the kernel. Called once a batch.
    pub fn note(&mut self, source: &Source, socket: &OwnedFd, total: u32) {
        let new = total.wrapping_sub(self.known);
        // Datagrams carry the count of the moment they were queued: an older one than is known already is no
        // news.
        if new == 0 || new > u32::MAX / 2 {
            return;
        }
        self.known = total;
        source.counters.received.add(new as usize);
        let reason = if self.starved { Reason::NoCredit } else { Reason::Kernel };
        source.counters.dropped.add(reason, new as usize);
        let buffer = receive::granted(socket);
        if self.starved {
            return oplog::limited(
                "udp-no-credit",
                oplog::Level::Warning,
                "Destinations do not keep up with a datagram source; the kernel drops what does not fit into the receive buffer",
                &[("location", &source.id), ("dropped", &new), ("receive_buffer", &buffer)],
            );
        }
        let wanted = wanted(buffer);
        oplog::limited(
            "kernel-drops",
            oplog::Level::Warning,
            "The kernel dropped datagrams because the receive buffer was full; make it larger",
            &[
                ("location", &source.id),
                ("dropped", &new),
                ("receive_buffer", &buffer),
                ("so_rcvbuf", &wanted),
                ("system_limit", &receive::limit(wanted)),
            ],
        );
    }
}

/// What to ask for instead of a buffer that was too small: what is asked for anyhow, or twice as much.
fn wanted(buffer: usize) -> usize {
    if buffer < receive::UDP_RECEIVE_BYTES { receive::UDP_RECEIVE_BYTES } else { buffer.saturating_mul(2) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivers::testing::{HEAD, Running, free_port};
    use std::net::UdpSocket;

    #[test]
    fn the_next_size_is_larger() {
        assert_eq!(wanted(212_992), receive::UDP_RECEIVE_BYTES);
        assert_eq!(wanted(receive::UDP_RECEIVE_BYTES), 2 * receive::UDP_RECEIVE_BYTES);
    }

    #[test]
    fn each_drop_is_counted_once_and_with_its_reason() {
        let port = free_port();
        let running = Running::start(&format!(
            "{HEAD}source s {{ udp(ip(127.0.0.1) port({port})); }};\ndestination d {{ file(\"%dir%/out\"); }};\n\
             log {{ source(s); destination(d); }};\n"
        ));
        let source = running.source("s#0");
        let socket = OwnedFd::from(UdpSocket::bind("127.0.0.1:0").expect("bind"));
        let mut drops = Drops { known: u32::MAX - 1, starved: false };
        drops.note(&source, &socket, u32::MAX);
        drops.note(&source, &socket, 2);
        drops.note(&source, &socket, 1);
        drops.starved = true;
        drops.note(&source, &socket, 12);
        let dropped = &source.counters.dropped;
        assert_eq!((dropped.value(Reason::Kernel), dropped.value(Reason::NoCredit)), (4, 10));
        assert_eq!(source.counters.received.value(), 14);
    }
}
