//! What a client can make the program hold, and for how long.

use std::time::Duration;

/// Bounds of one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at one time; more wait in the kernel.
    pub connections_max: usize,
    /// Bytes of a request's first line and headers.
    pub head_bytes_max: usize,
    /// Bytes of a body, as it comes and unpacked.
    pub body_bytes_max: usize,
    /// Bytes of all bodies at one time.
    pub bodies_bytes_max: usize,
    /// From the beginning of a connection to its first request. Who has asked nothing makes room for others
    /// before that.
    pub first_time: Duration,
    /// From one request to the end of the next one's headers.
    pub head_time: Duration,
    /// Between two pieces of a body.
    pub piece_time: Duration,
    /// For all of a body.
    pub body_time: Duration,
    /// For a TLS handshake.
    pub handshake_time: Duration,
    /// For an answer that the client does not take.
    pub stalled_time: Duration,
}

/// Headers of one request.
pub(crate) const HEADERS_MAX: usize = 100;

impl Limits {
    /// For clients that ask and send next to nothing.
    pub const ASKED: Limits = Limits {
        connections_max: 64,
        head_bytes_max: 16 << 10,
        body_bytes_max: 64 << 10,
        bodies_bytes_max: 1 << 20,
        first_time: Duration::from_secs(10),
        head_time: Duration::from_secs(15),
        piece_time: Duration::from_secs(5),
        body_time: Duration::from_secs(10),
        handshake_time: Duration::from_secs(10),
        stalled_time: Duration::from_secs(20),
    };

    /// For clients that send messages.
    pub const SENT: Limits = Limits {
        connections_max: 256,
        head_bytes_max: 64 << 10,
        body_bytes_max: 32 << 20,
        bodies_bytes_max: 128 << 20,
        first_time: Duration::from_secs(10),
        head_time: Duration::from_secs(75),
        piece_time: Duration::from_secs(20),
        body_time: Duration::from_secs(300),
        handshake_time: Duration::from_secs(10),
        stalled_time: Duration::from_secs(60),
    };
}
