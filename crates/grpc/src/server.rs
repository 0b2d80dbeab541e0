//! gRPC as a source speaks it: calls of one connection, each with one message and one answer.

mod answer;
mod secure;

pub use secure::accept;

use crate::coding::Coding;
use crate::frame::{self, Message};
use crate::status::{Code, Status};
use answer::Answer;
use diag::Fault;
use http_client::{HeaderMap, Tasks, header, said};
use http_server::{Clock, Stream, Wire};
pub use hyper::body::Bytes;
use hyper::body::{Body, Incoming};
use hyper::server::conn::http2::Builder;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// Calls of a connection that may be begun and not answered: what waits for destinations is bounded by the
/// window of its source.
const CALLS_MAX: u32 = 128;
/// A client whose message does not come within this time gets no place any more.
const MESSAGE_MAX: Duration = Duration::from_secs(30);
/// A client from which nothing comes is asked for a sign of life after this time, and has so long for it.
const KEEP_ALIVE: Duration = Duration::from_secs(60);
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(20);
/// Bytes of a frame of HTTP/2: messages are large, and each frame costs something.
const FRAME_BYTES_MAX: u32 = 64 * 1024;

/// Who answers calls.
pub trait Service: Send + Sync + 'static {
    /// What a call holds from the moment in which its message is read.
    type Place: Send + 'static;

    /// Bytes of the largest message that is taken.
    fn message_bytes_max(&self) -> usize;

    /// Whether there is a method at this path.
    fn knows(&self, path: &str) -> bool;

    /// Waits until the message of a call may be read.
    fn admit(&self) -> impl Future<Output = Result<Self::Place, Status>> + Send;

    /// Answers a message. Dropped when the client does not wait any more.
    fn call(
        &self,
        place: Self::Place,
        path: &str,
        message: Bytes,
    ) -> impl Future<Output = Result<Vec<u8>, Status>> + Send;
}

/// Serves a connection until its client goes, or is told to by `leave`: it may then end what it has begun.
pub async fn serve<S: Service>(stream: Stream, service: Arc<S>, leave: Arc<Notify>) -> Result<(), Fault> {
    let answer = service_fn(move |request| {
        let service = Arc::clone(&service);
        async move { Ok::<_, Infallible>(answered(&*service, request).await) }
    });
    let mut builder = Builder::new(Tasks);
    builder
        .timer(Clock)
        .max_concurrent_streams(CALLS_MAX)
        .max_frame_size(FRAME_BYTES_MAX)
        .keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE_TIMEOUT);
    let mut connection = pin!(builder.serve_connection(Wire::new(stream), answer));
    let mut left = pin!(leave.notified());
    let mut is_told = false;
    let ended = poll_fn(|cx| {
        if !is_told && left.as_mut().poll(cx).is_ready() {
            is_told = true;
            connection.as_mut().graceful_shutdown();
        }
        connection.as_mut().poll(cx)
    });
    ended.await.map_err(|error| Fault::peer(said(&error)))
}

async fn answered<S: Service>(service: &S, request: Request<Incoming>) -> Response<Answer> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if request.method() != Method::POST || !kind.unwrap_or_default().starts_with("application/grpc") {
        return answer::not_grpc();
    }
    match called(service, request).await {
        Ok(message) => answer::success(message),
        Err(status) => answer::failure(&status),
    }
}

fn refused(code: Code, message: impl Into<String>) -> Status {
    Status { code, message: message.into(), retry_after: None }
}

async fn called<S: Service>(service: &S, request: Request<Incoming>) -> Result<Vec<u8>, Status> {
    let (head, body) = request.into_parts();
    let path = head.uri.path();
    if !service.knows(path) {
        return Err(refused(Code::UNIMPLEMENTED, format!("there is no {path} here")));
    }
    let coding = coding(&head.headers);
    let Some(coding) = Coding::named(coding) else {
        let why = format!("nothing that is compressed with {coding} is read");
        return Err(refused(Code::UNIMPLEMENTED, why));
    };
    let place = service.admit().await?;
    let bytes_max = service.message_bytes_max();
    let read = tokio::time::timeout(MESSAGE_MAX, read_all(body, bytes_max + frame::HEAD_BYTES)).await;
    let bytes = read.map_err(|_| refused(Code::DEADLINE_EXCEEDED, "the message did not come in time"))??;
    service.call(place, path, message_of(bytes, coding, bytes_max)?).await
}

/// The one message of a body; it stays where it is, unless it is packed.
fn message_of(body: Vec<u8>, coding: Coding, bytes_max: usize) -> Result<Bytes, Status> {
    let place = match frame::next_of(coding, &body, bytes_max) {
        Ok(Some((Message::Plain(content), end))) => end - content.len()..end,
        Ok(Some((Message::Packed(message), _))) => return Ok(message.into()),
        Ok(None) => return Err(refused(Code::INVALID_ARGUMENT, "the message is not whole")),
        Err(why) => return Err(refused(Code::RESOURCE_EXHAUSTED, why)),
    };
    Ok(Bytes::from(body).slice(place))
}

fn coding(headers: &HeaderMap) -> &str {
    headers.get("grpc-encoding").and_then(|coding| coding.to_str().ok()).unwrap_or("identity")
}

/// All of a body. Its head says how much comes: room for it is made at once.
async fn read_all(mut body: Incoming, bytes_max: usize) -> Result<Vec<u8>, Status> {
    let mut bytes = Vec::new();
    loop {
        let frame = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await;
        match frame {
            Some(Ok(frame)) => {
                let Ok(data) = frame.into_data() else { continue };
                if bytes.len() + data.len() > bytes_max {
                    let why = format!("received message larger than max ({bytes_max})");
                    return Err(refused(Code::RESOURCE_EXHAUSTED, why));
                }
                if bytes.is_empty() {
                    bytes.reserve(frame::length(&data).unwrap_or_default().min(bytes_max).max(data.len()));
                }
                bytes.extend_from_slice(&data);
            }
            Some(Err(error)) => return Err(refused(Code::CANCELLED, said(&error))),
            None => return Ok(bytes),
        }
    }
}
