//! Users of version 3 (RFC 3414): keys made of passwords, digests that prove who sends (RFC 3414, RFC 7860),
//! and encryption with AES (RFC 3826).

use aes::Aes128;
use aes::cipher::{BlockEncrypt, KeyInit};
use ring::{digest, hmac};
use zeroize::Zeroizing;

/// How it is proved who sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digest {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Digest {
    fn whole(self) -> &'static digest::Algorithm {
        match self {
            Digest::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            Digest::Sha256 => &digest::SHA256,
            Digest::Sha384 => &digest::SHA384,
            Digest::Sha512 => &digest::SHA512,
        }
    }

    fn keyed(self) -> hmac::Algorithm {
        match self {
            Digest::Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            Digest::Sha256 => hmac::HMAC_SHA256,
            Digest::Sha384 => hmac::HMAC_SHA384,
            Digest::Sha512 => hmac::HMAC_SHA512,
        }
    }

    /// Bytes of the digest that are sent.
    pub fn sent_bytes(self) -> usize {
        match self {
            Digest::Sha1 => 12,
            Digest::Sha256 => 24,
            Digest::Sha384 => 32,
            Digest::Sha512 => 48,
        }
    }

    /// The key that a password becomes at an engine: RFC 3414 section A.2.
    pub fn key(self, password: &[u8], engine: &[u8]) -> Zeroizing<Vec<u8>> {
        const REPEATED: usize = 1 << 20;
        let mut context = digest::Context::new(self.whole());
        let mut block = Zeroizing::new(Vec::with_capacity(64));
        let mut bytes = password.iter().copied().cycle();
        for _ in 0..REPEATED / 64 {
            block.clear();
            block.extend(bytes.by_ref().take(64));
            context.update(&block);
        }
        let long = context.finish();
        let mut context = digest::Context::new(self.whole());
        [long.as_ref(), engine, long.as_ref()].iter().for_each(|part| context.update(part));
        Zeroizing::new(context.finish().as_ref().to_vec())
    }

    /// The digest of a whole message, as much of it as is sent.
    pub fn sign(self, key: &[u8], message: &[u8]) -> Vec<u8> {
        let tag = hmac::sign(&hmac::Key::new(self.keyed(), key), message);
        tag.as_ref().get(..self.sent_bytes()).unwrap_or_default().to_vec()
    }
}

/// The passwords of a user.
#[derive(Clone)]
pub struct Auth {
    pub digest: Digest,
    pub password: Zeroizing<String>,
    /// With it, what is sent is encrypted.
    pub privacy: Option<Zeroizing<String>>,
}

#[derive(Clone)]
pub struct User {
    pub name: String,
    pub auth: Option<Auth>,
}

/// The keys of a user at one engine.
pub struct Keys {
    pub digest: Digest,
    pub auth: Zeroizing<Vec<u8>>,
    pub privacy: Option<Zeroizing<Vec<u8>>>,
}

impl User {
    pub fn keys(&self, engine: &[u8]) -> Option<Keys> {
        let auth = self.auth.as_ref()?;
        let key = |password: &str| auth.digest.key(password.as_bytes(), engine);
        let privacy = auth.privacy.as_ref().map(|password| key(password));
        Some(Keys { digest: auth.digest, auth: key(&auth.password), privacy })
    }
}

/// AES-128 in CFB mode over whole blocks and what is left, in place: RFC 3826 section 3.1.
pub fn crypt(key: &[u8], vector: [u8; 16], bytes: &mut [u8], encrypts: bool) -> Option<()> {
    let cipher = Aes128::new_from_slice(key.get(..16)?).ok()?;
    let mut register = vector;
    for block in bytes.chunks_mut(16) {
        let mut stream = register.into();
        cipher.encrypt_block(&mut stream);
        for (at, byte) in block.iter_mut().enumerate() {
            let before = *byte;
            *byte ^= stream.get(at).copied().unwrap_or_default();
            if let Some(place) = register.get_mut(at) {
                *place = if encrypts { *byte } else { before };
            }
        }
    }
    Some(())
}

/// What encryption begins with: boots and time of the engine, and a number that no other message has.
pub fn vector(boots: u32, time: u32, salt: u64) -> [u8; 16] {
    let mut vector = [0; 16];
    let parts = boots.to_be_bytes().into_iter().chain(time.to_be_bytes()).chain(salt.to_be_bytes());
    vector.iter_mut().zip(parts).for_each(|(place, byte)| *place = byte);
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// RFC 3414 section A.3.2.
    #[test]
    fn keys_of_passwords() {
        let engine = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];
        let key = Digest::Sha1.key(b"maplesyrup", &engine);
        assert_eq!(hex(&key), "6695febc9288e36282235fc7151f128497b38f3f");
    }

    /// NIST SP 800-38A section F.3.13.
    #[test]
    fn the_mode_of_the_cipher() {
        let key: Vec<u8> = (0..16)
            .map(|at| {
                [
                    0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f,
                    0x3c,
                ][at]
            })
            .collect();
        let vector: [u8; 16] = std::array::from_fn(|at| at as u8);
        let plain = [
            0x6b, 0xc1, 0xbe, 0xe2, 0x2e, 0x40, 0x9f, 0x96, 0xe9, 0x3d, 0x7e, 0x11, 0x73, 0x93, 0x17, 0x2a,
            0xae,
        ];
        let mut bytes = plain;
        crypt(&key, vector, &mut bytes, true).expect("a key");
        assert_eq!(hex(&bytes), "3b3fd92eb72dad20333449f8e83cfb4ac8");
        crypt(&key, vector, &mut bytes, false).expect("a key");
        assert_eq!(bytes, plain);
        assert!(crypt(&key[..15], vector, &mut bytes, true).is_none());
    }
}
