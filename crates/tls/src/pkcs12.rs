//! `pkcs12-file()`: certificate, key and authorities in one container (RFC 7292), as browsers and Windows
//! export them.
//!
//! What OpenSSL 3 and current Windows write is read: PBES2 (RFC 8018); and what those before them wrote, with
//! RC2 and triple DES (`old_forms`). The container's own checksum is not looked at: whoever can change the
//! file can change the configuration.

use crate::der::{CONTEXT_0, Der, IMPLICIT_0, INTEGER, OCTETS, OID, SEQUENCE};
use crate::old_forms::Scheme;
use crate::{keys, material, secrets};
use diag::Fault;
use pkcs8::der::Decode;
use pkcs8::pkcs5::EncryptionScheme;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use secrets::Locked;
use std::path::Path;
use zeroize::Zeroizing;

const DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 1];
const ENCRYPTED_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 6];
/// 1.2.840.113549.1.12.10.1, before the number of the kind of bag.
const BAG: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 12, 10, 1];
const KEY_BAG: u8 = 1;
const SHROUDED_KEY_BAG: u8 = 2;
const CERTIFICATE_BAG: u8 = 3;

/// What a container holds. The first certificate belongs to the key.
pub struct Contents {
    pub chain: Vec<CertificateDer<'static>>,
    pub key: PrivateKeyDer<'static>,
}

/// Opens the container without a passphrase, or with the one that was given for it.
pub fn open(path: &Path) -> Result<Contents, Locked> {
    let bytes = material::read(path)?;
    let found = match Reader::new(path, b"").contents(&bytes)? {
        Some(found) => found,
        None => secrets::open(path, |secret| Reader::new(path, secret).contents(&bytes))?,
    };
    found.finished(path).map_err(Locked::Broken)
}

#[derive(Default)]
struct Found {
    certificates: Vec<CertificateDer<'static>>,
    key: Option<PrivateKeyDer<'static>>,
}

impl Found {
    fn finished(self, path: &Path) -> Result<Contents, Fault> {
        let key =
            self.key.ok_or_else(|| Fault::misconfigured(format!("no private key in {}", path.display())))?;
        let mut chain = self.certificates;
        if chain.is_empty() {
            return Err(Fault::misconfigured(format!("no certificate in {}", path.display())));
        }
        // Its place among the others is not fixed.
        let belongs = |der: &CertificateDer<'static>| {
            let provider = rustls::crypto::ring::default_provider();
            rustls::sign::CertifiedKey::from_der(vec![der.clone()], key.clone_key(), &provider).is_ok()
        };
        if let Some(at) = chain.iter().position(belongs) {
            chain.swap(0, at);
        }
        Ok(Contents { chain, key })
    }
}

struct Reader<'a> {
    path: &'a Path,
    secret: &'a [u8],
}

impl<'a> Reader<'a> {
    fn new(path: &'a Path, secret: &'a [u8]) -> Reader<'a> {
        Reader { path, secret }
    }

    fn wrong(&self, why: &str) -> Fault {
        Fault::misconfigured(format!("{} {why}", self.path.display()))
    }

    /// `None` when the passphrase is wrong.
    fn contents(&self, bytes: &[u8]) -> Result<Option<Found>, Fault> {
        let mut found = Found::default();
        let safe = authenticated_safe(bytes)
            .ok_or_else(|| self.wrong("is no PKCS#12 container with a passphrase"))?;
        let mut parts = Der(safe);
        while let Some(part) = parts.take(SEQUENCE) {
            let mut part = Der(part);
            let kind = part.take(OID).unwrap_or_default();
            let content = part.take(CONTEXT_0).unwrap_or_default();
            let good = match kind {
                DATA => self.bags(Der(content).take(OCTETS).unwrap_or_default(), &mut found)?,
                ENCRYPTED_DATA => match self.decrypted(content)? {
                    Some(bags) => self.bags(&bags, &mut found)?,
                    None => false,
                },
                _ => true,
            };
            if !good {
                return Ok(None);
            }
        }
        Ok(Some(found))
    }

    fn decrypted(&self, content: &[u8]) -> Result<Option<Zeroizing<Vec<u8>>>, Fault> {
        let parts = || {
            let mut outer = Der(Der(content).take(SEQUENCE)?);
            outer.take(INTEGER)?;
            let mut info = Der(outer.take(SEQUENCE)?);
            info.take(OID)?;
            Some((info.whole(SEQUENCE)?, info.take(IMPLICIT_0)?))
        };
        let (scheme, bytes) = parts().ok_or_else(|| self.wrong("is not in a form that is read here"))?;
        if let Ok(scheme @ EncryptionScheme::Pbes2(_)) = EncryptionScheme::from_der(scheme) {
            return Ok(scheme.decrypt(self.secret, bytes).ok().map(Zeroizing::new));
        }
        match Scheme::read(scheme) {
            Some(scheme) => Ok(scheme.decrypt(self.secret, bytes)),
            None => Err(self.wrong(
                "is encrypted in a way that is not supported: take it apart with `openssl pkcs12 -legacy` and write it anew",
            )),
        }
    }

    /// Whether the passphrase is good for all of them.
    fn bags(&self, bags: &[u8], found: &mut Found) -> Result<bool, Fault> {
        // Decrypted with a wrong passphrase, it is not even a sequence.
        let Some(bags) = Der(bags).take(SEQUENCE) else { return Ok(false) };
        let mut bags = Der(bags);
        while let Some(bag) = bags.take(SEQUENCE) {
            let mut bag = Der(bag);
            let kind = bag.take(OID).and_then(|oid| oid.strip_prefix(BAG));
            let value = bag.take(CONTEXT_0).unwrap_or_default();
            match kind {
                Some([KEY_BAG]) => {
                    found.key = PrivateKeyDer::try_from(value).ok().map(|key| key.clone_key());
                }
                Some([SHROUDED_KEY_BAG]) => match keys::decrypted(self.path, value, self.secret)? {
                    Some(key) => found.key = Some(key),
                    None => return Ok(false),
                },
                Some([CERTIFICATE_BAG]) => {
                    let certificate = || {
                        let mut bag = Der(Der(value).take(SEQUENCE)?);
                        bag.take(OID)?;
                        Der(bag.take(CONTEXT_0)?).take(OCTETS)
                    };
                    found.certificates.extend(certificate().map(|der| CertificateDer::from(der.to_vec())));
                }
                _ => {}
            }
        }
        Ok(true)
    }
}

fn authenticated_safe(bytes: &[u8]) -> Option<&[u8]> {
    let mut outer = Der(Der(bytes).take(SEQUENCE)?);
    outer.take(INTEGER)?;
    let mut info = Der(outer.take(SEQUENCE)?);
    if info.take(OID)? != DATA {
        return None;
    }
    Der(Der(info.take(CONTEXT_0)?).take(OCTETS)?).take(SEQUENCE)
}
