//! `keylog-file()`: secrets of sessions in the format Wireshark reads.

use diag::Fault;
use parking_lot::Mutex;
use rustls::KeyLog;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

#[derive(Debug)]
struct KeyFile(Mutex<std::fs::File>);

pub fn open(path: &Path) -> Result<Arc<dyn KeyLog>, Fault> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = std::fs::OpenOptions::new();
    // A FIFO that nobody reads is an error at once.
    let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let opened = options.append(true).create(true).mode(0o600).custom_flags(flags).open(path);
    let file = opened.map_err(|error| {
        Fault::of_file(&error, format!("cannot write keylog-file({}): {error}", path.display()))
    })?;
    oplog::warning("The secrets of TLS sessions are written to a file", &[("file", &path.display())]);
    Ok(Arc::new(KeyFile(Mutex::new(file))))
}

impl KeyLog for KeyFile {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        let line = format!("{label} {} {}\n", hex(client_random), hex(secret));
        if let Err(error) = self.0.lock().write_all(line.as_bytes()) {
            oplog::limited(
                "keylog",
                oplog::Level::Error,
                "Cannot write the secrets of a TLS session",
                &[("error", &error)],
            );
        }
    }
}
