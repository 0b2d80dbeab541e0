//! Whom to trust, as rustls asks it: peers of sources, servers of destinations.

use crate::certificate::{Certificate, Use};
use crate::ocsp::Staples;
use crate::options::Options;
use crate::trust::{Trust, roots, verify_tls12_with_key};
use crate::{material, names, reason};
use diag::Fault;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{
    CryptoProvider, verify_tls12_signature, verify_tls13_signature, verify_tls13_signature_with_raw_key,
};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, OtherError, SignatureScheme,
};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use std::sync::Arc;

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
    staples: Option<Staples>,
}

/// The authorities: those of the options, and those that came with the own certificate.
fn authorities(
    options: &Options,
    beside: &[CertificateDer<'static>],
) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let mut all = material::authorities(options.ca_file.as_deref(), options.ca_dir.as_deref())?;
    all.extend(beside.iter().filter(|der| !all.contains(der)).cloned().collect::<Vec<_>>());
    Ok(all)
}

impl ClientVerifier {
    pub fn new(
        options: &Options,
        beside: &[CertificateDer<'static>],
        provider: &Arc<CryptoProvider>,
    ) -> Result<ClientVerifier, Fault> {
        let authorities = authorities(options, beside)?;
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
        let schemes = match options.client_sigalgs.is_empty() {
            true => &options.sigalgs,
            false => &options.client_sigalgs,
        };
        let trust = Trust::new(options, authorities, provider, schemes, Use::Client);
        Ok(ClientVerifier { trust, asked: verify.asked, required: verify.required, chain, hints })
    }
}

impl ServerVerifier {
    pub fn new(
        options: &Options,
        beside: &[CertificateDer<'static>],
        provider: &Arc<CryptoProvider>,
    ) -> Result<ServerVerifier, Fault> {
        let authorities = authorities(options, beside)?;
        let lists = material::revocation_lists(options.crl_dir.as_deref())?;
        let roots = roots(&authorities)?;
        let staples = match options.ocsp_stapling_verify {
            true => {
                let algorithms = provider.signature_verification_algorithms;
                Some(Staples::new(Arc::clone(&roots), &lists, algorithms)?)
            }
            false => None,
        };
        let chain = match roots.is_empty() {
            true => None,
            false => {
                let builder = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(provider));
                let builder = builder.with_crls(lists).enforce_revocation_expiration();
                Some(builder.build().map_err(|error| reason::builder(&error))?)
            }
        };
        let trust = Trust::new(options, authorities, provider, &options.sigalgs, Use::Server);
        Ok(ServerVerifier { trust, chain, staples })
    }

    /// The chain, and with it the name when it stands among the alternative names. Whether the name is still
    /// to be checked against the subject.
    fn chain(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<(), Error> {
        let named = match self.trust.alone(leaf, now)? {
            // It has no alternative names.
            true if Certificate::key_of_version_1(leaf).is_some() => {
                Err(CertificateError::NotValidForName.into())
            }
            true => verify_server_name(&ParsedCertificate::try_from(leaf)?, name),
            false => match &self.chain {
                None => Err(CertificateError::UnknownIssuer.into()),
                Some(chain) => {
                    let at = self.trust.moment(leaf, intermediates, now);
                    chain.verify_server_cert(leaf, intermediates, name, ocsp, at).map(drop)
                }
            },
        };
        match named {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.trust.check_name || subject_names(leaf, name) => Ok(()),
            other => other.map_err(|error| self.trust.stranger(leaf, error)),
        }
    }
}

/// Certificates without alternative names say the host in their subject.
fn subject_names(leaf: &CertificateDer<'_>, name: &ServerName<'_>) -> bool {
    Certificate::read(leaf)
        .is_some_and(|read| !read.has_alternative_names && names::is_host(read.common_name(), &name.to_str()))
}

/// Both sides have the handshake's signatures looked at in one way.
macro_rules! handshake_signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            message: &[u8],
            cert: &CertificateDer<'_>,
            signature: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            self.trust.signed((verify_tls12_signature, verify_tls12_with_key), message, cert, signature)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            cert: &CertificateDer<'_>,
            signature: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            self.trust.signed(
                (verify_tls13_signature, verify_tls13_signature_with_raw_key),
                message,
                cert,
                signature,
            )
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.trust.schemes()
        }
    };
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
            if !self.trust.alone(end_entity, now)? {
                let at = self.trust.moment(end_entity, intermediates, now);
                let checked = match &self.chain {
                    None => Err(CertificateError::UnknownIssuer.into()),
                    Some(chain) => chain.verify_client_cert(end_entity, intermediates, at),
                };
                checked.map_err(|error| self.trust.stranger(end_entity, error))?;
            }
            self.trust.wanted(end_entity)?;
        }
        Ok(ClientCertVerified::assertion())
    }

    handshake_signatures!();
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
        // Asked for, it is looked at in every mode of peer-verify().
        if let Some(staples) = &self.staples {
            let at = self.trust.moment(end_entity, intermediates, now);
            let checked = staples.check(end_entity, intermediates, ocsp_response, at, now);
            checked.map_err(|refused| CertificateError::Other(OtherError(Arc::new(refused))))?;
        }
        Ok(ServerCertVerified::assertion())
    }

    handshake_signatures!();
}
