//! Fingerprints of certificates, as `trusted-keys()` has them: `SHA1:00:11:...`.

use sha1::{Digest, Sha1};
use sha2::{Sha256, Sha384, Sha512};
use std::fmt;

#[derive(Clone, PartialEq, Eq)]
pub enum Fingerprint {
    Sha1([u8; 20]),
    Sha256([u8; 32]),
    Sha384([u8; 48]),
    Sha512([u8; 64]),
}

impl Fingerprint {
    /// Reads `DIGEST:XX:XX:...`; the colons between the bytes may be left out.
    pub fn parse(text: &str) -> Result<Fingerprint, String> {
        let wrong =
            || format!("`{text}` is not a fingerprint such as `SHA1:00:11:...` or `SHA256:00:11:...`");
        let (digest, hex) = text.split_once(':').ok_or_else(wrong)?;
        let digits: Vec<u8> = hex.bytes().filter(|b| !matches!(b, b':' | b' ')).collect();
        let nibble = |b: u8| char::from(b).to_digit(16).map(|n| n as u8);
        let bytes: Option<Vec<u8>> = digits
            .chunks(2)
            .map(|pair| match pair {
                [high, low] => Some(nibble(*high)? << 4 | nibble(*low)?),
                _ => None,
            })
            .collect();
        let bytes = bytes.ok_or_else(wrong)?;
        match digest.trim().to_ascii_uppercase().as_str() {
            "SHA1" => bytes.try_into().map(Fingerprint::Sha1).map_err(|_| wrong()),
            "SHA256" => bytes.try_into().map(Fingerprint::Sha256).map_err(|_| wrong()),
            "SHA384" => bytes.try_into().map(Fingerprint::Sha384).map_err(|_| wrong()),
            "SHA512" => bytes.try_into().map(Fingerprint::Sha512).map_err(|_| wrong()),
            other => Err(format!("no digest `{other}` here: use SHA1, SHA256, SHA384 or SHA512")),
        }
    }

    /// The one syslog-ng shows in `${.tls.x509_fp}`.
    pub fn sha1(der: &[u8]) -> Fingerprint {
        Fingerprint::Sha1(Sha1::digest(der).into())
    }

    pub fn sha256(der: &[u8]) -> Fingerprint {
        Fingerprint::Sha256(Sha256::digest(der).into())
    }

    pub fn matches(&self, der: &[u8]) -> bool {
        match self {
            Fingerprint::Sha1(wanted) => Sha1::digest(der).as_slice() == wanted,
            Fingerprint::Sha256(wanted) => Sha256::digest(der).as_slice() == wanted,
            Fingerprint::Sha384(wanted) => Sha384::digest(der).as_slice() == wanted,
            Fingerprint::Sha512(wanted) => Sha512::digest(der).as_slice() == wanted,
        }
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, bytes): (_, &[u8]) = match self {
            Fingerprint::Sha1(bytes) => ("SHA1", bytes),
            Fingerprint::Sha256(bytes) => ("SHA256", bytes),
            Fingerprint::Sha384(bytes) => ("SHA384", bytes),
            Fingerprint::Sha512(bytes) => ("SHA512", bytes),
        };
        f.write_str(name)?;
        bytes.iter().try_for_each(|byte| write!(f, ":{byte:02X}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_and_shown() {
        let text = "SHA1:DA:39:A3:EE:5E:6B:4B:0D:32:55:BF:EF:95:60:18:90:AF:D8:07:09";
        let print = Fingerprint::parse(text).expect("a fingerprint");
        assert!(print.matches(b"") && !print.matches(b"x"));
        assert_eq!(print.to_string(), text);
        assert_eq!(Fingerprint::parse(&text.to_lowercase()), Ok(print));
        assert!(
            Fingerprint::parse("SHA256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
                .is_ok_and(|p| p.matches(b""))
        );
        for wrong in ["", "SHA1", "SHA1:", "SHA1:00:11", "MD5:00", "SHA1:zz", "SHA256:0"] {
            assert!(Fingerprint::parse(wrong).is_err(), "{wrong}");
        }
    }
}
