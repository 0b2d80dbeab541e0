//! An HTTP proxy that makes tunnels (CONNECT) for those who show its password, and writes down which.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Ends with the test program.
pub struct Tunnels {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

fn lock(asked: &Mutex<Vec<String>>) -> MutexGuard<'_, Vec<String>> {
    asked.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tunnels {
    /// `authorization`: what has to be shown, as `Basic ...`.
    pub fn start(authorization: &str) -> Tunnels {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let (there, expected) = (Arc::clone(&asked), format!("Proxy-Authorization: {authorization}"));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (there, expected) = (Arc::clone(&there), expected.clone());
                thread::spawn(move || serve(stream, &there, &expected));
            }
        });
        Tunnels { port, asked }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The first lines of requests that were granted.
    pub fn granted(&self) -> Vec<String> {
        lock(&self.asked).clone()
    }
}

fn serve(stream: TcpStream, asked: &Mutex<Vec<String>>, expected: &str) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut writer = stream;
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|n| *n > 0)?;
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    if !lines.iter().any(|line| line == expected) {
        writer.write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n").ok()?;
        return writer.shutdown(Shutdown::Both).ok();
    }
    let first = lines.first()?;
    let server = TcpStream::connect(first.split(' ').nth(1)?).ok()?;
    lock(asked).push(first.clone());
    writer.write_all(b"HTTP/1.1 200 Connection established\r\nVia: 1.1 test\r\n\r\n").ok()?;
    let (from_server, to_client) = (server.try_clone().ok()?, writer);
    thread::spawn(move || carry(from_server, to_client));
    carry(reader, server);
    Some(())
}

fn carry(mut from: impl Read, mut to: TcpStream) {
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Both);
}
