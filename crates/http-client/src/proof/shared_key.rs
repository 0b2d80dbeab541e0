//! `azure-auth-header()`: requests signed with a key that both sides know, as Azure's HTTP Data Collector
//! wants it (SharedKey).

use super::{Line, secret};
use crate::dates::imf_fixdate;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use ring::hmac;
use std::time::SystemTime;

const DATE: &str = "x-ms-date";

pub struct SharedKey {
    workspace: String,
    key: hmac::Key,
    method: String,
    path: String,
    content_type: String,
}

/// What is signed beside length and date.
pub struct Signed {
    pub method: String,
    pub path: String,
    pub content_type: String,
}

impl SharedKey {
    /// `secret` is the key as Azure shows it, in base64.
    pub fn new(workspace: String, secret: &str, signed: Signed) -> Result<SharedKey, String> {
        let bytes = STANDARD.decode(secret.trim()).map_err(|_| "the key is not in base64".to_owned())?;
        let key = hmac::Key::new(hmac::HMAC_SHA256, &bytes);
        let Signed { method, path, content_type } = signed;
        Ok(SharedKey { workspace, key, method, path, content_type })
    }

    /// The headers of a request with a body of so many bytes.
    pub fn headers(&self, body_bytes: usize, now: SystemTime) -> Result<[Line; 2], String> {
        let date = imf_fixdate(now);
        let text =
            format!("{}\n{body_bytes}\n{}\n{DATE}:{date}\n{}", self.method, self.content_type, self.path);
        let signature = STANDARD.encode(hmac::sign(&self.key, text.as_bytes()));
        let shown = secret(&format!("SharedKey {}:{signature}", self.workspace))?;
        let date = HeaderValue::from_str(&date).map_err(|error| error.to_string())?;
        Ok([(HeaderName::from_static(DATE), date), (AUTHORIZATION, shown)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    /// As Python's hmac and base64 make it from the same text.
    #[test]
    fn length_date_and_place_are_signed() {
        let signed = Signed {
            method: "POST".to_owned(),
            path: "/api/logs".to_owned(),
            content_type: "application/json".to_owned(),
        };
        let key = SharedKey::new("space".to_owned(), "c2VjcmV0", signed).expect("a key");
        let [date, shown] = key.headers(42, UNIX_EPOCH + Duration::from_secs(784_111_777)).expect("headers");
        assert_eq!(date.1, "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(shown.1, EXPECTED);
        assert!(shown.1.is_sensitive());
    }

    const EXPECTED: &str = "SharedKey space:ErD2ViibWnbl68E/yBT2FQVzQRLhAlYOG0lCK5ZLTqM=";

    #[test]
    fn keys_are_in_base64() {
        let signed = Signed { method: String::new(), path: String::new(), content_type: String::new() };
        assert!(SharedKey::new(String::new(), "*", signed).is_err());
    }
}
