//! A request, and who answers it.

use crate::answer::Answer;
use crate::path::Query;
use hyper::body::Bytes;
use hyper::header::{HeaderMap, HeaderName};
use hyper::http::request::Parts;
use hyper::{Method, Version};
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;

/// A request as far as its headers go.
pub struct Head {
    pub(crate) parts: Parts,
    pub remote: SocketAddr,
    pub local: SocketAddr,
    /// The connection is encrypted.
    pub is_secure: bool,
}

impl Head {
    pub fn method(&self) -> &Method {
        &self.parts.method
    }

    /// The path as it came, percent-encoded.
    pub fn path(&self) -> &str {
        self.parts.uri.path()
    }

    pub fn query(&self) -> Query<'_> {
        Query(self.parts.uri.query().unwrap_or_default())
    }

    pub fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// A header's only value: `None` when it is missing, there twice or no text.
    pub fn header(&self, name: HeaderName) -> Option<&str> {
        let mut values = self.parts.headers.get_all(name).iter();
        let first = values.next()?;
        if values.next().is_some() { None } else { first.to_str().ok() }
    }

    /// The last value of a header that is text, by a name in lower case.
    pub fn last(&self, name: &str) -> Option<&str> {
        self.parts.headers.get_all(name).iter().next_back()?.to_str().ok()
    }

    pub(crate) fn is_1_1(&self) -> bool {
        self.parts.version == Version::HTTP_11
    }

    /// `GET /x?y HTTP/1.1`
    pub fn line(&self) -> String {
        format!("{} {} {:?}", self.parts.method, self.parts.uri, self.parts.version)
    }

    /// What `Authorization` says behind its scheme, and the scheme. Of one that has no scheme the whole.
    pub fn authorization(&self) -> Option<(&str, &str)> {
        let text = self.header(hyper::header::AUTHORIZATION)?;
        let (scheme, rest) = text.split_once(' ').unwrap_or(("", text));
        Some((scheme, rest.trim()))
    }
}

/// A whole request.
pub struct Request {
    pub head: Head,
    /// Unpacked.
    pub body: Bytes,
}

/// An answer that comes later.
pub type Later = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// Whoever answers the requests of a server. Called on its thread: what takes time is awaited.
pub trait Handler: Send + Sync + 'static {
    /// Looks at the headers before the body is read: whether there is such a place, and whether this client
    /// may come there. The answer is the refusal.
    fn admit(&self, head: &Head) -> Result<(), Answer>;

    fn answer(&self, request: Request) -> Later;
}

/// Whether two secrets are the same, in a time that says nothing of where they differ.
pub fn same_secret(one: &[u8], other: &[u8]) -> bool {
    let differs = one.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && differs == 0
}

#[cfg(test)]
mod tests {
    use super::same_secret;

    #[test]
    fn secrets() {
        for (one, other, expected) in [
            ("abc", "abc", true),
            ("abc", "abd", false),
            ("abc", "ab", false),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(same_secret(one.as_bytes(), other.as_bytes()), expected, "{one} {other}");
        }
    }
}
