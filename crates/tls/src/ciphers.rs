//! Lists of cipher suites in the language of OpenSSL's ciphers(1): names, words for whole groups, `!`, `-`,
//! `+` and `@STRENGTH`.

use crate::words::cipher_suite;
use rustls::CipherSuite;

/// What a list comes to.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CipherList {
    /// In the order of the list.
    pub suites: Vec<CipherSuite>,
    /// Parts of the list that ask for suites and bring none.
    pub left_out: Vec<String>,
}

/// A suite of TLS 1.2 as the words of a list see it.
struct Known {
    suite: CipherSuite,
    bits: u16,
    words: &'static [&'static str],
}

/// What all of them are. Only suites with keys made for one session and authenticated encryption are there.
const ALL_ARE: &[&str] = &["ALL", "DEFAULT", "HIGH", "ECDH", "ECDHE", "EECDH", "kECDHE", "kEECDH", "TLSv1.2"];

/// In OpenSSL's own order.
const KNOWN: &[Known] = &[
    Known {
        suite: CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        bits: 256,
        words: &["ECDSA", "aECDSA", "AES", "AES256", "AESGCM", "FIPS", "SUITEB128", "SUITEB192"],
    },
    Known {
        suite: CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        bits: 256,
        words: &["aRSA", "AES", "AES256", "AESGCM", "FIPS"],
    },
    Known {
        suite: CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        bits: 256,
        words: &["ECDSA", "aECDSA", "CHACHA20"],
    },
    Known {
        suite: CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        bits: 256,
        words: &["aRSA", "CHACHA20"],
    },
    Known {
        suite: CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        bits: 128,
        words: &["ECDSA", "aECDSA", "AES", "AES128", "AESGCM", "FIPS", "SUITEB128", "SUITEB128ONLY"],
    },
    Known {
        suite: CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        bits: 128,
        words: &["aRSA", "AES", "AES128", "AESGCM", "FIPS"],
    },
];

impl Known {
    fn is(&self, word: &str) -> bool {
        ALL_ARE.contains(&word) || self.words.contains(&word) || cipher_suite(word) == Some(self.suite)
    }
}

fn bits(suite: CipherSuite) -> u16 {
    KNOWN.iter().find(|known| known.suite == suite).map_or(0, |known| known.bits)
}

/// Reads a list. Words of suites that nobody should use, and names that nobody knows, are among what is left
/// out.
pub fn cipher_list(text: &str) -> CipherList {
    let mut list = CipherList::default();
    let mut killed: Vec<CipherSuite> = Vec::new();
    // An order may stand right behind a word: `DEFAULT@SECLEVEL=1`.
    let text = text.replace('@', ":@");
    for part in text.split([':', ',', ';', ' ', '\t', '\n']).filter(|part| !part.is_empty()) {
        if let Some(order) = part.strip_prefix('@') {
            if order == "STRENGTH" {
                list.suites.sort_by_key(|suite| std::cmp::Reverse(bits(*suite)));
            }
            // @SECLEVEL: what is here is above every level.
            continue;
        }
        let (sign, words) = match part.as_bytes().first() {
            Some(sign @ (b'!' | b'-' | b'+')) => (Some(*sign), part.get(1..).unwrap_or_default()),
            _ => (None, part),
        };
        let meant = meant(words);
        match sign {
            Some(b'!') => {
                list.suites.retain(|suite| !meant.contains(suite));
                killed.extend(meant);
            }
            Some(b'-') => list.suites.retain(|suite| !meant.contains(suite)),
            Some(_) => {
                let moved: Vec<CipherSuite> =
                    list.suites.extract_if(.., |suite| meant.contains(suite)).collect();
                list.suites.extend(moved);
            }
            None if meant.is_empty() => list.left_out.push(part.to_owned()),
            None => {
                for suite in meant {
                    if !killed.contains(&suite) && !list.suites.contains(&suite) {
                        list.suites.push(suite);
                    }
                }
            }
        }
    }
    list
}

/// The suites that words joined by `+` all fit, or the one of this name.
fn meant(words: &str) -> Vec<CipherSuite> {
    let fits = |known: &&Known| words.split('+').all(|word| known.is(word));
    let found: Vec<CipherSuite> = KNOWN.iter().filter(fits).map(|known| known.suite).collect();
    match found.is_empty() {
        // Suites of TLS 1.3 have no words, only names.
        true => cipher_suite(words).into_iter().collect(),
        false => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Short names: which curve of signatures, which cipher.
    fn short(suite: CipherSuite) -> String {
        let name = suite.as_str().unwrap_or_default();
        let who = if name.contains("ECDSA") { "e" } else { "r" };
        let what = match name {
            _ if name.contains("AES_256") => "256",
            _ if name.contains("AES_128") => "128",
            _ => "c",
        };
        let old = if name.starts_with("TLS13") { "3" } else { who };
        format!("{old}{what}")
    }

    #[track_caller]
    fn check(text: &str, suites: &str, left_out: &str) {
        let list = cipher_list(text);
        let got: Vec<String> = list.suites.into_iter().map(short).collect();
        assert_eq!((got.join(" ").as_str(), list.left_out.join(" ").as_str()), (suites, left_out), "{text}");
    }

    const ALL: &str = "e256 r256 ec rc e128 r128";

    /// What `openssl ciphers` says of these lists, but for the suites that are not here.
    #[test]
    fn words_and_signs() {
        check("DEFAULT", ALL, "");
        check("HIGH:!aNULL:!MD5", ALL, "");
        check("HIGH:!aNULL:!eNULL:!kRSA:!3DES:@STRENGTH", "e256 r256 ec rc e128 r128", "");
        check("ECDHE+AESGCM", "e256 r256 e128 r128", "");
        check("ECDHE+AESGCM:ECDHE+CHACHA20:!aECDSA", "r256 r128 rc", "");
        check("EECDH+ECDSA+AESGCM:EECDH+aRSA+AESGCM", "e256 e128 r256 r128", "");
        check("AES128:AES256:@STRENGTH", "e256 r256 e128 r128", "");
        check("ALL:+AES256", "ec rc e128 r128 e256 r256", "");
        check("ALL:-AES:AES128", "ec rc e128 r128", "");
        check("!AES256:ALL", "ec rc e128 r128", "");
        check("ALL:@SECLEVEL=2", ALL, "");
        check("DEFAULT@SECLEVEL=1", ALL, "");
        check("AES128:AES256@STRENGTH", "e256 r256 e128 r128", "");
        check("ECDHE-RSA-AES128-GCM-SHA256 ECDHE-ECDSA-AES128-GCM-SHA256", "r128 e128", "");
        check("TLS_AES_128_GCM_SHA256:AES256+aRSA", "3128 r256", "");
    }

    #[test]
    fn what_is_not_here_is_named() {
        check("ECDHE-RSA-AES256-SHA:AES256-SHA:ECDHE+aRSA+AES128", "r128", "ECDHE-RSA-AES256-SHA AES256-SHA");
        check("RC4:kRSA+AES:MEDIUM:nonsense", "", "RC4 kRSA+AES MEDIUM nonsense");
        check("HIGH:!ALL", "", "");
        check("", "", "");
    }
}
