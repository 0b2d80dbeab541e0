//! Which certificates are good, beside the chain to an authority: fingerprints, subjects, dates.

use crate::certificate::{Certificate, Use};
use crate::fingerprint::Fingerprint;
use crate::names;
use crate::options::Options;
use diag::Fault;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, PeerMisbehaved, RootCertStore,
    SignatureScheme,
};
use rustls_pki_types::{CertificateDer, SubjectPublicKeyInfoDer, UnixTime};
use std::sync::Arc;
use std::time::Duration;
use webpki::RawPublicKeyEntity;

/// How a version of TLS has its handshake signed: message, certificate, signature, what can be verified.
pub type Verify = fn(
    &[u8],
    &CertificateDer<'_>,
    &DigitallySignedStruct,
    &WebPkiSupportedAlgorithms,
) -> Result<HandshakeSignatureValid, Error>;

/// The same with a key that stands in no certificate the library reads.
pub type VerifyBare = fn(
    &[u8],
    &SubjectPublicKeyInfoDer<'_>,
    &DigitallySignedStruct,
    &WebPkiSupportedAlgorithms,
) -> Result<HandshakeSignatureValid, Error>;

/// The rule of TLS 1.2 for a bare key; the library has one for TLS 1.3 only. With elliptic curves one scheme
/// stands for several algorithms, by the key's curve (RFC 8422 section 5.10), so each is tried.
pub fn verify_tls12_with_key(
    message: &[u8],
    key: &SubjectPublicKeyInfoDer<'_>,
    signature: &DigitallySignedStruct,
    algorithms: &WebPkiSupportedAlgorithms,
) -> Result<HandshakeSignatureValid, Error> {
    let key = RawPublicKeyEntity::try_from(key).map_err(|_| CertificateError::BadEncoding)?;
    let known = algorithms.mapping.iter().filter(|(scheme, _)| *scheme == signature.scheme);
    let mut all = known.flat_map(|(_, all)| all.iter());
    match all.any(|algorithm| key.verify_signature(*algorithm, message, signature.signature()).is_ok()) {
        true => Ok(HandshakeSignatureValid::assertion()),
        false => Err(CertificateError::BadSignature.into()),
    }
}

/// What both sides check a certificate with.
#[derive(Debug)]
pub struct Trust {
    pub trusted: bool,
    pub check_name: bool,
    check_validity: bool,
    /// Certificates of the authorities. A peer that shows one of these itself is trusted too: it is its own
    /// authority, as with certificates made by one command.
    pinned: Vec<CertificateDer<'static>>,
    fingerprints: Vec<Fingerprint>,
    keys: Vec<Fingerprint>,
    names: Vec<String>,
    /// What the certificate must say that it is made for.
    usage: Option<Use>,
    algorithms: WebPkiSupportedAlgorithms,
    /// Signatures of the handshake that are taken.
    schemes: Vec<SignatureScheme>,
}

/// Why a certificate with a good chain is not wanted.
#[derive(Debug)]
pub struct Unwanted(pub String);

impl std::fmt::Display for Unwanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unwanted {}

fn unwanted(text: String) -> Error {
    CertificateError::Other(OtherError(Arc::new(Unwanted(text)))).into()
}

/// RSA keys below this are not taken: the library cannot verify with them.
const RSA_BITS_MIN: usize = 2048;

/// The handshake is not signed with the certificate's key, or not with one that is good enough.
fn not_its_own(cert: &CertificateDer<'_>, error: Error) -> Error {
    let bits = Certificate::read(cert).and_then(|read| read.rsa_bits);
    match (bits, &error) {
        (Some(bits), _) if bits < RSA_BITS_MIN => {
            unwanted(format!("its key is too weak: RSA with {bits} bits, {RSA_BITS_MIN} are the least"))
        }
        (_, Error::InvalidCertificate(CertificateError::BadSignature)) => {
            unwanted("whoever shows it does not have its key".to_owned())
        }
        _ => error,
    }
}

pub fn roots(authorities: &[CertificateDer<'static>]) -> Result<Arc<RootCertStore>, Fault> {
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(authorities.iter().cloned());
    match added == 0 && !authorities.is_empty() {
        true => Err(Fault::misconfigured("none of the certificates of ca-file() and ca-dir() can be read")),
        false => Ok(Arc::new(roots)),
    }
}

impl Trust {
    /// `wanted` are the signatures the options allow for this side; empty: all there are. `peer` is what the
    /// other side is.
    pub fn new(
        options: &Options,
        pinned: Vec<CertificateDer<'static>>,
        provider: &CryptoProvider,
        wanted: &[SignatureScheme],
        peer: Use,
    ) -> Trust {
        let algorithms = provider.signature_verification_algorithms;
        let mut schemes = algorithms.supported_schemes();
        schemes.retain(|scheme| wanted.is_empty() || wanted.contains(scheme));
        Trust {
            trusted: options.peer_verify.trusted,
            check_name: options.check_name,
            check_validity: options.check_validity,
            pinned,
            fingerprints: options.trusted_fingerprints.clone(),
            keys: options.trusted_keys.clone(),
            names: options.trusted_dn.clone(),
            usage: options.extended_key_usage_verify.then_some(peer),
            algorithms,
            schemes,
        }
    }

    /// Whether the certificate is good without an authority: it is one of the authorities' own, or in
    /// `trusted-fingerprints()`. Then only its dates are left to look at.
    pub fn alone(&self, leaf: &CertificateDer<'_>, now: UnixTime) -> Result<bool, Error> {
        let known = self.pinned.iter().any(|known| known.as_ref() == leaf.as_ref())
            || self.fingerprints.iter().any(|print| print.matches(leaf));
        if !known || !self.check_validity {
            return Ok(known);
        }
        let read = Certificate::read(leaf).ok_or(CertificateError::BadEncoding)?;
        match i64::try_from(now.as_secs()).unwrap_or(i64::MAX) {
            now if now > read.not_after => Err(CertificateError::Expired.into()),
            now if now < read.not_before => Err(CertificateError::NotValidYet.into()),
            _ => Ok(true),
        }
    }

    /// `trusted-keys()`, `trusted-dn()` and `extended-key-usage-verify()`: all that are given must match.
    pub fn wanted(&self, leaf: &CertificateDer<'_>) -> Result<(), Error> {
        if !self.keys.is_empty() && !self.keys.iter().any(|key| key.matches(leaf)) {
            let print = Fingerprint::sha1(leaf);
            return Err(unwanted(format!("its fingerprint {print} is not among trusted-keys()")));
        }
        if let Some(usage) = self.usage {
            let read = Certificate::read(leaf).ok_or(CertificateError::BadEncoding)?;
            if !read.is_for(usage) {
                let whom = if usage == Use::Server { "servers" } else { "clients" };
                return Err(unwanted(format!(
                    "it does not say that it is made for {whom}, and extended-key-usage-verify() wants that"
                )));
            }
        }
        if !self.names.is_empty() {
            let read = Certificate::read(leaf).ok_or(CertificateError::BadEncoding)?;
            let name = read.distinguished_name();
            if !self.names.iter().any(|pattern| names::glob(pattern, &name)) {
                return Err(unwanted(format!("its subject `{name}` matches none of trusted-dn()")));
            }
        }
        Ok(())
    }

    /// An unknown authority, in words that fit what was to make it known.
    pub fn stranger(&self, leaf: &CertificateDer<'_>, error: Error) -> Error {
        if self.fingerprints.is_empty() || error != Error::InvalidCertificate(CertificateError::UnknownIssuer)
        {
            return error;
        }
        let print = Fingerprint::sha256(leaf);
        unwanted(format!(
            "its fingerprint {print} is not among trusted-fingerprints(), and no authority of ca-file() or ca-dir() has signed it"
        ))
    }

    /// The moment at which the dates of a chain are looked at: now, or, with `ignore-validity-period`, one at
    /// which all of it was valid.
    pub fn moment(
        &self,
        leaf: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> UnixTime {
        if self.check_validity {
            return now;
        }
        let mut at = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        let dates: Vec<_> =
            std::iter::once(leaf).chain(others).filter_map(|der| Certificate::read(der)).collect();
        at = dates.iter().fold(at, |at, read| at.min(read.not_after));
        at = dates.iter().fold(at, |at, read| at.max(read.not_before));
        UnixTime::since_unix_epoch(Duration::from_secs(u64::try_from(at).unwrap_or(0)))
    }

    pub fn schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }

    /// Whether the handshake is signed with the certificate's key; `verify` is the rule of the version,
    /// `bare` the same for a key alone.
    pub fn signed(
        &self,
        (verify, bare): (Verify, VerifyBare),
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if !self.schemes.contains(&signature.scheme) {
            return Err(PeerMisbehaved::SignedHandshakeWithUnadvertisedSigScheme.into());
        }
        let verified = match Certificate::key_of_version_1(cert) {
            Some(key) => bare(message, &SubjectPublicKeyInfoDer::from(key), signature, &self.algorithms),
            None => verify(message, cert, signature, &self.algorithms),
        };
        verified.map_err(|error| not_its_own(cert, error))
    }
}
