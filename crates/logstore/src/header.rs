//! The header of a store: what it is, how far it is written, and the seal over all of it.
//!
//! The bytes from 40 on are reserved in the format of PE. There stands what lets us tell any changed bit: the
//! chain over the bytes of all records, and a digest of the header itself. Stores of PE have none.

use crate::digest::Digest;
use crate::error::Error;
use sha2::{Digest as _, Sha256};
use std::io::Read;

/// A larger header is none: its certificate is the only thing in it that can be long.
const HEADER_BYTES_MAX: usize = 64 << 10;
/// Before the names of digest and cipher.
const FIXED: usize = 136;
const SEAL: usize = 40;
const MARK: &[u8; 8] = b"PNSK\0\0\0\x01";
const CHAIN: usize = SEAL + 8;
const SUM: usize = CHAIN + 32;
const ID: usize = SUM + 32;
pub const ID_BYTES: usize = 16;

/// Encryption as we define it: the name of its cipher.
pub const CIPHER: &str = "AES-256-GCM";
/// What PE has there by default; of a store that is not encrypted it says nothing.
const CIPHER_OF_PE: &str = "AES-128-CBC";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// 3 or 4.
    pub version: u8,
    /// Of PE, without use.
    pub flags: u32,
    pub chunks: u32,
    /// The number of the last message.
    pub messages: u32,
    /// Where the last record ends.
    pub end: u64,
    pub hash: Vec<u8>,
    pub cipher: Vec<u8>,
    pub file_mac: Vec<u8>,
    /// DER; empty for a store that is not encrypted.
    pub certificate: Vec<u8>,
    /// Over the bytes of all records up to `end`; `None` in stores of PE.
    pub chain: Option<[u8; 32]>,
    /// Made by chance, so that a journal knows its store; zeros in stores of PE.
    pub id: [u8; ID_BYTES],
    /// The digest of the header is not that of its bytes.
    pub is_altered: bool,
}

impl Header {
    pub fn new(digest: Digest, certificate: &[u8], id: [u8; ID_BYTES]) -> Header {
        let cipher = if certificate.is_empty() { CIPHER_OF_PE } else { CIPHER };
        let mut header = Header {
            version: 4,
            flags: 0,
            chunks: 0,
            messages: 0,
            end: 0,
            hash: digest.name().into(),
            cipher: cipher.into(),
            file_mac: digest.first(),
            certificate: certificate.to_vec(),
            chain: Some([0; 32]),
            id,
            is_altered: false,
        };
        header.end = header.length();
        header
    }

    /// Bytes of it in the file.
    pub fn length(&self) -> u64 {
        let fields = [&self.hash, &self.cipher, &self.file_mac, &self.certificate];
        (FIXED + fields.iter().map(|field| 4 + field.len()).sum::<usize>()) as u64
    }

    /// `None`: a digest that is not known here.
    pub fn digest(&self) -> Option<Digest> {
        Digest::named(&self.hash)
    }

    /// Whether it is encrypted as we define it.
    pub fn is_ours(&self) -> bool {
        self.cipher == CIPHER.as_bytes()
    }

    pub fn write(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.length() as usize);
        out.extend_from_slice(b"LST");
        out.push(b'0' + self.version);
        out.extend_from_slice(&(self.length() as u32 - 4).to_be_bytes());
        for number in [self.flags, self.chunks, self.messages, 0] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        out.extend_from_slice(&self.end.to_be_bytes());
        out.extend_from_slice(&self.end.to_be_bytes());
        if let Some(chain) = &self.chain {
            out.extend_from_slice(MARK);
            out.extend_from_slice(chain);
            out.resize(ID, 0);
            out.extend_from_slice(&self.id);
        }
        out.resize(FIXED, 0);
        for field in [&self.hash, &self.cipher, &self.file_mac, &self.certificate] {
            out.extend_from_slice(&(field.len() as u32).to_be_bytes());
            out.extend_from_slice(field);
        }
        if self.chain.is_some() {
            let sum: [u8; 32] = Sha256::digest(&out).into();
            out[SUM..SUM + 32].copy_from_slice(&sum);
        }
        out
    }

    pub fn read(input: &mut impl Read) -> Result<Header, Error> {
        let mut bytes = vec![0; 8];
        input.read_exact(&mut bytes).map_err(|_| Error::Foreign("it is no log store: it is too short"))?;
        let version = match bytes.first_chunk::<4>() {
            Some([b'L', b'S', b'T', version @ (b'3' | b'4')]) => version - b'0',
            Some([b'L', b'S', b'T', _]) => {
                return Err(Error::Foreign("a log store of a version that is not known: 3 and 4 are"));
            }
            _ => return Err(Error::Foreign("it is no log store: it does not begin with `LST`")),
        };
        let size = number(&bytes, 4).unwrap_or_default() as usize;
        if !(FIXED + 16 - 4..=HEADER_BYTES_MAX).contains(&size) {
            return Err(Error::damaged(4, "the size of the header cannot be"));
        }
        bytes.resize(size + 4, 0);
        let rest = bytes.get_mut(8..).unwrap_or_default();
        input.read_exact(rest).map_err(|_| Error::damaged(4, "the file ends in its header"))?;
        Header::parse(version, &bytes)
            .ok_or(Error::damaged(FIXED as u64, "the fields of the header do not fit in it"))
    }

    fn parse(version: u8, bytes: &[u8]) -> Option<Header> {
        let mut rest = bytes.get(FIXED..)?;
        let mut field = || {
            let (length, behind) = rest.split_first_chunk::<4>()?;
            let (field, behind) = behind.split_at_checked(u32::from_be_bytes(*length) as usize)?;
            rest = behind;
            Some(field.to_vec())
        };
        let (hash, cipher, file_mac, certificate) = (field()?, field()?, field()?, field()?);
        let is_sealed = bytes.get(SEAL..CHAIN) == Some(MARK);
        let chain = if is_sealed { bytes.get(CHAIN..)?.first_chunk::<32>().copied() } else { None };
        let mut header = Header {
            version,
            flags: number(bytes, 8)?,
            chunks: number(bytes, 12)?,
            messages: number(bytes, 16)?,
            end: u64::from(number(bytes, 24)?) << 32 | u64::from(number(bytes, 28)?),
            hash,
            cipher,
            file_mac,
            certificate,
            chain,
            id: if is_sealed { *bytes.get(ID..)?.first_chunk()? } else { [0; ID_BYTES] },
            is_altered: false,
        };
        let is_empty = bytes.get(SEAL..FIXED).is_some_and(|reserved| reserved.iter().all(|byte| *byte == 0));
        header.is_altered = if is_sealed { header.write() != bytes } else { !is_empty };
        Some(header)
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk::<4>().map(|number| u32::from_be_bytes(*number))
}
