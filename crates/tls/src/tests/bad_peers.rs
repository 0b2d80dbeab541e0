//! Every kind of bad peer is refused, and the message says why.

use super::peer::{attack, client, forged};
use super::{World, meet, refused, with, world};
use crate::testing::Authority;
use crate::{Acceptor, Connector, Fingerprint, Options};
use rcgen::{ExtendedKeyUsagePurpose as Use, SerialNumber, date_time_ymd};
use rustls::version::{TLS12, TLS13};
use rustls::{ContentType, SignatureScheme, SupportedProtocolVersion};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use std::path::PathBuf;

const HOST: &str = "log.example.com";

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/tests/fixtures").join(name)
}

fn chain(name: &str) -> Vec<CertificateDer<'static>> {
    vec![CertificateDer::from_pem_file(fixture(name)).expect("a certificate")]
}

/// A server that trusts the authority of the fixtures.
fn fixtures(world: &World) -> Options {
    Options { ca_file: Some(fixture("ca.pem")), ..world.server() }
}

#[track_caller]
fn shown(server: &Options, chain: Vec<CertificateDer<'static>>, why: &str) {
    let outcome = attack(server, &mut client(chain, &TLS13));
    said(outcome.map(drop), why);
}

#[track_caller]
fn said(outcome: Result<(), diag::Fault>, why: &str) {
    match outcome {
        Ok(()) => panic!("not refused: {why}"),
        Err(error) => assert!(error.said().contains(why), "`{why}` is wanted: {error}"),
    }
}

/// What the server says when it has got these bytes.
#[track_caller]
fn sent(world: &World, bytes: &[u8], why: &str) {
    let mut session = Acceptor::load(&world.server()).expect("server").session().expect("session");
    said(session.handshake(bytes).map(drop), why);
}

/// What the server says when these records follow a good handshake.
#[track_caller]
fn after(
    world: &World,
    version: &'static SupportedProtocolVersion,
    records: &[(ContentType, &[u8])],
    why: &str,
) {
    let server = Options { peer_verify: crate::PeerVerify::named("none").expect("a mode"), ..world.server() };
    let mut peer = client(Vec::new(), version);
    let mut session = attack(&server, &mut peer).expect("a session");
    assert!(session.is_open());
    let mut bytes = forged(peer, records);
    said(session.decrypt(&mut bytes, &mut Vec::new()).map(drop), why);
}

#[test]
fn clients_with_bad_certificates() {
    let world = world();
    let (dir, server) = (world.path(), world.server());
    let no = |client: &Options, why: &str| refused(&server, client, HOST, "server", why);
    let made = |name: &str, change: &dyn Fn(&mut rcgen::CertificateParams)| {
        with(&world.authority.identity(dir, name, &["x"], change), Some(&world.ca))
    };
    no(&made("expired", &|p| p.not_after = date_time_ymd(2001, 1, 1)), "it has expired");
    no(&made("future", &|p| p.not_before = date_time_ymd(2500, 1, 1)), "it is not valid yet");
    no(&made("use", &|p| p.extended_key_usages = vec![Use::ServerAuth]), "not made for this use");
    let stranger = Authority::new("other").identity(dir, "stranger", &["x"], |_| {});
    no(&with(&stranger, Some(&world.ca)), "no authority of ca-file() or ca-dir() has signed it");
    no(&with(&Authority::new("self").itself(dir), Some(&world.ca)), "it is an authority's, not a host's");
    no(
        &Options { ca_file: Some(world.ca.clone()), ..Options::default() },
        "the peer has shown no certificate",
    );
    refused(&with(&world.server, None), &world.client(), HOST, "server", "no authority");
    let revoking = Options { crl_dir: Some(world.authority.revoke(dir, 77)), ..server.clone() };
    refused(&revoking, &world.client(), HOST, "server", "it has been revoked");
    // A list of another authority says nothing about it.
    let elsewhere = tempfile::tempdir().expect("a folder");
    let unknown =
        Options { crl_dir: Some(Authority::new("x").revoke(elsewhere.path(), 1)), ..server.clone() };
    refused(&unknown, &world.client(), HOST, "server", "crl-dir() has no revocation list of its authority");
    let old = world.authority.revocations(elsewhere.path(), 1, 2021);
    let old = Options { crl_dir: Some(old), ..server.clone() };
    refused(&old, &world.client(), HOST, "server", "revocation list of its authority is out of date");
    let print = || Fingerprint::sha256(b"another");
    let keys = Options { trusted_keys: vec![print()], ..server.clone() };
    refused(&keys, &world.client(), HOST, "server", "not among trusted-keys()");
    let names = Options { trusted_dn: vec!["*, OU=mail, *".to_owned()], ..server.clone() };
    refused(&names, &world.client(), HOST, "server", "matches none of trusted-dn()");
    // A use of its own is wanted, and it has none; one that is trusted by itself is looked at too.
    let strict = Options { extended_key_usage_verify: true, ..server.clone() };
    refused(&strict, &world.client(), HOST, "server", "it does not say that it is made for clients");
    let known = vec![Fingerprint::sha256(&world.client.der)];
    let strict = Options { trusted_fingerprints: known, ..strict };
    refused(&strict, &world.client(), HOST, "server", "it does not say that it is made for clients");
    meet(&strict, &made("made-for-it", &|p| p.extended_key_usages = vec![Use::ClientAuth]), HOST)
        .expect("made for it");
    let prints = Options { trusted_fingerprints: vec![print()], ..with(&world.server, None) };
    refused(&prints, &world.client(), HOST, "server", "not among trusted-fingerprints()");
}

#[test]
fn clients_with_bad_chains() {
    let world = world();
    let (dir, server) = (world.path(), world.server());
    // An intermediate authority that is left out, has expired, or is none.
    let middle = world.authority.below("middle", |_| {});
    let leaf = middle.identity(dir, "below", &["x"], |_| {});
    let pair = |der: &[u8], above: &[u8]| {
        vec![CertificateDer::from(der.to_vec()), CertificateDer::from(above.to_vec())]
    };
    shown(&server, vec![CertificateDer::from(leaf.der.clone())], "no authority");
    let ended = world.authority.below("ended", |p| p.not_after = date_time_ymd(2001, 1, 1));
    let below = ended.identity(dir, "below-ended", &["x"], |_| {});
    shown(&server, pair(&below.der, ended.certificate.der()), "it has expired");
    let none = world.authority.below("no-authority", |p| p.is_ca = rcgen::IsCa::ExplicitNoCa);
    let below = none.identity(dir, "below-none", &["x"], |_| {});
    shown(
        &server,
        pair(&below.der, none.certificate.der()),
        "signed by a certificate that is no authority's",
    );
    let flat =
        world.authority.below("flat", |p| p.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Constrained(0)));
    let under = flat.below("under", |_| {});
    let deep = under.identity(dir, "deep", &["x"], |_| {});
    let mut three = pair(&deep.der, under.certificate.der());
    three.push(flat.certificate.der().clone());
    shown(&server, three, "more authorities stand between");
    let strict = world.authority.below("strict", |p| {
        let permitted_subtrees = vec![rcgen::GeneralSubtree::DnsName("example.org".to_owned())];
        p.name_constraints =
            Some(rcgen::NameConstraints { permitted_subtrees, excluded_subtrees: Vec::new() });
    });
    let outside = strict.identity(dir, "outside", &["log.example.com"], |_| {});
    shown(&server, pair(&outside.der, strict.certificate.der()), "its authority may not sign for its name");
    // Certificates that are spoilt, stolen or too weak.
    let mut spoilt = world.client.der.clone();
    *spoilt.last_mut().expect("bytes") ^= 1;
    shown(&server, vec![CertificateDer::from(spoilt)], "its signature is wrong");
    shown(&server, vec![CertificateDer::from(b"no certificate".to_vec())], "it cannot be read");
    shown(
        &server,
        vec![CertificateDer::from(world.client.der.clone())],
        "whoever shows it does not have its key",
    );
    shown(&fixtures(&world), chain("weak-signature.pem"), "too weak or not supported");
    shown(&fixtures(&world), chain("critical.pem"), "it demands something that is not understood");
    shown(&fixtures(&world), chain("weak-key.pem"), "its key is too weak: RSA with 1024 bits");
}

#[test]
fn servers_with_bad_certificates() {
    let world = world();
    let (dir, client) = (world.path(), world.client());
    let made = |name: &str, host: &str, change: &dyn Fn(&mut rcgen::CertificateParams)| {
        with(&world.authority.identity(dir, name, &[host], change), Some(&world.ca))
    };
    let no = |server: &Options, host: &str, why: &str| refused(server, &client, host, "client", why);
    no(&world.server(), "other.example.com", "it belongs to another host: `other.example.com` is wanted");
    no(&world.server(), "127.0.0.2", "it belongs to another host");
    no(&made("s-expired", HOST, &|p| p.not_after = date_time_ymd(2001, 1, 1)), HOST, "it has expired");
    no(&made("s-future", HOST, &|p| p.not_before = date_time_ymd(2500, 1, 1)), HOST, "it is not valid yet");
    no(
        &made("s-use", HOST, &|p| p.extended_key_usages = vec![Use::ClientAuth]),
        HOST,
        "not made for this use",
    );
    let other = Authority::new("other").identity(dir, "s-stranger", &[HOST], |_| {});
    no(&with(&other, Some(&world.ca)), HOST, "no authority of ca-file() or ca-dir() has signed it");
    let bare = world.authority.identity(dir, "named.example.com", &[], |_| {});
    no(&with(&bare, Some(&world.ca)), HOST, "it belongs to another host");
    let ca = made("s-ca", HOST, &|p| p.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained));
    no(&ca, HOST, "it is an authority's, not a host's");
    let strict = Options { extended_key_usage_verify: true, ..client.clone() };
    refused(&world.server(), &strict, HOST, "client", "it does not say that it is made for servers");
    let both = made("s-both", HOST, &|p| p.extended_key_usages = vec![Use::ClientAuth, Use::ServerAuth]);
    meet(&both, &strict, HOST).expect("made for it");
    let revoked = made("s-revoked", HOST, &|p| p.serial_number = Some(SerialNumber::from(77u64)));
    let revoking = Options { crl_dir: Some(world.authority.revoke(dir, 77)), ..client.clone() };
    refused(&revoked, &revoking, HOST, "client", "it has been revoked");
}

#[test]
fn nothing_in_common() {
    let world = world();
    let (server, client) = (world.server(), world.client());
    let only = |tls12, tls13| Options { tls12, tls13, ..client.clone() };
    let strict = Options { tls12: false, ..server.clone() };
    refused(&strict, &only(true, false), HOST, "server", "speaks no version of TLS that is allowed here");
    let old = Options { tls13: false, ..server.clone() };
    refused(&old, &only(false, true), HOST, "server", "speaks no version of TLS that is allowed here");
    let suites = |name: &str| vec![crate::cipher_suite(name).expect("a suite")];
    let chacha = Options { cipher_suites: suites("TLS_CHACHA20_POLY1305_SHA256"), ..server.clone() };
    let aes = Options { cipher_suites: suites("TLS_AES_128_GCM_SHA256"), ..only(false, true) };
    refused(&chacha, &aes, HOST, "server", "offers no cipher suite that is allowed here");
    let curve = |name: &str| vec![crate::group(name).expect("a curve")];
    let p384 = Options { groups: curve("P-384"), ..server.clone() };
    let x25519 = Options { groups: curve("X25519"), ..client.clone() };
    refused(&p384, &x25519, HOST, "server", "no curve in common");
    let ed25519 = Options { sigalgs: vec![SignatureScheme::ED25519], ..client.clone() };
    refused(&server, &ed25519, HOST, "server", "no signature that the certificate's key can make");
    let unsigned = Options { client_sigalgs: vec![SignatureScheme::RSA_PSS_SHA256], ..server.clone() };
    let outcome = attack(&unsigned, &mut client_with(&world));
    said(outcome.map(drop), "signed its handshake in a way that was not offered");
}

/// The client's own certificate, signing with what nobody asked for.
fn client_with(world: &World) -> rustls::ClientConnection {
    client(vec![CertificateDer::from(world.client.der.clone())], &TLS13)
}

#[test]
fn bytes_that_are_no_handshake() {
    let world = world();
    sent(&world, b"<13>Nov 11 01:02:03 host app: text\n", "what the peer sends is not TLS");
    sent(&world, b"GET / HTTP/1.1\r\n\r\n", "what the peer sends is not TLS");
    sent(&world, &[0x80, 46, 1, 3, 1, 0, 21, 0, 0, 0, 16], "what the peer sends is not TLS");
    // The hello of a TLS 1.0 client: no extensions, one suite.
    let mut hello = vec![22, 3, 1, 0, 45, 1, 0, 0, 41, 3, 1];
    hello.extend([7; 32]);
    hello.extend([0, 0, 2, 0, 47, 1, 0]);
    sent(&world, &hello, "speaks no version of TLS that is allowed here; SSL 3, TLS 1.0 and 1.1 never are");
    // A record longer than there may be.
    sent(&world, &[22, 3, 3, 0x48, 1], "what the peer sends is not TLS");
    // A handshake message longer than there may be.
    sent(&world, &[22, 3, 1, 0, 4, 1, 0xff, 0xff, 0xff], "a message of the handshake is too long");
    // A hello whose length says more than it has, a message nobody knows, an empty one.
    sent(&world, &[22, 3, 1, 0, 6, 1, 0, 0, 2, 3, 3], "the handshake cannot be read");
    sent(&world, &[22, 3, 1, 0, 4, 99, 0, 0, 0], "the peer does not follow the protocol");
    sent(&world, &[22, 3, 1, 0, 0], "what the peer sends is not TLS");
    // Messages before there is a session; the end of a handshake that has not begun.
    sent(&world, &[23, 3, 3, 0, 5, 1, 2, 3, 4, 5], "the peer does not follow the protocol");
    sent(&world, &[22, 3, 3, 0, 4, 20, 0, 0, 0], "the peer does not follow the protocol");
    // An alert instead of a hello, and many of them.
    let mut session = Acceptor::load(&world.server()).expect("server").session().expect("session");
    said(session.handshake(&[21, 3, 3, 0, 2, 2, 40]).map(drop), "the peer says: no cipher suite in common");
    let flood: Vec<u8> = [21, 3, 3, 0, 2, 1, 90].repeat(40);
    sent(&world, &flood, "the peer sends warning after warning");
}

#[test]
fn records_that_do_not_belong() {
    let world = world();
    // Renegotiation: the hello of a client within a session of TLS 1.2, again and again.
    let hello = [1u8, 0, 0, 2, 3, 3];
    let again = [(ContentType::Handshake, &hello[..]); 3];
    after(&world, &TLS12, &again, "the handshake cannot be read");
    let warnings = [(ContentType::Alert, &[1u8, 90][..]); 40];
    after(&world, &TLS12, &warnings, "the peer sends warning after warning");
    after(&world, &TLS13, &[(ContentType::Alert, &[2, 80])], "the peer says: InternalError");
    let updates = [(ContentType::Handshake, &[24u8, 0, 0, 1, 7][..])];
    after(&world, &TLS13, &updates, "the handshake cannot be read");
    after(
        &world,
        &TLS13,
        &[(ContentType::Handshake, &[20, 0, 0, 0])],
        "the peer does not follow the protocol",
    );
    after(&world, &TLS13, &[(ContentType::ChangeCipherSpec, &[1])], "the peer does not follow the protocol");
    // A record changed on its way.
    let mut peer = client(Vec::new(), &TLS13);
    let server = Options { peer_verify: crate::PeerVerify::named("none").expect("a mode"), ..world.server() };
    let mut session = attack(&server, &mut peer).expect("a session");
    let mut bytes = forged(peer, &[(ContentType::ApplicationData, b"<13>text\n")]);
    bytes[7] ^= 1;
    let mut plain = Vec::new();
    said(
        session.decrypt(&mut bytes, &mut plain).map(drop),
        "a record cannot be decrypted: it was changed on its way",
    );
    assert!(plain.is_empty());
    // Bytes in the clear within a session.
    let mut session = attack(&server, &mut client(Vec::new(), &TLS13)).expect("a session");
    said(session.decrypt(&mut b"<13>text in the clear\n".to_vec(), &mut Vec::new()).map(drop), "not TLS");
}

#[test]
fn servers_that_are_none() {
    let world = world();
    let connector = Connector::load(&world.client()).expect("client");
    let mut session = connector.session(HOST).expect("session");
    said(session.handshake(b"220 log.example.com ready\r\n").map(drop), "not TLS");
    let mut session = connector.session(HOST).expect("session");
    said(session.handshake(&[21, 3, 3, 0, 2, 2, 70]).map(drop), "the peer says: no version of TLS in common");
    let mut session = connector.session(HOST).expect("session");
    said(session.handshake(&[22, 3, 3, 0, 4, 0, 0, 0, 0]).map(drop), "the peer does not follow the protocol");
}
