//! Tells systemd how far the program is (`Type=notify`): one datagram to the socket named in `NOTIFY_SOCKET`.

use std::ffi::{OsStr, OsString};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::OnceLock;

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

/// A sign of life, for the watchdog.
pub fn alive() {
    tell("WATCHDOG=1\n");
}

/// Where the program has told it whose place this one takes; what the environment says comes first.
static INHERITED: OnceLock<OsString> = OnceLock::new();

/// The socket of the service manager. Empty: there is none.
pub fn socket() -> OsString {
    let own = std::env::var_os("NOTIFY_SOCKET").filter(|name| !name.is_empty());
    own.or_else(|| INHERITED.get().cloned()).unwrap_or_default()
}

/// Goes on where another process has told.
pub fn inherit(socket: OsString) {
    let _ = INHERITED.set(socket);
}

fn tell(text: &str) {
    let name = socket();
    if name.is_empty() {
        return;
    }
    if let Err(error) = tell_at(name.as_bytes(), text) {
        oplog::warning("Cannot notify the service manager", &[("error", &error)]);
    }
}

/// `@name` is a name without a file.
fn tell_at(name: &[u8], text: &str) -> std::io::Result<()> {
    let address = match name.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(OsStr::from_bytes(name))?,
    };
    UnixDatagram::unbound()?.send_to_addr(text.as_bytes(), &address).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(socket: UnixDatagram, name: &[u8]) {
        tell_at(name, "READY=1\n").unwrap();
        let mut buffer = [0; 64];
        let length = socket.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"READY=1\n");
    }

    #[test]
    fn both_kinds_of_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        check(UnixDatagram::bind(&path).unwrap(), path.as_os_str().as_bytes());
        let name = format!("penstock-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        check(UnixDatagram::bind_addr(&address).unwrap(), format!("@{name}").as_bytes());
        assert!(tell_at(b"/nowhere/notify", "x").is_err());
    }
}
