//! Connections to servers: names looked up, proxies asked, options of the kernel set, TLS begun.

use crate::proxies::{Proxies, Proxy};
use crate::url::Url;
use crate::version::{HTTP2, Version};
use crate::wire::{Passed, Stream, Wire};
use base64::Engine;
use diag::Fault;
use guest::net;
use rustls_pki_types::ServerName;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tls::Connector;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// A server that does not answer a request for a connection within this time is away, whatever timeout()
/// says.
const CONNECT_MAX: Duration = Duration::from_secs(20);
/// The most that a proxy may say before it lets bytes through.
const PROXY_BYTES_MAX: usize = 16 * 1024;

/// How connections are made.
pub struct Network {
    /// For `https`, or why there is none.
    tls: Option<Result<Arc<Connector>, Fault>>,
    proxies: Proxies,
    version: Version,
}

impl Network {
    pub fn new(tls: Option<Result<Arc<Connector>, Fault>>, proxy: Option<Url>) -> Network {
        Network { tls, proxies: proxy.map(Proxies::named).unwrap_or_default(), version: Version::Http1 }
    }

    /// With proxies that depend on the server.
    pub fn through(mut self, proxies: Proxies) -> Network {
        self.proxies = proxies;
        self
    }

    /// The proxy in front of a server.
    pub fn proxy(&self, url: &Url) -> Option<&Proxy> {
        self.proxies.of(url)
    }

    pub fn speaking(mut self, version: Version) -> Network {
        self.version = version;
        self
    }

    /// A connection to the server of an address, through the proxy where there is one.
    pub async fn connect(&self, url: &Url, passed: &Arc<Passed>) -> Result<Wire, Fault> {
        let first = self.proxy(url).map_or(url, |proxy| &proxy.url);
        let dialed = tokio::time::timeout(CONNECT_MAX, net::tcp(&first.host, first.port)).await;
        let stream = dialed.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).map_err(|error| {
            let place = format!("{}:{}", first.host, first.port);
            Fault::of_connection(&error, error.to_string()).at(&place)
        })?;
        if !url.is_secure {
            // What a proxy is asked for in the clear, it is asked over HTTP/1.1.
            let is_http2 = self.version == Version::Http2 && self.proxy(url).is_none();
            return Ok(Wire::new(Stream::Plain(stream), is_http2, passed));
        }
        let begun = tokio::time::timeout(CONNECT_MAX, self.begin_tls(stream, url)).await;
        let stream =
            begun.map_err(|_| Fault::unreachable("no answer to the TLS handshake").at(&url.authority))??;
        let is_http2 = match (&stream, self.version) {
            (Stream::Secure(session), Version::Either) => session.get_ref().1.alpn_protocol() == Some(HTTP2),
            (_, version) => version == Version::Http2,
        };
        Ok(Wire::new(stream, is_http2, passed))
    }

    async fn begin_tls(&self, mut stream: TcpStream, url: &Url) -> Result<Stream, Fault> {
        if let Some(proxy) = self.proxy(url) {
            tunnel(proxy, &mut stream, url).await?;
        }
        let connector = match &self.tls {
            Some(connector) => connector.as_ref().map_err(Fault::clone)?,
            None => {
                let why = "nothing is known of how to encrypt";
                return Err(Fault::misconfigured(why).at(&url.authority));
            }
        };
        let name = ServerName::try_from(url.host.clone())
            .map_err(|_| format!("`{}` is no host name a certificate could have", url.host))
            .map_err(Fault::misconfigured)?;
        let mut config = connector.client_config()?;
        if let Some(protocols) = self.version.protocols() {
            Arc::make_mut(&mut config).alpn_protocols = protocols;
        }
        let session = TlsConnector::from(config).connect(name, stream).await;
        let with = format!("TLS with {}", url.authority);
        let session = session.map_err(|error| tls::fault(&error).at(&with))?;
        Ok(Stream::Secure(Box::new(session)))
    }
}

/// Asks the proxy to let bytes through: RFC 9110 section 9.3.6.
async fn tunnel(proxy: &Proxy, stream: &mut TcpStream, url: &Url) -> Result<(), Fault> {
    let host = if url.host.contains(':') { format!("[{}]", url.host) } else { url.host.clone() };
    let authority = format!("{host}:{}", url.port);
    let mut ask = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n");
    if let Some(words) = &proxy.authorization {
        ask.push_str(&format!("Proxy-Authorization: {words}\r\n"));
    }
    ask.push_str("\r\n");
    let failed = |error: io::Error| Fault::peer(format!("the proxy hung up: {error}"));
    stream.write_all(ask.as_bytes()).await.map_err(failed)?;
    let mut said = Vec::new();
    while memchr::memmem::find(&said, b"\r\n\r\n").is_none() {
        if said.len() > PROXY_BYTES_MAX {
            return Err(Fault::peer("the proxy says too much"));
        }
        if stream.read_buf(&mut said).await.map_err(failed)? == 0 {
            return Err(Fault::peer("the proxy hung up"));
        }
    }
    let line = String::from_utf8_lossy(said.split(|b| *b == b'\r').next().unwrap_or_default()).into_owned();
    match line.split(' ').nth(1) {
        Some(status) if status.starts_with('2') => Ok(()),
        _ => Err(Fault::peer(format!("the proxy does not connect to {authority}: {line}"))),
    }
}

/// Basic authentication, RFC 7617.
pub fn basic(user: &str, password: &str) -> String {
    let pair = format!("{user}:{password}");
    format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair))
}
