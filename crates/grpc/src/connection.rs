//! One connection of HTTP/2, and what can be said of a call that gets no answer.

use crate::frame;
use crate::plan::Plan;
use crate::sent::Sent;
use crate::status::{Code, Status, is_to_repeat};
use diag::Fault;
pub use http_client::Failure;
use http_client::{Going, HeaderMap, Passed, Tasks, header, said};
use http_server::Clock;
use hyper::body::{Body, Bytes, Incoming};
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper::{Request, Response};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use tokio::task::AbortHandle;

pub struct Connection {
    sender: SendRequest<Sent>,
    pub passed: Arc<Passed>,
    carried: usize,
    driver: AbortHandle,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// What a server answered.
pub struct Reply {
    pub status: Status,
    /// With its frame, as far as it came.
    pub body: Vec<u8>,
    /// Something in the call may be done when it is asked for again, whatever the status says of the others.
    pub is_to_repeat: bool,
}

impl Connection {
    pub async fn open(plan: &Plan) -> Result<Connection, Fault> {
        let passed: Arc<Passed> = Arc::default();
        let wire = plan.network.connect(&plan.url, &passed).await?;
        let mut builder = Builder::new(Tasks);
        builder.timer(Clock);
        if let Some(keep) = plan.keep_alive {
            builder
                .keep_alive_interval(keep.time)
                .keep_alive_timeout(keep.timeout)
                .keep_alive_while_idle(keep.without_calls);
        }
        let handshake = builder.handshake(wire).await;
        let (sender, driver) =
            handshake.map_err(|error| Fault::peer(said(&error)).at(&plan.url.authority))?;
        let driver = tokio::spawn(async move {
            // What goes wrong is said to whoever has called.
            let _ = driver.await;
        });
        Ok(Connection { sender, passed, carried: 0, driver: driver.abort_handle() })
    }

    pub fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// Calls, and reads the answer.
    pub async fn call(&mut self, request: Request<Bytes>, plan: &Plan) -> Result<Reply, Failure> {
        let size = request.body().len() as u64;
        let going = Going::new(&self.passed, size, self.carried > 0);
        self.carried += 1;
        let sent = self.sender.send_request(request.map(Sent::whole)).await;
        let response = sent.map_err(|error| going.failed(&error, &self.passed, &plan.url.authority))?;
        let headers = response.headers().clone();
        if let Some(status) = refusal(&response) {
            return Ok(Reply { status, body: Vec::new(), is_to_repeat: false });
        }
        let bytes_max = plan.answer_bytes_max.saturating_add(frame::HEAD_BYTES);
        let (body, trailers) = read_all(response.into_body(), bytes_max).await;
        let status = trailers.as_ref().and_then(Status::read).or_else(|| Status::read(&headers));
        match status {
            Some(status) => {
                let is_to_repeat = is_to_repeat(trailers.as_ref().unwrap_or(&headers));
                Ok(Reply { status, body, is_to_repeat })
            }
            None => {
                let why = format!("{}: the answer ended in its middle", plan.url.authority);
                Err(Failure::Unknown(why))
            }
        }
    }
}

impl Connection {
    /// Begins a call that goes on in both directions, at most as long as the connection is there.
    pub fn begin(
        &mut self,
        request: Request<Sent>,
    ) -> impl Future<Output = Result<Response<Incoming>, hyper::Error>> + use<> {
        self.carried += 1;
        self.sender.send_request(request)
    }
}

/// What an answer comes to that is none of a server of gRPC.
pub fn refusal(response: &Response<Incoming>) -> Option<Status> {
    let status = response.status().as_u16();
    if status != 200 {
        return Some(Status::of_http(status));
    }
    let kind = response.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.starts_with("application/grpc") {
        return None;
    }
    let message = format!("another server answers, with `{kind}`");
    Some(Status { code: Code::UNIMPLEMENTED, message, retry_after: None })
}

/// The body of an answer, and the trailers behind it.
async fn read_all(mut incoming: Incoming, bytes_max: usize) -> (Vec<u8>, Option<HeaderMap>) {
    let mut body = Vec::new();
    loop {
        match poll_fn(|cx| Pin::new(&mut incoming).poll_frame(cx)).await {
            Some(Ok(frame)) => match frame.into_data() {
                Ok(data) if body.len() + data.len() > bytes_max => return (body, None),
                Ok(data) => body.extend_from_slice(&data),
                Err(frame) => return (body, frame.into_trailers().ok()),
            },
            Some(Err(_)) | None => return (body, None),
        }
    }
}
