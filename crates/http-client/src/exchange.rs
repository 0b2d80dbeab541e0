//! One request on one connection, and what can be said when no answer comes.

use crate::answer::{Answer, BODY_BYTES_MAX};
use crate::channel::Channel;
use crate::sender::{Going, Sender};
use crate::url::Url;
use crate::wire::{Passed, Wire};
use diag::Fault;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::{HeaderMap, Request};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::error::Error;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::task::AbortHandle;

/// A body whose pieces are all there, and are never copied.
#[derive(Clone)]
pub struct Whole {
    /// None of them is empty.
    pieces: VecDeque<Bytes>,
    bytes: usize,
}

impl Whole {
    pub fn new(bytes: Bytes) -> Whole {
        Whole::of([bytes])
    }

    pub fn of(pieces: impl IntoIterator<Item = Bytes>) -> Whole {
        let pieces: VecDeque<Bytes> = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
        Whole { bytes: pieces.iter().map(Bytes::len).sum(), pieces }
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// In one piece.
    pub fn joined(mut self) -> Bytes {
        match self.pieces.len() {
            0 | 1 => self.pieces.pop_front().unwrap_or_default(),
            _ => self
                .pieces
                .iter()
                .fold(Vec::with_capacity(self.bytes), |mut all, piece| {
                    all.extend_from_slice(piece);
                    all
                })
                .into(),
        }
    }
}

impl From<Vec<u8>> for Whole {
    fn from(bytes: Vec<u8>) -> Whole {
        Whole::new(bytes.into())
    }
}

impl Body for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.pieces.pop_front();
        self.bytes -= piece.as_ref().map_or(0, Bytes::len);
        Poll::Ready(piece.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes as u64)
    }
}

/// Why there is no answer, by what is known of the request.
#[derive(Debug)]
pub enum Failure {
    /// Nothing of it was taken.
    Away(String),
    /// All of it was sent.
    Unknown(String),
    /// Not a byte of it was sent: the server had ended a connection that was kept.
    Stale,
}

/// Without a connection nothing was sent, whoever's fault that is.
impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        Failure::Away(fault.into())
    }
}

pub struct Connection {
    sender: Sender,
    pub passed: Arc<Passed>,
    /// Whom it leads to.
    pub url: Url,
    /// What the server counts its acknowledgements by: nobody else uses it.
    pub channel: Channel,
    /// Requests that it has carried.
    carried: usize,
    driver: AbortHandle,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Connection {
    pub async fn new(wire: Wire, passed: Arc<Passed>, url: &Url) -> Result<Connection, Fault> {
        let (sender, driver) = Sender::new(wire).await.map_err(|error| Fault::peer(said(&error)))?;
        Ok(Connection { sender, passed, url: url.clone(), channel: Channel::new(), carried: 0, driver })
    }

    /// Waits until another request may go; `false` when none ever may.
    pub async fn is_ready(&mut self) -> bool {
        self.sender.is_ready().await
    }

    pub fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// Sends a request and reads the answer.
    pub async fn ask(&mut self, request: Request<Whole>, body_bytes: u64) -> Result<Answer, Failure> {
        self.ask_for(request, body_bytes, false).await
    }

    /// The same; `is_raw` leaves the body as it comes.
    pub async fn ask_for(
        &mut self,
        request: Request<Whole>,
        body_bytes: u64,
        is_raw: bool,
    ) -> Result<Answer, Failure> {
        let (status, headers, body) = self.begin(request, body_bytes).await?;
        let (body, is_whole) = read_all(body).await;
        Ok(match is_raw {
            true => Answer::raw(status, headers, body, is_whole),
            false => Answer::new(status, headers, body, is_whole),
        })
    }

    /// Sends a request and reads the head of the answer; its body is to be read to the end before the next
    /// request.
    pub async fn begin(
        &mut self,
        request: Request<Whole>,
        body_bytes: u64,
    ) -> Result<(u16, HeaderMap, Incoming), Failure> {
        let going = Going::new(&self.passed, body_bytes, self.carried > 0);
        self.carried += 1;
        match self.sender.send(request, &self.url).await {
            Ok(response) => {
                let (head, body) = response.into_parts();
                Ok((head.status.as_u16(), head.headers, body))
            }
            Err(error) => Err(going.failed(&error, &self.passed, &self.url.authority)),
        }
    }
}

/// The body of an answer, and whether that is all of it.
pub async fn read_all(mut incoming: Incoming) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    loop {
        match poll_fn(|cx| Pin::new(&mut incoming).poll_frame(cx)).await {
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    body.extend_from_slice(&data);
                }
                if body.len() > BODY_BYTES_MAX {
                    return (body, false);
                }
            }
            Some(Err(_)) => return (body, false),
            None => return (body, true),
        }
    }
}

/// An error with its causes.
pub fn said(error: &hyper::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
