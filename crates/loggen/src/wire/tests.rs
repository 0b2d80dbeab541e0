use super::*;
use crate::message::{Body, Style, Syntax};
use crate::send::Load;
use crate::target::Target;
use rustls::ServerConfig;
use std::net::TcpListener;

/// A server that decrypts one connection to its end.
fn receive(listener: TcpListener) -> std::thread::JoinHandle<Vec<u8>> {
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    std::thread::spawn(move || {
        let session = rustls::ServerConnection::new(Arc::new(config)).unwrap();
        let mut stream = rustls::StreamOwned::new(session, listener.accept().unwrap().0);
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

fn load(listener: &TcpListener) -> Load {
    let mut load = Load::new(Target::Tcp(listener.local_addr().unwrap()));
    load.style = Style::new(Syntax::Rfc3164, Body::Text, 300);
    load.tls = Some(Tls::new(None).unwrap());
    load
}

#[test]
fn all_arrives_decrypted_and_whole() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let load = load(&listener).total(20_000);
    let sink = receive(listener);
    let outcome = load.run().unwrap();
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    assert_eq!(outcome.messages, 20_000);
    let bytes = sink.join().unwrap();
    assert_eq!(bytes.iter().filter(|&&b| b == b'\n').count(), 20_000);
    assert_eq!(bytes.len() as u64, outcome.bytes);
}

#[test]
fn the_header_of_a_proxy_goes_into_the_session() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut load = load(&listener).total(1);
    load.proxy = Some(crate::proxy::Proxy::new(crate::proxy::Version::V1));
    let sink = receive(listener);
    assert!(load.run().unwrap().errors.is_empty());
    let bytes = sink.join().unwrap();
    assert!(bytes.starts_with(b"PROXY TCP4 192.168."), "{}", bytes.escape_ascii());
}

#[test]
fn a_server_without_tls_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let load = load(&listener).total(1);
    let other = std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        let _ = stream.write_all(b"220 hello, this is no TLS\r\n");
    });
    let error = load.run().unwrap_err();
    assert!(error.said().starts_with("TLS handshake failed: "), "{error}");
    other.join().unwrap();
}
