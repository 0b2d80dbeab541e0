//! Tells systemd how far the program is (`Type=notify`): one datagram to the socket named in `NOTIFY_SOCKET`.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Everything is open.
pub fn ready() {
    tell(&format!("READY=1\nMAINPID={}\n", std::process::id()));
}

/// A reload has begun; [`ready`] ends it.
pub fn reloading() {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let micros = i128::from(now.tv_sec) * 1_000_000 + i128::from(now.tv_nsec) / 1000;
    tell(&format!("RELOADING=1\nMONOTONIC_USEC={micros}\n"));
}

/// The end has begun.
pub fn stopping() {
    tell("STOPPING=1\n");
}

fn tell(text: &str) {
    let Some(name) = std::env::var_os("NOTIFY_SOCKET") else { return };
    let name = name.as_encoded_bytes();
    let address = match name.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(std::ffi::OsStr::new(&*String::from_utf8_lossy(name))),
    };
    let sent = address.and_then(|address| {
        let socket = UnixDatagram::unbound()?;
        socket.send_to_addr(text.as_bytes(), &address)
    });
    if let Err(error) = sent {
        oplog::warning("Cannot notify the service manager", &[("error", &error)]);
    }
}
