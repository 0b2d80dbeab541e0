//! A stream goes to another process: its descriptor and the beginning of the next message, or the far end of
//! a pump.

use super::{Input, Peeled, StreamPort};
use crate::hand_over::{Connection, Handed, Part};
use crate::pump::PumpPort;
use crate::worker::PortContext;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// In the place of an input that was taken out of its port.
struct Taken;

impl Input for Taken {
    fn read(&mut self, _: &mut Vec<u8>, _: usize) -> std::io::Result<usize> {
        Ok(0)
    }

    fn deregister(&mut self, _: &mio::Registry) {}
}

pub(super) fn part(port: &mut StreamPort, cx: &mut PortContext) -> Part {
    if port.options.passes_as.is_some() && port.options.described.is_some() {
        port.release(cx);
    }
    let (Some(reading), Some(described)) = (&port.options.passes_as, &port.options.described) else {
        return Part::Closes;
    };
    // The rest of a message that is too long has to go first.
    if port.framer.is_skipping() {
        return Part::Stays;
    }
    let mut reading = reading.to_string();
    match port.input.peel() {
        Peeled::Bare => {}
        Peeled::Busy => return Part::Stays,
        Peeled::Of(input, received, state) => {
            reading.push_str(state);
            port.input = input;
            // Nothing else is left of what was read: whole messages came out of it.
            port.tail = received;
        }
    }
    let connection = |fd: OwnedFd, received: Vec<u8>| Connection {
        fd,
        instance: port.feed.source.instance.clone(),
        reading: reading.clone(),
        context: Arc::clone(&port.context),
        client: described.client.clone(),
        local: described.local.clone(),
        received,
    };
    let registry = cx.handle.registry();
    if let Some(fd) = port.input.give(registry) {
        let handed = Handed::Connection(connection(fd, std::mem::take(&mut port.tail)));
        port.feed.source.counters.connections.sub(1);
        if let Some(on_close) = port.options.on_close.take() {
            on_close();
        }
        return Part::Gone(vec![handed]);
    }
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let Ok((near, far)) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None) else {
        // Out of descriptors: it is tried again.
        return Part::Stays;
    };
    let connection = connection(far, std::mem::take(&mut port.tail));
    let input = std::mem::replace(&mut port.input, Box::new(Taken));
    let (source, on_close) = (Arc::clone(&port.feed.source), port.options.on_close.take());
    source.counters.connections.sub(1);
    match PumpPort::new(input, near, source, on_close, registry, cx.token) {
        Ok(pump) => Part::Becomes(Box::new(connection), Box::new(pump)),
        Err(error) => {
            oplog::error("Cannot hand a connection over, closing it", &[("error", &error)]);
            port.feed.source.counters.connections.add(1);
            Part::Closes
        }
    }
}
