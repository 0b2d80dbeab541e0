//! Private keys from the files the configuration names, encrypted ones with the passphrase that was given for
//! them.

use crate::der::{Der, OCTETS, SEQUENCE};
use crate::material::{read, wrong};
use crate::old_forms::{Pem, Scheme};
use crate::secrets::{self, Locked};
use diag::Fault;
use pkcs8::der::Decode;
use pkcs8::pkcs5::EncryptionScheme;
use pkcs8::{EncryptedPrivateKeyInfo, SecretDocument};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::{Error as PemError, PemObject};
use std::path::Path;
use zeroize::Zeroizing;

const ENCRYPTED_BEGIN: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----";
const ENCRYPTED_END: &str = "-----END ENCRYPTED PRIVATE KEY-----";

pub fn key(path: &Path) -> Result<PrivateKeyDer<'static>, Locked> {
    let bytes = read(path)?;
    let text = String::from_utf8_lossy(&bytes);
    if let Some(found) = Pem::find(&text) {
        let pem = found.map_err(|why| unsupported(path, &why))?;
        return secrets::open(path, |secret| Ok(old(path, pem.decrypt(secret))));
    }
    if let Some(begin) = text.find(ENCRYPTED_BEGIN) {
        let end = text.find(ENCRYPTED_END).map(|at| at + ENCRYPTED_END.len());
        let section = text.get(begin..end.unwrap_or(text.len())).unwrap_or_default();
        let (_, document) = SecretDocument::from_pem(section)
            .map_err(|error| format!("the private key in {} cannot be read: {error}", path.display()))
            .map_err(Fault::misconfigured)?;
        return secrets::open(path, |secret| decrypted(path, document.as_bytes(), secret));
    }
    PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| {
        Locked::Broken(match error {
            PemError::NoItemsFound => {
                Fault::misconfigured(format!("no private key in {} (PEM is expected)", path.display()))
            }
            error => wrong(path, "private key", &error),
        })
    })
}

/// An encrypted PKCS#8 key; `None` when the passphrase is wrong.
pub fn decrypted(path: &Path, der: &[u8], secret: &[u8]) -> Result<Option<PrivateKeyDer<'static>>, Fault> {
    if let Ok(info) = EncryptedPrivateKeyInfo::from_der(der)
        && let EncryptionScheme::Pbes2(_) = info.encryption_algorithm
    {
        // Decrypted with a wrong passphrase, the padding or the key in it are not what they should be.
        return Ok(info.decrypt(secret).ok().and_then(|document| parsed(document.as_bytes())));
    }
    let read = || {
        let mut parts = Der(Der(der).take(SEQUENCE)?);
        Some((Scheme::read(parts.whole(SEQUENCE)?)?, parts.take(OCTETS)?))
    };
    let (scheme, bytes) = read().ok_or_else(|| unsupported(path, "none of the ways known here"))?;
    Ok(old(path, scheme.decrypt(secret, bytes)))
}

/// What was encrypted in an old form, which is said.
fn old(path: &Path, plain: Option<Zeroizing<Vec<u8>>>) -> Option<PrivateKeyDer<'static>> {
    let key = parsed(&plain?)?;
    oplog::warning(
        "A private key is encrypted in an old way that is quickly broken, write it anew",
        &[("file", &path.display()), ("with", &"openssl pkcs8 -topk8")],
    );
    Some(key)
}

fn parsed(der: &[u8]) -> Option<PrivateKeyDer<'static>> {
    PrivateKeyDer::try_from(der).ok().map(|key| key.clone_key())
}

fn unsupported(path: &Path, why: &str) -> Fault {
    Fault::misconfigured(format!(
        "the private key in {} is encrypted in a way that is not supported ({why}): write it anew with \
         `openssl pkcs8 -topk8`",
        path.display()
    ))
}
