//! A connection's bytes on their way out: as they are, or through TLS (`--use-ssl`).

use std::io::{ErrorKind, IoSlice, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{SendFlags, sockopt};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme};
use stdio::CommandError;

/// How long a server may take for its part of the handshake.
const HANDSHAKE_MAX: Duration = Duration::from_secs(60);

/// How connections are encrypted. Like the original, the server's certificate is taken whatever it says: what
/// is measured is the server.
#[derive(Clone, Debug)]
pub struct Tls {
    config: Arc<ClientConfig>,
}

impl Tls {
    /// With a certificate to show when the server asks for one.
    pub fn new(identity: Option<(&Path, &Path)>) -> Result<Tls, CommandError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let anything = Arc::new(Anything(provider.signature_verification_algorithms.supported_schemes()));
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|e| e.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(anything);
        let mut config = match identity {
            None => builder.with_no_client_auth(),
            Some((cert, key)) => {
                let wrong = |path: &Path, e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
                let chain: Result<Vec<_>, _> =
                    CertificateDer::pem_file_iter(cert).map_err(|e| wrong(cert, &e))?.collect();
                let chain = chain.map_err(|e| wrong(cert, &e))?;
                let private = PrivateKeyDer::from_pem_file(key).map_err(|e| wrong(key, &e))?;
                builder.with_client_auth_cert(chain, private).map_err(|e| wrong(cert, &e))?
            }
        };
        config.resumption = rustls::client::Resumption::disabled();
        Ok(Tls { config: Arc::new(config) })
    }
}

pub struct Wire {
    socket: OwnedFd,
    tls: Option<Box<ClientConnection>>,
    /// Bytes of messages that stand encrypted and are not all with the kernel.
    claimed: usize,
}

impl Wire {
    pub fn new(socket: OwnedFd) -> Wire {
        Wire { socket, tls: None, claimed: 0 }
    }

    /// Goes through the handshake; the socket blocks.
    pub fn encrypt(&mut self, tls: &Tls, host: &str) -> Result<(), CommandError> {
        let name = ServerName::try_from(host.to_owned()).map_err(|e| e.to_string())?;
        let mut session = ClientConnection::new(Arc::clone(&tls.config), name).map_err(|e| e.to_string())?;
        session.set_buffer_limit(None);
        let limit = sockopt::Timeout::Recv;
        sockopt::set_socket_timeout(&self.socket, limit, Some(HANDSHAKE_MAX)).map_err(|e| e.to_string())?;
        while session.is_handshaking() || session.wants_write() {
            session.complete_io(&mut Pipe(&self.socket)).map_err(|e| e.to_string())?;
        }
        sockopt::set_socket_timeout(&self.socket, limit, None).map_err(|e| e.to_string())?;
        self.tls = Some(Box::new(session));
        Ok(())
    }

    pub fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    pub fn nonblocking(&self) -> Result<(), Errno> {
        rustix::io::ioctl_fionbio(&self.socket, true)
    }

    /// Offers two pieces to the kernel. How much of them it has: through TLS all of it, or nothing yet, and
    /// then the same bytes, with more behind them or not, have to be offered again.
    pub fn offer(&mut self, first: &[u8], second: &[u8]) -> Result<usize, Errno> {
        let Some(session) = &mut self.tls else {
            return rustix::io::writev(&self.socket, &[IoSlice::new(first), IoSlice::new(second)]);
        };
        if self.claimed == 0 {
            for piece in [first, second] {
                session.writer().write_all(piece).map_err(|_| Errno::IO)?;
            }
            self.claimed = first.len() + second.len();
        }
        flush(session, &self.socket)?;
        Ok(std::mem::take(&mut self.claimed))
    }

    /// Bytes that were taken from the caller and are not with the kernel.
    pub fn holds(&self) -> bool {
        self.claimed > 0
    }

    /// Writes everything to a blocking socket.
    pub fn write_all(&mut self, mut bytes: &[u8]) -> Result<(), Errno> {
        while !bytes.is_empty() {
            match self.offer(bytes, &[]) {
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Says that nothing more comes; the peer sees it at once.
    pub fn finish(&mut self) {
        if let Some(session) = &mut self.tls {
            session.send_close_notify();
            // A peer that takes nothing any more does not get a goodbye.
            let _ = flush(session, &self.socket);
        }
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Write);
    }

    /// Takes what the peer has said. Whether it has gone: closing before that would throw away what is still
    /// on its way to a peer whose session tickets were never read.
    pub fn drained(&mut self) -> bool {
        let mut buffer = [0; 4096];
        loop {
            match rustix::net::recv(&self.socket, &mut buffer[..], rustix::net::RecvFlags::DONTWAIT) {
                Ok((0, _)) => return true,
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return false,
                Err(_) => return true,
            }
        }
    }

    /// Why the peer ended the session, when it has said so.
    pub fn complaint(&mut self) -> Option<String> {
        let session = self.tls.as_mut()?;
        // Nothing, and an error of the socket, both mean that it has said nothing.
        let _ = session.read_tls(&mut Pipe(&self.socket));
        session.process_new_packets().err().map(|error| error.to_string())
    }
}

impl AsFd for Wire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn flush(session: &mut ClientConnection, socket: &OwnedFd) -> Result<(), Errno> {
    while session.wants_write() {
        if let Err(error) = session.write_tls(&mut Pipe(socket)) {
            return Err(match error.kind() {
                ErrorKind::WouldBlock => Errno::AGAIN,
                ErrorKind::Interrupted => Errno::INTR,
                _ => error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error),
            });
        }
    }
    Ok(())
}

/// The socket as rustls wants it.
struct Pipe<'a>(&'a OwnedFd);

impl Read for Pipe<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        Ok(rustix::io::read(self.0, buffer)?)
    }
}

impl Write for Pipe<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Ok(rustix::net::send(self.0, bytes, SendFlags::NOSIGNAL)?)
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> std::io::Result<usize> {
        Ok(rustix::io::writev(self.0, pieces)?)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Takes every certificate.
#[derive(Debug)]
struct Anything(Vec<SignatureScheme>);

impl ServerCertVerifier for Anything {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.clone()
    }
}

#[cfg(test)]
mod tests;
