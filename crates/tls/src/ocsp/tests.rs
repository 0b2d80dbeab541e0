//! Answers of every kind against the certificate they are for.

use super::{Refused, Staples};
use crate::testing::Authority;
use crate::testing::answers::{NOW, Said, Signer, answer, revoked};
use rcgen::{ExtendedKeyUsagePurpose, SerialNumber, date_time_ymd};
use rustls::RootCertStore;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer, UnixTime};
use std::sync::Arc;
use std::time::Duration;
use x509_ocsp::{CertStatus, OcspResponse};

struct World {
    authority: Authority,
    leaf: CertificateDer<'static>,
    folder: tempfile::TempDir,
}

fn world() -> World {
    let folder = tempfile::tempdir().expect("a folder");
    let authority = Authority::new("ocsp authority");
    let leaf = authority.identity(folder.path(), "server", &["log.example.com"], |_| {});
    World { authority, leaf: CertificateDer::from(leaf.der), folder }
}

fn staples(roots: &[&[u8]], lists: &[CertificateRevocationListDer<'static>]) -> Staples {
    let mut store = RootCertStore::empty();
    for root in roots {
        store.add(CertificateDer::from(root.to_vec())).expect("a root");
    }
    let algorithms = rustls::crypto::ring::default_provider().signature_verification_algorithms;
    Staples::new(Arc::new(store), lists, algorithms).expect("staples")
}

fn now() -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(NOW))
}

impl World {
    fn root(&self) -> &[u8] {
        self.authority.certificate.der()
    }

    fn said(&self, said: &Said) -> Vec<u8> {
        answer(said, &self.leaf, self.root(), &self.authority.signer(), &[])
    }

    /// What another one says in the authority's name.
    fn delegated(&self, said: &Said, certificate: &[u8], key: &rcgen::KeyPair) -> Vec<u8> {
        answer(said, &self.leaf, self.root(), &Signer { certificate, key }, &[certificate])
    }

    fn check(&self, answer: &[u8]) -> Result<(), Refused> {
        staples(&[self.root()], &[]).check(&self.leaf, &[], answer, now(), now())
    }
}

#[test]
fn good_answers() {
    let world = world();
    for sha256 in [false, true] {
        for by_key in [false, true] {
            let said = Said { sha256, by_key, ..Said::default() };
            assert_eq!(world.check(&world.said(&said)), Ok(()), "{sha256} {by_key}");
            let (certificate, key) = world.authority.responder(|_| {});
            assert_eq!(world.check(&world.delegated(&said, &certificate, &key)), Ok(()), "{sha256} {by_key}");
        }
    }
    // Clocks may be five minutes apart, and an answer without an end holds for a day.
    let close = [(NOW + 299, Some(NOW + 600)), (NOW - 600, Some(NOW - 299)), (NOW - 86_400, None)];
    for (from, until) in close {
        assert_eq!(world.check(&world.said(&Said { from, until, ..Said::default() })), Ok(()));
    }
}

#[test]
fn bad_answers() {
    let world = world();
    let unknown = CertStatus::unknown();
    let cases = [
        (Refused::Revoked, Said { status: revoked(), ..Said::default() }),
        // Revoked is revoked, whatever the time is.
        (Refused::Revoked, Said { status: revoked(), until: Some(NOW - 900), ..Said::default() }),
        (Refused::Unknown, Said { status: unknown, ..Said::default() }),
        (Refused::OutOfDate, Said { until: Some(NOW - 301), ..Said::default() }),
        (Refused::OutOfDate, Said { from: NOW - 86_701, until: None, ..Said::default() }),
        (Refused::OutOfDate, Said { from: NOW, until: Some(NOW - 1), ..Said::default() }),
        (Refused::NotYet, Said { from: NOW + 301, ..Said::default() }),
        (Refused::Other, Said { serial: Some(7), ..Said::default() }),
        (Refused::Other, Said { other_name: true, ..Said::default() }),
        (Refused::Other, Said { other_key: true, ..Said::default() }),
        (Refused::NotUnderstood, Said { critical: true, ..Said::default() }),
        (Refused::WeakSignature, Said { weak: true, ..Said::default() }),
    ];
    for (at, (expected, said)) in cases.iter().enumerate() {
        assert_eq!(world.check(&world.said(said)).as_ref(), Err(expected), "{at}");
    }
    assert_eq!(world.check(b""), Err(Refused::Missing));
    assert_eq!(world.check(b"no answer"), Err(Refused::Unreadable));
    for (answer, why) in [
        (OcspResponse::try_later(), "try later"),
        (OcspResponse::unauthorized(), "unauthorized"),
        (OcspResponse::internal_error(), "internal error"),
        (OcspResponse::malformed_request(), "malformed request"),
        (OcspResponse::sig_required(), "signature required"),
    ] {
        let bytes = pkcs8::der::Encode::to_der(&answer).expect("DER");
        assert_eq!(world.check(&bytes), Err(Refused::NoAnswer(why)));
    }
    let mut tail = world.said(&Said::default());
    tail.push(0);
    assert_eq!(world.check(&tail), Err(Refused::Unreadable));
}

#[test]
fn who_may_sign() {
    let world = world();
    let good = Said::default();
    let other = Authority::new("ocsp authority");
    // Of the same name, and with another key.
    let forged = answer(&good, &world.leaf, world.root(), &other.signer(), &[]);
    assert_eq!(world.check(&forged), Err(Refused::WrongSignature));
    let stranger = Authority::new("stranger");
    let foreign = answer(&good, &world.leaf, world.root(), &stranger.signer(), &[]);
    assert_eq!(world.check(&foreign), Err(Refused::WrongSigner));
    let wrong = |certificate: &[u8], key: &rcgen::KeyPair| {
        assert_eq!(world.check(&world.delegated(&good, certificate, key)), Err(Refused::WrongSigner));
    };
    // Not made for it, not any more, or made by somebody else.
    let (certificate, key) =
        world.authority.responder(|p| p.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth]);
    wrong(&certificate, &key);
    let (certificate, key) = world.authority.responder(|p| p.extended_key_usages = Vec::new());
    wrong(&certificate, &key);
    let (certificate, key) = world.authority.responder(|p| p.not_after = date_time_ymd(2029, 1, 1));
    wrong(&certificate, &key);
    let (certificate, key) = stranger.responder(|_| {});
    wrong(&certificate, &key);
    let (certificate, key) = other.responder(|_| {});
    wrong(&certificate, &key);
    // The leaf answers for itself, or an authority beside the issuer does.
    let own = std::fs::read_to_string(world.folder.path().join("server.key")).expect("a key");
    let own = rcgen::KeyPair::from_pem(&own).expect("a key");
    wrong(&world.leaf, &own);
    let beside = world.authority.below("beside", |_| {});
    wrong(beside.certificate.der(), beside.key());
    // A good responder's certificate beside another's signature.
    let (certificate, _) = world.authority.responder(|_| {});
    let another = rcgen::KeyPair::generate().expect("a key");
    let bad = world.delegated(&good, &certificate, &another);
    assert_eq!(world.check(&bad), Err(Refused::WrongSignature));
    // Without its certificate nobody knows whether it may.
    let (certificate, key) = world.authority.responder(|_| {});
    let bare =
        answer(&good, &world.leaf, world.root(), &Signer { certificate: &certificate, key: &key }, &[]);
    assert_eq!(world.check(&bare), Err(Refused::WrongSigner));
}

#[test]
fn a_responder_that_was_revoked_itself() {
    let world = world();
    let dir = world.authority.revoke(world.folder.path(), 99);
    let list = CertificateRevocationListDer::from_pem_file(dir.join("list.pem")).expect("a list");
    let staples = staples(&[world.root()], &[list]);
    for (number, expected) in [(98u64, Ok(())), (99, Err(Refused::WrongSigner))] {
        let (certificate, key) =
            world.authority.responder(|p| p.serial_number = Some(SerialNumber::from(number)));
        let answer = world.delegated(&Said::default(), &certificate, &key);
        assert_eq!(staples.check(&world.leaf, &[], &answer, now(), now()), expected, "{number}");
    }
}

#[test]
fn issuers_in_a_chain() {
    let world = world();
    let good = Said::default();
    let middle = world.authority.below("middle", |_| {});
    let above = [middle.certificate.der().clone()];
    let leaf = middle.identity(world.folder.path(), "deep", &["log.example.com"], |_| {});
    let leaf = CertificateDer::from(leaf.der);
    let staples = staples(&[world.root()], &[]);
    let by = |authority: &Authority| answer(&good, &leaf, &above[0], &authority.signer(), &[]);
    let check =
        |above: &[CertificateDer<'_>], answer: &[u8]| staples.check(&leaf, above, answer, now(), now());
    assert_eq!(check(&above, &by(&middle)), Ok(()));
    // The root did not issue it; and without a chain nobody has.
    assert_eq!(check(&above, &by(&world.authority)), Err(Refused::WrongSigner));
    assert_eq!(check(&[], &by(&middle)), Err(Refused::NoIssuer));
    // Who is his own issuer answers for himself.
    let own = Authority::new("own.example.com");
    let der = own.certificate.der();
    let itself = answer(&good, der, der, &own.signer(), &[]);
    assert_eq!(staples.check(der, &[], &itself, now(), now()), Ok(()));
}

/// Every byte of an answer counts.
#[test]
fn changed_answers_are_never_taken() {
    let world = world();
    let (certificate, key) = world.authority.responder(|_| {});
    let staples = staples(&[world.root()], &[]);
    let answers = [world.said(&Said::default()), world.delegated(&Said::default(), &certificate, &key)];
    for (which, good) in answers.iter().enumerate() {
        let check = |answer: &[u8]| staples.check(&world.leaf, &[], answer, now(), now());
        assert_eq!(check(good), Ok(()));
        let mut bad = good.clone();
        for at in 0..good.len() {
            for change in [1, 2, 4, 8, 16, 32, 64, 128, 255] {
                bad[at] ^= change;
                assert!(check(&bad).is_err(), "answer {which}, byte {at} changed by {change}");
                bad[at] ^= change;
            }
            assert!(check(&good[..at]).is_err(), "answer {which} cut at {at}");
            let mut more = good.clone();
            more.insert(at, 0);
            assert!(check(&more).is_err(), "answer {which}, a byte more at {at}");
        }
    }
}
