//! The digests that a store names in its header.

use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha384, Sha512};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digest {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Digest {
    const ALL: [Digest; 4] = [Digest::Sha1, Digest::Sha256, Digest::Sha384, Digest::Sha512];

    /// As the header has it.
    pub fn name(self) -> &'static str {
        match self {
            Digest::Sha1 => "SHA1",
            Digest::Sha256 => "SHA256",
            Digest::Sha384 => "SHA384",
            Digest::Sha512 => "SHA512",
        }
    }

    pub fn named(name: &[u8]) -> Option<Digest> {
        Digest::ALL.into_iter().find(|digest| name.eq_ignore_ascii_case(digest.name().as_bytes()))
    }

    /// Bytes of its result.
    pub fn length(self) -> usize {
        match self {
            Digest::Sha1 => 20,
            Digest::Sha256 => 32,
            Digest::Sha384 => 48,
            Digest::Sha512 => 64,
        }
    }

    /// Of the parts, one after the other.
    pub fn of(self, parts: &[&[u8]]) -> Vec<u8> {
        match self {
            Digest::Sha1 => {
                parts.iter().fold(Sha1::new(), |sum, part| sum.chain_update(part)).finalize().to_vec()
            }
            Digest::Sha256 => sum::<Sha256>(parts),
            Digest::Sha384 => sum::<Sha384>(parts),
            Digest::Sha512 => sum::<Sha512>(parts),
        }
    }

    /// The file MAC behind a chunk: the one before it and the chunk's own.
    pub fn chained(self, before: &[u8], chunk: &[u8]) -> Vec<u8> {
        self.of(&[before, chunk])
    }

    /// The file MAC before the first chunk.
    pub fn first(self) -> Vec<u8> {
        vec![0; self.length()]
    }

    /// Its object identifier, as DER has it.
    pub(crate) fn oid(self) -> &'static [u8] {
        match self {
            Digest::Sha1 => &[0x2b, 0x0e, 0x03, 0x02, 0x1a],
            Digest::Sha256 => &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01],
            Digest::Sha384 => &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02],
            Digest::Sha512 => &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x03],
        }
    }

    pub(crate) fn of_oid(oid: &[u8]) -> Option<Digest> {
        Digest::ALL.into_iter().find(|digest| digest.oid() == oid)
    }
}

fn sum<D: sha2::Digest>(parts: &[&[u8]]) -> Vec<u8> {
    parts.iter().fold(D::new(), |sum, part| sum.chain_update(part)).finalize().to_vec()
}
