//! How an encrypted session with a client begins.

use diag::Fault;
use http_server::Stream;
use std::sync::Arc;
use tls::Acceptor;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

/// Clients of gRPC want to be told that HTTP/2 is spoken in the session.
pub async fn accept(stream: TcpStream, acceptor: &Acceptor) -> Result<Stream, Fault> {
    let mut config = acceptor.server_config()?;
    Arc::make_mut(&mut config).alpn_protocols = vec![b"h2".to_vec()];
    let session = TlsAcceptor::from(config).accept(stream).await;
    let session = session.map_err(|error| tls::fault(&error).at("TLS"))?;
    Ok(Stream::Secure(Box::new(session)))
}
