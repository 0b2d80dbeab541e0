//! Keys of a chain: each entry's is made from the one before it, and cannot be traced back to it.

use aes::Aes256Enc;
use cmac::{Cmac, Mac as _};
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, ZeroizeOnDrop};

pub(crate) const KEY_BYTES: usize = 32;
pub(crate) const MAC_BYTES: usize = 16;

/// A message authentication code of AES-CMAC.
pub type Mac = [u8; MAC_BYTES];

/// The key of one entry. Its bytes are overwritten when it goes.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct Key(pub(crate) [u8; KEY_BYTES]);

/// What follows from a key.
pub(crate) struct Derived {
    /// Encrypts the text.
    pub text: Key,
    /// Of the aggregated MAC.
    pub mac: Key,
    /// The key of the next entry.
    pub next: Key,
}

/// The constants of the three keys that follow from one.
const TEXT: u8 = 0x36;
const MAC: u8 = 0x5c;
const NEXT: u8 = 0x6a;

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    /// From the system's random numbers.
    pub fn random() -> std::io::Result<Key> {
        let mut key = Key([0; KEY_BYTES]);
        random(&mut key.0)?;
        Ok(key)
    }

    /// The first key of a host: SHA-256 over the master key and what tells the host from others.
    pub fn of_host(&self, address: &[u8], serial: &[u8]) -> Key {
        let mut digest = Sha256::new();
        digest.update(self.0);
        digest.update(address);
        digest.update(serial);
        Key(digest.finalize().into())
    }

    pub(crate) fn derived(&self) -> Derived {
        let cmac = self.cmac();
        Derived { text: follow(&cmac, TEXT), mac: follow(&cmac, MAC), next: follow(&cmac, NEXT) }
    }

    /// The key of the next entry alone.
    pub(crate) fn next(&self) -> Key {
        follow(&self.cmac(), NEXT)
    }

    /// CMAC over some pieces as if they were one.
    pub(crate) fn mac(&self, pieces: &[&[u8]]) -> Mac {
        let mut cmac = self.cmac();
        pieces.iter().for_each(|piece| cmac.update(piece));
        cmac.finalize().into_bytes().into()
    }

    fn cmac(&self) -> Cmac<Aes256Enc> {
        <Cmac<Aes256Enc> as cmac::digest::KeyInit>::new(&self.0.into())
    }
}

/// A key is the CMACs of two blocks: one filled with the constant, and one in which the last byte is one more.
fn follow(cmac: &Cmac<Aes256Enc>, constant: u8) -> Key {
    let mut key = Key([0; KEY_BYTES]);
    let mut block = [constant; 16];
    for half in key.0.chunks_exact_mut(MAC_BYTES) {
        half.copy_from_slice(&cmac.clone().chain_update(block).finalize().into_bytes());
        block[15] = block[15].wrapping_add(1);
    }
    key
}

/// Fills a buffer with the system's random numbers.
pub(crate) fn random(mut bytes: &mut [u8]) -> std::io::Result<()> {
    while !bytes.is_empty() {
        let filled = rustix::rand::getrandom(&mut *bytes, rustix::rand::GetRandomFlags::empty())?;
        bytes = bytes.get_mut(filled..).unwrap_or_default();
    }
    Ok(())
}
