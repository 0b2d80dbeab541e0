//! Peers that do not behave: certificates they have no key for, records that no TLS library would write.

use crate::verifier::ServerVerifier;
use crate::{Acceptor, Options, PeerVerify};
use rustls::client::{ClientConnection, ResolvesClientCert};
use rustls::crypto::cipher::{MessageEncrypter, OutboundChunks, OutboundPlainMessage};
use rustls::sign::{CertifiedKey, Signer, SigningKey};
use rustls::{
    ClientConfig, ConnectionTrafficSecrets, ContentType, ProtocolVersion, SignatureAlgorithm,
    SignatureScheme, SupportedCipherSuite, SupportedProtocolVersion,
};
use rustls_pki_types::{CertificateDer, ServerName};
use std::io::Read;
use std::sync::Arc;

/// A client that shows this chain, whoever it belongs to, and speaks this version.
pub fn client(
    chain: Vec<CertificateDer<'static>>,
    version: &'static SupportedProtocolVersion,
) -> ClientConnection {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let anything = Options { peer_verify: PeerVerify::named("none").expect("a mode"), ..Options::default() };
    let anything = ServerVerifier::new(&anything, &[], &provider).expect("a verifier");
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version])
        .expect("versions")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(anything));
    let mut config = match chain.is_empty() {
        true => builder.with_no_client_auth(),
        false => builder.with_client_cert_resolver(Arc::new(Stolen(chain))),
    };
    config.enable_secret_extraction = true;
    let name = ServerName::try_from("log.example.com").expect("a name");
    ClientConnection::new(Arc::new(config), name).expect("a client")
}

/// What the server says to the client, if it says anything.
pub fn attack(server: &Options, client: &mut ClientConnection) -> Result<crate::Session, diag::Fault> {
    let mut session = Acceptor::load(server).expect("a server").session().expect("a session");
    loop {
        let mut bytes = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut bytes).expect("written");
        }
        let quiet = bytes.is_empty() && session.outgoing().is_empty();
        session.handshake(&bytes)?;
        if quiet {
            return Ok(session);
        }
        let mut answer = session.outgoing();
        while !answer.is_empty() {
            client.read_tls(&mut answer.by_ref()).expect("read");
        }
        session.sent(session.outgoing().len());
        // What the client thinks of the server is not what is looked at.
        let _ = client.process_new_packets();
    }
}

/// Records of these types and contents, encrypted as the session's next ones.
pub fn forged(client: ClientConnection, records: &[(ContentType, &[u8])]) -> Vec<u8> {
    let suite = client.negotiated_cipher_suite().expect("a suite");
    let version = client.protocol_version().expect("a version");
    let (mut number, secrets) = client.dangerous_extract_secrets().expect("secrets").tx;
    let mut encrypter = encrypter(suite, secrets);
    let mut bytes = Vec::new();
    for (typ, payload) in records {
        let payload = OutboundChunks::Single(payload);
        let outer = if version == ProtocolVersion::TLSv1_3 { ProtocolVersion::TLSv1_2 } else { version };
        let message = OutboundPlainMessage { typ: *typ, version: outer, payload };
        bytes.extend(encrypter.encrypt(message, number).expect("encrypted").encode());
        number += 1;
    }
    bytes
}

fn encrypter(suite: SupportedCipherSuite, secrets: ConnectionTrafficSecrets) -> Box<dyn MessageEncrypter> {
    let (key, iv) = match secrets {
        ConnectionTrafficSecrets::Aes128Gcm { key, iv } | ConnectionTrafficSecrets::Aes256Gcm { key, iv } => {
            (key, iv)
        }
        _ => panic!("another cipher"),
    };
    match suite {
        SupportedCipherSuite::Tls12(suite) => {
            let (fixed, explicit) = iv.as_ref().split_at(4);
            suite.aead_alg.encrypter(key, fixed, explicit)
        }
        SupportedCipherSuite::Tls13(suite) => suite.aead_alg.encrypter(key, iv),
    }
}

/// A certificate without its key: the signature is none.
#[derive(Debug)]
struct Stolen(Vec<CertificateDer<'static>>);

#[derive(Debug)]
struct NoKey(SignatureScheme);

impl ResolvesClientCert for Stolen {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        let key = Arc::new(NoKey(SignatureScheme::ECDSA_NISTP256_SHA256));
        Some(Arc::new(CertifiedKey::new(self.0.clone(), key)))
    }

    fn has_certs(&self) -> bool {
        true
    }
}

impl SigningKey for NoKey {
    fn choose_scheme(&self, _: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        Some(Box::new(NoKey(self.0)))
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::ECDSA
    }
}

impl Signer for NoKey {
    fn sign(&self, _: &[u8]) -> Result<Vec<u8>, rustls::Error> {
        Ok(vec![0; 70])
    }

    fn scheme(&self) -> SignatureScheme {
        self.0
    }
}
