//! Why a session failed, in words an operator can act on.

use crate::ocsp::Refused;
use crate::trust::Unwanted;
use diag::Fault;
use rustls::server::VerifierBuilderError;
use rustls::{AlertDescription, CertificateError, Error, InvalidMessage, PeerIncompatible, PeerMisbehaved};

/// With whose fault it is. What the peer says of our certificate is for a person: another connection gets the
/// same answer.
pub fn session(error: &Error) -> Fault {
    let said = words(error);
    match error {
        Error::AlertReceived(
            AlertDescription::UnknownCA
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRequired
            | AlertDescription::AccessDenied,
        ) => Fault::misconfigured(said),
        Error::EncryptError | Error::FailedToGetCurrentTime | Error::FailedToGetRandomBytes => {
            Fault::local(said)
        }
        Error::InconsistentKeys(_) | Error::InvalidCertRevocationList(_) => Fault::misconfigured(said),
        Error::HandshakeNotComplete => Fault::bug(said),
        _ => Fault::peer(said),
    }
}

fn words(error: &Error) -> String {
    match error {
        Error::NoCertificatesPresented => {
            "the peer has shown no certificate, and peer-verify() requires one".to_owned()
        }
        Error::InvalidCertificate(error) => {
            format!("the certificate of the peer is refused: {}", certificate(error))
        }
        Error::AlertReceived(alert) => format!("the peer says: {}", alert_text(*alert)),
        Error::PeerIncompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
            | PeerIncompatible::SupportedVersionsExtensionRequired
            // The hello of a client from before TLS 1.2.
            | PeerIncompatible::SignatureAlgorithmsExtensionRequired
            | PeerIncompatible::Tls12NotOffered
            | PeerIncompatible::Tls12NotOfferedOrEnabled,
        ) => "the peer speaks no version of TLS that is allowed here; SSL 3, TLS 1.0 and 1.1 never are"
            .to_owned(),
        Error::PeerIncompatible(PeerIncompatible::NoCipherSuitesInCommon) => {
            "the peer offers no cipher suite that is allowed here".to_owned()
        }
        Error::PeerIncompatible(PeerIncompatible::NoKxGroupsInCommon) => {
            "no curve in common: the peer offers none of those in ecdh-curve-list()".to_owned()
        }
        Error::PeerIncompatible(
            PeerIncompatible::NoSignatureSchemesInCommon
            | PeerIncompatible::NoCertificateRequestSignatureSchemesInCommon,
        ) => "the peer takes no signature that the certificate's key can make".to_owned(),
        Error::PeerIncompatible(kind) => format!("the peer has nothing in common with this side: {kind:?}"),
        Error::PeerMisbehaved(PeerMisbehaved::SignedHandshakeWithUnadvertisedSigScheme) => {
            "the peer signed its handshake in a way that was not offered".to_owned()
        }
        Error::PeerMisbehaved(PeerMisbehaved::TooManyWarningAlertsReceived) => {
            "the peer sends warning after warning".to_owned()
        }
        Error::PeerMisbehaved(PeerMisbehaved::TooManyRenegotiationRequests) => {
            "the peer wants to negotiate again and again".to_owned()
        }
        Error::PeerMisbehaved(kind) => format!("the peer does not follow the protocol: {kind:?}"),
        Error::InappropriateMessage { .. } | Error::InappropriateHandshakeMessage { .. } => {
            format!("the peer does not follow the protocol: {error}")
        }
        Error::InvalidMessage(
            InvalidMessage::InvalidContentType
            | InvalidMessage::UnknownProtocolVersion
            | InvalidMessage::InvalidEmptyPayload
            | InvalidMessage::MessageTooLarge,
        ) => "what the peer sends is not TLS; perhaps it sends in the clear".to_owned(),
        Error::InvalidMessage(InvalidMessage::HandshakePayloadTooLarge) => {
            "a message of the handshake is too long".to_owned()
        }
        Error::InvalidMessage(kind) => format!("the handshake cannot be read: {kind:?}"),
        Error::DecryptError => "a record cannot be decrypted: it was changed on its way".to_owned(),
        other => other.to_string(),
    }
}

fn certificate(error: &CertificateError) -> String {
    let known = match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => "it is not valid yet",
        CertificateError::UnknownIssuer => "no authority of ca-file() or ca-dir() has signed it",
        CertificateError::BadSignature => "its signature is wrong",
        CertificateError::Revoked => "it has been revoked",
        CertificateError::UnknownRevocationStatus => "crl-dir() has no revocation list of its authority",
        CertificateError::ExpiredRevocationList | CertificateError::ExpiredRevocationListContext { .. } => {
            "the revocation list of its authority is out of date"
        }
        CertificateError::BadEncoding => "it cannot be read",
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "it is not made for this use (extended key usage)"
        }
        CertificateError::UnsupportedSignatureAlgorithmContext { .. }
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            "its key or signature is of a kind that is too weak or not supported"
        }
        CertificateError::NotValidForName => "it belongs to another host",
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names: Vec<&str> = presented.iter().map(|name| bare(name)).collect();
            let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return format!(
                "it belongs to another host: `{}` is wanted, its names: {names}",
                expected.to_str()
            );
        }
        CertificateError::Other(other) => {
            // Those of this crate are words already.
            return match other.0.is::<Unwanted>() || other.0.is::<Refused>() {
                true => other.0.to_string(),
                false => chain(&other.to_string()),
            };
        }
        other => return other.to_string(),
    };
    known.to_owned()
}

/// What the verifier of chains says, which has no type of its own here.
fn chain(error: &str) -> String {
    match error {
        "EndEntityUsedAsCa" => "it is signed by a certificate that is no authority's",
        "CaUsedAsEndEntity" => "it is an authority's, not a host's",
        "PathLenConstraintViolated" => "more authorities stand between it and its root than that allows",
        "NameConstraintViolation" => "its authority may not sign for its name",
        "UnsupportedCriticalExtension" => "it demands something that is not understood",
        "MaximumSignatureChecksExceeded" | "MaximumPathDepthExceeded" | "MaximumPathBuildCallsExceeded" => {
            "its chain is too long"
        }
        other => other,
    }
    .to_owned()
}

/// Why the answer that a server has stapled to its certificate does not count.
pub fn staple(refused: &Refused) -> String {
    match refused {
        Refused::Missing => "no OCSP answer came with it, and ocsp-stapling-verify() wants one",
        Refused::Unreadable => "the OCSP answer that came with it cannot be read",
        Refused::NoAnswer(why) => {
            return format!("what came with it is no OCSP answer but an error of the responder: {why}");
        }
        Refused::NoIssuer => {
            "its OCSP answer cannot be verified: no authority of ca-file() or ca-dir() has signed it"
        }
        Refused::Other => "the OCSP answer that came with it is about another certificate",
        Refused::WrongSigner => {
            "its OCSP answer is signed by somebody who may not: neither its issuer nor one empowered by that"
        }
        Refused::WrongSignature => "the signature of its OCSP answer is wrong",
        Refused::WeakSignature => {
            "the signature of its OCSP answer is of a kind that is too weak or not supported"
        }
        Refused::NotUnderstood => "its OCSP answer demands something that is not understood",
        Refused::NotYet => "its OCSP answer is from the future",
        Refused::OutOfDate => "its OCSP answer is out of date",
        Refused::Revoked => "it has been revoked, its OCSP answer says",
        Refused::Unknown => "the OCSP responder does not know it",
    }
    .to_owned()
}

fn alert_text(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::UnknownCA => "our certificate is signed by an authority it does not know",
        AlertDescription::BadCertificate => "our certificate is bad",
        AlertDescription::CertificateExpired => "our certificate has expired",
        AlertDescription::CertificateRevoked => "our certificate has been revoked",
        AlertDescription::CertificateUnknown => "our certificate is not accepted",
        AlertDescription::UnsupportedCertificate => "our certificate is of a kind it does not take",
        AlertDescription::CertificateRequired => "it wants a certificate: give key-file() and cert-file()",
        AlertDescription::AccessDenied => "our certificate is good, but we may not connect",
        AlertDescription::ProtocolVersion => "no version of TLS in common",
        AlertDescription::HandshakeFailure => "no cipher suite in common, or it wants a certificate",
        other => return format!("{other:?}"),
    }
    .to_owned()
}

/// The name in `DnsName("name")`, as the library writes it.
fn bare(name: &str) -> &str {
    name.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"')).map_or(name, |(name, _)| name)
}

pub fn builder(error: &VerifierBuilderError) -> Fault {
    Fault::misconfigured(match error {
        VerifierBuilderError::NoRootAnchors => "ca-file() and ca-dir() name no authority".to_owned(),
        VerifierBuilderError::InvalidCrl(error) => {
            format!("a revocation list of crl-dir() cannot be used: {error:?}")
        }
        other => other.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use diag::Whose;

    #[test]
    fn what_a_person_has_to_mend_is_told_from_what_another_connection_may_do_better() {
        let whose = |error: Error| session(&error).whose;
        assert_eq!(whose(Error::AlertReceived(AlertDescription::UnknownCA)), Whose::Misconfigured);
        assert_eq!(whose(Error::AlertReceived(AlertDescription::DecodeError)), Whose::Peer);
        assert_eq!(whose(Error::InvalidCertificate(CertificateError::Expired)), Whose::Peer);
        assert_eq!(whose(Error::FailedToGetRandomBytes), Whose::Local);
    }
}
