//! Servers that staple OCSP answers, bad ones or none, to a client that wants good ones.

use super::{World, world};
use crate::testing::answers::{Said, answer, revoked};
use crate::{Connector, Options, PeerVerify};
use rustls::server::{ServerConfig, ServerConnection};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::version::{TLS12, TLS13};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::io::Read;
use std::sync::Arc;
use std::time::SystemTime;
use x509_ocsp::CertStatus;

const HOST: &str = "log.example.com";

fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock").as_secs()
}

fn good() -> Said {
    Said { from: now() - 60, until: Some(now() + 3600), ..Said::default() }
}

/// A server of this version with these certificates that staples these bytes.
fn server(chain: &[&[u8]], key: &std::path::Path, staple: Option<Vec<u8>>, tls13: bool) -> ServerConnection {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let chain = chain.iter().map(|der| CertificateDer::from(der.to_vec())).collect();
    let key = PrivateKeyDer::from_pem_file(key).expect("a key");
    let mut shown = CertifiedKey::from_der(chain, key, &provider).expect("a certificate and its key");
    shown.ocsp = staple;
    let config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[if tls13 { &TLS13 } else { &TLS12 }])
        .expect("versions")
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(shown)));
    ServerConnection::new(Arc::new(config)).expect("a server")
}

/// What the client says to the server.
fn meet(client: &Options, server: &mut ServerConnection) -> Result<(), diag::Fault> {
    let mut session = Connector::load(client)?.session(HOST)?;
    loop {
        let mut hello = session.outgoing();
        let mut quiet = hello.is_empty();
        while !hello.is_empty() {
            server.read_tls(&mut hello.by_ref()).expect("read");
        }
        session.sent(session.outgoing().len());
        // What the server thinks of the client is not what is looked at.
        let _ = server.process_new_packets();
        let mut bytes = Vec::new();
        while server.wants_write() {
            server.write_tls(&mut bytes).expect("written");
        }
        quiet &= bytes.is_empty();
        session.handshake(&bytes)?;
        if quiet {
            assert!(session.is_open());
            return Ok(());
        }
    }
}

impl World {
    fn staple(&self, said: &Said) -> Vec<u8> {
        let issuer = self.authority.certificate.der();
        answer(said, &self.server.der, issuer, &self.authority.signer(), &[])
    }

    /// Both versions of TLS, the client wanting answers.
    fn shown(&self, staple: Option<Vec<u8>>) -> Result<(), diag::Fault> {
        let client = Options { ocsp_stapling_verify: true, ..self.client() };
        let outcomes = [true, false].map(|tls13| {
            let mut server = server(&[&self.server.der], &self.server.key, staple.clone(), tls13);
            meet(&client, &mut server)
        });
        assert_eq!(outcomes[0], outcomes[1]);
        let [outcome, _] = outcomes;
        outcome
    }
}

#[test]
fn a_good_answer_lets_the_server_in() {
    let world = world();
    assert_eq!(world.shown(Some(world.staple(&good()))), Ok(()));
    let (certificate, key) = world.authority.responder(|_| {});
    let signer = crate::testing::answers::Signer { certificate: &certificate, key: &key };
    let issuer = world.authority.certificate.der();
    let delegated = answer(&good(), &world.server.der, issuer, &signer, &[&certificate]);
    assert_eq!(world.shown(Some(delegated)), Ok(()));
}

#[test]
fn bad_answers_keep_it_out_with_the_reason() {
    let world = world();
    let stranger = crate::testing::Authority::new("stranger");
    let forger = crate::testing::Authority::new("test authority");
    let issuer = world.authority.certificate.der();
    let by = |authority: &crate::testing::Authority| {
        Some(answer(&good(), &world.server.der, issuer, &authority.signer(), &[]))
    };
    let said = |said: Said| Some(world.staple(&said));
    let later = pkcs8::der::Encode::to_der(&x509_ocsp::OcspResponse::try_later()).expect("DER");
    for (staple, why) in [
        (None, "no OCSP answer came with it, and ocsp-stapling-verify() wants one"),
        (Some(b"garbage".to_vec()), "the OCSP answer that came with it cannot be read"),
        (Some(later), "an error of the responder: try later"),
        (said(Said { status: revoked(), ..good() }), "it has been revoked, its OCSP answer says"),
        (said(Said { status: CertStatus::unknown(), ..good() }), "the OCSP responder does not know it"),
        (said(Said { until: Some(now() - 900), ..good() }), "its OCSP answer is out of date"),
        (said(Said { from: now() + 900, ..good() }), "its OCSP answer is from the future"),
        (said(Said { serial: Some(1), ..good() }), "is about another certificate"),
        (said(Said { critical: true, ..good() }), "demands something that is not understood"),
        (said(Said { weak: true, ..good() }), "too weak or not supported"),
        (by(&stranger), "signed by somebody who may not"),
        (by(&forger), "the signature of its OCSP answer is wrong"),
    ] {
        let error = world.shown(staple).expect_err(why);
        assert!(error.said().starts_with("the certificate of the peer is refused: "), "{error}");
        assert!(error.said().contains(why), "`{why}` is wanted: {error}");
    }
}

#[test]
fn the_chain_is_looked_at_first_and_without_the_option_nothing_is() {
    let world = world();
    let mut plain = server(&[&world.server.der], &world.server.key, Some(b"garbage".to_vec()), true);
    assert_eq!(meet(&world.client(), &mut plain), Ok(()));
    let wanted = |options: Options| Options { ocsp_stapling_verify: true, ..options };
    let staple = Some(world.staple(&good()));
    let shown = || server(&[&world.server.der], &world.server.key, staple.clone(), true);
    let nobody = wanted(Options { ca_file: None, ..world.client() });
    let error = meet(&nobody, &mut shown()).expect_err("nobody is trusted");
    assert!(error.said().contains("no authority of ca-file() or ca-dir() has signed it"), "{error}");
    // Whoever asks for answers gets them looked at, even if it looks at nothing else; and that needs an
    // authority.
    let peer_verify = PeerVerify::named("optional-untrusted").expect("a mode");
    assert_eq!(meet(&Options { peer_verify, ..wanted(world.client()) }, &mut shown()), Ok(()));
    let blind = Options { peer_verify, ..nobody };
    let error = meet(&blind, &mut shown()).expect_err("nobody could have answered");
    assert!(error.said().contains("its OCSP answer cannot be verified: no authority"), "{error}");
    // So with a certificate that is trusted by its fingerprint.
    let print = crate::Fingerprint::sha256(&world.server.der);
    let known = wanted(Options { ca_file: None, trusted_fingerprints: vec![print], ..world.client() });
    let error = meet(&known, &mut shown()).expect_err("nobody could have answered");
    assert!(error.said().contains("its OCSP answer cannot be verified: no authority"), "{error}");
}
