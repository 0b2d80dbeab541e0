//! HTTP as a server: who may connect, how large and how slow a request may be, and what answers look like.
//!
//! A [`Server`] has one thread. It takes connections, with TLS where that is asked for, reads requests within
//! their [`Limits`] and gives them to a [`Handler`], which may take its time over the answer. It touches no
//! file, and knows neither messages nor options. hyper has the framing of requests and answers.

mod answer;
mod body;
mod connection;
mod host;
mod limits;
mod newcomers;
mod path;
mod request;
mod server;
mod stream;
#[cfg(test)]
mod tests;
mod timer;

pub use answer::{Answer, Body};
pub use host::Hosts;
pub use hyper::Method;
pub use hyper::body::Bytes;
pub use hyper::header;
pub use limits::Limits;
pub use path::{Query, decoded};
pub use request::{Handler, Head, Later, Request, same_secret};
pub use server::{Server, Settings};
pub use stream::{Stream, Wire};
pub use timer::Clock;
