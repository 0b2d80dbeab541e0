//! The answer to a call: a message and a status behind it, or a status alone.

use crate::coding::READ;
use crate::frame;
use crate::status::{Status, retry_details};
use http_client::{HeaderMap, HeaderValue, header};
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::{Response, StatusCode};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Data, and trailers.
pub struct Answer {
    message: Option<Bytes>,
    trailers: Option<HeaderMap>,
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let message = self.message.take().map(Frame::data);
        Poll::Ready(message.or_else(|| self.trailers.take().map(Frame::trailers)).map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        self.message.is_none() && self.trailers.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

const GRPC: HeaderValue = HeaderValue::from_static("application/grpc");

/// For whoever speaks something else.
pub fn not_grpc() -> Response<Answer> {
    let mut response = Response::new(Answer { message: None, trailers: None });
    *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
    response
}

pub fn success(message: Vec<u8>) -> Response<Answer> {
    let mut framed = frame::begin(message.len());
    framed.extend_from_slice(&message);
    frame::end(&mut framed);
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    let answer = Answer { message: Some(framed.into()), trailers: Some(trailers) };
    let mut response = Response::new(answer);
    response.headers_mut().insert(header::CONTENT_TYPE, GRPC);
    response
}

pub fn failure(status: &Status) -> Response<Answer> {
    let mut response = Response::new(Answer { message: None, trailers: None });
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, GRPC);
    headers.insert("grpc-status", HeaderValue::from(status.code.0));
    headers.insert("grpc-accept-encoding", HeaderValue::from_static(READ));
    if let Ok(message) = HeaderValue::from_str(&encoded(&status.message)) {
        headers.insert("grpc-message", message);
    }
    if let Some(after) = status.retry_after
        && let Ok(details) = HeaderValue::from_str(&retry_details(after))
    {
        headers.insert("grpc-status-details-bin", details);
    }
    response
}

/// Percent-encoding of `grpc-message`.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' '..=b'~' if byte != b'%' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
