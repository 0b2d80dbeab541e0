//! What an OCSP answer says about one certificate, and whether it still holds.

use super::Refused;
use super::answer::{key, wrapped};
use pkcs8::ObjectIdentifier;
use pkcs8::der::asn1::AnyRef;
use pkcs8::der::{Encode, Tag};
use rustls_pki_types::{TrustAnchor, UnixTime};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};
use webpki::EndEntityCert;
use x509_ocsp::{CertId, CertStatus, OcspGeneralizedTime, ResponseData, SingleResponse};

/// How far the responder's clock and this one may be apart.
const CLOCKS_APART_SECONDS: u64 = 300;
/// How long an answer holds that does not say how long: such a responder could answer anew at any moment.
const WITHOUT_END_SECONDS: u64 = 86_400;

const SHA1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.14.3.2.26");
const SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.1");
const SHA384: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.2");
const SHA512: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.3");

/// The certificate an answer is wanted for, as answers name it: by its issuer's name and key, and its number.
pub struct Asked {
    issuer_name: Vec<u8>,
    issuer_key: Vec<u8>,
    /// With tag and length.
    serial: Vec<u8>,
}

impl Asked {
    /// `None` when the issuer's key is in no known form.
    pub fn new(leaf: &EndEntityCert<'_>, issuer: &TrustAnchor<'_>) -> Option<Asked> {
        let serial = AnyRef::new(Tag::Integer, leaf.serial()).and_then(|any| any.to_der()).ok()?;
        Some(Asked {
            issuer_name: wrapped(leaf.issuer())?,
            issuer_key: key(&issuer.subject_public_key_info)?,
            serial,
        })
    }

    fn is(&self, id: &CertId) -> bool {
        let digest: fn(&[u8]) -> Vec<u8> = match id.hash_algorithm.oid {
            SHA1 => |bytes| Sha1::digest(bytes).to_vec(),
            SHA256 => |bytes| Sha256::digest(bytes).to_vec(),
            SHA384 => |bytes| Sha384::digest(bytes).to_vec(),
            SHA512 => |bytes| Sha512::digest(bytes).to_vec(),
            _ => return false,
        };
        id.serial_number.to_der().is_ok_and(|serial| serial == self.serial)
            && digest(&self.issuer_name) == id.issuer_name_hash.as_bytes()
            && digest(&self.issuer_key) == id.issuer_key_hash.as_bytes()
    }

    /// Everything the answer says about the certificate has to be good, now.
    pub fn status(&self, data: &ResponseData, now: UnixTime) -> Result<(), Refused> {
        let mut about = data.responses.iter().filter(|one| self.is(&one.cert_id)).peekable();
        if about.peek().is_none() {
            return Err(Refused::Other);
        }
        if data.response_extensions.iter().flatten().any(|extension| extension.critical) {
            return Err(Refused::NotUnderstood);
        }
        about.try_for_each(|one| good(one, now.as_secs()))
    }
}

fn good(one: &SingleResponse, now: u64) -> Result<(), Refused> {
    if matches!(one.cert_status, CertStatus::Revoked(_)) {
        return Err(Refused::Revoked);
    }
    if one.single_extensions.iter().flatten().any(|extension| extension.critical) {
        return Err(Refused::NotUnderstood);
    }
    let seconds = |time: &OcspGeneralizedTime| time.0.to_unix_duration().as_secs();
    let from = seconds(&one.this_update);
    let until = match &one.next_update {
        Some(next) => seconds(next),
        None => from.saturating_add(WITHOUT_END_SECONDS),
    };
    if from > now.saturating_add(CLOCKS_APART_SECONDS) {
        return Err(Refused::NotYet);
    }
    if until < from || until.saturating_add(CLOCKS_APART_SECONDS) < now {
        return Err(Refused::OutOfDate);
    }
    match one.cert_status {
        CertStatus::Good(_) => Ok(()),
        _ => Err(Refused::Unknown),
    }
}
