//! Encrypted peers of the program, and the certificates of one generation, of which nobody knows anything of
//! another.

use crate::source::{PADDING, message};
use crate::tally::LANE;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A handshake that takes longer fails.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
/// What a sender sends at once, and how long it waits then.
const LINES: u64 = 5;
const PAUSE: Duration = Duration::from_millis(2);

/// An authority, a server for 127.0.0.1 and a client.
pub struct Generation {
    folder: PathBuf,
}

impl Generation {
    pub fn make(folder: PathBuf) -> Result<Generation, String> {
        let name = folder.display().to_string();
        let made = testkit::run_command(&["test-ca", &name, "--server", "127.0.0.1", "--client", "client"]);
        match made.code {
            Some(0) => Ok(Generation { folder }),
            _ => Err(made.stderr),
        }
    }

    /// Of `ca`, `127.0.0.1` or `client`, with the ending.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn chain(&self, name: &str) -> Vec<CertificateDer<'static>> {
        let path = self.file(&format!("{name}.pem"));
        CertificateDer::pem_file_iter(path)
            .expect("certificates")
            .map(|c| c.expect("a certificate"))
            .collect()
    }

    fn key(&self, name: &str) -> PrivateKeyDer<'static> {
        PrivateKeyDer::from_pem_file(self.file(&format!("{name}.key"))).expect("a key")
    }

    fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(self.chain("ca"));
        roots
    }

    /// A client that trusts this generation and shows the certificate of that one.
    pub fn client(&self, shown: &Generation) -> Arc<ClientConfig> {
        let builder = ClientConfig::builder().with_root_certificates(self.roots());
        let config = builder.with_client_auth_cert(shown.chain("client"), shown.key("client"));
        let mut config = config.expect("a key and its certificate");
        config.resumption = rustls::client::Resumption::disabled();
        Arc::new(config)
    }

    /// A server of this generation, for clients of this generation.
    pub fn server(&self) -> Arc<ServerConfig> {
        let verifier = WebPkiClientVerifier::builder(Arc::new(self.roots())).build().expect("an authority");
        let builder = ServerConfig::builder().with_client_cert_verifier(verifier);
        let config = builder.with_single_cert(self.chain("127.0.0.1"), self.key("127.0.0.1"));
        let mut config = config.expect("a key and its certificate");
        config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
        // A target that goes away says nothing more, and must have nothing left to say.
        config.send_tls13_tickets = 0;
        Arc::new(config)
    }
}

/// What stands in for one file is either the old or the new one, whenever it is read.
pub fn put(from: &Path, to: &Path) {
    let aside = to.with_extension("new");
    std::fs::copy(from, &aside).expect("a copy");
    std::fs::rename(aside, to).expect("in its place");
}

/// The server's part of a handshake.
pub fn accepted(
    mut stream: TcpStream,
    config: Arc<ServerConfig>,
) -> std::io::Result<StreamOwned<ServerConnection, TcpStream>> {
    let mut session = ServerConnection::new(config).map_err(std::io::Error::other)?;
    stream.set_read_timeout(Some(HANDSHAKE_MAX))?;
    while session.is_handshaking() || session.wants_write() {
        session.complete_io(&mut stream)?;
    }
    stream.set_read_timeout(None)?;
    Ok(StreamOwned::new(session, stream))
}

pub fn connected(
    port: u16,
    config: Arc<ClientConfig>,
) -> std::io::Result<StreamOwned<ClientConnection, TcpStream>> {
    let name = ServerName::try_from("127.0.0.1").expect("an address");
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(HANDSHAKE_MAX))?;
    let mut session = ClientConnection::new(config, name).map_err(std::io::Error::other)?;
    while session.is_handshaking() {
        session.complete_io(&mut stream)?;
    }
    Ok(StreamOwned::new(session, stream))
}

/// Whether the server wants nothing of such a client. With TLS 1.3 it says so after the client's part of the
/// handshake.
pub fn is_refused(port: u16, config: Arc<ClientConfig>) -> bool {
    let Ok(mut stream) = connected(port, config) else { return true };
    match stream.read_exact(&mut [0; 1]) {
        Ok(()) => false,
        Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
    }
}

/// Sends numbered lines over one encrypted connection, some thousand a second, until it is told to end.
pub struct Sender {
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    sent: AtomicU64,
    is_over: AtomicBool,
    is_broken: AtomicBool,
}

impl Sender {
    /// Its numbers begin with `lane`.
    pub fn start(port: u16, config: Arc<ClientConfig>, lane: usize) -> Result<Sender, String> {
        let stream = connected(port, config).map_err(|e| e.to_string())?;
        let shared = Arc::new(Shared::default());
        let sending = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            if sending.run(stream, lane as u64 * LANE).is_err() {
                sending.is_broken.store(true, Ordering::SeqCst);
            }
        });
        Ok(Sender { shared, thread })
    }

    pub fn sent(&self) -> u64 {
        self.shared.sent.load(Ordering::SeqCst)
    }

    /// Ends in order. How many were sent, and whether the connection lasted to the end.
    pub fn finish(self) -> (u64, bool) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        let ended = self.thread.join().is_ok();
        let sent = self.shared.sent.load(Ordering::SeqCst);
        (sent, ended && !self.shared.is_broken.load(Ordering::SeqCst))
    }
}

impl Shared {
    fn run(&self, mut stream: StreamOwned<ClientConnection, TcpStream>, first: u64) -> std::io::Result<()> {
        let mut next = 0;
        while !self.is_over.load(Ordering::SeqCst) {
            let lines: String = (next..next + LINES).map(|n| message(first + n, PADDING) + "\n").collect();
            stream.write_all(lines.as_bytes())?;
            stream.flush()?;
            next += LINES;
            self.sent.store(next, Ordering::SeqCst);
            thread::sleep(PAUSE);
        }
        end(stream)
    }
}

/// Ends a session in order: the server has read everything when it closes.
pub fn end(mut stream: StreamOwned<ClientConnection, TcpStream>) -> std::io::Result<()> {
    stream.conn.send_close_notify();
    stream.flush()?;
    stream.sock.shutdown(Shutdown::Write)?;
    loop {
        match stream.read(&mut [0; 64]) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}
