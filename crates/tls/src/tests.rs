//! Both ends against each other: certificates, algorithms, files.

mod bad_peers;
mod files;
mod peer;
mod staples;

use crate::testing::{Authority, Identity};
use crate::{Acceptor, Connector, Fingerprint, Options, PeerVerify, Received, Session};
use rcgen::{ExtendedKeyUsagePurpose, SerialNumber, date_time_ymd};
use std::path::{Path, PathBuf};

struct World {
    folder: tempfile::TempDir,
    authority: Authority,
    ca: PathBuf,
    server: Identity,
    client: Identity,
}

fn world() -> World {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new("test authority");
    let ca = authority.write(folder.path(), "ca.pem");
    let server = authority.identity(folder.path(), "server", &["log.example.com", "127.0.0.1"], |_| {});
    let client = authority.identity(folder.path(), "client", &["client.example.com"], |p| {
        p.serial_number = Some(SerialNumber::from(77u64));
    });
    World { folder, authority, ca, server, client }
}

fn with(identity: &Identity, ca: Option<&Path>) -> Options {
    Options {
        cert_file: Some(identity.cert.clone()),
        key_file: Some(identity.key.clone()),
        ca_file: ca.map(Path::to_owned),
        ..Options::default()
    }
}

impl World {
    fn server(&self) -> Options {
        with(&self.server, Some(&self.ca))
    }

    fn client(&self) -> Options {
        with(&self.client, Some(&self.ca))
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Hands everything over, `piece` bytes at a time, until both are quiet. What each side says to it.
fn converse(
    server: &mut Session,
    client: &mut Session,
    piece: usize,
) -> Result<(), (&'static str, diag::Fault)> {
    while pour(client, server, piece).map_err(|error| ("server", error))?
        || pour(server, client, piece).map_err(|error| ("client", error))?
    {}
    Ok(())
}

/// Whether there was anything.
fn pour(from: &mut Session, to: &mut Session, piece: usize) -> Result<bool, diag::Fault> {
    let any = !from.outgoing().is_empty();
    while !from.outgoing().is_empty() {
        let bytes: Vec<u8> = from.outgoing().iter().copied().take(piece).collect();
        from.sent(bytes.len());
        to.handshake(&bytes)?;
    }
    Ok(any)
}

fn meet(
    server: &Options,
    client: &Options,
    host: &str,
) -> Result<(Session, Session), (&'static str, diag::Fault)> {
    let acceptor = Acceptor::load(server).expect("server");
    let connector = Connector::load(client).expect("client");
    let (mut server, mut client) =
        (acceptor.session().expect("session"), connector.session(host).expect("session"));
    converse(&mut server, &mut client, 1 << 16)?;
    assert!(server.is_open() && client.is_open());
    Ok((server, client))
}

#[track_caller]
fn refused(server: &Options, client: &Options, host: &str, who: &str, why: &str) {
    match meet(server, client, host) {
        Ok(_) => panic!("not refused: {why}"),
        Err((by, error)) => assert!(by == who && error.said().contains(why), "{by}: {error}"),
    }
}

#[test]
fn bytes_arrive_however_they_are_split() {
    let world = world();
    let text: Vec<u8> = (0..100_000u32).map(|n| n as u8).collect();
    for (piece, tls13) in [(1, true), (7, false), (100, true), (5000, false), (1 << 20, true)] {
        let server = Options { tls13, tls12: !tls13, ..world.server() };
        let (mut server, mut client) = meet(&server, &world.client(), "log.example.com").expect("a session");
        client.encrypt(&text).expect("encrypted");
        client.close();
        let (mut plain, mut buffer) = (server.take_early(), Vec::new());
        let mut last = Received::More;
        while !client.outgoing().is_empty() {
            server.begin(&mut buffer);
            let bytes: Vec<u8> = client.outgoing().iter().copied().take(piece).collect();
            client.sent(bytes.len());
            buffer.extend_from_slice(&bytes);
            last = server.decrypt(&mut buffer, &mut plain).expect("decrypted");
        }
        assert_eq!(last, Received::Closed);
        assert!(plain == text, "pieces of {piece}");
        let wanted = if tls13 { "TLS 1.3" } else { "TLS 1.2" };
        assert!(server.described().starts_with(wanted), "{}", server.described());
    }
}

#[test]
fn handshakes_in_single_bytes() {
    let world = world();
    for tls13 in [true, false] {
        let options = Options { tls13, tls12: !tls13, ..world.server() };
        let mut server = Acceptor::load(&options).expect("server").session().expect("session");
        let connector = Connector::load(&world.client()).expect("client");
        let mut client = connector.session("127.0.0.1").expect("session");
        converse(&mut server, &mut client, 1).expect("a session");
        assert!(server.is_open() && client.is_open());
        let (der, peer) = server.peer().expect("a certificate");
        assert_eq!(der, world.client.der);
        assert_eq!(
            (peer.common_name(), peer.organization(), peer.unit()),
            ("client", "Example, Inc", "logs")
        );
        assert_eq!(peer.distinguished_name(), "CN=client, OU=logs, O=Example\\, Inc, C=DE");
        assert_eq!(client.may_be_refused(), tls13);
    }
}

#[test]
fn bad_clients_are_refused_with_the_reason() {
    let world = world();
    let (dir, host) = (world.path(), "log.example.com");
    let server = world.server();
    let expired =
        world.authority.identity(dir, "expired", &["x"], |p| p.not_after = date_time_ymd(2001, 1, 1));
    refused(&server, &with(&expired, Some(&world.ca)), host, "server", "expired");
    let future =
        world.authority.identity(dir, "future", &["x"], |p| p.not_before = date_time_ymd(2500, 1, 1));
    refused(&server, &with(&future, Some(&world.ca)), host, "server", "not valid yet");
    let other = Authority::new("other").identity(dir, "stranger", &["x"], |_| {});
    refused(&server, &with(&other, Some(&world.ca)), host, "server", "no authority");
    let use_of = world.authority.identity(dir, "use", &["x"], |p| {
        p.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    });
    refused(&server, &with(&use_of, Some(&world.ca)), host, "server", "not made for this use");
    let none = Options { ca_file: Some(world.ca.clone()), ..Options::default() };
    refused(&server, &none, host, "server", "no certificate");
    let nobody = with(&world.server, None);
    refused(&nobody, &world.client(), host, "server", "no authority");
    let revoked = Options { crl_dir: Some(world.authority.revoke(dir, 77)), ..server.clone() };
    refused(&revoked, &world.client(), host, "server", "revoked");
    let good =
        world.authority.identity(dir, "good", &["x"], |p| p.serial_number = Some(SerialNumber::from(78u64)));
    meet(&revoked, &with(&good, Some(&world.ca)), host).expect("another serial number is good");
    let only12 = Options { tls13: false, ..world.client() };
    refused(&Options { tls12: false, ..server.clone() }, &only12, host, "server", "no version of TLS");
}

#[test]
fn bad_servers_are_refused_with_the_reason() {
    let world = world();
    let server = world.server();
    let client = world.client();
    refused(&server, &client, "other.example.com", "client", "belongs to another host");
    refused(&server, &client, "127.0.0.2", "client", "belongs to another host");
    meet(&server, &client, "127.0.0.1").expect("an address among the alternative names");
    let careless = Options { check_name: false, ..client.clone() };
    meet(&server, &careless, "other.example.com").expect("the name is not looked at");
    let nobody = Options { ca_file: None, ..client.clone() };
    refused(&server, &nobody, "log.example.com", "client", "no authority");
    let untrusting = PeerVerify::named("optional-untrusted").expect("a mode");
    let untrusting = Options { peer_verify: untrusting, ..nobody };
    meet(&server, &untrusting, "log.example.com").expect("nothing is looked at");
    let old = world.authority.identity(world.path(), "named.example.com", &[], |_| {});
    let old = with(&old, Some(&world.ca));
    meet(&old, &client, "named.example.com").expect("the subject counts without alternative names");
    refused(&old, &client, "log.example.com", "client", "belongs to another host");
}

#[test]
fn peer_verify_in_all_modes() {
    let world = world();
    let stranger = Authority::new("other").identity(world.path(), "stranger", &["x"], |_| {});
    let stranger = with(&stranger, Some(&world.ca));
    let nobody = Options { ca_file: Some(world.ca.clone()), ..Options::default() };
    // Who gets in: a known peer, a stranger, one without a certificate.
    for (mode, expected) in [
        ("required-trusted", [true, false, false]),
        ("required-untrusted", [true, true, false]),
        ("optional-trusted", [true, false, true]),
        ("optional-untrusted", [true, true, true]),
        ("none", [true, true, true]),
    ] {
        let peer_verify = PeerVerify::named(mode).expect("a mode");
        let server = Options { peer_verify, ..world.server() };
        for (client, expected) in [&world.client(), &stranger, &nobody].into_iter().zip(expected) {
            assert_eq!(meet(&server, client, "log.example.com").is_ok(), expected, "{mode}");
        }
    }
}

#[test]
fn fingerprints_and_subjects_are_checked_beside_the_chain() {
    let world = world();
    let (client, host) = (world.client(), "log.example.com");
    let print = Fingerprint::sha1(&world.client.der);
    let other = Fingerprint::sha1(b"another");
    let keys = |keys: &[&Fingerprint], names: &[&str]| Options {
        trusted_keys: keys.iter().map(|key| (*key).clone()).collect(),
        trusted_dn: names.iter().map(|name| (*name).to_owned()).collect(),
        ..world.server()
    };
    meet(&keys(&[&other, &print], &[]), &client, host).expect("listed");
    refused(&keys(&[&other], &[]), &client, host, "server", &print.to_string());
    meet(&keys(&[], &["*, OU=logs, *"]), &client, host).expect("matches");
    refused(&keys(&[], &["*, OU=mail, *"]), &client, host, "server", "matches none of trusted-dn()");
    refused(&keys(&[&print], &["CN=x"]), &client, host, "server", "trusted-dn()");
}

#[test]
fn a_certificate_that_is_its_own_authority() {
    let world = world();
    let own = Authority::new("own.example.com");
    let identity = own.itself(world.path());
    // The client knows the very certificate the server shows, as after `openssl req -x509`.
    let client = Options { ca_file: Some(identity.cert.clone()), ..world.client() };
    let server = Options { ca_file: Some(world.ca.clone()), ..with(&identity, None) };
    meet(&server, &client, "own.example.com").expect("it is known");
    refused(&server, &client, "log.example.com", "client", "belongs to another host");
    refused(&server, &world.client(), "own.example.com", "client", "refused");
}

#[test]
fn plain_text_and_rubbish_are_named() {
    let world = world();
    let acceptor = Acceptor::load(&world.server()).expect("server");
    for bytes in [&b"<13>Nov 11 01:02:03 host app: text\n"[..], b"GET / HTTP/1.1\r\n\r\n"] {
        let mut session = acceptor.session().expect("session");
        let error = session.handshake(bytes).expect_err("not TLS");
        assert!(error.said().contains("not TLS"), "{error}");
        assert!(!session.outgoing().is_empty(), "the peer is told");
    }
    let mut session = acceptor.session().expect("session");
    // The hello of a TLS 1.0 client: no extensions, one suite.
    let mut hello = vec![22, 3, 1, 0, 45, 1, 0, 0, 41, 3, 1];
    hello.extend([7; 32]);
    hello.extend([0, 0, 2, 0, 47, 1, 0]);
    let error = session.handshake(&hello).expect_err("too old");
    assert!(error.said().contains("no version of TLS"), "{error}");
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let world = world();
    let missing = Options { key_file: Some(world.path().join("nowhere")), ..world.server() };
    let swapped = Options { key_file: Some(world.client.key.clone()), ..world.server() };
    let no_key = Options { key_file: Some(world.server.cert.clone()), ..world.server() };
    let half = Options { key_file: None, ..world.server() };
    for (options, expected) in [
        (missing, "nowhere: No such file"),
        (swapped, "does not belong to the certificate"),
        (no_key, "no private key in"),
        (half, "cert-file() needs key-file()"),
        (Options::default(), "needs key-file() and cert-file()"),
    ] {
        let error = Acceptor::load(&options).err().expect("refused");
        assert!(error.said().contains(expected), "{error}");
    }
}

#[test]
fn certificates_read_anew_serve_the_next_session() {
    let world = world();
    let options = world.server();
    let running = Acceptor::load(&options).expect("server");
    let before = meet(&options, &world.client(), "log.example.com").expect("a session");
    let renewed = world.authority.identity(world.path(), "renewed", &["log.example.com"], |_| {});
    std::fs::copy(&renewed.cert, &world.server.cert).expect("copied");
    // Half of the pair is there: what is in use stays.
    assert!(std::ptr::eq(&*Acceptor::load(&options).expect("the old one"), &*running));
    std::fs::copy(&renewed.key, &world.server.key).expect("copied");
    Acceptor::load(&options).expect("the new one");
    let connector = Connector::load(&world.client()).expect("client");
    let (mut server, mut client) =
        (running.session().expect("session"), connector.session("log.example.com").expect("session"));
    converse(&mut server, &mut client, 1 << 16).expect("a session");
    assert_eq!(client.peer().expect("a certificate").0, renewed.der);
    assert_eq!(before.1.peer().expect("a certificate").0, world.server.der);
}
