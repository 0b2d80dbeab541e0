//! Connections that another process has accepted and served, until this one took its place.

use super::hand_off::Joined;
use super::{Accepted, register};
use crate::input::FdInput;
use crate::joined::BETWEEN;
use crate::proxied::Begun;
use diag::Fault;
use engine::Shared;
use engine::hand_over::{Adopt, Connection};
use engine::reader::{Described, Input};
use engine::source::Source;
use engine::worker::{Port, PortContext};
use mio::Token;
use record::Context;
use std::os::fd::AsRawFd;
use std::sync::{Arc, Weak};

/// A listener as the connections see it that come from another process. Lives as long as the listener.
pub struct Adopter {
    source: Arc<Source>,
    accepted: Arc<Accepted>,
    shared: Weak<Shared>,
}

impl Adopter {
    /// Makes it known.
    pub fn start(source: &Arc<Source>, accepted: &Arc<Accepted>, shared: &Arc<Shared>) -> Arc<dyn Adopt> {
        let (source, accepted) = (Arc::clone(source), Arc::clone(accepted));
        let adopter: Arc<dyn Adopt> =
            Arc::new(Adopter { source: Arc::clone(&source), accepted, shared: Arc::downgrade(shared) });
        shared.adopt_at(&source.instance, &adopter);
        adopter
    }
}

impl Adopt for Adopter {
    fn adopt(&self, connection: Connection) -> Result<(), Fault> {
        let accepted = &self.accepted;
        let reading = connection.reading.as_str();
        let (reading, between) = match reading.strip_suffix(BETWEEN) {
            Some(reading) => (reading, true),
            None => (reading, false),
        };
        if accepted.passes_as().as_deref() != Some(reading) {
            return Err(Fault::misconfigured("it is read in another way now"));
        }
        let permit = accepted.permits.take().ok_or_else(|| Fault::local("max-connections() are open"))?;
        permit.speaks();
        let shared = self.shared.upgrade().ok_or_else(|| Fault::local("the program ends"))?;
        let worker = shared.any_worker()?;
        let Connection { fd, context, client, local, received, .. } = connection;
        let context = Arc::new(Context {
            source: Arc::clone(&accepted.facts.group),
            transport: accepted.facts.transport,
            ip_protocol: accepted.facts.ip_protocol,
            ..Context::clone(&context)
        });
        let described = Described { fd: fd.as_raw_fd(), client, local };
        oplog::notice(
            "Syslog connection taken over",
            &[("fd", &described.fd), ("client", &described.client), ("local", &described.local)],
        );
        let (source, accepted) = (Arc::clone(&self.source), Arc::clone(accepted));
        worker.add(move |token: Token, cx: &PortContext| -> std::io::Result<Box<dyn Port>> {
            register(&fd.as_raw_fd(), cx.handle.registry(), token)?;
            let input: Box<dyn Input> = match received.is_empty() {
                true => Box::new(FdInput(fd)),
                false => Box::new(Begun { received, input: Box::new(FdInput(fd)), unasked: true }),
            };
            Ok(Joined { input, source, accepted, context, described, permit }.decoded(cx, token, between))
        });
        Ok(())
    }
}
