//! How messages are packed, as `grpc-encoding` says it, and what they unpack to, as far as that is allowed.

use flate2::write::GzDecoder;
use std::io::{ErrorKind, Read, Write};

/// What is read; nothing is packed but with gzip.
pub const READ: &str = "identity,gzip,zstd,snappy";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    Gzip,
    Zstd,
    /// In its framing format.
    Snappy,
}

impl Coding {
    /// Where nothing is packed no message says that it is; one that does is packed with gzip.
    pub fn named(name: &str) -> Option<Coding> {
        match name {
            "identity" | "gzip" => Some(Coding::Gzip),
            "zstd" => Some(Coding::Zstd),
            "snappy" => Some(Coding::Snappy),
            _ => None,
        }
    }

    pub fn unpack(self, content: &[u8], max: usize) -> Result<Vec<u8>, String> {
        match self {
            Coding::Gzip => gzip(content, max),
            Coding::Zstd => zstd(content, max),
            Coding::Snappy => snappy(content, max),
        }
    }
}

fn too_large(max: usize) -> String {
    format!("a message is larger than {max} bytes when it is unpacked")
}

fn broken(why: impl std::fmt::Display) -> String {
    format!("a message cannot be unpacked: {why}")
}

/// A writer that takes no more than it may.
struct Bounded {
    bytes: Vec<u8>,
    max: usize,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.max {
            return Err(ErrorKind::StorageFull.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn gzip(content: &[u8], max: usize) -> Result<Vec<u8>, String> {
    let mut decoder = GzDecoder::new(Bounded { bytes: Vec::new(), max });
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::StorageFull => too_large(max),
        _ => broken(error),
    };
    decoder.write_all(content).map_err(failed)?;
    Ok(decoder.finish().map_err(failed)?.bytes)
}

fn snappy(content: &[u8], max: usize) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let limit = (max as u64).saturating_add(1);
    snap::read::FrameDecoder::new(content).take(limit).read_to_end(&mut out).map_err(broken)?;
    if out.len() > max { Err(too_large(max)) } else { Ok(out) }
}

fn zstd(content: &[u8], max: usize) -> Result<Vec<u8>, String> {
    let named = |code| broken(zstd_safe::get_error_name(code));
    let mut context = zstd_safe::DCtx::create();
    let mut input = zstd_safe::InBuffer::around(content);
    let mut room = vec![0; zstd_safe::DCtx::out_size()];
    let mut out = Vec::new();
    loop {
        let mut output = zstd_safe::OutBuffer::around(room.as_mut_slice());
        let hint = context.decompress_stream(&mut output, &mut input).map_err(named)?;
        let written = output.as_slice();
        if out.len() + written.len() > max {
            return Err(too_large(max));
        }
        out.extend_from_slice(written);
        let is_read = input.pos() >= content.len();
        if hint == 0 && is_read {
            return Ok(out);
        }
        if is_read && output.pos() < output.capacity() {
            return Err(broken("it ends too early"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapped(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = snap::write::FrameEncoder::new(Vec::new());
        encoder.write_all(bytes).expect("into memory");
        encoder.into_inner().expect("into memory")
    }

    fn squeezed(bytes: &[u8]) -> Vec<u8> {
        let mut packed = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
        zstd_safe::compress(&mut packed, bytes, 1).expect("packed");
        packed
    }

    #[test]
    fn what_was_packed_comes_out_as_far_as_it_may() {
        let bytes: Vec<u8> = (0..500_000).map(|n: usize| (n / 7) as u8).collect();
        for (coding, packed) in [(Coding::Snappy, snapped(&bytes)), (Coding::Zstd, squeezed(&bytes))] {
            assert!(coding.unpack(&packed, bytes.len()) == Ok(bytes.clone()), "{coding:?}");
            assert_eq!(coding.unpack(&packed, bytes.len() - 1), Err(too_large(bytes.len() - 1)));
            assert!(coding.unpack(&packed[..packed.len() - 1], bytes.len()).is_err(), "{coding:?}");
            assert!(coding.unpack(b"abcdefgh", 100).is_err(), "{coding:?}");
        }
        for (coding, nothing) in [(Coding::Snappy, snapped(b"")), (Coding::Zstd, squeezed(b""))] {
            assert_eq!(coding.unpack(&nothing, 0), Ok(Vec::new()), "{coding:?}");
        }
    }
}
