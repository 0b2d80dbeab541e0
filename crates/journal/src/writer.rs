//! Small journal files for tests: no hash tables, short entry arrays, values packed in any of the three ways.
//! Not a journald.

use crate::place::Id;
use std::collections::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    Plain,
    Xz,
    Lz4,
    Zstd,
}

pub struct Writer {
    pub compact: bool,
    pub archived: bool,
    pub seqnum_id: Id,
    pub packing: Packing,
    /// Numbers in an entry array.
    pub array: usize,
    bytes: Vec<u8>,
    data: HashMap<Vec<u8>, u64>,
    entries: Vec<u64>,
    tail_seqnum: u64,
}

const HEADER: usize = 264;

impl Writer {
    pub fn new(compact: bool, seqnum_id: Id) -> Writer {
        Writer {
            compact,
            archived: false,
            seqnum_id,
            packing: Packing::Plain,
            array: 4,
            bytes: vec![0; HEADER],
            data: HashMap::new(),
            entries: Vec::new(),
            tail_seqnum: 0,
        }
    }

    /// An object's place; its payload is everything behind the 16 bytes that all have.
    fn object(&mut self, kind: u8, flags: u8, payload: &[u8]) -> u64 {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        let at = self.bytes.len() as u64;
        self.bytes.extend_from_slice(&[kind, flags, 0, 0, 0, 0, 0, 0]);
        self.bytes.extend_from_slice(&(16 + payload.len() as u64).to_le_bytes());
        self.bytes.extend_from_slice(payload);
        at
    }

    fn data(&mut self, field: Vec<u8>) -> u64 {
        if let Some(at) = self.data.get(&field) {
            return *at;
        }
        let (flags, packed) = match self.packing {
            Packing::Plain => (0, field.clone()),
            Packing::Xz => {
                let mut packed = Vec::new();
                lzma_rs::xz_compress(&mut field.as_slice(), &mut packed).expect("packed");
                (1, packed)
            }
            Packing::Lz4 => {
                let mut packed = (field.len() as u64).to_le_bytes().to_vec();
                packed.extend(lz4_flex::block::compress(&field));
                (2, packed)
            }
            Packing::Zstd => {
                let mut packed = Vec::with_capacity(zstd_safe::compress_bound(field.len()));
                zstd_safe::compress(&mut packed, &field, 3).expect("packed");
                (4, packed)
            }
        };
        let mut payload = vec![0; if self.compact { 56 } else { 48 }];
        payload.extend(packed);
        let at = self.object(1, flags, &payload);
        self.data.insert(field, at);
        at
    }

    /// Times are the number; the boot is given by its last byte.
    pub fn entry(&mut self, seqnum: u64, boot: u8, fields: &[(&str, &[u8])]) {
        let mut payload = seqnum.to_le_bytes().to_vec();
        payload.extend((1_000_000 + seqnum).to_le_bytes());
        payload.extend(seqnum.to_le_bytes());
        payload.extend([0; 15]);
        payload.push(boot);
        payload.extend(seqnum.wrapping_mul(0x9e37_79b9).to_le_bytes());
        for (name, value) in fields {
            let at = self.data([name.as_bytes(), b"=", value].concat());
            match self.compact {
                true => payload.extend((at as u32).to_le_bytes()),
                false => payload.extend([at.to_le_bytes(), [0; 8]].concat()),
            }
        }
        let at = self.object(3, 0, &payload);
        self.entries.push(at);
        self.tail_seqnum = seqnum;
    }

    pub fn finish(mut self) -> Vec<u8> {
        let mut arrays: Vec<u64> = Vec::new();
        let entries = std::mem::take(&mut self.entries);
        for chunk in entries.chunks(self.array) {
            let mut payload = vec![0; 8];
            for at in chunk.iter().copied().chain(std::iter::repeat(0)).take(self.array) {
                match self.compact {
                    true => payload.extend((at as u32).to_le_bytes()),
                    false => payload.extend(at.to_le_bytes()),
                }
            }
            let at = self.object(6, 0, &payload);
            if let Some(before) = arrays.last() {
                let place = *before as usize + 16;
                self.bytes[place..place + 8].copy_from_slice(&at.to_le_bytes());
            }
            arrays.push(at);
        }
        let flags = if self.compact { 31u32 } else { 15 };
        let length = self.bytes.len() as u64;
        let mut put = |at: usize, bytes: &[u8]| self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, b"LPKSHHRH");
        put(12, &flags.to_le_bytes());
        put(16, &[if self.archived { 2 } else { 1 }]);
        put(72, &self.seqnum_id);
        put(88, &(HEADER as u64).to_le_bytes());
        put(96, &(length - HEADER as u64).to_le_bytes());
        put(136, &arrays.last().copied().unwrap_or(0).to_le_bytes());
        put(152, &(entries.len() as u64).to_le_bytes());
        put(160, &self.tail_seqnum.to_le_bytes());
        put(176, &arrays.first().copied().unwrap_or(0).to_le_bytes());
        self.bytes
    }
}
