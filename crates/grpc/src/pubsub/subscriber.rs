//! What speaks with Pub/Sub for one subscription, in two halves: a stream on which the server sends messages
//! as they come, and calls that say what became of them, on a connection of their own. So neither waits for
//! the other, and acknowledgements go on while the stream is opened anew.
//!
//! `StreamingPull` and not `Pull`: nobody has to ask again and again where little comes, the server knows
//! how much may be under way, and Google's own clients go this way. `Acknowledge` as a call and not on the
//! stream: a call has an answer.

use super::desk::{Ask, Desk, Kind, Work};
use super::requests::{ACKNOWLEDGE, MODIFY_ACK_DEADLINE};
use crate::plan::Plan;
use crate::session::{Call, Caller};
use crate::status::{Code, Status};
use flight::Outcome;
use guest::Pauses;
use oplog::Level;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stream::Stream;
use tokio::task::JoinHandle;

mod stream;

/// A stream that has lasted so long was one, even if nothing came.
const LASTED: Duration = Duration::from_secs(10);
/// So many that end in peace, soon and without anything, are no trouble yet.
const IDLE_MAX: u32 = 3;

/// Keeps both halves running.
pub struct Subscriber {
    plan: Arc<Plan>,
    desk: Arc<Desk>,
    pause_max: Duration,
    reader: Option<JoinHandle<()>>,
    answerer: Option<JoinHandle<()>>,
}

impl Subscriber {
    pub fn new(plan: Arc<Plan>, desk: Arc<Desk>, pause_max: Duration) -> Subscriber {
        Subscriber { plan, desk, pause_max, reader: None, answerer: None }
    }

    /// Begins whichever half does not run: at first, after a panic, when there was no thread. To be called
    /// now and then. The halves end by themselves some time after [`Desk::leave`].
    pub fn keep(&mut self) {
        let is_gone = |half: &Option<JoinHandle<()>>| half.as_ref().is_none_or(JoinHandle::is_finished);
        let wants_reader = !self.desk.has_left() && is_gone(&self.reader);
        let wants_answerer = !self.desk.is_over() && is_gone(&self.answerer);
        if !wants_reader && !wants_answerer {
            return;
        }
        let runtime = match guest::handle() {
            Ok(runtime) => runtime,
            Err(error) => {
                let fields: [oplog::Field<'_>; 1] = [("reason", &error)];
                let text = "No thread can be started for Pub/Sub, it is tried again";
                return oplog::limited("pubsub-thread", Level::Error, text, &fields);
            }
        };
        if wants_reader {
            self.desk.reads(true);
            self.reader =
                Some(runtime.spawn(read(Arc::clone(&self.plan), Arc::clone(&self.desk), self.pause_max)));
        }
        if wants_answerer {
            self.answerer =
                Some(runtime.spawn(answer(Arc::clone(&self.plan), Arc::clone(&self.desk), self.pause_max)));
        }
    }
}

/// Says at the desk that nobody reads any more, whatever the end was.
struct Reads(Arc<Desk>);

impl Drop for Reads {
    fn drop(&mut self) {
        self.0.reads(false);
    }
}

/// When something was said.
#[derive(Default)]
struct Said(oplog::OnceAMinute);

impl Said {
    /// Once a minute.
    fn say(&mut self, text: &'static str, why: &str, plan: &Plan, desk: &Desk) {
        if !self.0.is_due(Instant::now()) {
            return;
        }
        let fields: [oplog::Field<'_>; 3] =
            [("subscription", &desk.subscription.name), ("server", &plan.url.authority), ("reason", &why)];
        oplog::error(text, &fields);
    }
}

/// What somebody has to do about a status.
fn remedy(code: Code) -> Option<&'static str> {
    Some(match code {
        Code::NOT_FOUND => "create the subscription, or correct project() and subscription()",
        Code::PERMISSION_DENIED => "give the account the role roles/pubsub.subscriber of the subscription",
        Code::UNAUTHENTICATED => "write auth(service-account(key(\"FILE\")))",
        Code::FAILED_PRECONDITION => {
            "the subscription has to be one that is pulled from, and not be detached"
        }
        Code::UNIMPLEMENTED => "let service-endpoint() be the address of Pub/Sub",
        _ => return None,
    })
}

fn words(status: &Status) -> String {
    match remedy(status.code) {
        Some(remedy) => format!("{}; {remedy}", status.words()),
        None => status.words(),
    }
}

/// Whether it may be over by itself in a moment.
fn is_passing(code: Code) -> bool {
    matches!(
        code,
        Code::OK
            | Code::CANCELLED
            | Code::UNKNOWN
            | Code::DEADLINE_EXCEEDED
            | Code::RESOURCE_EXHAUSTED
            | Code::ABORTED
            | Code::INTERNAL
            | Code::UNAVAILABLE
    )
}

async fn read(plan: Arc<Plan>, desk: Arc<Desk>, pause_max: Duration) {
    let _reads = Reads(Arc::clone(&desk));
    let (mut pauses, mut said, mut idle) = (Pauses::new(pause_max), Said::default(), 0);
    let mut stream = Stream::new(&plan, &desk);
    while !desk.has_left() {
        let began = Instant::now();
        let end = stream.run().await;
        if desk.has_left() {
            return;
        }
        // The server ends each stream after half an hour or so: that is no trouble.
        let was_one = end.is_passing && (stream.has_brought || began.elapsed() >= LASTED);
        if was_one {
            (pauses, said, idle) = (Pauses::new(pause_max), Said::default(), 0);
        }
        idle += 1;
        let is_usual = was_one || end.is_in_peace && idle <= IDLE_MAX;
        if !is_usual {
            let why = if end.is_in_peace { "it ends each stream at once" } else { &end.why };
            said.say("Pub/Sub does not give messages now, it is asked again", why, &plan, &desk);
            stream.was_in_trouble();
        }
        // The end of waiting has the end of the source noticed at once.
        let _ = tokio::time::timeout(pauses.take(), until_left(&desk)).await;
    }
}

async fn until_left(desk: &Desk) {
    while !desk.has_left() {
        desk.room.notified().await;
    }
}

async fn answer(plan: Arc<Plan>, desk: Arc<Desk>, pause_max: Duration) {
    let mut caller = Caller::new(Arc::clone(&plan));
    let (mut pauses, mut said) = (Pauses::new(pause_max), Said::default());
    loop {
        let now = Instant::now();
        let mut ask = match desk.work(now) {
            Work::Over => return,
            Work::Rest(until) => {
                let wait = until.saturating_duration_since(now);
                // Woken, or late enough: it is looked again.
                let _ = tokio::time::timeout(wait, desk.work.notified()).await;
                continue;
            }
            Work::Ask(ask) => ask,
        };
        match tell(&mut caller, &desk, &mut ask).await {
            Ok(()) => {
                pauses.reset();
                desk.heard(&ask, now);
            }
            Err(Untold::Never(why)) => {
                let text = match ask.kind {
                    Kind::Acknowledge => {
                        "Pub/Sub does not take acknowledgements, their messages may come again"
                    }
                    Kind::Extend => "Pub/Sub does not wait longer for messages, they may come again",
                    Kind::Release => "Pub/Sub does not take messages back, they come again later",
                };
                said.say(text, &why, &plan, &desk);
                desk.heard(&ask, now);
            }
            Err(Untold::Yet(why)) => {
                said.say("Pub/Sub takes no acknowledgements now, it is told again", &why, &plan, &desk);
                desk.not_heard(&ask, Instant::now());
                tokio::time::sleep(pauses.take()).await;
            }
        }
    }
}

/// Why the server was not told.
enum Untold {
    Yet(String),
    /// It does not want to hear it.
    Never(String),
}

async fn tell(caller: &mut Caller, desk: &Desk, ask: &mut Ask) -> Result<(), Untold> {
    let path = match ask.kind {
        Kind::Acknowledge => ACKNOWLEDGE,
        Kind::Extend | Kind::Release => MODIFY_ACK_DEADLINE,
    };
    let params = Some(desk.subscription.params());
    let call = Call { path, message: std::mem::take(&mut ask.message), key: Vec::new(), params };
    match caller.ask(call).await {
        Ok(reply) if reply.status.code == Code::OK => Ok(()),
        Ok(reply) => Err(match reply.status.code {
            // Somebody has to do something, and then it goes on.
            Code::UNAUTHENTICATED | Code::PERMISSION_DENIED | Code::UNIMPLEMENTED => {
                Untold::Yet(words(&reply.status))
            }
            // With exactly-once delivery some of a call may be taken, and others later.
            code if is_passing(code) || reply.is_to_repeat => Untold::Yet(words(&reply.status)),
            _ => Untold::Never(words(&reply.status)),
        }),
        Err(outcome) => Err(Untold::Yet(without_answer(outcome))),
    }
}

/// Why the server was not asked, or has said nothing.
fn without_answer(outcome: Outcome) -> String {
    match outcome {
        Outcome::Away(why) | Outcome::Unknown(why) | Outcome::Refused(why) | Outcome::Hold(why) => why,
        Outcome::Again { why, .. } => why,
        _ => "the server gives no answer".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_can_do_something_about_is_said_with_what_to_do() {
        let status =
            Status { code: Code::NOT_FOUND, message: "subscription s".to_owned(), retry_after: None };
        assert!(words(&status).starts_with("NOT_FOUND: subscription s; create the subscription"));
        assert!(!is_passing(Code::NOT_FOUND) && is_passing(Code::UNAVAILABLE));
    }
}
