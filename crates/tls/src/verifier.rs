//! Whom to trust: `peer-verify()`, authorities, revocation lists, fingerprints and subjects, and the name of a server.

use crate::certificate::Certificate;
use crate::fingerprint::Fingerprint;
use crate::names;
use crate::options::Options;
use crate::{material, reason};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, OtherError, RootCertStore,
    SignatureScheme,
};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use std::sync::Arc;

/// What both sides check a certificate with.
#[derive(Debug)]
struct Trust {
    trusted: bool,
    check_name: bool,
    /// Certificates of the authorities. A peer that shows one of these itself is trusted too: it is its own authority, as
    /// with certificates made by one command.
    pinned: Vec<CertificateDer<'static>>,
    keys: Vec<Fingerprint>,
    names: Vec<String>,
    algorithms: WebPkiSupportedAlgorithms,
}

/// Checks peers of sources.
#[derive(Debug)]
pub struct ClientVerifier {
    trust: Trust,
    asked: bool,
    required: bool,
    /// `None` when there is no authority: nobody is trusted.
    chain: Option<Arc<dyn ClientCertVerifier>>,
    hints: Vec<DistinguishedName>,
}

/// Checks servers of destinations.
#[derive(Debug)]
pub struct ServerVerifier {
    trust: Trust,
    chain: Option<Arc<WebPkiServerVerifier>>,
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

fn roots(authorities: &[CertificateDer<'static>]) -> Result<Arc<RootCertStore>, String> {
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(authorities.iter().cloned());
    match added == 0 && !authorities.is_empty() {
        true => Err("none of the certificates of ca-file() and ca-dir() can be read".to_owned()),
        false => Ok(Arc::new(roots)),
    }
}

impl Trust {
    fn new(options: &Options, pinned: Vec<CertificateDer<'static>>, provider: &CryptoProvider) -> Trust {
        Trust {
            trusted: options.peer_verify.trusted,
            check_name: options.check_name,
            pinned,
            keys: options.trusted_keys.clone(),
            names: options.trusted_dn.clone(),
            algorithms: provider.signature_verification_algorithms,
        }
    }

    /// Whether the peer shows one of the authorities' own certificates; then only its dates are left to look at.
    fn pinned(&self, leaf: &CertificateDer<'_>, now: UnixTime) -> Result<bool, Error> {
        if !self.pinned.iter().any(|known| known.as_ref() == leaf.as_ref()) {
            return Ok(false);
        }
        let read = Certificate::read(leaf).ok_or(CertificateError::BadEncoding)?;
        match i64::try_from(now.as_secs()).unwrap_or(i64::MAX) {
            now if now > read.not_after => Err(CertificateError::Expired.into()),
            now if now < read.not_before => Err(CertificateError::NotValidYet.into()),
            _ => Ok(true),
        }
    }

    /// `trusted-keys()` and `trusted-dn()`: both must match when both are given.
    fn wanted(&self, leaf: &CertificateDer<'_>) -> Result<(), Error> {
        if !self.keys.is_empty() && !self.keys.iter().any(|key| key.matches(leaf)) {
            let print = Fingerprint::sha1(leaf);
            return Err(unwanted(format!("its fingerprint {print} is not among trusted-keys()")));
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
}

impl ClientVerifier {
    pub fn new(options: &Options, provider: &Arc<CryptoProvider>) -> Result<ClientVerifier, String> {
        let authorities = material::authorities(options.ca_file.as_deref(), options.ca_dir.as_deref())?;
        let lists = material::revocation_lists(options.crl_dir.as_deref())?;
        let roots = roots(&authorities)?;
        let hints = roots.subjects();
        let chain = match roots.is_empty() {
            true => None,
            false => {
                let builder = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(provider));
                let builder = builder.with_crls(lists).enforce_revocation_expiration();
                Some(builder.build().map_err(|error| reason::builder(&error))?)
            }
        };
        let verify = options.peer_verify;
        Ok(ClientVerifier {
            trust: Trust::new(options, authorities, provider),
            asked: verify.asked,
            required: verify.required,
            chain,
            hints,
        })
    }
}

impl ServerVerifier {
    pub fn new(options: &Options, provider: &Arc<CryptoProvider>) -> Result<ServerVerifier, String> {
        let authorities = material::authorities(options.ca_file.as_deref(), options.ca_dir.as_deref())?;
        let lists = material::revocation_lists(options.crl_dir.as_deref())?;
        let roots = roots(&authorities)?;
        let chain = match roots.is_empty() {
            true => None,
            false => {
                let builder = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(provider));
                let builder = builder.with_crls(lists).enforce_revocation_expiration();
                Some(builder.build().map_err(|error| reason::builder(&error))?)
            }
        };
        Ok(ServerVerifier { trust: Trust::new(options, authorities, provider), chain })
    }

    /// The chain, and with it the name when it stands among the alternative names. Whether the name is still to be checked
    /// against the subject.
    fn chain(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<(), Error> {
        let named = match self.trust.pinned(leaf, now)? {
            true => verify_server_name(&ParsedCertificate::try_from(leaf)?, name),
            false => {
                let chain = self.chain.as_ref().ok_or(CertificateError::UnknownIssuer)?;
                chain.verify_server_cert(leaf, intermediates, name, ocsp, now).map(drop)
            }
        };
        match named {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.trust.check_name || subject_names(leaf, name) => Ok(()),
            other => other,
        }
    }
}

/// Certificates without alternative names say the host in their subject.
fn subject_names(leaf: &CertificateDer<'_>, name: &ServerName<'_>) -> bool {
    Certificate::read(leaf)
        .is_some_and(|read| !read.has_alternative_names && names::is_host(read.common_name(), &name.to_str()))
}

impl ClientCertVerifier for ClientVerifier {
    fn offer_client_auth(&self) -> bool {
        self.asked
    }

    fn client_auth_mandatory(&self) -> bool {
        self.required
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.hints
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        if self.trust.trusted {
            if !self.trust.pinned(end_entity, now)? {
                let chain = self.chain.as_ref().ok_or(CertificateError::UnknownIssuer)?;
                chain.verify_client_cert(end_entity, intermediates, now)?;
            }
            self.trust.wanted(end_entity)?;
        }
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.trust.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.trust.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.trust.algorithms.supported_schemes()
    }
}

impl ServerCertVerifier for ServerVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.trust.trusted {
            self.chain(end_entity, intermediates, server_name, ocsp_response, now)?;
            self.trust.wanted(end_entity)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.trust.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.trust.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.trust.algorithms.supported_schemes()
    }
}
