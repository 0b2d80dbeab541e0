//! One connection: its TLS handshake, its requests, its end.

use crate::answer::{Answer, Body};
use crate::body::{self, BodyRoom};
use crate::host::Hosts;
use crate::limits::{HEADERS_MAX, Limits};
use crate::newcomers::{Newcomer, Newcomers};
use crate::request::{Handler, Head, Request};
use crate::stream::{Stream, Wire};
use crate::timer::Clock;
use diag::Fault;
use hyper::body::Incoming;
use hyper::header;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Response};
use rustix::net::sockopt::set_tcp_user_timeout;
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use tls::Acceptor;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

/// What every connection of a server needs.
pub struct Shared {
    pub name: String,
    pub limits: Limits,
    pub hosts: Hosts,
    pub tls: Option<Arc<Acceptor>>,
    pub handler: Arc<dyn Handler>,
    pub room: BodyRoom,
    pub newcomers: Arc<Newcomers>,
}

#[derive(Clone, Copy)]
struct Ends {
    remote: SocketAddr,
    local: SocketAddr,
    is_secure: bool,
}

/// Serves a connection until its end, or until `stop` changes: then until the end of its request. One that
/// asks nothing is closed after a while, or when its place is wanted.
pub async fn serve(
    shared: Arc<Shared>,
    newcomer: Newcomer,
    stream: TcpStream,
    remote: SocketAddr,
    stop: watch::Receiver<bool>,
) {
    let mut served = pin!(talk(&shared, &newcomer, stream, remote, stop));
    let mut has_to_go = pin!(newcomer.is_to_go(shared.limits.first_time));
    // First what is there to be read: it may be the request.
    poll_fn(|cx| match served.as_mut().poll(cx) {
        Poll::Ready(()) => Poll::Ready(()),
        Poll::Pending => has_to_go.as_mut().poll(cx),
    })
    .await;
}

async fn talk(
    shared: &Arc<Shared>,
    newcomer: &Newcomer,
    stream: TcpStream,
    remote: SocketAddr,
    mut stop: watch::Receiver<bool>,
) {
    let limits = shared.limits;
    let millis = u32::try_from(limits.stalled_time.as_millis()).unwrap_or(u32::MAX);
    // A client that reads nothing of its answer costs a connection for so long, not for ever.
    let _ = set_tcp_user_timeout(&stream, millis);
    let _ = stream.set_nodelay(true);
    let Ok(local) = stream.local_addr() else { return };
    let ends = Ends { remote, local, is_secure: shared.tls.is_some() };
    let Some(stream) = begun(shared, stream, remote).await else { return };
    let mut builder = http1::Builder::new();
    builder
        .timer(Clock)
        .header_read_timeout(limits.head_time)
        .max_headers(HEADERS_MAX)
        .max_buf_size(limits.head_bytes_max.max(8 << 10));
    let service = service_fn(|request| {
        let shared = Arc::clone(shared);
        async move { Ok::<_, Infallible>(answer(&shared, newcomer, request, ends).await) }
    });
    let mut connection = pin!(builder.serve_connection(Wire::new(stream), service));
    let mut stopping = pin!(stop.wait_for(|stops| *stops));
    // What is wrong with a request its sender has heard already.
    let is_over = poll_fn(|cx| match connection.as_mut().poll(cx) {
        Poll::Ready(_) => Poll::Ready(true),
        Poll::Pending => stopping.as_mut().poll(cx).map(|_| false),
    });
    if !is_over.await {
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    }
}

/// The connection once it is encrypted, if it is to be.
async fn begun(shared: &Shared, stream: TcpStream, remote: SocketAddr) -> Option<Stream> {
    let Some(acceptor) = &shared.tls else { return Some(Stream::Plain(stream)) };
    let begun = async {
        let config = acceptor.server_config()?;
        TlsAcceptor::from(config).accept(stream).await.map_err(|error| tls::fault(&error))
    };
    let outcome = timeout(shared.limits.handshake_time, begun).await;
    match outcome.unwrap_or_else(|_| Err(Fault::unreachable("it takes too long"))) {
        Ok(stream) => Some(Stream::Secure(Box::new(stream))),
        Err(error) => {
            let fields: [oplog::Field<'_>; 3] =
                [("server", &shared.name), ("client", &remote), ("error", &error)];
            oplog::limited("http-server-tls", oplog::Level::Warning, "A TLS handshake has failed", &fields);
            None
        }
    }
}

async fn answer(
    shared: &Shared,
    newcomer: &Newcomer,
    request: hyper::Request<Incoming>,
    ends: Ends,
) -> Response<Body> {
    let (parts, incoming) = request.into_parts();
    let Ends { remote, local, is_secure } = ends;
    let head = Head { parts, remote, local, is_secure };
    let head_only = *head.method() == Method::HEAD;
    let answer = match checked(shared, &head) {
        Err(refusal) => leaving(refusal, &head),
        Ok(()) => {
            newcomer.speaks();
            match body::read(incoming, head.headers(), &shared.limits, &shared.room).await {
                Err(refusal) => refusal,
                Ok((body, _held)) => shared.handler.answer(Request { head, body }).await,
            }
        }
    };
    answer.with_named("x-content-type-options", "nosniff").into_response(head_only)
}

/// Whether the request may go on: its host is ours, and there is a place that takes it.
fn checked(shared: &Shared, head: &Head) -> Result<(), Answer> {
    let wrong = |text: &str| Err(Answer::text(400, text).closing());
    let mut hosts = head.headers().get_all(header::HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (None, _) if head.is_1_1() => return wrong("there is no Host"),
        (None, _) => None,
        (Some(only), None) => Some(only.to_str().unwrap_or_default()),
        _ => return wrong("there are several Hosts"),
    };
    // A request to a proxy names it in its first line.
    let named = head.parts.uri.authority().map(|authority| authority.as_str());
    for host in [host, named].into_iter().flatten() {
        if !shared.hosts.allows(host, head.local) {
            return Err(Answer::text(421, "this is not the host that is asked for").closing());
        }
    }
    if head.headers().contains_key(header::UPGRADE) && *head.method() == Method::CONNECT {
        return wrong("nothing is passed on");
    }
    shared.handler.admit(head)
}

/// A refusal of a request whose body was not read: the connection is of no more use when there is one.
fn leaving(refusal: Answer, head: &Head) -> Answer {
    let has_length = head.headers().get(header::CONTENT_LENGTH).is_some_and(|length| length != "0");
    let has_body = has_length || head.headers().contains_key(header::TRANSFER_ENCODING);
    if has_body && !refusal.closes { refusal.closing() } else { refusal }
}
