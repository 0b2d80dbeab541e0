//! The records of a batch, unpacked: never more of them than a bound, whatever the few bytes say they are.

use std::io::Read;

/// Bytes that the records of one batch come to at most.
pub const UNPACKED_BYTES_MAX: usize = 256 << 20;
/// What the Java client puts in front of Snappy blocks: its name. Its version and the oldest one follow.
const SNAPPY_NAME: &[u8] = b"\x82SNAPPY\0";
const SNAPPY_HEAD_BYTES: usize = 16;
/// Room that is made for unpacked bytes at a time.
const STEP_BYTES: usize = 256 << 10;

/// Unpacks what is packed in the way with this number. The error says why that cannot be.
pub fn unpack(code: i16, packed: &[u8]) -> Result<Vec<u8>, String> {
    match code {
        1 => all(flate2::read::MultiGzDecoder::new(packed), packed.len()),
        2 => snappy(packed),
        3 => all(lz4_flex::frame::FrameDecoder::new(packed), packed.len()),
        4 => zstd(packed),
        _ => Err(format!("nothing is known of compression {code}")),
    }
}

fn too_much() -> String {
    format!("it comes to more than {} MiB", UNPACKED_BYTES_MAX >> 20)
}

fn all(from: impl Read, packed_bytes: usize) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity((packed_bytes * 4).min(STEP_BYTES * 8));
    from.take(UNPACKED_BYTES_MAX as u64 + 1).read_to_end(&mut out).map_err(|e| e.to_string())?;
    if out.len() > UNPACKED_BYTES_MAX { Err(too_much()) } else { Ok(out) }
}

/// As the Java client writes it, in blocks, or as librdkafka does, in one.
fn snappy(packed: &[u8]) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    if !packed.starts_with(SNAPPY_NAME) {
        block(packed, &mut out)?;
        return Ok(out);
    }
    let mut rest = packed.get(SNAPPY_HEAD_BYTES..).unwrap_or_default();
    while let Some((length, behind)) = rest.split_first_chunk::<4>() {
        let (packed, behind) = behind
            .split_at_checked(u32::from_be_bytes(*length) as usize)
            .ok_or_else(|| "a block is longer than it".to_owned())?;
        rest = behind;
        block(packed, &mut out)?;
    }
    Ok(out)
}

fn block(packed: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
    let length = snap::raw::decompress_len(packed).map_err(|e| e.to_string())?;
    let begin = out.len();
    // A byte unpacks to 64 at most; more is a lie.
    if length > packed.len().saturating_mul(64) || begin + length > UNPACKED_BYTES_MAX {
        return Err(too_much());
    }
    out.resize(begin + length, 0);
    let room = out.get_mut(begin..).unwrap_or_default();
    snap::raw::Decoder::new().decompress(packed, room).map_err(|e| e.to_string())?;
    Ok(())
}

fn zstd(packed: &[u8]) -> Result<Vec<u8>, String> {
    let named = |code| zstd_safe::get_error_name(code).to_owned();
    let mut context = zstd_safe::DCtx::create();
    let mut input = zstd_safe::InBuffer::around(packed);
    let mut out = Vec::new();
    loop {
        let begin = out.len();
        out.resize(begin + STEP_BYTES.max(begin / 2), 0);
        let room = out.get_mut(begin..).unwrap_or_default();
        let room_bytes = room.len();
        let mut output = zstd_safe::OutBuffer::around(room);
        let hint = context.decompress_stream(&mut output, &mut input).map_err(named)?;
        let written = output.pos();
        out.truncate(begin + written);
        if out.len() > UNPACKED_BYTES_MAX {
            return Err(too_much());
        }
        if hint == 0 && input.pos() >= packed.len() {
            return Ok(out);
        }
        if written < room_bytes && input.pos() >= packed.len() {
            return Err("it ends too early".to_owned());
        }
    }
}
