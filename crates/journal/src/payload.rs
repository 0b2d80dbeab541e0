//! Values of data objects as they were before they were packed. What comes out is bounded, whatever a file
//! claims.

use crate::error::Error;
use std::io::{self, Write};

/// A value packed by LZ4 is unpacked whole before it is cut; a longer one is an error.
const LZ4_MAX: usize = 16 * 1024 * 1024;

const XZ: u8 = 1;
const LZ4: u8 = 2;
const ZSTD: u8 = 4;

/// Unpacks values; keeps what that needs.
#[derive(Default)]
pub struct Unpacker {
    zstd: Option<zstd_safe::DCtx<'static>>,
    room: Vec<u8>,
}

/// Whether the flags of an object say that it is packed.
pub fn is_packed(flags: u8) -> bool {
    flags & (XZ | LZ4 | ZSTD) != 0
}

impl Unpacker {
    /// Adds the first `max` bytes of the value to `out`.
    pub fn unpack(
        &mut self,
        packed: &[u8],
        flags: u8,
        max: usize,
        at: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        match flags & (XZ | LZ4 | ZSTD) {
            ZSTD => self.zstd(packed, max, out).ok_or(Error::Packed(at, "zstd")),
            LZ4 => self.lz4(packed, max, out).ok_or(Error::Packed(at, "lz4")),
            XZ => xz(packed, max, out).ok_or(Error::Packed(at, "xz")),
            _ => Err(Error::Packed(at, "in two ways at once")),
        }
    }

    fn zstd(&mut self, packed: &[u8], max: usize, out: &mut Vec<u8>) -> Option<()> {
        let context = self.zstd.get_or_insert_with(zstd_safe::DCtx::create);
        context.reset(zstd_safe::ResetDirective::SessionOnly).ok()?;
        self.room.resize(64 * 1024, 0);
        let mut input = zstd_safe::InBuffer::around(packed);
        let mut left = max;
        loop {
            let mut output = zstd_safe::OutBuffer::around(&mut self.room[..]);
            let hint = context.decompress_stream(&mut output, &mut input).ok()?;
            let made = output.as_slice();
            let count = made.len().min(left);
            out.extend_from_slice(made.get(..count)?);
            left -= count;
            if left == 0 || hint == 0 {
                return Some(());
            }
            // Neither input left nor output made: the frame is cut off.
            if made.is_empty() && input.pos() == packed.len() {
                return None;
            }
        }
    }

    fn lz4(&mut self, packed: &[u8], max: usize, out: &mut Vec<u8>) -> Option<()> {
        let (size, packed) = packed.split_first_chunk::<8>()?;
        let size = usize::try_from(u64::from_le_bytes(*size)).ok().filter(|size| *size <= LZ4_MAX)?;
        self.room.resize(size, 0);
        let made = lz4_flex::block::decompress_into(packed, &mut self.room).ok()?;
        out.extend_from_slice(self.room.get(..made.min(max))?);
        Some(())
    }
}

fn xz(packed: &[u8], max: usize, out: &mut Vec<u8>) -> Option<()> {
    let mut room = Bounded { out, left: max };
    let mut input = packed;
    let outcome = lzma_rs::xz_decompress(&mut input, &mut room);
    // Stopping at the bound looks like an error, and is none.
    (outcome.is_ok() || room.left == 0).then_some(())
}

struct Bounded<'a> {
    out: &'a mut Vec<u8>,
    left: usize,
}

impl Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(self.left);
        self.out.extend_from_slice(bytes.get(..count).unwrap_or_default());
        self.left -= count;
        if count < bytes.len() { Err(io::ErrorKind::WriteZero.into()) } else { Ok(count) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
