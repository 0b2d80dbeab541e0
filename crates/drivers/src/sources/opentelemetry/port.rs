//! One client: the runtime speaks with it, the worker makes messages of its requests.

use super::inbox::{Answer, Fate, Inbox, Places};
use diag::Fault;
use engine::hand_over::Part;
use engine::reader::Described;
use engine::source::Source;
use engine::worker::{After, Leaving, Port, PortContext};
use engine::{Feed, Read};
use grpc::otlp::{Filler, Requested};
use grpc::{Stream, accept_secure, serve_client};
use intake::listener::{Joined, MADE_ROOM, Permit};
use parking_lot::Mutex;
use record::Context;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tls::Acceptor;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

/// Requests in one turn; then the worker's other connections have theirs.
const TURN_REQUESTS: usize = 4;
/// A request of so many bytes shows a client that is ahead of us.
const BUSY_BYTES: usize = 64 * 1024;
/// A client that has begun no session by then is turned away.
const OPEN_MAX: Duration = Duration::from_secs(10);

pub struct OtlpPort {
    inbox: Arc<Inbox>,
    feed: Feed,
    filler: Filler,
    context: Arc<Context>,
    described: Described,
    permit: Option<Permit>,
    leave: Arc<Notify>,
    /// Why the connection has ended, where that was no end in peace.
    failure: Arc<Mutex<Option<String>>>,
    task: Option<AbortHandle>,
    idle_timeout: Option<Duration>,
    last: Instant,
    /// No message has come yet.
    silent: bool,
    queued: bool,
    leaving: Option<Leaving>,
}

impl OtlpPort {
    pub fn new(
        connection: Joined,
        (acceptor, room): (Option<Arc<Acceptor>>, Arc<Places>),
        cx: &PortContext,
        token: mio::Token,
    ) -> OtlpPort {
        let Joined { mut input, source, accepted, context, described, permit } = connection;
        source.counters.connections.add(1);
        let inbox = Inbox::new(room, cx.handle.waker(token));
        let (leave, failure): (Arc<Notify>, Arc<Mutex<Option<String>>>) = Default::default();
        let begun = input
            .give(cx.handle.registry())
            .ok_or_else(|| "no descriptor is left".to_owned())
            .and_then(|fd| begin(fd, acceptor, &inbox, (&leave, &failure)));
        let task = match begun {
            Ok(task) => Some(task),
            Err(why) => {
                *failure.lock() = Some(why);
                inbox.end();
                None
            }
        };
        OtlpPort {
            inbox,
            feed: Feed::new(source, None, cx, token),
            filler: Filler::default(),
            context,
            described,
            permit: Some(permit),
            leave,
            failure,
            task,
            idle_timeout: accepted.idle_timeout,
            last: Instant::now(),
            silent: true,
            queued: false,
            leaving: None,
        }
    }

    /// Takes one request. `false` when there is none, or no credit for it.
    fn step(&mut self, cx: &mut PortContext) -> bool {
        if !self.feed.may_read() {
            return false;
        }
        let Some(request) = self.inbox.next() else { return false };
        let began = Instant::now();
        self.last = began;
        if std::mem::take(&mut self.silent) {
            self.permit.iter().for_each(Permit::speaks);
        }
        let Some((signal, message, answer)) = request.take() else { return true };
        let busy = message.len() >= BUSY_BYTES;
        let Ok(mut requested) = Requested::read(signal, &message) else {
            self.refuse(&answer);
            return true;
        };
        let answer = Arc::new(answer);
        loop {
            let mut batch = cx.batch();
            batch.contexts.push(Arc::clone(&self.context));
            batch.received = cx.now();
            let settings = self.feed.source.settings();
            if self.filler.fill(&mut batch, &mut requested, &settings.program.demand).is_err() {
                cx.recycle(batch);
                self.refuse(&answer);
                return true;
            }
            if batch.records.is_empty() {
                cx.recycle(batch);
                break;
            }
            let (bytes, mark) = (batch.text.len(), Some(Answer::mark(&answer)));
            self.feed.run_marked(batch, Read { bytes, busy, began, mark }, cx);
        }
        answer.ends();
        true
    }

    fn refuse(&self, answer: &Answer) {
        answer.say(Fate::Malformed);
        let fields: [oplog::Field<'_>; 1] = [("client", &self.described.client)];
        oplog::limited(
            "otlp-source",
            oplog::Level::Error,
            "A request that is no message of OpenTelemetry was refused",
            &fields,
        );
        self.feed.source.counters.transport_errors.add(engine::ledger::TransportError::Protocol);
    }

    fn fail(&self, why: &str) {
        self.failure.lock().get_or_insert_with(|| why.to_owned());
    }
}

type Ends<'a> = (&'a Arc<Notify>, &'a Arc<Mutex<Option<String>>>);

/// Has the runtime speak with the client.
fn begin(
    fd: OwnedFd,
    acceptor: Option<Arc<Acceptor>>,
    inbox: &Arc<Inbox>,
    (leave, failure): Ends<'_>,
) -> Result<AbortHandle, String> {
    let runtime = guest::handle().map_err(|error| format!("no thread can be started: {error}"))?;
    let (inbox, leave, failure) = (Arc::clone(inbox), Arc::clone(leave), Arc::clone(failure));
    let task = runtime.spawn(async move {
        let spoken = speak(fd, acceptor, Arc::clone(&inbox), leave).await;
        if let Err(fault) = spoken {
            failure.lock().get_or_insert(fault.into());
        }
        inbox.end();
    });
    Ok(task.abort_handle())
}

async fn speak(
    fd: OwnedFd,
    acceptor: Option<Arc<Acceptor>>,
    inbox: Arc<Inbox>,
    leave: Arc<Notify>,
) -> Result<(), Fault> {
    let stream = TcpStream::from_std(fd.into()).map_err(|error| Fault::local(error.to_string()))?;
    let stream = match acceptor {
        None => Stream::Plain(stream),
        Some(acceptor) => {
            let session = accept_secure(stream, &acceptor);
            let begun = tokio::time::timeout(OPEN_MAX, session).await;
            begun.map_err(|_| Fault::unreachable("it was not over in time: the TLS handshake"))??
        }
    };
    serve_client(stream, inbox, leave).await
}

impl Port for OtlpPort {
    fn turn(&mut self, cx: &mut PortContext) -> After {
        if self.leaving.is_some() {
            self.inbox.refuse_all();
            return if self.inbox.has_ended() { After::Close } else { After::Idle };
        }
        // Seen before the requests are: none comes after it.
        let has_ended = self.inbox.has_ended();
        for _ in 0..TURN_REQUESTS {
            if !self.step(cx) {
                let makes_room = self.silent && self.permit.as_ref().is_some_and(Permit::is_to_go);
                if makes_room {
                    self.fail(MADE_ROOM);
                }
                // What its client does not wait for any more nobody needs.
                return if has_ended || makes_room { After::Close } else { After::Idle };
            }
        }
        After::Again
    }

    fn queued(&mut self) -> &mut bool {
        &mut self.queued
    }

    fn tick(&mut self, now: Instant) -> bool {
        if let Some(leaving) = &self.leaving {
            return !leaving.is_over(now);
        }
        let is_idle =
            self.idle_timeout.is_some_and(|limit| now.saturating_duration_since(self.last) >= limit);
        if is_idle {
            self.fail("idle-timeout() passed");
        }
        !is_idle
    }

    fn leave(&mut self, cx: &mut PortContext) -> bool {
        if self.inbox.has_ended() {
            return false;
        }
        self.leaving = Some(cx.shared.leaving());
        self.permit = None;
        self.leave.notify_one();
        self.inbox.refuse_all();
        true
    }

    fn part(&mut self, _cx: &mut PortContext) -> Part {
        if self.leaving.is_some() { Part::Stays } else { Part::Closes }
    }

    fn parts(&self) -> bool {
        true
    }

    fn closed(&mut self, _cx: &mut PortContext) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
        self.inbox.refuse_all();
        self.feed.source.counters.connections.sub(1);
        self.described.say_closed(self.failure.lock().as_ref());
    }

    fn source(&self) -> Option<&Arc<Source>> {
        self.leaving.is_none().then_some(&self.feed.source)
    }
}
