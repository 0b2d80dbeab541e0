//! Ports nobody else uses: below the range the system takes for outgoing connections, reserved across test
//! programs by file locks.

use std::fs::File;
use std::net::{TcpListener, UdpSocket};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU16, Ordering};

const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

static NEXT: AtomicU16 = AtomicU16::new(0);
static RESERVED: Mutex<Vec<File>> = Mutex::new(Vec::new());

/// A port that is free for TCP and UDP, reserved until this test program ends.
pub fn free_port() -> u16 {
    let folder = std::env::temp_dir().join("penstock-test-ports");
    std::fs::create_dir_all(&folder).expect("a folder for port reservations");
    // Programs that run at the same time start at different places, so they seldom meet.
    let start = (std::process::id() % u32::from(COUNT)) as u16;
    for _ in 0..COUNT {
        let offset = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = FIRST + (start.wrapping_mul(97) % COUNT + offset % COUNT) % COUNT;
        let Ok(file) = File::create(folder.join(port.to_string())) else { continue };
        if file.try_lock().is_ok() && unused(port) {
            RESERVED.lock().expect("not poisoned").push(file);
            return port;
        }
    }
    panic!("no free port between {FIRST} and {}", FIRST + COUNT);
}

fn unused(port: u16) -> bool {
    TcpListener::bind(("0.0.0.0", port)).is_ok() && UdpSocket::bind(("0.0.0.0", port)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::free_port;
    use std::collections::HashSet;

    #[test]
    fn ports_differ() {
        let ports: HashSet<u16> = (0..50).map(|_| free_port()).collect();
        assert_eq!(ports.len(), 50);
    }
}
