//! One stream after another on which the server sends messages.

use super::super::desk::Desk;
use super::super::requests::{STREAMING_PULL, alive};
use super::{is_passing, without_answer, words};
use crate::connection::{Connection, refusal};
use crate::frame;
use crate::plan::Plan;
use crate::sent::Sent;
use crate::session::{Ask, Call};
use crate::status::{Code, Status};
use http_client::{HeaderMap, said};
use hyper::Response;
use hyper::body::{Body, Bytes, Frame, Incoming};
use std::future::{Future, poll_fn};
use std::hash::{BuildHasher, RandomState};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Sender, channel};

/// The server hears so often that this side is there: it ends streams that are silent.
const ALIVE: Duration = Duration::from_secs(30);
/// The longest that it is waited for what the server has sent already, once nothing more is wanted.
const REST: Duration = Duration::from_millis(500);
/// Messages to the server that wait to be sent.
const TO_SERVER: usize = 2;

/// How a stream has ended.
pub struct End {
    pub why: String,
    /// The server has found nothing wrong.
    pub is_in_peace: bool,
    /// Another one may do.
    pub is_passing: bool,
    /// The server has not believed who asks.
    is_doubted: bool,
}

impl End {
    fn broken(why: String) -> End {
        End { why, is_in_peace: false, is_passing: true, is_doubted: false }
    }

    fn of(status: &Status) -> End {
        let is_in_peace = status.code == Code::OK;
        let is_doubted = status.code == Code::UNAUTHENTICATED;
        End { why: words(status), is_in_peace, is_passing: is_passing(status.code), is_doubted }
    }
}

pub struct Stream {
    plan: Arc<Plan>,
    desk: Arc<Desk>,
    /// What the server knows this client by, also when it comes back.
    client: String,
    /// The log has not heard that there is one, or has heard of trouble since.
    is_news: bool,
    /// The last one has brought something.
    pub has_brought: bool,
}

type Head = Pin<Box<dyn Future<Output = Result<Response<Incoming>, hyper::Error>> + Send>>;

enum Event {
    Head(Result<Response<Incoming>, hyper::Error>),
    Frame(Option<Result<Frame<Bytes>, hyper::Error>>),
    Changed,
    Time,
}

impl Stream {
    pub fn new(plan: &Arc<Plan>, desk: &Arc<Desk>) -> Stream {
        let client = format!("penstock-{:016x}", RandomState::new().hash_one(0));
        Stream { plan: Arc::clone(plan), desk: Arc::clone(desk), client, is_news: true, has_brought: false }
    }

    pub fn was_in_trouble(&mut self) {
        self.is_news = true;
    }

    /// Opens one, and gives what it brings to the desk until it ends.
    pub async fn run(&mut self) -> End {
        self.has_brought = false;
        let opened = tokio::time::timeout(self.plan.timeout, Connection::open(&self.plan)).await;
        let mut connection = match opened {
            Ok(Ok(connection)) => connection,
            Ok(Err(fault)) => return End::broken(fault.into()),
            Err(_) => return End::broken(format!("{}: no answer within timeout()", self.plan.url.authority)),
        };
        let params = Some(self.desk.subscription.params());
        let call = Call { path: STREAMING_PULL, message: Vec::new(), key: Vec::new(), params };
        let mut ask = match Ask::of(&self.plan, call) {
            Ok(ask) => ask.endless(),
            Err(why) => return End::broken(why),
        };
        if let Err(outcome) = ask.prove(&self.plan).await {
            return End::broken(without_answer(outcome));
        }
        let (to_server, sent) = channel(TO_SERVER);
        // It is empty: there is room.
        let _ = to_server.try_send(self.desk.subscription.opening(&self.client).into());
        let head: Head = Box::pin(connection.begin(ask.request(Sent::Several(sent))));
        let end = self.hear(head, to_server).await;
        if end.is_doubted {
            ask.is_doubted(&self.plan).await;
        }
        end
    }

    async fn hear(&mut self, head: Head, to_server: Sender<Bytes>) -> End {
        let desk = Arc::clone(&self.desk);
        let (mut head, mut to_server) = (Some(head), Some(to_server));
        let mut incoming: Option<Incoming> = None;
        let mut buffer = Vec::new();
        let mut time = Instant::now() + ALIVE;
        loop {
            match next(&mut head, &mut incoming, &desk, time).await {
                Event::Head(Err(error)) => return End::broken(self.at_server(&said(&error))),
                Event::Head(Ok(response)) => {
                    head = None;
                    // An answer without a body has its status in front.
                    let status = refusal(&response).or_else(|| Status::read(response.headers()));
                    if let Some(status) = status {
                        return End::of(&status);
                    }
                    self.say_open();
                    incoming = Some(response.into_body());
                }
                Event::Frame(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => {
                        buffer.extend_from_slice(&data);
                        if let Err(why) = self.bring(&mut buffer) {
                            return End { is_passing: false, ..End::broken(why) };
                        }
                    }
                    Err(frame) => return self.ended(frame.into_trailers().ok().as_ref()),
                },
                Event::Frame(Some(Err(error))) => return End::broken(self.at_server(&said(&error))),
                Event::Frame(None) => return self.ended(None),
                Event::Changed if desk.has_left() && to_server.is_some() => {
                    // What it has sent already goes back, and does not have to wait for its deadline.
                    (to_server, time) = (None, Instant::now() + REST);
                }
                Event::Changed => {}
                Event::Time if to_server.is_none() => return End::broken(String::new()),
                Event::Time => {
                    time = Instant::now() + ALIVE;
                    // One that waits still says the same.
                    to_server.iter().for_each(|to| drop(to.try_send(alive().into())));
                }
            }
            if to_server.is_none() && incoming.is_none() {
                return End::broken(String::new());
            }
        }
    }

    fn ended(&self, trailers: Option<&HeaderMap>) -> End {
        match trailers.and_then(Status::read) {
            Some(status) => End::of(&status),
            None => End::broken(self.at_server("the server has ended the stream")),
        }
    }

    fn at_server(&self, why: &str) -> String {
        format!("{}: {why}", self.plan.url.authority)
    }

    /// Gives whole messages of the buffer to the desk.
    fn bring(&mut self, buffer: &mut Vec<u8>) -> Result<(), String> {
        let mut at = 0;
        while let Some((message, length)) =
            frame::next(buffer.get(at..).unwrap_or_default(), self.plan.answer_bytes_max)
                .map_err(|why| self.at_server(&why))?
        {
            at += length;
            let brought = self.desk.brings(message.into_bytes(), Instant::now());
            brought.map_err(|_| self.at_server("what came is no message of Pub/Sub"))?;
            self.has_brought = true;
        }
        buffer.drain(..at);
        Ok(())
    }

    fn say_open(&mut self) {
        if std::mem::take(&mut self.is_news) {
            let fields: [oplog::Field<'_>; 2] =
                [("subscription", &self.desk.subscription.name), ("server", &self.plan.url.authority)];
            oplog::notice("Pub/Sub subscription is read", &fields);
        }
    }
}

/// What comes first. Where there is no room nothing is read: then the server has to wait.
async fn next(head: &mut Option<Head>, incoming: &mut Option<Incoming>, desk: &Desk, time: Instant) -> Event {
    let mut changed = pin!(desk.room.notified());
    let mut clock = pin!(tokio::time::sleep_until(time.into()));
    let may_read = desk.has_room();
    poll_fn(|cx| {
        // First, so that an end is heard of while messages come all the time.
        if changed.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Event::Changed);
        }
        if let Some(head) = head
            && let Poll::Ready(answer) = head.as_mut().poll(cx)
        {
            return Poll::Ready(Event::Head(answer));
        }
        if may_read
            && let Some(incoming) = incoming
            && let Poll::Ready(frame) = Pin::new(incoming).poll_frame(cx)
        {
            return Poll::Ready(Event::Frame(frame));
        }
        clock.as_mut().poll(cx).map(|()| Event::Time)
    })
    .await
}
