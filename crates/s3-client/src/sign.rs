//! Signature version 4 of AWS, over the whole of a request.

use crate::account::Account;
use http_client::{HeaderMap, HeaderName, HeaderValue};
use record::Civil;
use ring::{digest, hmac};
use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// What stands for the digest of a body that is not signed.
const UNSIGNED: &str = "UNSIGNED-PAYLOAD";

/// A request as far as it is signed.
pub struct Signed<'a> {
    pub method: &'a str,
    /// Percent-encoded.
    pub path: &'a str,
    /// Percent-encoded, names in their order.
    pub query: &'a str,
    pub region: &'a str,
    /// `s3`, `sts`
    pub service: &'a str,
    /// In any order, with lower case names; `host` is among them.
    pub headers: &'a [(String, String)],
    /// None: TLS protects it, and nothing else has to.
    pub body: Option<&'a [u8]>,
}

/// The headers that are to be added: the time, the digest of the body, the signature.
pub fn sign(request: &Signed<'_>, account: &Account, now: SystemTime) -> Vec<(String, String)> {
    let stamp = stamp(now);
    let day = stamp.get(..8).unwrap_or_default();
    let digest_of = |body| hex(digest::digest(&digest::SHA256, body).as_ref());
    let body = request.body.map_or_else(|| UNSIGNED.to_owned(), digest_of);
    let mut added =
        vec![("x-amz-content-sha256".to_owned(), body.clone()), ("x-amz-date".to_owned(), stamp.clone())];
    added.extend(account.token.iter().map(|token| ("x-amz-security-token".to_owned(), token.to_string())));
    let mut all: Vec<&(String, String)> = request.headers.iter().chain(&added).collect();
    all.sort();
    let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    let names = names.join(";");
    let mut text = format!("{}\n{}\n{}\n", request.method, request.path, request.query);
    for (name, value) in &all {
        let _ = writeln!(text, "{name}:{}", value.trim());
    }
    let _ = write!(text, "\n{names}\n{body}");
    let scope = format!("{day}/{}/{}/aws4_request", request.region, request.service);
    let canonical = hex(digest::digest(&digest::SHA256, text.as_bytes()).as_ref());
    let to_sign = format!("AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{canonical}");
    let first = format!("AWS4{}", account.secret_key.as_str());
    let key = [day, request.region, request.service, "aws4_request"]
        .iter()
        .fold(first.into_bytes(), |key, part| mac(&key, part.as_bytes()));
    let signature = hex(&mac(&key, to_sign.as_bytes()));
    let words = format!(
        "AWS4-HMAC-SHA256 Credential={}/{scope},SignedHeaders={names},Signature={signature}",
        account.access_key
    );
    added.push(("authorization".to_owned(), words));
    added
}

/// All headers of a request, signed now. The error is the name of one that cannot be sent.
pub fn signed_headers(request: &Signed<'_>, account: &Account) -> Result<HeaderMap, String> {
    let added = sign(request, account, SystemTime::now());
    let mut all = HeaderMap::new();
    for (name, value) in request.headers.iter().chain(&added) {
        let pair = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value));
        let (Ok(known), Ok(value)) = pair else { return Err(name.clone()) };
        all.insert(known, value);
    }
    Ok(all)
}

fn mac(key: &[u8], text: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text).as_ref().to_vec()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// `YYYYMMDDThhmmssZ`
fn stamp(now: SystemTime) -> String {
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let Civil { year, month, day, hour, min, sec } = Civil::from_seconds(seconds as i64);
    format!("{year:04}{month:02}{day:02}T{hour:02}{min:02}{sec:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use zeroize::Zeroizing;

    /// The example of a PUT in AWS's own description of the signature.
    #[test]
    fn the_example_of_aws() {
        let account = Account {
            access_key: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret_key: Zeroizing::new("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned()),
            token: None,
        };
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let headers = [
            header("host", "examplebucket.s3.amazonaws.com"),
            header("date", "Fri, 24 May 2013 00:00:00 GMT"),
            header("x-amz-storage-class", "REDUCED_REDUNDANCY"),
        ];
        let request = Signed {
            method: "PUT",
            path: "/test%24file.text",
            query: "",
            region: "us-east-1",
            service: "s3",
            headers: &headers,
            body: Some(b"Welcome to Amazon S3."),
        };
        let at = UNIX_EPOCH + Duration::from_secs(1_369_353_600);
        let added = sign(&request, &account, at);
        assert_eq!(added[0].1, "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072");
        assert_eq!(added[1].1, "20130524T000000Z");
        let words = &added[2].1;
        assert!(
            words.ends_with("Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
            "{words}"
        );
        assert!(
            words.contains("SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,")
        );
    }

    /// The example of a GET with a query in the same place.
    #[test]
    fn a_query_is_signed() {
        let account = Account {
            access_key: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret_key: Zeroizing::new("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned()),
            token: None,
        };
        let headers = [("host".to_owned(), "examplebucket.s3.amazonaws.com".to_owned())];
        let request = Signed {
            method: "GET",
            path: "/",
            query: "max-keys=2&prefix=J",
            region: "us-east-1",
            service: "s3",
            headers: &headers,
            body: Some(b""),
        };
        let added = sign(&request, &account, UNIX_EPOCH + Duration::from_secs(1_369_353_600));
        let words = &added[2].1;
        assert!(
            words.ends_with("Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
            "{words}"
        );
    }

    #[test]
    fn times() {
        let of = |seconds| stamp(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(of(0), "19700101T000000Z");
        assert_eq!(of(951_827_696), "20000229T123456Z");
        assert_eq!(of(1_795_478_399), "20261123T235959Z");
    }
}
