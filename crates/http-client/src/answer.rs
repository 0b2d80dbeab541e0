//! What a server answered, as far as anybody wants to know.

use crate::coding::Coding;
use crate::dates::retry_after;
use hyper::HeaderMap;
use hyper::header::{CONTENT_ENCODING, HeaderName, LOCATION, RETRY_AFTER};
use std::time::{Duration, SystemTime};

/// The most of an answer that is read; a bulk request of 100,000 documents is answered with less.
pub const BODY_BYTES_MAX: usize = 16 << 20;
/// Bytes of it that the log and the dead letters show.
const WORDS_BYTES_MAX: usize = 300;

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub retry_after: Option<Duration>,
    pub location: Option<String>,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    /// The connection did not end in the middle of it.
    pub is_whole: bool,
}

impl Answer {
    pub fn new(status: u16, headers: HeaderMap, body: Vec<u8>, is_whole: bool) -> Answer {
        let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let coding = text(CONTENT_ENCODING).and_then(Coding::named);
        let (body, is_whole) = match coding.map(|coding| coding.unpack(&body, BODY_BYTES_MAX)) {
            Some(Ok(unpacked)) => (unpacked, is_whole),
            Some(Err(_)) => (Vec::new(), false),
            None => (body, is_whole),
        };
        Answer::raw(status, headers, body, is_whole)
    }

    /// With a body as it has come.
    pub fn raw(status: u16, headers: HeaderMap, body: Vec<u8>, is_whole: bool) -> Answer {
        let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let retry_after = text(RETRY_AFTER).and_then(|text| retry_after(text, SystemTime::now()));
        let location = text(LOCATION).map(str::to_owned);
        Answer { status, retry_after, location, headers, body, is_whole }
    }

    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// For the log: the status and the beginning of the body, in one line.
    pub fn words(&self) -> String {
        let name = hyper::StatusCode::from_u16(self.status).ok().and_then(|status| status.canonical_reason());
        let begin = self.body.get(..self.body.len().min(WORDS_BYTES_MAX)).unwrap_or_default();
        let begin: String =
            String::from_utf8_lossy(begin).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let mut words = format!("{} {}", self.status, name.unwrap_or_default());
        if !begin.trim().is_empty() {
            words.push_str(": ");
            words.push_str(begin.trim());
        }
        words
    }

    /// For tests.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn of(status: u16, body: impl AsRef<[u8]>) -> Answer {
        let body = body.as_ref().to_vec();
        Answer { status, retry_after: None, location: None, headers: HeaderMap::new(), body, is_whole: true }
    }
}
