//! `ocsp-stapling-verify()`: the answer of an OCSP responder that a server staples to its certificate (RFC
//! 8446 section 4.4.2.1), read and checked as RFC 6960 section 3.2 wants. A server that staples nothing is
//! refused too: otherwise whoever has a revoked key would leave the answer out.

mod answer;
mod status;

use crate::reason;
use answer::Answer;
use diag::Fault;
use rustls::RootCertStore;
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer, TrustAnchor, UnixTime};
use status::Asked;
use std::sync::Arc;
use webpki::{
    CertRevocationList, EndEntityCert, ExpirationPolicy, KeyUsage, OwnedCertRevocationList,
    RevocationOptionsBuilder, UnknownStatusPolicy, anchor_from_trusted_cert,
};

/// Certificates of an answer that are tried as its signer's; more than one is unusual.
const SIGNERS_MAX: usize = 4;
/// id-kp-OCSPSigning, 1.3.6.1.5.5.7.3.9.
const OCSP_SIGNING: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3, 9];

/// Why an answer does not count. `reason.rs` has the words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    Missing,
    Unreadable,
    /// The responder itself says that it has no answer.
    NoAnswer(&'static str),
    /// Nobody knows who has issued the certificate, so nobody may answer for it.
    NoIssuer,
    /// About another certificate.
    Other,
    /// Signed by neither the issuer nor somebody it has empowered.
    WrongSigner,
    WrongSignature,
    WeakSignature,
    NotUnderstood,
    NotYet,
    OutOfDate,
    Revoked,
    Unknown,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&reason::staple(self))
    }
}

impl std::error::Error for Refused {}

/// What answers are checked with.
#[derive(Debug)]
pub struct Staples {
    roots: Arc<RootCertStore>,
    /// Those of `crl-dir()`: who may answer may have been revoked itself.
    lists: Vec<CertRevocationList<'static>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Staples {
    pub fn new(
        roots: Arc<RootCertStore>,
        lists: &[CertificateRevocationListDer<'static>],
        algorithms: WebPkiSupportedAlgorithms,
    ) -> Result<Staples, Fault> {
        let lists: Result<Vec<CertRevocationList<'static>>, _> =
            lists.iter().map(|der| OwnedCertRevocationList::from_der(der).map(Into::into)).collect();
        let lists = lists.map_err(|error| format!("a revocation list of crl-dir() cannot be used: {error}"));
        let lists = lists.map_err(Fault::misconfigured)?;
        Ok(Staples { roots, lists, algorithms })
    }

    /// Whether `answer` says that this certificate is good. `at` is the moment for the dates of the chain,
    /// `now` for all others.
    pub fn check(
        &self,
        leaf: &CertificateDer<'_>,
        above: &[CertificateDer<'_>],
        answer: &[u8],
        at: UnixTime,
        now: UnixTime,
    ) -> Result<(), Refused> {
        if answer.is_empty() {
            return Err(Refused::Missing);
        }
        let answer = Answer::read(answer)?;
        let leaf = EndEntityCert::try_from(leaf).map_err(|_| Refused::NoIssuer)?;
        let issuer = self.issuer(&leaf, above, at)?;
        self.signature(&answer, &issuer, now)?;
        Asked::new(&leaf, &issuer).ok_or(Refused::NoIssuer)?.status(&answer.data, now)
    }

    /// Who has signed the certificate, by a chain to an authority that is trusted. A certificate of the same
    /// name as its issuer is its own: it comes this far only when it is trusted by itself, or when nobody
    /// looks who is.
    fn issuer(
        &self,
        leaf: &EndEntityCert<'_>,
        above: &[CertificateDer<'_>],
        at: UnixTime,
    ) -> Result<TrustAnchor<'static>, Refused> {
        let usage = KeyUsage::server_auth();
        let path =
            leaf.verify_for_usage(self.algorithms.all, &self.roots.roots, above, at, usage, None, None);
        let Ok(path) = path else {
            return match leaf.issuer() == leaf.subject() {
                true => anchor(&leaf.der()),
                false => Err(Refused::NoIssuer),
            };
        };
        match path.intermediate_certificates().next() {
            Some(issuer) => anchor(&issuer.der()),
            None => Ok(path.anchor().to_owned()),
        }
    }

    /// RFC 6960 section 4.2.2.2: the issuer signs, or somebody whose certificate from the issuer says that he
    /// may.
    fn signature(&self, answer: &Answer, issuer: &TrustAnchor<'_>, now: UnixTime) -> Result<(), Refused> {
        if answer.is_of(&issuer.subject, &issuer.subject_public_key_info) {
            return answer.signed_with(&issuer.subject_public_key_info, &self.algorithms);
        }
        let mut refused = Refused::WrongSigner;
        for der in answer.certificates.iter().take(SIGNERS_MAX) {
            let Ok(signer) = EndEntityCert::try_from(der) else { continue };
            let Ok(own) = anchor_from_trusted_cert(der) else { continue };
            if !answer.is_of(&own.subject, &own.subject_public_key_info) || !self.may(&signer, issuer, now) {
                continue;
            }
            match answer.signed_with(&own.subject_public_key_info, &self.algorithms) {
                Ok(()) => return Ok(()),
                Err(error) => refused = error,
            }
        }
        Err(refused)
    }

    fn may(&self, signer: &EndEntityCert<'_>, issuer: &TrustAnchor<'_>, now: UnixTime) -> bool {
        let lists: Vec<&CertRevocationList<'_>> = self.lists.iter().collect();
        let revocation = RevocationOptionsBuilder::new(&lists).ok().map(|builder| {
            let builder = builder.with_status_policy(UnknownStatusPolicy::Allow);
            builder.with_expiration_policy(ExpirationPolicy::Enforce).build()
        });
        let (usage, anchors) = (KeyUsage::required(OCSP_SIGNING), [issuer.clone()]);
        let path = signer.verify_for_usage(self.algorithms.all, &anchors, &[], now, usage, revocation, None);
        path.is_ok()
    }
}

fn anchor(der: &CertificateDer<'_>) -> Result<TrustAnchor<'static>, Refused> {
    anchor_from_trusted_cert(der).map(|anchor| anchor.to_owned()).map_err(|_| Refused::NoIssuer)
}

#[cfg(test)]
mod tests;
