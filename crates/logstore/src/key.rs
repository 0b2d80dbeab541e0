//! The keys of encrypted stores: one made by chance for each time that a store is opened for writing, which
//! only the owner of the certificate's private key can read.

use crate::der;
use crate::error::Error;
use aes_gcm::aead::{AeadInPlace, KeyInit};
use aes_gcm::{Aes256Gcm, Nonce};
use rsa::pkcs1::DecodeRsaPrivateKey;
use rsa::pkcs8::{DecodePrivateKey, DecodePublicKey};
use rsa::rand_core::OsRng;
use rsa::traits::PublicKeyParts;
use rsa::{Oaep, RsaPrivateKey, RsaPublicKey};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use sha2::Sha256;
use std::fmt;
use zeroize::Zeroizing;

const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 12;
/// Shorter keys can be broken.
const RSA_BITS_MIN: usize = 2048;

/// The key of the chunks behind one record.
pub struct StoreKey(Zeroizing<[u8; KEY_BYTES]>);

impl StoreKey {
    /// By chance.
    pub fn make() -> Result<StoreKey, Error> {
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        random(&mut *key)?;
        Ok(StoreKey(key))
    }

    fn cipher(&self) -> Aes256Gcm {
        Aes256Gcm::new((&*self.0).into())
    }

    /// The nonce, what is encrypted, and the tag.
    pub fn seal(&self, mut plain: Vec<u8>, bound: &[u8]) -> Result<Vec<u8>, Error> {
        let mut nonce = [0; NONCE_BYTES];
        random(&mut nonce)?;
        let tag = self.cipher().encrypt_in_place_detached(Nonce::from_slice(&nonce), bound, &mut plain);
        let tag = tag.map_err(|_| Error::Key("a segment is too long to be encrypted".to_owned()))?;
        Ok([&nonce, plain.as_slice(), &tag].concat())
    }

    pub fn open(&self, sealed: &[u8], bound: &[u8]) -> Result<Vec<u8>, Error> {
        const WRONG: Error = Error::Damaged { at: 0, what: "an encrypted segment is not as it was written" };
        let (nonce, rest) = sealed.split_at_checked(NONCE_BYTES).ok_or(WRONG)?;
        let (sealed, tag) = rest.split_last_chunk::<16>().ok_or(WRONG)?;
        let mut plain = sealed.to_vec();
        let opened =
            self.cipher().decrypt_in_place_detached(Nonce::from_slice(nonce), bound, &mut plain, tag.into());
        opened.map_err(|_| WRONG)?;
        Ok(plain)
    }
}

pub fn random(bytes: &mut [u8]) -> Result<(), Error> {
    let mut at = 0;
    while let Some(rest) = bytes.get_mut(at..).filter(|rest| !rest.is_empty()) {
        let made = rustix::rand::getrandom(&mut *rest, rustix::rand::GetRandomFlags::empty());
        at += made.map_err(|errno| Error::File(errno.into()))?;
    }
    Ok(())
}

/// The certificate of those who may read a store.
#[derive(Clone)]
pub struct Certificate {
    pub der: Vec<u8>,
    public: RsaPublicKey,
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "certificate of {} bytes", self.der.len())
    }
}

impl Certificate {
    /// Out of a PEM file, the first one in it.
    pub fn read(pem: &[u8]) -> Result<Certificate, Error> {
        let wrong = |what: &str| Error::Key(what.to_owned());
        let der = CertificateDer::from_pem_slice(pem).map_err(|_| wrong("there is no certificate in it"))?;
        Certificate::of_der(&der)
    }

    pub fn of_der(der: &[u8]) -> Result<Certificate, Error> {
        let wrong = |what: &str| Error::Key(what.to_owned());
        let public = der::public_key(der).ok_or(wrong("its certificate cannot be read"))?;
        let public = RsaPublicKey::from_public_key_der(public)
            .map_err(|_| wrong("its certificate has no RSA key, and no other kind can wrap keys"))?;
        if public.n().bits() < RSA_BITS_MIN {
            return Err(wrong("its certificate has an RSA key of less than 2048 bits"));
        }
        Ok(Certificate { der: der.to_vec(), public })
    }

    /// RSA-OAEP with SHA-256.
    pub fn wrap(&self, key: &StoreKey) -> Result<Vec<u8>, Error> {
        let wrapped = self.public.encrypt(&mut OsRng, Oaep::new::<Sha256>(), &*key.0);
        wrapped.map_err(|error| Error::Key(error.to_string()))
    }
}

/// What opens an encrypted store.
pub struct PrivateKey(RsaPrivateKey);

impl PrivateKey {
    /// Out of a PEM file: PKCS#8 or PKCS#1, without a passphrase.
    pub fn read(pem: &[u8]) -> Result<PrivateKey, Error> {
        let text = String::from_utf8_lossy(pem);
        let key = RsaPrivateKey::from_pkcs8_pem(&text)
            .or_else(|_| RsaPrivateKey::from_pkcs1_pem(&text).map_err(|_| ()));
        match key {
            Ok(key) => Ok(PrivateKey(key)),
            Err(()) if text.contains("ENCRYPTED") => Err(Error::Key(
                "it has a passphrase: take it off with `openssl pkey -in FILE -out PLAIN`".to_owned(),
            )),
            Err(()) => Err(Error::Key("there is no RSA private key in it".to_owned())),
        }
    }

    pub fn unwrap(&self, wrapped: &[u8]) -> Result<StoreKey, Error> {
        let key = self.0.decrypt(Oaep::new::<Sha256>(), wrapped).map(Zeroizing::new);
        let key = key
            .ok()
            .and_then(|key| key.first_chunk::<KEY_BYTES>().filter(|_| key.len() == KEY_BYTES).copied());
        key.map(|key| StoreKey(Zeroizing::new(key)))
            .ok_or(Error::Locked("the private key is not that of the store's certificate"))
    }
}
