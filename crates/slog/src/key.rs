//! Keys of a chain: each entry's is made from the one before it, and cannot be traced back to it.

use aes::Aes256Enc;
use cmac::{Cmac, Mac as _};
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, ZeroizeOnDrop};

pub(crate) const KEY_BYTES: usize = 32;
pub(crate) const MAC_BYTES: usize = 16;

/// A message authentication code of AES-CMAC.
pub type Mac = [u8; MAC_BYTES];

/// How keys follow from one another, and where the aggregated MAC begins. The two cannot open each other's
/// entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// That of syslog-ng 3.38: a key is the CMACs of two blocks, and the MAC begins with the first entry.
    #[default]
    Blocks,
    /// That of AxoSyslog 4.27: a key is extracted and expanded, and the MAC begins with one in a file of its
    /// own.
    Expanded,
}

/// The key of one entry. Its bytes are overwritten when it goes.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct Key(pub(crate) [u8; KEY_BYTES], #[zeroize(skip)] pub(crate) Scheme);

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
        let mut key = Key([0; KEY_BYTES], Scheme::default());
        random(&mut key.0)?;
        Ok(key)
    }

    pub fn scheme(&self) -> Scheme {
        self.1
    }

    /// The same bytes, from which keys follow in this way.
    pub fn with_scheme(mut self, scheme: Scheme) -> Key {
        self.1 = scheme;
        self
    }

    /// The first key of a host, from the master key and what tells the host from others: SHA-256 over all of
    /// it, or expanded.
    pub fn of_host(&self, address: &[u8], serial: &[u8]) -> Key {
        if self.1 == Scheme::Expanded {
            return expand(self.mac(&[address, serial]));
        }
        let mut digest = Sha256::new();
        digest.update(self.0);
        digest.update(address);
        digest.update(serial);
        Key(digest.finalize().into(), Scheme::Blocks)
    }

    pub(crate) fn derived(&self) -> Derived {
        let cmac = self.cmac();
        let follow = |constant| follow(&cmac, constant, self.1);
        Derived { text: follow(TEXT), mac: follow(MAC), next: follow(NEXT) }
    }

    /// The key of the next entry alone.
    pub(crate) fn next(&self) -> Key {
        follow(&self.cmac(), NEXT, self.1)
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

/// A key is the CMACs of two blocks: one filled with the constant, and one in which the last byte is one
/// more.
fn follow(cmac: &Cmac<Aes256Enc>, constant: u8, scheme: Scheme) -> Key {
    let mut block = [constant; 16];
    if scheme == Scheme::Expanded {
        return expand(cmac.clone().chain_update(block).finalize().into_bytes().into());
    }
    let mut key = Key([0; KEY_BYTES], scheme);
    for half in key.0.chunks_exact_mut(MAC_BYTES) {
        half.copy_from_slice(&cmac.clone().chain_update(block).finalize().into_bytes());
        block[15] = block[15].wrapping_add(1);
    }
    key
}

/// A key from what was extracted, which is the first half of the key of two CMACs (NIST SP 800-108): over the
/// number of the half, a label, a zero, a context, and the length.
fn expand(extracted: Mac) -> Key {
    let mut from = Key([0; KEY_BYTES], Scheme::Expanded);
    from.0.iter_mut().zip(extracted).for_each(|(to, byte)| *to = byte);
    let mut key = Key([0; KEY_BYTES], Scheme::Expanded);
    for (half, place) in key.0.chunks_exact_mut(MAC_BYTES).enumerate() {
        let (number, length) = ((half as u64).to_le_bytes(), (KEY_BYTES as u64).to_le_bytes());
        place.copy_from_slice(&from.mac(&[&number, b"key-expansion", &[0], b"context", &length]));
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
