//! What a `tls()` block says, as plain data: two blocks that say the same share their certificates.

use crate::fingerprint::Fingerprint;
use rustls::CipherSuite;
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    pub key_file: Option<PathBuf>,
    pub cert_file: Option<PathBuf>,
    pub ca_file: Option<PathBuf>,
    pub ca_dir: Option<PathBuf>,
    pub crl_dir: Option<PathBuf>,
    pub peer_verify: PeerVerify,
    /// The leaf certificate must have one of these.
    pub trusted_keys: Vec<Fingerprint>,
    /// The subject of the leaf certificate must match one of these.
    pub trusted_dn: Vec<String>,
    pub tls12: bool,
    pub tls13: bool,
    /// Empty: all there are.
    pub cipher_suites: Vec<CipherSuite>,
    pub keylog_file: Option<PathBuf>,
    /// Of a destination: say which host is meant.
    pub sni: bool,
    /// Of a destination: the certificate must be that of the host.
    pub check_name: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            key_file: None,
            cert_file: None,
            ca_file: None,
            ca_dir: None,
            crl_dir: None,
            peer_verify: PeerVerify::REQUIRED_TRUSTED,
            trusted_keys: Vec::new(),
            trusted_dn: Vec::new(),
            tls12: true,
            tls13: true,
            cipher_suites: Vec::new(),
            keylog_file: None,
            sni: false,
            check_name: true,
        }
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

/// A cipher suite by the name OpenSSL has for it, or by that of its standard.
pub fn cipher_suite(name: &str) -> Option<CipherSuite> {
    Some(match name {
        "TLS_AES_256_GCM_SHA384" => CipherSuite::TLS13_AES_256_GCM_SHA384,
        "TLS_AES_128_GCM_SHA256" => CipherSuite::TLS13_AES_128_GCM_SHA256,
        "TLS_CHACHA20_POLY1305_SHA256" => CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
        "ECDHE-ECDSA-AES256-GCM-SHA384" => CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        "ECDHE-ECDSA-AES128-GCM-SHA256" => CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        "ECDHE-ECDSA-CHACHA20-POLY1305" => CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        "ECDHE-RSA-AES256-GCM-SHA384" => CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        "ECDHE-RSA-AES128-GCM-SHA256" => CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        "ECDHE-RSA-CHACHA20-POLY1305" => CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        _ => return None,
    })
}
