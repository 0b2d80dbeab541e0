//! Algorithms by the names configurations have for them: OpenSSL's, and those of the standards.

use rustls::{CipherSuite, NamedGroup, SignatureScheme};

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

/// `X25519`, `P-256`, `prime256v1` ...
pub fn group(name: &str) -> Option<NamedGroup> {
    Some(match name.to_ascii_lowercase().as_str() {
        "x25519" => NamedGroup::X25519,
        "p-256" | "prime256v1" | "secp256r1" => NamedGroup::secp256r1,
        "p-384" | "secp384r1" => NamedGroup::secp384r1,
        _ => return None,
    })
}

/// `ECDSA+SHA256`, `RSA-PSS+SHA512`, `rsa_pss_rsae_sha256`, `ed25519` ...
pub fn signature_scheme(name: &str) -> Option<SignatureScheme> {
    Some(match name.to_ascii_lowercase().as_str() {
        "ecdsa+sha256" | "ecdsa_secp256r1_sha256" => SignatureScheme::ECDSA_NISTP256_SHA256,
        "ecdsa+sha384" | "ecdsa_secp384r1_sha384" => SignatureScheme::ECDSA_NISTP384_SHA384,
        "ed25519" => SignatureScheme::ED25519,
        "rsa-pss+sha256" | "pss+sha256" | "rsa_pss_rsae_sha256" => SignatureScheme::RSA_PSS_SHA256,
        "rsa-pss+sha384" | "pss+sha384" | "rsa_pss_rsae_sha384" => SignatureScheme::RSA_PSS_SHA384,
        "rsa-pss+sha512" | "pss+sha512" | "rsa_pss_rsae_sha512" => SignatureScheme::RSA_PSS_SHA512,
        "rsa+sha256" | "rsa_pkcs1_sha256" => SignatureScheme::RSA_PKCS1_SHA256,
        "rsa+sha384" | "rsa_pkcs1_sha384" => SignatureScheme::RSA_PKCS1_SHA384,
        "rsa+sha512" | "rsa_pkcs1_sha512" => SignatureScheme::RSA_PKCS1_SHA512,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What has a name here can be spoken.
    #[test]
    fn every_word_is_available() {
        let provider = rustls::crypto::ring::default_provider();
        for suite in &provider.cipher_suites {
            let name = suite.suite().as_str().expect("a name").replace("TLS13_", "TLS_");
            let openssl = name
                .replace("TLS_ECDHE_", "ECDHE-")
                .replace("_WITH_", "-")
                .replace("AES_", "AES")
                .replace("_SHA256", if name.contains("CHACHA") { "" } else { "-SHA256" })
                .replace('_', "-");
            assert_eq!(
                cipher_suite(&name).or(cipher_suite(&openssl)),
                Some(suite.suite()),
                "{name} {openssl}"
            );
        }
        for known in &provider.kx_groups {
            let name = format!("{:?}", known.name());
            assert_eq!(group(&name), Some(known.name()), "{name}");
        }
        let schemes = provider.signature_verification_algorithms.supported_schemes();
        for name in
            ["ECDSA+SHA256", "ECDSA+SHA384", "ed25519", "RSA+SHA256", "RSA-PSS+SHA512", "rsa_pss_rsae_sha384"]
        {
            assert!(signature_scheme(name).is_some_and(|scheme| schemes.contains(&scheme)), "{name}");
        }
        assert!(signature_scheme("RSA+SHA1").is_none() && group("sect283k1").is_none());
    }
}
