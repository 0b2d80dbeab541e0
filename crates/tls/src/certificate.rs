//! What is said about a certificate: its subject, how long it is valid. Reads no more of it than that.

use crate::der::{BITS, CONTEXT_0, Der, INTEGER, OCTETS, OID, SEQUENCE, SET};

/// The parts of a certificate that are shown, matched or compared. Nothing here decides about a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    subject: Vec<(Vec<u8>, String)>,
    /// Seconds since 1970.
    pub not_before: i64,
    pub not_after: i64,
    /// Bits of an RSA key.
    pub rsa_bits: Option<usize>,
    /// It names hosts or addresses beside its subject.
    pub has_alternative_names: bool,
    /// What it says that it is made for; empty when it does not say.
    uses: Vec<Vec<u8>>,
}

/// What a certificate may be made for (extended key usage).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    Server,
    Client,
}

const COMMON_NAME: &[u8] = &[0x55, 4, 3];
const ORGANIZATION: &[u8] = &[0x55, 4, 10];
const UNIT: &[u8] = &[0x55, 4, 11];
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 17];
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 37];
/// id-kp, before the number of the use.
const KEY_PURPOSE: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3];

/// Short names of attributes, as they stand in a distinguished name.
const ATTRIBUTES: &[(&[u8], &str)] = &[
    (COMMON_NAME, "CN"),
    (&[0x55, 4, 4], "SN"),
    (&[0x55, 4, 5], "serialNumber"),
    (&[0x55, 4, 6], "C"),
    (&[0x55, 4, 7], "L"),
    (&[0x55, 4, 8], "ST"),
    (&[0x55, 4, 9], "street"),
    (ORGANIZATION, "O"),
    (UNIT, "OU"),
    (&[0x55, 4, 12], "title"),
    (&[0x55, 4, 42], "GN"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1], "emailAddress"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 25], "DC"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 1], "UID"),
];

const VERSION: u8 = CONTEXT_0;
const EXTENSIONS: u8 = 0xa3;

impl Certificate {
    pub fn read(der: &[u8]) -> Option<Certificate> {
        let mut tbs = Der(Der(Der(der).take(SEQUENCE)?).take(SEQUENCE)?);
        if tbs.peek() == Some(VERSION) {
            tbs.take(VERSION)?;
        }
        tbs.take(INTEGER)?;
        tbs.take(SEQUENCE)?;
        let _issuer = tbs.take(SEQUENCE)?;
        let mut validity = Der(tbs.take(SEQUENCE)?);
        let (not_before, not_after) = (time(validity.next()?)?, time(validity.next()?)?);
        let subject = subject(tbs.take(SEQUENCE)?)?;
        let rsa_bits = rsa_bits(tbs.take(SEQUENCE)?);
        let (mut has_alternative_names, mut uses) = (false, Vec::new());
        while let Some((tag, content)) = tbs.next() {
            if tag == EXTENSIONS {
                let mut all = Der(Der(content).take(SEQUENCE)?);
                while let Some((SEQUENCE, one)) = all.next() {
                    let mut one = Der(one);
                    match one.take(OID)? {
                        ALTERNATIVE_NAMES => has_alternative_names = true,
                        EXTENDED_KEY_USAGE => uses = purposes(one)?,
                        _ => {}
                    }
                }
            }
        }
        Some(Certificate { subject, not_before, not_after, rsa_bits, has_alternative_names, uses })
    }

    /// The public key, with what it is, of a certificate of X.509 version 1. The library reads no such
    /// certificate, but it can verify with its key: old self-made certificates are of this version.
    pub fn key_of_version_1(der: &[u8]) -> Option<&[u8]> {
        let mut tbs = Der(Der(Der(der).take(SEQUENCE)?).take(SEQUENCE)?);
        // Only later versions say which they are.
        tbs.take(INTEGER)?;
        for _ in ["signature", "issuer", "validity", "subject"] {
            tbs.take(SEQUENCE)?;
        }
        tbs.whole(SEQUENCE)
    }

    /// Whether it says that it is made for this.
    pub fn is_for(&self, wanted: Use) -> bool {
        let number = match wanted {
            Use::Server => 1,
            Use::Client => 2,
        };
        self.uses.iter().any(|oid| oid.strip_prefix(KEY_PURPOSE) == Some(&[number]))
    }

    pub fn common_name(&self) -> &str {
        self.last(COMMON_NAME)
    }

    pub fn organization(&self) -> &str {
        self.last(ORGANIZATION)
    }

    pub fn unit(&self) -> &str {
        self.last(UNIT)
    }

    /// The most specific attribute of a kind; empty when there is none.
    fn last(&self, oid: &[u8]) -> &str {
        self.subject.iter().rev().find(|(kind, _)| kind == oid).map_or("", |(_, value)| value)
    }

    /// The subject as `trusted-dn()` compares it: most specific part first, `CN=host, OU=unit,
    /// O=organization`.
    pub fn distinguished_name(&self) -> String {
        let mut name = String::new();
        for (oid, value) in self.subject.iter().rev() {
            if !name.is_empty() {
                name.push_str(", ");
            }
            match ATTRIBUTES.iter().find(|(known, _)| known == oid) {
                Some((_, short)) => name.push_str(short),
                None => name.push_str(&dotted(oid)),
            }
            name.push('=');
            for (at, c) in value.char_indices() {
                // RFC 2253 section 2.4.
                let edge = (at == 0 && (c == ' ' || c == '#')) || (c == ' ' && at + 1 == value.len());
                if edge || matches!(c, ',' | '+' | '"' | '\\' | '<' | '>' | ';') {
                    name.push('\\');
                }
                name.push(c);
            }
        }
        name
    }
}

/// The size of the modulus in a public key's information; `None` when it is a key of another kind.
fn rsa_bits(information: &[u8]) -> Option<usize> {
    let mut information = Der(information);
    if Der(information.take(SEQUENCE)?).take(OID)? != RSA {
        return None;
    }
    // The first byte of a bit string says how many bits of its last are not meant.
    let key = information.take(BITS)?.get(1..)?;
    let modulus = Der(Der(key).take(SEQUENCE)?).take(INTEGER)?;
    let first = modulus.iter().position(|byte| *byte != 0)?;
    let digits = modulus.get(first..)?;
    Some(digits.len() * 8 - digits.first()?.leading_zeros() as usize)
}

/// The uses in an extension's value, which may have a mark before it that it is critical.
fn purposes(mut extension: Der<'_>) -> Option<Vec<Vec<u8>>> {
    let value = std::iter::from_fn(|| extension.next()).find(|(tag, _)| *tag == OCTETS)?.1;
    let mut all = Der(Der(value).take(SEQUENCE)?);
    Some(std::iter::from_fn(|| all.take(OID)).map(<[u8]>::to_vec).collect())
}

fn subject(der: &[u8]) -> Option<Vec<(Vec<u8>, String)>> {
    let mut attributes = Vec::new();
    let mut sets = Der(der);
    while let Some((SET, set)) = sets.next() {
        let mut pairs = Der(set);
        while let Some((SEQUENCE, pair)) = pairs.next() {
            let mut pair = Der(pair);
            let oid = pair.take(OID)?.to_vec();
            attributes.push((oid, text(pair.next()?)));
        }
    }
    Some(attributes)
}

fn text((tag, bytes): (u8, &[u8])) -> String {
    const BMP: u8 = 0x1e;
    const TELETEX: u8 = 0x14;
    match tag {
        BMP => {
            let units = bytes.as_chunks::<2>().0.iter().map(|pair| u16::from_be_bytes(*pair));
            char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
        }
        TELETEX => bytes.iter().map(|byte| char::from(*byte)).collect(),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

fn dotted(oid: &[u8]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut value: u64 = 0;
    for byte in oid {
        value = (value << 7) | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            if parts.is_empty() {
                let first = (value / 40).min(2);
                parts.push(first.to_string());
                value -= first * 40;
            }
            parts.push(value.to_string());
            value = 0;
        }
    }
    parts.join(".")
}

/// UTCTime or GeneralizedTime, always in UTC (RFC 5280 section 4.1.2.5).
fn time((tag, bytes): (u8, &[u8])) -> Option<i64> {
    const UTC_TIME: u8 = 0x17;
    let digits: Vec<i64> = bytes.iter().map_while(|b| char::from(*b).to_digit(10).map(i64::from)).collect();
    let (year, rest) = digits.split_at_checked(if tag == UTC_TIME { 2 } else { 4 })?;
    let year = year.iter().fold(0, |all, digit| all * 10 + digit);
    let year = match tag {
        UTC_TIME if year < 50 => 2000 + year,
        UTC_TIME => 1900 + year,
        _ => year,
    };
    let [m1, m0, d1, d0, h1, h0, i1, i0, s1, s0] = rest.first_chunk::<10>()?;
    let (month, day) = (m1 * 10 + m0, d1 * 10 + d0);
    let seconds = (h1 * 10 + h0) * 3600 + (i1 * 10 + i0) * 60 + s1 * 10 + s0;
    Some(days(year, month, day) * 86_400 + seconds)
}

/// Days from 1970-01-01 in the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (tag, text, expected) in [
            (0x17, "700101000000Z", Some(0)),
            (0x17, "491231235959Z", Some(2_524_607_999)),
            (0x18, "20240229120000Z", Some(1_709_208_000)),
            (0x18, "2024", None),
            (0x17, "x", None),
        ] {
            assert_eq!(time((tag, text.as_bytes())), expected, "{text}");
        }
    }

    #[test]
    fn identifiers_and_texts() {
        assert_eq!(dotted(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d]), "1.2.840.113549");
        assert_eq!(dotted(&[0x55, 4, 3]), "2.5.4.3");
        assert_eq!(text((0x1e, &[0, b'a', 0, 0xe4])), "aä");
    }

    #[test]
    fn what_is_no_certificate_is_none() {
        let good = crate::testing::Authority::new("ca").certificate.der().to_vec();
        assert!(Certificate::read(&good).is_some());
        for end in 0..good.len() {
            assert_eq!(Certificate::read(&good[..end]), None, "{end}");
        }
        for at in 0..good.len().min(400) {
            let mut bad = good.clone();
            bad[at] ^= 0xff;
            let _ = Certificate::read(&bad);
        }
    }
}
