//! Keys and containers with passphrases, and what the options make of certificates that are good.

use super::{meet, refused, with, world};
use crate::{Acceptor, Fingerprint, Options, PeerVerify, State, states, unlock};
use rcgen::date_time_ymd;
use rustls::SignatureScheme;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/tests/fixtures").join(name)
}

fn copied(folder: &Path, name: &str) -> PathBuf {
    let from = fixture(name);
    let to = folder.join(name);
    std::fs::copy(from, &to).expect("copied");
    to
}

/// `no-number.crl` is what a builder of certificates made without extensions.
#[test]
fn a_revocation_list_without_a_number_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = copied(folder.path(), "no-number.crl");
    let world = world();
    let server = Options { crl_dir: Some(folder.path().to_owned()), ..world.server() };
    let error = Acceptor::load(&server).err().expect("refused");
    assert!(error.said().contains(&path.display().to_string()), "{error}");
    assert!(error.said().contains("has no number"), "{error}");
}

fn state(path: &Path) -> Option<State> {
    states().into_iter().find(|(file, _)| file == path).map(|(_, state)| state)
}

/// A source with a secret waits for it, and goes on with it.
#[track_caller]
fn opens_with_its_passphrase(server: &Options, file: &Path, secret: &[u8]) {
    let world = world();
    let client = Options { ca_file: Some(fixture("ca.pem")), ..world.client() };
    let server = Options { ca_file: Some(world.ca.clone()), ..server.clone() };
    let acceptor = Acceptor::load(&server).expect("it waits");
    let error = acceptor.session().err().expect("locked");
    assert!(
        error.said().contains("its passphrase is not known yet") && error.said().contains("credentials add"),
        "{error}"
    );
    assert_eq!(state(file), Some(State::Pending));
    let error = unlock(file, b"guess").expect_err("wrong");
    assert!(error.said().contains("the passphrase is wrong"), "{error}");
    assert_eq!(state(file), Some(State::InvalidPassword));
    assert!(unlock(file, secret).expect("good").contains("is good"));
    assert_eq!(state(file), Some(State::Success));
    meet(&server, &client, "rsa.example.com").expect("a session");
}

#[test]
fn encrypted_keys() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = copied(folder.path(), "rsa-encrypted.key");
    let cert = copied(folder.path(), "rsa.pem");
    opens_with_its_passphrase(
        &Options { key_file: Some(key.clone()), cert_file: Some(cert), ..Options::default() },
        &key,
        b"open sesame",
    );
}

#[test]
fn containers() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = copied(folder.path(), "rsa.p12");
    let container = Options { pkcs12_file: Some(file.clone()), ..Options::default() };
    opens_with_its_passphrase(&container, &file, b"open sesame");
    // Without one it opens by itself, and its authority is trusted.
    let world = world();
    let open = Options { pkcs12_file: Some(copied(folder.path(), "rsa-open.p12")), ..Options::default() };
    let client = Options { ca_file: Some(fixture("ca.pem")), ..open.clone() };
    meet(&open, &client, "rsa.example.com").expect("a session");
    refused(
        &open,
        &Options { ca_file: client.ca_file.clone(), ..world.client() },
        "rsa.example.com",
        "server",
        "no authority",
    );
}

#[test]
fn old_forms_open_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let cert = copied(folder.path(), "rsa.pem");
    let key = copied(folder.path(), "rsa-old.key");
    let legacy = copied(folder.path(), "rsa-legacy.p12");
    let pair = Options { key_file: Some(key.clone()), cert_file: Some(cert), ..Options::default() };
    opens_with_its_passphrase(&pair, &key, b"x");
    opens_with_its_passphrase(
        &Options { pkcs12_file: Some(legacy.clone()), ..Options::default() },
        &legacy,
        b"x",
    );
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let garbage = folder.path().join("garbage");
    std::fs::write(&garbage, b"\x30\x82\xff\xff\x02\x01\x03").expect("a file");
    let pair = Options {
        key_file: Some(copied(folder.path(), "rsa.key")),
        cert_file: Some(copied(folder.path(), "rsa.pem")),
        ..Options::default()
    };
    for (options, expected) in [
        (Options { pkcs12_file: Some(garbage.clone()), ..Options::default() }, "is no PKCS#12 container"),
        (Options { pkcs12_file: Some(garbage), ..pair }, "leave out key-file() and cert-file()"),
    ] {
        let error = Acceptor::load(&options).err().expect("refused");
        assert!(error.said().contains(expected), "{error}");
    }
}

#[test]
fn containers_cut_anywhere_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = std::fs::read(copied(folder.path(), "rsa-open.p12")).expect("a file");
    for end in (0..whole.len()).step_by(101) {
        let file = folder.path().join(format!("cut-{end}"));
        std::fs::write(&file, &whole[..end]).expect("a file");
        let options = Options { pkcs12_file: Some(file), ..Options::default() };
        assert!(Acceptor::load(&options).is_err(), "{end}");
    }
}

#[test]
fn fingerprints_that_need_no_authority() {
    let world = world();
    let stranger = crate::testing::Authority::new("other").identity(
        world.path(),
        "stranger",
        &["log.example.com"],
        |_| {},
    );
    let print = Fingerprint::sha256(&stranger.der);
    let server = Options { trusted_fingerprints: vec![print.clone()], ..with(&world.server, None) };
    meet(&server, &with(&stranger, Some(&world.ca)), "log.example.com").expect("it is listed");
    let client = Options { trusted_fingerprints: vec![print], ..with(&world.client, None) };
    let server = Options { ca_file: Some(world.ca.clone()), ..with(&stranger, None) };
    meet(&server, &client, "log.example.com").expect("it is listed");
    refused(&server, &client, "other.example.com", "client", "belongs to another host");
    let gone = crate::testing::Authority::new("gone").identity(world.path(), "gone", &["x"], |p| {
        p.not_after = date_time_ymd(2001, 1, 1);
    });
    let server =
        Options { trusted_fingerprints: vec![Fingerprint::sha1(&gone.der)], ..with(&world.server, None) };
    refused(&server, &with(&gone, Some(&world.ca)), "log.example.com", "server", "it has expired");
}

/// Certificates of X.509 version 1, as `openssl x509 -req` long made them.
#[test]
fn certificates_of_version_1() {
    let world = world();
    let old = Options {
        key_file: Some(fixture("v1.key")),
        cert_file: Some(fixture("v1.pem")),
        ..Options::default()
    };
    let print: Vec<CertificateDer<'_>> = CertificateDer::pem_file_iter(fixture("v1.pem"))
        .expect("read")
        .map(|der| der.expect("one"))
        .collect();
    let careless = PeerVerify::named("optional-untrusted").expect("a mode");
    for tls13 in [true, false] {
        let only = |options: Options| Options { tls13, tls12: !tls13, ..options };
        let anchor = Options { ca_file: Some(fixture("v1.pem")), ..Options::default() };
        let listed =
            Options { trusted_fingerprints: vec![Fingerprint::sha256(&print[0])], ..Options::default() };
        let unverified = Options { peer_verify: careless, ..Options::default() };
        for trust in [&anchor, &listed, &unverified] {
            let shown = |o: &Options| Options { ca_file: Some(world.ca.clone()), ..o.clone() };
            // The peer shows it, and this side does; the name is the subject's.
            let of_peer = with(&world.server, trust.ca_file.as_deref());
            let of_peer = Options {
                trusted_fingerprints: trust.trusted_fingerprints.clone(),
                peer_verify: trust.peer_verify,
                ..of_peer
            };
            meet(&only(of_peer), &shown(&old), "log.example.com").expect("a client with version 1");
            meet(&only(shown(&old)), &Options { ..with_trust(&world.client, trust) }, "v1.example.com")
                .expect("a server with version 1");
        }
        refused(
            &only(Options { ca_file: Some(world.ca.clone()), ..old.clone() }),
            &with_trust(&world.client, &anchor),
            "other.example.com",
            "client",
            "belongs to another host",
        );
        refused(
            &only(world.server()),
            &Options { ca_file: Some(world.ca.clone()), ..old.clone() },
            "log.example.com",
            "server",
            "",
        );
    }
    let other = Options { key_file: Some(world.server.key.clone()), ..old };
    assert!(Acceptor::load(&other).err().expect("refused").said().contains("does not belong"));
}

fn with_trust(identity: &crate::testing::Identity, trust: &Options) -> Options {
    Options {
        trusted_fingerprints: trust.trusted_fingerprints.clone(),
        peer_verify: trust.peer_verify,
        ..with(identity, trust.ca_file.as_deref())
    }
}

#[test]
fn dates_can_be_left_out() {
    let world = world();
    let careless = Options { check_validity: false, ..world.server() };
    for (name, year) in [("past", 2001), ("long-past", 1980)] {
        let identity =
            world.authority.identity(world.path(), name, &["x"], |p| p.not_after = date_time_ymd(year, 1, 1));
        meet(&careless, &with(&identity, Some(&world.ca)), "log.example.com").expect("dates do not count");
    }
    let future = world
        .authority
        .identity(world.path(), "future", &["x"], |p| p.not_before = date_time_ymd(2500, 1, 1));
    meet(&careless, &with(&future, Some(&world.ca)), "log.example.com").expect("dates do not count");
    let stranger = crate::testing::Authority::new("other").identity(world.path(), "stranger", &["x"], |p| {
        p.not_after = date_time_ymd(2001, 1, 1);
    });
    refused(&careless, &with(&stranger, Some(&world.ca)), "log.example.com", "server", "no authority");
}

#[test]
fn algorithms_are_chosen() {
    let world = world();
    let suite = |name: &str| vec![crate::cipher_suite(name).expect("a suite")];
    // Without a list the cheaper of the good ones.
    let (server, _) = meet(&world.server(), &world.client(), "log.example.com").expect("a session");
    assert_eq!(server.described(), "TLS 1.3 TLS13_AES_128_GCM_SHA256");
    let list = Options { cipher_suites: suite("TLS_AES_256_GCM_SHA384"), ..world.server() };
    let (server, _) = meet(&list, &world.client(), "log.example.com").expect("a session");
    assert_eq!(server.described(), "TLS 1.3 TLS13_AES_256_GCM_SHA384");
    let schemes = vec![SignatureScheme::ECDSA_NISTP256_SHA256];
    let strict = Options {
        sigalgs: schemes.clone(),
        client_sigalgs: schemes,
        groups: vec![crate::group("prime256v1").expect("a curve")],
        ..world.server()
    };
    meet(&strict, &world.client(), "log.example.com").expect("both know these");
}
