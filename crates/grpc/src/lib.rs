//! gRPC as destinations and sources speak it: a message in five bytes of frame, in a request of HTTP/2, on
//! the threads of [`guest`]; and the messages of those who are spoken to.
//!
//! hyper speaks HTTP/2. What gRPC puts on top is small, and written here so that a batch is copied once on
//! its way to the kernel, and so that it is known of each call whether anything of it was taken.

#[cfg(feature = "arrow-flight")]
pub mod arrow;
pub mod bigquery;
pub mod clickhouse;
mod coding;
mod connection;
mod frame;
mod judge;
pub mod loki;
pub mod options;
pub mod otlp;
mod plan;
pub mod pubsub;
mod sent;
mod server;
mod session;
mod status;
mod time;

pub use http_client::{HeaderName, HeaderValueOf};
pub use http_server::Stream;
pub use judge::Actions;
pub use plan::{KeepAlive, Load, Plan};
pub use server::{Bytes, Service, accept as accept_secure, serve as serve_client};
pub use session::serve;
pub use status::{Code, Status};

/// Any bytes as what a server sends.
#[cfg(any(test, feature = "fuzzing"))]
pub fn fuzz(input: &[u8]) {
    for name in ["gzip", "zstd", "snappy"] {
        let coding = coding::Coding::named(name).expect("one that is read");
        let _ = frame::next_of(coding, input, 1 << 16);
        let _ = coding.unpack(input, 1 << 16);
    }
    status::fuzz(input);
    otlp::fuzz(input);
    bigquery::fuzz(input);
    let _ = (clickhouse::read(input, 7), pubsub::read(input, 7));
    pubsub::fuzz(input);
}
