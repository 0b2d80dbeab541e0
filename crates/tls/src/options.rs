//! What a `tls()` block says, as plain data: two blocks that say the same share their certificates.

use crate::fingerprint::Fingerprint;
use rustls::{CipherSuite, NamedGroup, SignatureScheme};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    pub key_file: Option<PathBuf>,
    pub cert_file: Option<PathBuf>,
    /// Key, certificate and authorities in one file, instead of the two above.
    pub pkcs12_file: Option<PathBuf>,
    pub ca_file: Option<PathBuf>,
    pub ca_dir: Option<PathBuf>,
    pub crl_dir: Option<PathBuf>,
    pub peer_verify: PeerVerify,
    /// The leaf certificate must have one of these.
    pub trusted_keys: Vec<Fingerprint>,
    /// A leaf certificate that has one of these needs no authority.
    pub trusted_fingerprints: Vec<Fingerprint>,
    /// The subject of the leaf certificate must match one of these.
    pub trusted_dn: Vec<String>,
    pub tls12: bool,
    pub tls13: bool,
    /// Empty: all there are.
    pub cipher_suites: Vec<CipherSuite>,
    /// Groups for the agreement on keys; empty: all there are.
    pub groups: Vec<NamedGroup>,
    /// Signatures a server makes and takes; of a client, those it takes. Empty: all there are.
    pub sigalgs: Vec<SignatureScheme>,
    /// Signatures of clients: what a server takes, what a client makes.
    pub client_sigalgs: Vec<SignatureScheme>,
    pub keylog_file: Option<PathBuf>,
    /// Of a destination: say which host is meant.
    pub sni: bool,
    /// Of a destination: the certificate must be that of the host.
    pub check_name: bool,
    /// Certificates must be valid now.
    pub check_validity: bool,
    /// A peer's certificate must say that it is made for clients or servers.
    pub extended_key_usage_verify: bool,
    /// Of a destination: the server must bring an OCSP answer that says its certificate is good.
    pub ocsp_stapling_verify: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            key_file: None,
            cert_file: None,
            pkcs12_file: None,
            ca_file: None,
            ca_dir: None,
            crl_dir: None,
            peer_verify: PeerVerify::REQUIRED_TRUSTED,
            trusted_keys: Vec::new(),
            trusted_fingerprints: Vec::new(),
            trusted_dn: Vec::new(),
            tls12: true,
            tls13: true,
            cipher_suites: Vec::new(),
            groups: Vec::new(),
            sigalgs: Vec::new(),
            client_sigalgs: Vec::new(),
            keylog_file: None,
            sni: false,
            check_name: true,
            check_validity: true,
            extended_key_usage_verify: false,
            ocsp_stapling_verify: false,
        }
    }
}

impl Options {
    /// The file that may need a passphrase.
    pub(crate) fn secret_file(&self) -> Option<&Path> {
        self.pkcs12_file.as_deref().or(self.key_file.as_deref())
    }
}

/// `peer-verify()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerVerify {
    /// Ask for a certificate at all. Servers always show theirs.
    pub asked: bool,
    pub required: bool,
    pub trusted: bool,
}

impl PeerVerify {
    pub const REQUIRED_TRUSTED: PeerVerify = PeerVerify { asked: true, required: true, trusted: true };

    pub fn named(word: &str) -> Option<PeerVerify> {
        Some(match word {
            "required-trusted" => PeerVerify::REQUIRED_TRUSTED,
            "required-untrusted" => PeerVerify { asked: true, required: true, trusted: false },
            "optional-trusted" => PeerVerify { asked: true, required: false, trusted: true },
            "optional-untrusted" => PeerVerify { asked: true, required: false, trusted: false },
            "none" => PeerVerify { asked: false, required: false, trusted: false },
            _ => return None,
        })
    }
}
