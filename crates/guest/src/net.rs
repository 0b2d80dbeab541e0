//! Connections for guests that speak protocols of our own: names looked up, options of the kernel set, TLS
//! begun.

use diag::Fault;
use rustls_pki_types::ServerName;
use socket2::{SockRef, TcpKeepalive};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tls::Connector;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Bytes that are sent and not acknowledged by the other kernel end the connection after this time.
const USER_TIMEOUT: Duration = Duration::from_secs(60);
/// A connection on which nothing comes is asked for a sign of life after this time, and so often.
const KEEPALIVE: Duration = Duration::from_secs(60);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_PROBES: u32 = 3;

/// The addresses of a name, or the one that it is.
pub async fn addresses(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    match host.parse::<IpAddr>() {
        Ok(address) => Ok(vec![SocketAddr::new(address, port)]),
        Err(_) => Ok(tokio::net::lookup_host((host, port)).await?.collect()),
    }
}

/// A connection to one of the addresses of a name, in their order.
pub async fn tcp(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in addresses(host, port).await? {
        match open(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

async fn open(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = if address.is_ipv6() { TcpSocket::new_v6()? } else { TcpSocket::new_v4()? };
    let keepalive = TcpKeepalive::new()
        .with_time(KEEPALIVE)
        .with_interval(KEEPALIVE_INTERVAL)
        .with_retries(KEEPALIVE_PROBES);
    let options = SockRef::from(&socket);
    options.set_tcp_keepalive(&keepalive)?;
    options.set_tcp_user_timeout(Some(USER_TIMEOUT))?;
    socket.set_nodelay(true)?;
    let connected = socket.connect(address).await;
    connected.map_err(|error| sandbox::connection_explained(error, address.port()))
}

/// A connection as it is, or encrypted.
pub enum Stream {
    Plain(TcpStream),
    Secure(Box<TlsStream<TcpStream>>),
}

/// Begins TLS. The error says what is wrong with the certificate, say.
pub async fn secure(stream: TcpStream, host: &str, connector: &Connector) -> Result<Stream, Fault> {
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| Fault::misconfigured(format!("`{host}` is no host name a certificate could have")))?;
    let session = TlsConnector::from(connector.client_config()?).connect(name, stream).await;
    let session = session.map_err(|error| tls::fault(&error).at(&format!("TLS with {host}")))?;
    Ok(Stream::Secure(Box::new(session)))
}

macro_rules! with {
    ($stream:expr, $name:ident => $act:expr) => {
        match $stream.get_mut() {
            Stream::Plain($name) => $act,
            Stream::Secure($name) => $act,
        }
    };
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        with!(self, s => Pin::new(s).poll_read(cx, out))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        with!(self, s => Pin::new(s).poll_write(cx, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        with!(self, s => Pin::new(s).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        with!(self, s => Pin::new(s).poll_shutdown(cx))
    }
}
