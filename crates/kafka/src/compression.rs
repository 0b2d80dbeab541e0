//! The records of a batch, compressed as a whole.

use std::io::Write;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    #[default]
    None,
    /// Level 1 to 9.
    Gzip(u32),
    Snappy,
    Lz4,
    /// Level 1 to 22.
    Zstd(i32),
}

/// What the Java client puts in front of Snappy blocks: its name, version 1, readable by version 1.
const SNAPPY_HEAD: &[u8] = b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01";
/// Bytes of a Snappy block before it is compressed, as in the Java client.
const SNAPPY_BLOCK_BYTES: usize = 32 * 1024;

impl Compression {
    /// The bits of a batch's attributes.
    pub fn code(self) -> i16 {
        match self {
            Compression::None => 0,
            Compression::Gzip(_) => 1,
            Compression::Snappy => 2,
            Compression::Lz4 => 3,
            Compression::Zstd(_) => 4,
        }
    }

    /// Appends `records` compressed. The error says why that cannot be; none is known to happen.
    pub fn compress(self, records: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        match self {
            Compression::None => out.extend_from_slice(records),
            Compression::Gzip(level) => {
                let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::new(level));
                encoder.write_all(records).and_then(|()| encoder.try_finish()).map_err(|e| e.to_string())?;
            }
            Compression::Snappy => snappy(records, out)?,
            Compression::Lz4 => {
                let mut encoder = lz4_flex::frame::FrameEncoder::new(out);
                encoder.write_all(records).map_err(|e| e.to_string())?;
                encoder.finish().map_err(|e| e.to_string())?;
            }
            Compression::Zstd(level) => zstd(records, level, out)?,
        }
        Ok(())
    }
}

fn snappy(records: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
    out.extend_from_slice(SNAPPY_HEAD);
    let mut encoder = snap::raw::Encoder::new();
    for block in records.chunks(SNAPPY_BLOCK_BYTES) {
        let packed = encoder.compress_vec(block).map_err(|e| e.to_string())?;
        out.extend_from_slice(&(packed.len() as u32).to_be_bytes());
        out.extend_from_slice(&packed);
    }
    Ok(())
}

fn zstd(records: &[u8], level: i32, out: &mut Vec<u8>) -> Result<(), String> {
    let begin = out.len();
    out.resize(begin + zstd_safe::compress_bound(records.len()), 0);
    let room = out.get_mut(begin..).unwrap_or_default();
    let written = zstd_safe::compress(room, records, level)
        .map_err(|code| zstd_safe::get_error_name(code).to_owned())?;
    out.truncate(begin + written);
    Ok(())
}
