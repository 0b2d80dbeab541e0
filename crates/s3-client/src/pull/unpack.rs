//! Objects as text: what is packed is unpacked on the way, in pieces of a bounded size.

use flate2::write::MultiGzDecoder;
use std::io::Write;
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

/// How objects are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packed {
    /// Their first bytes say.
    Auto,
    None,
    Gzip,
    Zstd,
}

/// Packed bytes taken at once: they may become a thousand times as many.
const STEP_BYTES: usize = 4096;
/// Text taken at once where nothing is packed.
const PLAIN_BYTES: usize = 128 * 1024;
/// Memory that unpacking zstd may take: 2 to this power.
const WINDOW_LOG_MAX: u32 = 25;
/// Bytes that say how an object is packed.
pub const MAGIC_BYTES: usize = 4;

impl Packed {
    /// What the first bytes of an object say.
    pub fn of(begin: &[u8]) -> Packed {
        match begin {
            [0x1f, 0x8b, ..] => Packed::Gzip,
            // A frame, or one that is to be skipped.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Packed::Zstd,
            _ => Packed::None,
        }
    }
}

pub enum Unpacker {
    Unknown,
    Plain,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    /// With what is left to come of the frame, as far as it says.
    Zstd(DCtx<'static>, usize),
}

impl Unpacker {
    pub fn new(packed: Packed) -> Unpacker {
        match packed {
            Packed::Auto => Unpacker::Unknown,
            Packed::None => Unpacker::Plain,
            Packed::Gzip => Unpacker::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
            Packed::Zstd => {
                let mut context = DCtx::create();
                // It refuses no number that it knows.
                let _ = context.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX));
                Unpacker::Zstd(context, 0)
            }
        }
    }

    /// Takes some of the next bytes, and appends what they become. The first ones are at least
    /// [`MAGIC_BYTES`], or all there are. Returns how many were taken; the error says what is wrong with
    /// them.
    pub fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<usize, String> {
        if matches!(self, Unpacker::Unknown) {
            *self = Unpacker::new(Packed::of(bytes));
        }
        let some = bytes.get(..bytes.len().min(STEP_BYTES)).unwrap_or_default();
        match self {
            Unpacker::Unknown | Unpacker::Plain => {
                let some = bytes.get(..bytes.len().min(PLAIN_BYTES)).unwrap_or_default();
                out.extend_from_slice(some);
                Ok(some.len())
            }
            Unpacker::Gzip(decoder) => {
                let wrote = decoder.write_all(some).and_then(|()| decoder.flush());
                out.append(decoder.get_mut());
                wrote.map(|()| some.len()).map_err(|error| format!("gzip: {error}"))
            }
            Unpacker::Zstd(context, left) => {
                let named = |code| format!("zstd: {}", zstd_safe::get_error_name(code));
                let mut input = InBuffer::around(some);
                let mut room = vec![0; DCtx::out_size()];
                loop {
                    let mut output = OutBuffer::around(room.as_mut_slice());
                    *left = context.decompress_stream(&mut output, &mut input).map_err(named)?;
                    let is_full = output.as_slice().len() >= DCtx::out_size();
                    out.extend_from_slice(output.as_slice());
                    // What of the last byte is still inside has to come out.
                    if !is_full || input.pos() < some.len() {
                        return Ok(input.pos());
                    }
                }
            }
        }
    }

    /// Nothing more comes. The error says that something is missing.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), String> {
        match self {
            Unpacker::Unknown | Unpacker::Plain => Ok(()),
            Unpacker::Gzip(decoder) => {
                let ended = decoder.try_finish();
                out.append(decoder.get_mut());
                ended.map_err(|error| format!("gzip: {error}"))
            }
            Unpacker::Zstd(_, 0) => Ok(()),
            Unpacker::Zstd(..) => Err("zstd: it ends too early".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).expect("into memory");
        encoder.finish().expect("into memory")
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        let mut packed = Vec::with_capacity(zstd_safe::compress_bound(text.len()));
        zstd_safe::compress(&mut packed, text, 1).expect("packed");
        packed
    }

    fn unpack(bytes: &[u8], cuts: &[usize]) -> Result<Vec<u8>, String> {
        let (mut unpacker, mut out) = (Unpacker::new(Packed::Auto), Vec::new());
        let (mut rest, mut cuts) = (bytes, cuts.iter().cycle());
        while !rest.is_empty() {
            let (mut piece, behind) = rest.split_at((*cuts.next().unwrap_or(&1000)).min(rest.len()));
            rest = behind;
            while !piece.is_empty() {
                let taken = unpacker.take(piece, &mut out)?;
                piece = &piece[taken..];
            }
        }
        unpacker.finish(&mut out).map(|()| out)
    }

    proptest! {
        #[test]
        fn what_was_packed_comes_out_whatever_the_pieces(
            text in proptest::collection::vec(any::<u8>(), 0..4000), more in "[a-z]{0,200}", cuts in proptest::collection::vec(4usize..700, 1..9)
        ) {
            let both = [&text[..], more.as_bytes()].concat();
            for pack in [gzip as fn(&[u8]) -> Vec<u8>, zstd] {
                // Members one behind the other are one text.
                let packed = [pack(&text), pack(more.as_bytes())].concat();
                prop_assert_eq!(unpack(&packed, &cuts), Ok(both.clone()));
            }
        }
    }

    #[test]
    fn what_is_cut_or_changed_is_an_error_and_the_text_before_it_is_there() {
        let text: Vec<u8> = (0..200_000u32).map(|n| (n.wrapping_mul(n) / 7) as u8).collect();
        for packed in [gzip(&text), zstd(&text)] {
            for cut in (4..packed.len()).step_by(packed.len() / 97 + 1) {
                assert!(unpack(&packed[..cut], &[5000]).is_err(), "{cut} of {}", packed.len());
            }
            assert!(unpack(&packed[..packed.len() - 1], &[5000]).is_err());
            assert!(unpack(&[&packed[..], b"garbage"].concat(), &[5000]).is_err());
        }
        let mut changed = gzip(&text);
        let middle = changed.len() / 2;
        changed[middle] ^= 0x40;
        assert!(unpack(&changed, &[5000]).is_err());
        assert_eq!(unpack(b"", &[5]), Ok(Vec::new()));
        assert_eq!(unpack(b"\x1f", &[5]), Ok(b"\x1f".to_vec()));
        assert_eq!(unpack(b"plain text", &[5]), Ok(b"plain text".to_vec()));
    }

    #[test]
    fn a_piece_becomes_no_more_than_a_bounded_one() {
        for packed in [gzip(&vec![b'a'; 50 << 20]), zstd(&vec![b'a'; 5 << 20])] {
            let (mut unpacker, mut out) = (Unpacker::new(Packed::Auto), Vec::new());
            let mut rest = packed.as_slice();
            while !rest.is_empty() {
                let taken = unpacker.take(rest, &mut out).expect("good");
                assert!(out.len() <= 16 << 20, "{}", out.len());
                out.clear();
                rest = &rest[taken..];
            }
        }
    }
}
