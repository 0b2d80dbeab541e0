//! An answer: its status, headers and body, which may be one that goes on.

use hyper::body::{Bytes, Frame, SizeHint};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc::Receiver;

/// What is answered.
#[derive(Debug)]
pub struct Answer {
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Body,
    /// Nothing more is read on the connection.
    pub(crate) closes: bool,
}

/// What follows the headers.
#[derive(Debug)]
pub enum Body {
    Whole(Bytes),
    /// Until the sender is gone.
    Pieces(Receiver<Bytes>),
}

impl Answer {
    /// `status` is a number that HTTP knows; any other is 500.
    pub fn new(status: u16, content_type: &'static str, body: impl Into<Bytes>) -> Answer {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = vec![(header::CONTENT_TYPE, HeaderValue::from_static(content_type))];
        Answer { status, headers, body: Body::Whole(body.into()), closes: false }
    }

    /// A line of text.
    pub fn text(status: u16, text: &str) -> Answer {
        Answer::new(status, "text/plain; charset=utf-8", format!("{text}\n"))
    }

    pub fn json(status: u16, body: impl Into<Bytes>) -> Answer {
        Answer::new(status, "application/json", body)
    }

    /// A body that goes on until the sender is dropped.
    pub fn pieces(content_type: &'static str, pieces: Receiver<Bytes>) -> Answer {
        Answer { body: Body::Pieces(pieces), ..Answer::new(200, content_type, Bytes::new()) }
    }

    pub fn with(mut self, name: HeaderName, value: &'static str) -> Answer {
        self.headers.push((name, HeaderValue::from_static(value)));
        self
    }

    /// A header under a name that is written in lower case.
    pub fn with_named(self, name: &'static str, value: &'static str) -> Answer {
        self.with(HeaderName::from_static(name), value)
    }

    /// The connection ends with this answer.
    pub fn closing(self) -> Answer {
        let closed = self.with(header::CONNECTION, "close");
        Answer { closes: true, ..closed }
    }

    pub fn status(&self) -> u16 {
        self.status.as_u16()
    }

    /// For `HEAD`, the body is left out, and its length said all the same.
    pub(crate) fn into_response(self, head_only: bool) -> Response<Body> {
        let length = match &self.body {
            Body::Whole(bytes) if head_only => Some(bytes.len()),
            _ => None,
        };
        let body = if head_only { Body::Whole(Bytes::new()) } else { self.body };
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        for (name, value) in self.headers {
            response.headers_mut().append(name, value);
        }
        if let Some(length) = length {
            response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
        }
        response
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Body::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Body::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Body::Pieces(pieces) => {
                pieces.poll_recv(cx).map(|piece| piece.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Body::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Body::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Body::Pieces(_) => SizeHint::default(),
        }
    }
}
