//! What a call ended with: a code, words, and perhaps details; from the headers or trailers of the answer.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use http_client::percent_decoded;
use hyper::HeaderMap;
use std::time::Duration;
use wire::protobuf::{Malformed, Value, fields};

/// Bytes of a server's words that the log and the dead letters show.
const WORDS_BYTES_MAX: usize = 300;
/// A server that wants to be left alone for longer is asked again after this time.
const RETRY_MAX: Duration = Duration::from_secs(3600);

/// The codes of gRPC, with the names that response-action() knows.
pub const CODES: [&str; 17] = [
    "ok",
    "cancelled",
    "unknown",
    "invalid-argument",
    "deadline-exceeded",
    "not-found",
    "already-exists",
    "permission-denied",
    "resource-exhausted",
    "failed-precondition",
    "aborted",
    "out-of-range",
    "unimplemented",
    "internal",
    "unavailable",
    "data-loss",
    "unauthenticated",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code(pub u32);

impl Code {
    pub const OK: Code = Code(0);
    pub const CANCELLED: Code = Code(1);
    pub const UNKNOWN: Code = Code(2);
    pub const INVALID_ARGUMENT: Code = Code(3);
    pub const DEADLINE_EXCEEDED: Code = Code(4);
    pub const NOT_FOUND: Code = Code(5);
    pub const ALREADY_EXISTS: Code = Code(6);
    pub const PERMISSION_DENIED: Code = Code(7);
    pub const RESOURCE_EXHAUSTED: Code = Code(8);
    pub const FAILED_PRECONDITION: Code = Code(9);
    pub const ABORTED: Code = Code(10);
    pub const OUT_OF_RANGE: Code = Code(11);
    pub const UNIMPLEMENTED: Code = Code(12);
    pub const INTERNAL: Code = Code(13);
    pub const UNAVAILABLE: Code = Code(14);
    pub const DATA_LOSS: Code = Code(15);
    pub const UNAUTHENTICATED: Code = Code(16);

    /// By the name in the configuration.
    pub fn named(name: &str) -> Option<Code> {
        let name = name.replace('_', "-").to_ascii_lowercase();
        CODES.iter().position(|known| *known == name).map(|at| Code(at as u32))
    }

    pub fn name(self) -> String {
        match CODES.get(self.0 as usize) {
            Some(name) => name.replace('-', "_").to_ascii_uppercase(),
            None => format!("code {}", self.0),
        }
    }

    /// What an answer without a code of gRPC means: not a server of gRPC has given it, but something before
    /// one.
    fn of_http(status: u16) -> Code {
        match status {
            400 => Code::INTERNAL,
            401 => Code::UNAUTHENTICATED,
            403 => Code::PERMISSION_DENIED,
            404 => Code::UNIMPLEMENTED,
            429 | 502..=504 => Code::UNAVAILABLE,
            _ => Code::UNKNOWN,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    pub code: Code,
    pub message: String,
    /// The server asks to be left alone so long.
    pub retry_after: Option<Duration>,
}

impl Status {
    /// What trailers, or the headers of an answer without a body, say; `None` when they say nothing.
    pub fn read(headers: &HeaderMap) -> Option<Status> {
        let code = headers.get("grpc-status")?.to_str().ok()?.trim().parse().map_or(Code::UNKNOWN, Code);
        let message =
            headers.get("grpc-message").map(|text| percent_decoded(text.as_bytes())).unwrap_or_default();
        let retry_after = details(headers).and_then(|details| retry_after(&details).ok().flatten());
        Some(Status { code, message, retry_after })
    }

    pub fn of_http(status: u16) -> Status {
        Status { code: Code::of_http(status), message: format!("HTTP status {status}"), retry_after: None }
    }

    /// For the log: in one line.
    pub fn words(&self) -> String {
        let text: String = self.message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let end =
            text.char_indices().map(|(at, _)| at).find(|at| *at >= WORDS_BYTES_MAX).unwrap_or(text.len());
        match text.get(..end).unwrap_or_default().trim() {
            "" => self.code.name(),
            text => format!("{}: {text}", self.code.name()),
        }
    }
}

fn details(headers: &HeaderMap) -> Option<Vec<u8>> {
    let text = headers.get("grpc-status-details-bin")?.as_bytes().trim_ascii();
    STANDARD_NO_PAD.decode(text).or_else(|_| STANDARD.decode(text)).ok()
}

/// Whether the details say of something in the call that it may be done when it is asked for again: Pub/Sub
/// tells so which of many acknowledgements it has not taken.
pub fn is_to_repeat(headers: &HeaderMap) -> bool {
    details(headers).is_some_and(|details| names_transient(&details).unwrap_or(false))
}

/// The metadata of a `google.rpc.ErrorInfo` are its field 3, a map of texts.
fn names_transient(details: &[u8]) -> Result<bool, Malformed> {
    for field in fields(details) {
        let (3, Value::Bytes(any)) = field? else { continue };
        let Some(info) = of_type(any, b"/google.rpc.ErrorInfo")? else { continue };
        for field in fields(info) {
            let (3, Value::Bytes(entry)) = field? else { continue };
            for field in fields(entry) {
                if matches!(field?, (2, Value::Bytes(value)) if value.starts_with(b"TRANSIENT_FAILURE")) {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// The value of an `Any`, if it is of this type.
fn of_type<'a>(any: &'a [u8], name: &[u8]) -> Result<Option<&'a [u8]>, Malformed> {
    let (mut is_it, mut value) = (false, &[][..]);
    for field in fields(any) {
        match field? {
            (1, Value::Bytes(url)) => is_it = url.ends_with(name),
            (2, Value::Bytes(bytes)) => value = bytes,
            _ => {}
        }
    }
    Ok(is_it.then_some(value))
}

/// Of `google.rpc.Status`: the details are in field 3, each an `Any` of type and value; the delay of a
/// `RetryInfo` is its field 1, seconds and nanoseconds.
fn retry_after(details: &[u8]) -> Result<Option<Duration>, Malformed> {
    for field in fields(details) {
        let (3, Value::Bytes(any)) = field? else { continue };
        let Some(value) = of_type(any, b"/google.rpc.RetryInfo")? else { continue };
        let mut delay = Duration::ZERO;
        for field in fields(value) {
            let (1, Value::Bytes(duration)) = field? else { continue };
            for field in fields(duration) {
                match field? {
                    (1, Value::Varint(seconds)) => delay += Duration::from_secs(seconds.min(1 << 32)),
                    (2, Value::Varint(nanos)) => delay += Duration::from_nanos(nanos.min(1_000_000_000)),
                    _ => {}
                }
            }
        }
        return Ok(Some(delay.min(RETRY_MAX)));
    }
    Ok(None)
}

/// The details that ask a client to come again after a time.
pub fn retry_details(after: Duration) -> String {
    use wire::protobuf::{put_bytes, put_message, put_number};
    let mut status = Vec::new();
    put_number(&mut status, 1, u64::from(Code::UNAVAILABLE.0));
    put_message(&mut status, 3, |any| {
        put_bytes(any, 1, b"type.googleapis.com/google.rpc.RetryInfo");
        put_message(any, 2, |info| {
            put_message(info, 1, |delay| {
                put_number(delay, 1, after.as_secs());
                put_number(delay, 2, u64::from(after.subsec_nanos()));
            });
        });
    });
    STANDARD_NO_PAD.encode(status)
}

/// Any bytes as details.
#[cfg(any(test, feature = "fuzzing"))]
pub fn fuzz(input: &[u8]) {
    let _ = (retry_after(input), names_transient(input));
    assert!(percent_decoded(input).len() <= 3 * input.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&'static str, &str)]) -> Option<Status> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, value.parse().expect("a value"));
        }
        Status::read(&headers)
    }

    #[test]
    fn statuses() {
        let status = read(&[("grpc-status", "14"), ("grpc-message", "not%20now%0a 100%")]).expect("one");
        assert_eq!(
            (status.code, status.words()),
            (Code::UNAVAILABLE, "UNAVAILABLE: not now  100%".to_owned())
        );
        assert_eq!(read(&[("grpc-status", "x")]).map(|status| status.code), Some(Code::UNKNOWN));
        assert_eq!(read(&[]), None);
        assert_eq!(Code::named("RESOURCE_EXHAUSTED"), Some(Code::RESOURCE_EXHAUSTED));
        assert_eq!((Code::named("fine"), Code(99).name()), (None, "code 99".to_owned()));
    }

    #[test]
    fn a_server_asks_to_be_left_alone() {
        let details = retry_details(Duration::from_millis(2500));
        let status = read(&[("grpc-status", "8"), ("grpc-status-details-bin", &details)]).expect("one");
        assert_eq!(status.retry_after, Some(Duration::from_millis(2500)));
        let long = retry_details(Duration::from_secs(1 << 40));
        let status = read(&[("grpc-status", "8"), ("grpc-status-details-bin", &long)]).expect("one");
        assert_eq!(status.retry_after, Some(RETRY_MAX));
        let none = read(&[("grpc-status", "8"), ("grpc-status-details-bin", "!!")]).expect("one");
        assert_eq!(none.retry_after, None);
    }

    #[test]
    fn acknowledgements_that_may_be_taken_later_are_told_from_others() {
        use wire::protobuf::{put_bytes, put_message};
        let with = |values: &[&str]| {
            let mut status = Vec::new();
            put_message(&mut status, 3, |any| {
                put_bytes(any, 1, b"type.googleapis.com/google.rpc.ErrorInfo");
                put_message(any, 2, |info| {
                    for value in values {
                        put_message(info, 3, |entry| {
                            put_bytes(entry, 1, b"ack id");
                            put_bytes(entry, 2, value.as_bytes());
                        });
                    }
                });
            });
            let mut headers = HeaderMap::new();
            let text = STANDARD_NO_PAD.encode(status);
            headers.insert("grpc-status-details-bin", text.parse().expect("a value"));
            headers
        };
        let never = "PERMANENT_FAILURE_INVALID_ACK_ID";
        assert!(is_to_repeat(&with(&[never, "TRANSIENT_FAILURE_UNORDERED_ACK_ID"])));
        assert!(!is_to_repeat(&with(&[never])) && !is_to_repeat(&with(&[])));
        assert!(!is_to_repeat(&HeaderMap::new()));
    }
}
