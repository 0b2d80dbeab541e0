//! Batches compressed with Zstandard (RFC 8878), each a frame of its own: any of them can be sent again on
//! any connection.

use super::{Error, Payload};
use std::ops::RangeInclusive;
use zstd_safe::{CCtx, CParameter, DCtx, ResetDirective};

/// Levels of compression, from the fastest to the smallest.
pub const LEVELS: RangeInclusive<i32> = 1..=19;

/// Compresses the batches of one connection, one after the other.
pub struct Packer {
    context: CCtx<'static>,
    plain: Vec<u8>,
    packed: Vec<u8>,
}

impl Packer {
    /// `None` when there is no memory for it.
    pub fn new(level: i32) -> Option<Packer> {
        let mut context = CCtx::try_create()?;
        let level = level.clamp(*LEVELS.start(), *LEVELS.end());
        context.set_parameter(CParameter::CompressionLevel(level)).ok()?;
        // What comes out is checked when it is decompressed.
        context.set_parameter(CParameter::ChecksumFlag(true)).ok()?;
        Some(Packer { context, plain: Vec::new(), packed: Vec::new() })
    }

    /// A payload compressed; `None` when that makes it no smaller.
    pub fn pack(&mut self, payload: Payload<'_>) -> Option<&[u8]> {
        self.plain.clear();
        payload.lengths(&mut self.plain);
        self.plain.extend_from_slice(payload.bytes);
        self.packed.clear();
        self.packed.reserve(zstd_safe::compress_bound(self.plain.len()));
        self.context.compress2(&mut self.packed, &self.plain).ok()?;
        (self.packed.len() < self.plain.len()).then_some(&self.packed)
    }
}

thread_local! {
    /// One for each worker, not one for each connection.
    static CONTEXT: std::cell::RefCell<Option<DCtx<'static>>> = const { std::cell::RefCell::new(None) };
}

/// Decompresses a payload into a room of the size it is said to have.
pub fn unpack(packed: &[u8], room: &mut [u8]) -> Result<(), Error> {
    CONTEXT.with_borrow_mut(|context| {
        if context.is_none() {
            *context = DCtx::try_create();
        }
        let Some(context) = context else { return Err(Error::Unpack("there is no memory")) };
        let size = room.len();
        let outcome = context.decompress(room, packed);
        match outcome {
            Ok(written) if written == size => Ok(()),
            Ok(_) => Err(Error::Unpack("it is not as long as it says")),
            Err(error) => {
                let _ = context.reset(ResetDirective::SessionOnly);
                Err(Error::Unpack(zstd_safe::get_error_name(error)))
            }
        }
    })
}
