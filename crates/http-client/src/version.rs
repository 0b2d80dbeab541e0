//! Which HTTP is spoken with a server.

/// Its name among the protocols over TLS: RFC 9113 section 3.2.
pub const HTTP2: &[u8] = b"h2";
/// RFC 9112 section 11.1.
const HTTP1: &[u8] = b"http/1.1";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.1.
    Http1,
    /// Over TLS the one that the server chooses (RFC 7301), in the clear HTTP/1.1.
    Either,
    /// HTTP/2, in the clear too: RFC 9113 section 3.3.
    Http2,
}

impl Version {
    /// What is offered over TLS. Servers of HTTP/1.1 need not be told.
    pub fn protocols(self) -> Option<Vec<Vec<u8>>> {
        match self {
            Version::Http1 => None,
            Version::Either => Some(vec![HTTP2.to_vec(), HTTP1.to_vec()]),
            Version::Http2 => Some(vec![HTTP2.to_vec()]),
        }
    }
}
