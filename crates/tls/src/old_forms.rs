//! Keys and containers encrypted in the ways from before PBES2: OpenSSL's own PEM (`Proc-Type: 4,ENCRYPTED`),
//! PBES1 (RFC 8018 section 6.1) and those of PKCS#12 (RFC 7292 appendix B). Quickly guessed, so they are read
//! and never written.

use crate::der::{Der, INTEGER, OCTETS, OID, SEQUENCE};
use aes::{Aes128, Aes192, Aes256};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cbc::Decryptor;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockCipher, BlockDecryptMut, InnerIvInit, KeyInit};
use des::{Des, TdesEde2, TdesEde3};
use md5::Md5;
use rc2::Rc2;
use sha1::{Digest, Sha1};
use zeroize::Zeroizing;

/// A file asking for more rounds than this is none that a program would write.
const ROUNDS_MAX: u32 = 10_000_000;

type Plain = Zeroizing<Vec<u8>>;

#[derive(Clone, Copy)]
enum Cipher {
    Aes128,
    Aes192,
    Aes256,
    Des,
    /// Triple DES, with two keys or three.
    Des2,
    Des3,
    /// With as many bits as there are in its key.
    Rc2,
}

impl Cipher {
    /// `None` when it does not fit: the passphrase was another.
    fn decrypt(self, key: &[u8], iv: &[u8], bytes: &[u8]) -> Option<Plain> {
        match self {
            Cipher::Aes128 => blocks(Aes128::new_from_slice(key).ok()?, iv, bytes),
            Cipher::Aes192 => blocks(Aes192::new_from_slice(key).ok()?, iv, bytes),
            Cipher::Aes256 => blocks(Aes256::new_from_slice(key).ok()?, iv, bytes),
            Cipher::Des => blocks(Des::new_from_slice(key).ok()?, iv, bytes),
            Cipher::Des2 => blocks(TdesEde2::new_from_slice(key).ok()?, iv, bytes),
            Cipher::Des3 => blocks(TdesEde3::new_from_slice(key).ok()?, iv, bytes),
            Cipher::Rc2 => blocks(Rc2::new_with_eff_key_len(key, key.len() * 8), iv, bytes),
        }
    }
}

fn blocks<C: BlockCipher + BlockDecryptMut>(cipher: C, iv: &[u8], bytes: &[u8]) -> Option<Plain> {
    let mut plain = Zeroizing::new(bytes.to_vec());
    let decryptor = Decryptor::inner_iv_slice_init(cipher, iv).ok()?;
    let length = decryptor.decrypt_padded_mut::<Pkcs7>(&mut plain).ok()?.len();
    plain.truncate(length);
    Some(plain)
}

/// How key and initial vector come out of a passphrase.
#[derive(Clone, Copy)]
enum Derivation {
    Pkcs12,
    Md5,
    Sha1,
}

/// Object identifiers of schemes: derivation, cipher, bytes of its key.
const SCHEMES: &[(&[u8], Derivation, Cipher, usize)] = &[
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 12, 1, 3], Derivation::Pkcs12, Cipher::Des3, 24),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 12, 1, 4], Derivation::Pkcs12, Cipher::Des2, 16),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 12, 1, 5], Derivation::Pkcs12, Cipher::Rc2, 16),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 12, 1, 6], Derivation::Pkcs12, Cipher::Rc2, 5),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5, 3], Derivation::Md5, Cipher::Des, 8),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5, 6], Derivation::Md5, Cipher::Rc2, 8),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5, 10], Derivation::Sha1, Cipher::Des, 8),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5, 11], Derivation::Sha1, Cipher::Rc2, 8),
];

/// A way to encrypt with a passphrase, as an algorithm's identifier names it.
pub struct Scheme<'a> {
    derivation: Derivation,
    cipher: Cipher,
    key_bytes: usize,
    salt: &'a [u8],
    rounds: u32,
}

impl<'a> Scheme<'a> {
    /// `None` when it is none of the old ones, or not in their form.
    pub fn read(identifier: &'a [u8]) -> Option<Scheme<'a>> {
        let mut identifier = Der(Der(identifier).take(SEQUENCE)?);
        let oid = identifier.take(OID)?;
        let (_, derivation, cipher, key_bytes) = SCHEMES.iter().find(|(known, ..)| *known == oid)?;
        let mut parameters = Der(identifier.take(SEQUENCE)?);
        let salt = parameters.take(OCTETS)?;
        let rounds = parameters.take(INTEGER)?;
        let (first, rounds) = (
            rounds.first()?,
            rounds.iter().try_fold(0u32, |all, byte| all.checked_mul(256)?.checked_add(u32::from(*byte)))?,
        );
        let fits = *first < 0x80 && (1..=ROUNDS_MAX).contains(&rounds);
        fits.then_some(Scheme {
            derivation: *derivation,
            cipher: *cipher,
            key_bytes: *key_bytes,
            salt,
            rounds,
        })
    }

    /// `None` when the passphrase is wrong.
    pub fn decrypt(&self, secret: &[u8], bytes: &[u8]) -> Option<Plain> {
        let (salt, rounds) = (self.salt, self.rounds);
        let simple = |derived: Plain| {
            let (key, iv) = derived.split_at_checked(self.key_bytes)?;
            self.cipher.decrypt(key, iv.get(..8)?, bytes)
        };
        match self.derivation {
            Derivation::Md5 => simple(repeated::<Md5>(secret, salt, rounds)),
            Derivation::Sha1 => simple(repeated::<Sha1>(secret, salt, rounds)),
            Derivation::Pkcs12 => passwords(secret).iter().find_map(|password| {
                let key = pkcs12(KEY, password, salt, rounds, self.key_bytes);
                let iv = pkcs12(INITIAL_VECTOR, password, salt, rounds, 8);
                self.cipher.decrypt(&key, &iv, bytes)
            }),
        }
    }
}

/// PBKDF1 (RFC 8018 section 5.1): all of the digest, of which the first 16 bytes are meant.
fn repeated<D: Digest>(secret: &[u8], salt: &[u8], rounds: u32) -> Plain {
    let mut derived = Zeroizing::new(D::new().chain_update(secret).chain_update(salt).finalize().to_vec());
    for _ in 1..rounds {
        derived = Zeroizing::new(D::digest(derived.as_slice()).to_vec());
    }
    derived
}

const KEY: u8 = 1;
const INITIAL_VECTOR: u8 = 2;

/// A passphrase as PKCS#12 has it: UTF-16 with a zero at its end. When there is none, programs do not agree
/// whether the zero is there.
fn passwords(secret: &[u8]) -> Vec<Plain> {
    let text = Zeroizing::new(match std::str::from_utf8(secret) {
        Ok(text) => text.to_owned(),
        Err(_) => secret.iter().map(|byte| char::from(*byte)).collect(),
    });
    let units = text.encode_utf16().chain([0]);
    let mut all = vec![Zeroizing::new(units.flat_map(u16::to_be_bytes).collect::<Vec<u8>>())];
    if secret.is_empty() {
        all.push(Zeroizing::new(Vec::new()));
    }
    all
}

/// RFC 7292 appendix B.2 with SHA-1; its variables' names.
fn pkcs12(id: u8, password: &[u8], salt: &[u8], rounds: u32, length: usize) -> Plain {
    const BLOCK: usize = 64;
    let filled = |bytes: &[u8]| {
        let length = bytes.len().next_multiple_of(BLOCK);
        bytes.iter().copied().cycle().take(if bytes.is_empty() { 0 } else { length }).collect::<Vec<u8>>()
    };
    let mut input = Zeroizing::new([filled(salt), filled(password)].concat());
    let mut derived = Zeroizing::new(Vec::new());
    while derived.len() < length {
        let first = Sha1::new().chain_update([id; BLOCK]).chain_update(&*input).finalize();
        let a = (1..rounds).fold(first, |a, _| Sha1::digest(a));
        derived.extend_from_slice(&a);
        for block in input.chunks_exact_mut(BLOCK) {
            // I = (I + B + 1) mod 2^512, B being the digest over and over.
            let mut carry = 1u16;
            for (at, byte) in block.iter_mut().enumerate().rev() {
                let sum = u16::from(*byte) + carry + a.get(at % a.len()).copied().map_or(0, u16::from);
                (*byte, carry) = (sum as u8, sum >> 8);
            }
        }
    }
    derived.truncate(length);
    derived
}

const PROC_TYPE: &str = "Proc-Type: 4,ENCRYPTED";
const DEK_INFO: &str = "DEK-Info:";

const PEM_CIPHERS: &[(&str, Cipher, usize)] = &[
    ("AES-128-CBC", Cipher::Aes128, 16),
    ("AES-192-CBC", Cipher::Aes192, 24),
    ("AES-256-CBC", Cipher::Aes256, 32),
    ("DES-EDE3-CBC", Cipher::Des3, 24),
    ("DES-CBC", Cipher::Des, 8),
];

/// A key in OpenSSL's own form of encrypted PEM (RFC 1421 section 4.6).
pub struct Pem {
    cipher: Cipher,
    key_bytes: usize,
    iv: Vec<u8>,
    bytes: Vec<u8>,
}

impl Pem {
    /// `None` when the text has none; the reason when it cannot be read.
    pub fn find(text: &str) -> Option<Result<Pem, String>> {
        let mut lines = text.lines().map(str::trim_end);
        lines.find(|line| *line == PROC_TYPE)?;
        Some(Pem::read(lines))
    }

    fn read<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Pem, String> {
        let section: Vec<&str> = lines.take_while(|line| !line.starts_with("-----END ")).collect();
        let info = section.iter().find_map(|line| line.strip_prefix(DEK_INFO)).map(str::trim);
        let (name, iv) = info.and_then(|info| info.split_once(',')).ok_or("it does not say how")?;
        let known = PEM_CIPHERS.iter().find(|(known, ..)| *known == name);
        let (_, cipher, key_bytes) = known.ok_or_else(|| format!("`{name}` is not known here"))?;
        let iv = hex(iv).filter(|iv| iv.len() >= 8).ok_or("its DEK-Info is damaged")?;
        let body: String = section.iter().skip_while(|line| !line.is_empty()).copied().collect();
        let bytes = STANDARD.decode(body).map_err(|error| format!("its base64 is damaged: {error}"))?;
        Ok(Pem { cipher: *cipher, key_bytes: *key_bytes, iv, bytes })
    }

    /// `None` when the passphrase is wrong.
    pub fn decrypt(&self, secret: &[u8]) -> Option<Plain> {
        let salt = self.iv.get(..8)?;
        let (mut key, mut last) = (Zeroizing::new(Vec::new()), Zeroizing::new(Vec::new()));
        while key.len() < self.key_bytes {
            let digest = Md5::new().chain_update(&*last).chain_update(secret).chain_update(salt).finalize();
            *last = digest.to_vec();
            key.extend_from_slice(&digest);
        }
        self.cipher.decrypt(key.get(..self.key_bytes)?, &self.iv, &self.bytes)
    }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let pair = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    pairs.iter().map(pair).collect()
}

#[cfg(test)]
mod tests;
