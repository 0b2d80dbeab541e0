//! What stands in for servers: takes all that comes to a port of this machine, and throws it away.

use std::io::Read;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use stdio::CommandError;

const BLOCK_BYTES: usize = 256 << 10;

pub struct Sink {
    address: SocketAddr,
    is_done: Arc<AtomicBool>,
}

impl Sink {
    pub fn begin() -> Result<Sink, CommandError> {
        let cannot = |error: std::io::Error| format!("no port is free: {error}");
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let is_done = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_done);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if ends.load(Ordering::Relaxed) {
                    break;
                }
                std::thread::spawn(move || swallow(stream));
            }
        });
        Ok(Sink { address, is_done })
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::Relaxed);
        // So that it looks up.
        let _ = TcpStream::connect(self.address);
    }
}

fn swallow(mut stream: TcpStream) {
    let mut block = vec![0; BLOCK_BYTES];
    while stream.read(&mut block).is_ok_and(|count| count > 0) {}
}
