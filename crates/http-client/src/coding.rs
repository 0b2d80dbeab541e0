//! gzip and deflate, for bodies that go and answers that come.

use flate2::Compression;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use flate2::write::{GzEncoder, ZlibEncoder};
use std::io::{Read, Write};

/// `content-compression()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    Gzip,
    Deflate,
}

/// The cheapest that is worth it: the usual level costs eight times the collector for half as much again.
const LEVEL: Compression = Compression::fast();

impl Coding {
    /// As headers say it.
    pub fn named(name: &str) -> Option<Coding> {
        match name.trim().to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => Some(Coding::Gzip),
            "deflate" => Some(Coding::Deflate),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Coding::Gzip => "gzip",
            Coding::Deflate => "deflate",
        }
    }

    pub fn pack(self, body: &[u8]) -> std::io::Result<Vec<u8>> {
        let out = Vec::with_capacity(body.len() / 3);
        match self {
            Coding::Gzip => {
                let mut encoder = GzEncoder::new(out, LEVEL);
                encoder.write_all(body)?;
                encoder.finish()
            }
            Coding::Deflate => {
                let mut encoder = ZlibEncoder::new(out, LEVEL);
                encoder.write_all(body)?;
                encoder.finish()
            }
        }
    }

    /// What was packed, `bytes_max` of it at most.
    pub fn unpack(self, packed: &[u8], bytes_max: usize) -> std::io::Result<Vec<u8>> {
        let mut out = Vec::new();
        let most = bytes_max as u64;
        match self {
            Coding::Gzip => MultiGzDecoder::new(packed).take(most).read_to_end(&mut out)?,
            Coding::Deflate => ZlibDecoder::new(packed).take(most).read_to_end(&mut out)?,
        };
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out_again_and_never_more_than_allowed() {
        let body = b"one and the same line\n".repeat(1000);
        for coding in [Coding::Gzip, Coding::Deflate] {
            let packed = coding.pack(&body).expect("packed");
            assert!(packed.len() < body.len() / 10);
            assert_eq!(coding.unpack(&packed, 1 << 20).expect("unpacked"), body);
            assert_eq!(coding.unpack(&packed, 100).expect("unpacked"), body[..100]);
            assert!(coding.unpack(b"no such thing", 100).is_err());
            assert_eq!(Coding::named(coding.name()), Some(coding));
        }
    }
}
