//! Requests handed to hyper, in the form of the HTTP that a connection speaks.

use crate::exchange::{Failure, Whole, said};
use crate::url::Url;
use crate::wire::{Passed, Wire};
use h2::Reason;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::header::HOST;
use hyper::http::uri::{Authority, PathAndQuery, Scheme};
use hyper::rt::Executor;
use hyper::{Request, Response, Uri};
use std::error::Error;
use std::future::Future;
use tokio::task::AbortHandle;

/// What a connection of HTTP/2 does beside its requests.
#[derive(Clone, Copy)]
pub struct Tasks;

impl<F> Executor<F> for Tasks
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, future: F) {
        tokio::spawn(future);
    }
}

/// Whoever takes requests for a connection.
pub enum Sender {
    Http1(http1::SendRequest<Whole>),
    Http2(http2::SendRequest<Whole>),
}

impl Sender {
    /// Begins to speak, with what has to be ended in the end.
    pub async fn new(wire: Wire) -> hyper::Result<(Sender, AbortHandle)> {
        // What goes wrong with a connection is said to whoever has sent a request.
        if wire.is_http2 {
            let (sender, driver) = http2::handshake(Tasks, wire).await?;
            let driver = tokio::spawn(async move { driver.await.unwrap_or_default() });
            return Ok((Sender::Http2(sender), driver.abort_handle()));
        }
        let (sender, driver) = http1::handshake(wire).await?;
        let driver = tokio::spawn(async move { driver.await.unwrap_or_default() });
        Ok((Sender::Http1(sender), driver.abort_handle()))
    }

    /// Waits until another request may go; `false` when none ever may.
    pub async fn is_ready(&mut self) -> bool {
        match self {
            Sender::Http1(sender) => sender.ready().await.is_ok(),
            Sender::Http2(sender) => sender.ready().await.is_ok(),
        }
    }

    pub fn is_closed(&self) -> bool {
        match self {
            Sender::Http1(sender) => sender.is_closed(),
            Sender::Http2(sender) => sender.is_closed(),
        }
    }

    pub async fn send(&mut self, request: Request<Whole>, url: &Url) -> hyper::Result<Response<Incoming>> {
        match self {
            Sender::Http1(sender) => sender.send_request(request).await,
            Sender::Http2(sender) => sender.send_request(with_authority(request, url)).await,
        }
    }
}

/// A request of HTTP/2 names the server in its address, and has no `Host`: RFC 9113 section 8.3.1.
fn with_authority(mut request: Request<Whole>, url: &Url) -> Request<Whole> {
    let host = request.headers_mut().remove(HOST);
    let authority = host.and_then(|host| Authority::try_from(host.as_bytes()).ok());
    let mut parts = request.uri().clone().into_parts();
    parts.scheme = Some(if url.is_secure { Scheme::HTTPS } else { Scheme::HTTP });
    parts.authority = authority.or_else(|| url.authority.parse().ok());
    parts.path_and_query = parts.path_and_query.or(Some(PathAndQuery::from_static("/")));
    if let Ok(uri) = Uri::from_parts(parts) {
        *request.uri_mut() = uri;
    }
    request
}

/// What is known of a request when it goes to its connection.
pub struct Going {
    written: u64,
    read: u64,
    /// Bytes of the body.
    bytes: u64,
    /// Others have gone over the connection before it.
    is_kept: bool,
}

impl Going {
    pub fn new(passed: &Passed, bytes: u64, is_kept: bool) -> Going {
        Going { written: passed.written(), read: passed.read(), bytes, is_kept }
    }

    /// What can be said of it when no answer comes.
    pub fn failed(self, error: &hyper::Error, passed: &Passed, authority: &str) -> Failure {
        let sent = passed.written() - self.written;
        let (is_untouched, broken) = (is_untouched(error), passed.broken());
        let is_silent = passed.read() == self.read;
        let is_away = is_untouched || sent < self.bytes || sent == 0 || broken.is_some();
        let why = format!("{authority}: {}", broken.unwrap_or_else(|| said(error)));
        match () {
            () if self.is_kept && (sent == 0 && is_silent || is_untouched) => Failure::Stale,
            () if is_away => Failure::Away(why),
            () => Failure::Unknown(why),
        }
    }
}

/// The server says, or it is known otherwise, that nobody has looked at the request: RFC 9113 section 8.7.
fn is_untouched(error: &hyper::Error) -> bool {
    let why = error.source().and_then(|error| error.downcast_ref::<h2::Error>());
    error.is_canceled()
        || why.is_some_and(|why| {
            // The end of a connection reaches requests behind the last one that the server has looked at.
            why.is_remote() && (why.is_go_away() || why.reason() == Some(Reason::REFUSED_STREAM))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_is_named_in_the_address() {
        let check = |url: &str, host: Option<&str>, expected: &str| {
            let url = Url::parse(url).expect("an address");
            let mut request = Request::new(Whole::new("".into()));
            *request.uri_mut() = url.path.parse().expect("a path");
            if let Some(host) = host {
                request.headers_mut().insert(HOST, host.parse().expect("a name"));
            }
            let request = with_authority(request, &url);
            assert_eq!(request.uri().to_string(), expected);
            assert!(!request.headers().contains_key(HOST), "{expected}");
        };
        check("https://h:8443/in?a=b", Some("h:8443"), "https://h:8443/in?a=b");
        check("http://h", None, "http://h/");
        check("https://10.0.0.1/x", Some("logs.example.com"), "https://logs.example.com/x");
        check("https://[::1]:1/x", Some("not a name"), "https://[::1]:1/x");
    }
}
