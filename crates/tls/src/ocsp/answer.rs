//! An OCSP answer taken apart (RFC 6960 section 4.2.1), strictly as DER: what is signed stays the bytes that
//! came.

use super::Refused;
use pkcs8::ObjectIdentifier;
use pkcs8::der::asn1::{AnyRef, BitStringRef, ContextSpecific};
use pkcs8::der::{Decode, Encode, Reader, SliceReader, Tag, TagNumber, Tagged};
use pkcs8::spki::SubjectPublicKeyInfoRef;
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls_pki_types::{CertificateDer, SubjectPublicKeyInfoDer};
use sha1::{Digest, Sha1};
use webpki::RawPublicKeyEntity;
use x509_ocsp::{OcspResponse, OcspResponseStatus, ResponderId, ResponseData};

/// id-pkix-ocsp-basic, the only kind of answer there is.
const BASIC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.48.1.1");

pub struct Answer {
    pub data: ResponseData,
    /// Those that may show who signed.
    pub certificates: Vec<CertificateDer<'static>>,
    /// The bytes of `data` as they came.
    signed: Vec<u8>,
    /// An algorithm's identifier without its outermost tag, as webpki compares it.
    algorithm: Vec<u8>,
    signature: Vec<u8>,
}

impl Answer {
    pub fn read(bytes: &[u8]) -> Result<Answer, Refused> {
        let response = OcspResponse::from_der(bytes).map_err(|_| Refused::Unreadable)?;
        match response.response_status {
            OcspResponseStatus::Successful => {}
            OcspResponseStatus::MalformedRequest => return Err(Refused::NoAnswer("malformed request")),
            OcspResponseStatus::InternalError => return Err(Refused::NoAnswer("internal error")),
            OcspResponseStatus::TryLater => return Err(Refused::NoAnswer("try later")),
            OcspResponseStatus::SigRequired => return Err(Refused::NoAnswer("signature required")),
            OcspResponseStatus::Unauthorized => return Err(Refused::NoAnswer("unauthorized")),
        }
        match response.response_bytes {
            Some(bytes) if bytes.response_type == BASIC => {
                Answer::basic(bytes.response.as_bytes()).map_err(|_| Refused::Unreadable)
            }
            _ => Err(Refused::Unreadable),
        }
    }

    fn basic(bytes: &[u8]) -> pkcs8::der::Result<Answer> {
        let mut reader = SliceReader::new(bytes)?;
        let answer = reader.sequence(|part| {
            let signed = part.tlv_bytes()?;
            let algorithm = AnyRef::decode(part)?;
            algorithm.tag().assert_eq(Tag::Sequence)?;
            let signature = BitStringRef::decode(part)?;
            let signature = signature.as_bytes().ok_or_else(|| Tag::BitString.value_error())?;
            let certificates = ContextSpecific::<Vec<AnyRef<'_>>>::decode_explicit(part, TagNumber::N0)?;
            let certificates = certificates.map(|all| all.value).unwrap_or_default();
            let certificates: Result<Vec<_>, _> = certificates.iter().map(Encode::to_der).collect();
            Ok(Answer {
                data: ResponseData::from_der(signed)?,
                certificates: certificates?.into_iter().map(CertificateDer::from).collect(),
                signed: signed.to_vec(),
                algorithm: algorithm.value().to_vec(),
                signature: signature.to_vec(),
            })
        })?;
        reader.finish(answer)
    }

    /// Whether the answer says to come from the holder of this name and key, both without their outermost
    /// tag.
    pub fn is_of(&self, subject: &[u8], spki: &[u8]) -> bool {
        match &self.data.responder_id {
            ResponderId::ByName(name) => {
                name.to_der().is_ok_and(|name| wrapped(subject).is_some_and(|subject| subject == name))
            }
            ResponderId::ByKey(hash) => {
                key(spki).is_some_and(|key| Sha1::digest(key)[..] == *hash.as_bytes())
            }
        }
    }

    /// Whether this key made the signature.
    pub fn signed_with(&self, spki: &[u8], algorithms: &WebPkiSupportedAlgorithms) -> Result<(), Refused> {
        let spki = SubjectPublicKeyInfoDer::from(wrapped(spki).ok_or(Refused::WrongSigner)?);
        let key = RawPublicKeyEntity::try_from(&spki).map_err(|_| Refused::WrongSigner)?;
        let mut refused = Refused::WeakSignature;
        // With elliptic curves one identifier stands for several algorithms, by the key's curve.
        let named = algorithms.all.iter().filter(|known| known.signature_alg_id()[..] == self.algorithm);
        for algorithm in named {
            match key.verify_signature(*algorithm, &self.signed, &self.signature) {
                Ok(()) => return Ok(()),
                Err(_) => refused = Refused::WrongSignature,
            }
        }
        Err(refused)
    }
}

/// A sequence of these contents.
pub fn wrapped(contents: &[u8]) -> Option<Vec<u8>> {
    AnyRef::new(Tag::Sequence, contents).and_then(|any| any.to_der()).ok()
}

/// The bits of the key itself, which are what digests of keys are made of.
pub fn key(spki: &[u8]) -> Option<Vec<u8>> {
    let spki = wrapped(spki)?;
    SubjectPublicKeyInfoRef::from_der(&spki).ok().map(|spki| spki.subject_public_key.raw_bytes().to_vec())
}
