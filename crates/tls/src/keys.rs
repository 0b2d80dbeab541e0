//! Private keys from the files the configuration names, encrypted ones with the passphrase that was given for them.

use crate::material::{read, wrong};
use crate::secrets::{self, Locked};
use pkcs8::der::Decode;
use pkcs8::{EncryptedPrivateKeyInfo, SecretDocument};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::{Error as PemError, PemObject};
use std::path::Path;

const ENCRYPTED_BEGIN: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----";
const ENCRYPTED_END: &str = "-----END ENCRYPTED PRIVATE KEY-----";
/// The mark of the form OpenSSL wrote before PKCS#8, which derives its key with MD5.
const OLD_FORM: &str = "Proc-Type: 4,ENCRYPTED";

pub fn key(path: &Path) -> Result<PrivateKeyDer<'static>, Locked> {
    let bytes = read(path)?;
    let text = String::from_utf8_lossy(&bytes);
    if text.contains(OLD_FORM) {
        return Err(Locked::Broken(format!(
            "the key in {} is encrypted in the old form, which is too weak: write it anew with `openssl pkcs8 -topk8`",
            path.display()
        )));
    }
    if let Some(begin) = text.find(ENCRYPTED_BEGIN) {
        let end = text.find(ENCRYPTED_END).map(|at| at + ENCRYPTED_END.len());
        let section = text.get(begin..end.unwrap_or(text.len())).unwrap_or_default();
        let (_, document) = SecretDocument::from_pem(section)
            .map_err(|error| format!("the private key in {} cannot be read: {error}", path.display()))?;
        return secrets::open(path, |secret| decrypted(path, document.as_bytes(), secret));
    }
    PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| {
        Locked::Broken(match error {
            PemError::NoItemsFound => format!("no private key in {} (PEM is expected)", path.display()),
            error => wrong(path, "private key", &error),
        })
    })
}

/// An encrypted PKCS#8 key; `None` when the passphrase is wrong.
pub fn decrypted(path: &Path, der: &[u8], secret: &[u8]) -> Result<Option<PrivateKeyDer<'static>>, String> {
    let failed = |error: &dyn std::fmt::Display| {
        format!(
            "the private key in {} is encrypted in a way that is not supported ({error}): write it anew with \
             `openssl pkcs8 -topk8`",
            path.display()
        )
    };
    let info = EncryptedPrivateKeyInfo::from_der(der).map_err(|error| failed(&error))?;
    if !matches!(info.encryption_algorithm, pkcs8::pkcs5::EncryptionScheme::Pbes2(_)) {
        return Err(failed(&"PBES1"));
    }
    // Decrypted with a wrong passphrase, the padding or the key in it are not what they should be.
    let Ok(document) = info.decrypt(secret) else { return Ok(None) };
    Ok(PrivateKeyDer::try_from(document.as_bytes()).ok().map(|key| key.clone_key()))
}
