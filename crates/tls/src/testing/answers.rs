//! OCSP answers, good ones and all kinds of bad ones.

use super::Authority;
use crate::der::{Der, SEQUENCE};
use pkcs8::ObjectIdentifier;
use pkcs8::der::asn1::{BitString, GeneralizedTime, Null, OctetString};
use pkcs8::der::{Any, Decode, Encode};
use pkcs8::spki::AlgorithmIdentifierOwned;
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, SigningKey};
use sha1::{Digest, Sha1};
use sha2::Sha256;
use std::time::Duration;
use x509_ocsp::{
    BasicOcspResponse, CertId, CertStatus, OcspGeneralizedTime, OcspResponse, ResponderId, ResponseData,
    RevokedInfo, SingleResponse,
};

/// 2030-01-01, when the answers of tests are looked at.
pub const NOW: u64 = 1_893_456_000;

const ECDSA_SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.2");
const ECDSA_SHA1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.4.1");
const SHA1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.14.3.2.26");
const SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.1");

/// What stands in an answer. The default is a good one.
pub struct Said {
    pub status: CertStatus,
    pub from: u64,
    pub until: Option<u64>,
    pub sha256: bool,
    pub by_key: bool,
    /// Another number, name or key than the certificate's.
    pub serial: Option<u8>,
    pub other_name: bool,
    pub other_key: bool,
    pub critical: bool,
    /// The signature says to be of a kind that is not taken.
    pub weak: bool,
}

impl Default for Said {
    fn default() -> Said {
        Said {
            status: CertStatus::good(),
            from: NOW - 3600,
            until: Some(NOW + 3600),
            sha256: false,
            by_key: false,
            serial: None,
            other_name: false,
            other_key: false,
            critical: false,
            weak: false,
        }
    }
}

pub fn time(seconds: u64) -> OcspGeneralizedTime {
    let time = GeneralizedTime::from_unix_duration(Duration::from_secs(seconds));
    OcspGeneralizedTime(time.expect("a time"))
}

pub fn revoked() -> CertStatus {
    CertStatus::revoked(RevokedInfo { revocation_time: time(NOW - 7200), revocation_reason: None })
}

/// Who signs: name and key as they stand in a certificate.
pub struct Signer<'a> {
    pub certificate: &'a [u8],
    pub key: &'a KeyPair,
}

impl Authority {
    pub fn signer(&self) -> Signer<'_> {
        Signer { certificate: self.certificate.der(), key: self.key() }
    }

    /// A certificate for somebody who answers in this one's name.
    pub fn responder(&self, change: impl FnOnce(&mut CertificateParams)) -> (Vec<u8>, KeyPair) {
        let mut params = CertificateParams::new(Vec::<String>::new()).expect("parameters");
        params.distinguished_name.push(DnType::CommonName, "responder");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::OcspSigning];
        change(&mut params);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        (certificate.der().to_vec(), key)
    }
}

/// Serial number, issuer, subject and key of a certificate, each with its tag.
fn parts(der: &[u8]) -> [&[u8]; 4] {
    let mut tbs =
        Der(Der(Der(der).take(SEQUENCE).expect("a certificate")).take(SEQUENCE).expect("its contents"));
    tbs.next().expect("a version");
    let serial = tbs.whole(crate::der::INTEGER).expect("a number");
    tbs.next().expect("an algorithm");
    let issuer = tbs.whole(SEQUENCE).expect("an issuer");
    tbs.next().expect("dates");
    let [subject, key] = [(); 2].map(|()| tbs.whole(SEQUENCE).expect("subject and key"));
    [serial, issuer, subject, key]
}

/// The bits of a key.
fn bits(spki: &[u8]) -> Vec<u8> {
    let mut spki = Der(Der(spki).take(SEQUENCE).expect("a key"));
    spki.next().expect("an algorithm");
    spki.take(crate::der::BITS).expect("bits")[1..].to_vec()
}

/// What the signer says about a certificate that `issuer` has issued, with these certificates beside.
pub fn answer(said: &Said, leaf: &[u8], issuer: &[u8], signer: &Signer<'_>, beside: &[&[u8]]) -> Vec<u8> {
    let [serial, name, ..] = parts(leaf);
    let [.., key] = parts(issuer);
    let [.., signer_name, signer_key] = parts(signer.certificate);
    let digest = |bytes: &[u8], other: bool| {
        let bytes = if other { b"another" } else { bytes };
        let digest = if said.sha256 { Sha256::digest(bytes).to_vec() } else { Sha1::digest(bytes).to_vec() };
        OctetString::new(digest).expect("a digest")
    };
    let number = said.serial.map(|number| vec![2, 1, number]);
    let algorithm = if said.sha256 { SHA256 } else { SHA1 };
    let one = SingleResponse {
        cert_id: CertId {
            hash_algorithm: AlgorithmIdentifierOwned { oid: algorithm, parameters: Some(Any::from(Null)) },
            issuer_name_hash: digest(name, said.other_name),
            issuer_key_hash: digest(&bits(key), said.other_key),
            serial_number: Decode::from_der(number.as_deref().unwrap_or(serial)).expect("a number"),
        },
        cert_status: said.status,
        this_update: time(said.from),
        next_update: said.until.map(time),
        // 1.2.3.4, critical, with nothing in it.
        single_extensions: said.critical.then(|| {
            Decode::from_der(&[48, 12, 48, 10, 6, 3, 42, 3, 4, 1, 1, 255, 4, 0]).expect("an extension")
        }),
    };
    let data = ResponseData {
        version: Default::default(),
        responder_id: match said.by_key {
            true => ResponderId::ByKey(
                OctetString::new(Sha1::digest(bits(signer_key)).to_vec()).expect("a digest"),
            ),
            false => ResponderId::ByName(Decode::from_der(signer_name).expect("a name")),
        },
        produced_at: time(said.from),
        responses: vec![one],
        response_extensions: None,
    };
    let signature = signer.key.sign(&data.to_der().expect("DER")).expect("a signature");
    let algorithm = if said.weak { ECDSA_SHA1 } else { ECDSA_SHA256 };
    let basic = BasicOcspResponse {
        tbs_response_data: data,
        signature_algorithm: AlgorithmIdentifierOwned { oid: algorithm, parameters: None },
        signature: BitString::from_bytes(&signature).expect("bits"),
        certs: (!beside.is_empty())
            .then(|| beside.iter().map(|der| Decode::from_der(der).expect("a certificate")).collect()),
    };
    OcspResponse::successful(basic).and_then(|response| response.to_der()).expect("DER")
}
