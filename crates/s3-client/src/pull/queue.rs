//! Objects that a queue tells of: messages are received, what they tell of is put on the board, and each is
//! deleted when all its objects are finished. Until then the queue is asked to give it to nobody else.

use super::clerk::{Clerk, ENTRIES_MAX, Queue};
use super::events::{self, Made};
use super::fetch::{Missed, missed};
use super::listing::Listed;
use super::puller::Said;
use super::{Board, Pull, now};
use crate::answer::outcome;
use crate::speaker::{Ask, Speaker};
use guest::Pauses;
use http_client::Method;
use pattern::Cache;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Messages that wait for their objects, beyond which no more are received.
const MESSAGES_MAX: usize = 1000;
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// When nothing more is received, what is finished is still said for so long.
const AFTERWARDS: Duration = Duration::from_secs(30);
/// The queue is asked to wait longer when so much of the time is left: 1 / so many.
const LEFT: u32 = 2;

pub async fn receive(pull: Arc<Pull>, queue: Arc<Queue>, board: Arc<Board>, turn: u64) {
    let mut clerk = Clerk::new(&pull.server, &queue);
    let mut speaker = Speaker::new(&pull.server);
    let (mut pauses, mut said, mut cache) = (Pauses::new(pull.pause_max), Said::default(), Cache::new());
    let mut is_first = true;
    while board.is_turn(turn) {
        if !board.has_room() || board.messages(|messages| messages.len()) >= MESSAGES_MAX {
            let _ = tokio::time::timeout(LOOK_EVERY, board.room.notified()).await;
            continue;
        }
        let asked = Instant::now();
        let received = match clerk.receive().await {
            Ok(received) => received,
            Err(missed) => {
                let text = "The queue of S3's notifications gives none now, it is asked again";
                said.say(text, &missed.words().0, &pull, None);
                tokio::time::sleep(pauses.take()).await;
                continue;
            }
        };
        pauses.reset();
        if std::mem::take(&mut is_first) | said.is_over() {
            let fields: [oplog::Field<'_>; 2] = [("queue", &queue.name), ("bucket", &pull.server.bucket)];
            oplog::notice("Notifications of S3 are received", &fields);
        }
        let now = now();
        board.age(now);
        let is_ours = board.is_turn(turn);
        for message in received {
            let made = match events::read(message.body.as_bytes()) {
                _ if !is_ours => continue,
                Some(made) if made.iter().all(|made| made.bucket == pull.server.bucket) => made,
                Some(_) => {
                    strange(&queue, "it tells of another bucket");
                    continue;
                }
                None => {
                    strange(&queue, "it is no notification of S3");
                    continue;
                }
            };
            let mut all = Vec::new();
            let mut is_known = true;
            for made in made.into_iter().filter(|made| pull.wants(&made.key, &mut cache)) {
                match measured(&pull, made, now, &mut speaker).await {
                    Ok(found) => all.extend(found),
                    Err(why) => {
                        said.say(
                            "S3 does not say how large an object is, it is asked again",
                            &why,
                            &pull,
                            None,
                        );
                        is_known = false;
                    }
                }
            }
            // Otherwise it comes again.
            if is_known {
                board.put_message(message.receipt, all, asked + queue.ack_deadline);
            }
        }
    }
}

/// What nobody can do anything with stays in the queue, which may have another one for it.
fn strange(queue: &Queue, why: &str) {
    let fields: [oplog::Field<'_>; 2] = [("queue", &queue.name), ("reason", &why)];
    let text = "A message of a queue is left there: let the queue have one for dead letters";
    oplog::limited("s3-strange", oplog::Level::Warning, text, &fields);
}

/// With its size, which not every notification says. `None`: there is nothing to read.
async fn measured(
    pull: &Pull,
    made: Made,
    now: u64,
    speaker: &mut Speaker,
) -> Result<Option<Listed>, String> {
    let Made { key, tag, size, sequence, .. } = made;
    let tag = if tag.is_empty() { String::new() } else { format!("\"{tag}\"") };
    let of =
        |size, tag| Some(Listed { key: key.clone(), tag, size, modified: now, sequence: sequence.clone() });
    if let Some(size) = size {
        return Ok(of(size, tag).filter(|found| !found.is_folder()));
    }
    let head = Ask::new(Method::HEAD, &pull.server.path_of(&key));
    let why = |outcome| missed(outcome).words().0;
    let answer = speaker.ask(head).await.map_err(why)?;
    let text = |name: &str| answer.headers.get(name).and_then(|value| value.to_str().ok());
    match (answer.status, text("content-length").and_then(|size| size.parse().ok())) {
        (200..=299, Some(size)) => Ok(of(size, text("etag").unwrap_or(&tag).to_owned())),
        (404, _) => Ok(None),
        _ => Err(why(outcome(&answer))),
    }
}

/// Nobody reads any more: what waits is for others.
async fn give_back(clerk: &mut Clerk, board: &Board) {
    loop {
        let some = board.messages(|messages| messages.waiting(ENTRIES_MAX));
        board.messages(|messages| messages.forget(&some));
        // Where that fails, others get them when their time is over.
        if some.is_empty() || clerk.extend(&some, Duration::ZERO).await.is_err() {
            return;
        }
    }
}

/// Says to the queue what became of its messages.
pub async fn answer(pull: Arc<Pull>, queue: Arc<Queue>, board: Arc<Board>, turn: u64) {
    let mut clerk = Clerk::new(&pull.server, &queue);
    let (mut pauses, mut said) = (Pauses::new(pull.pause_max), Said::default());
    let mut left: Option<Instant> = None;
    loop {
        let now = Instant::now();
        if !board.is_turn(turn) {
            let is_late = now.duration_since(*left.get_or_insert(now)) >= AFTERWARDS;
            // Whoever comes next has an answerer of its own.
            if is_late || board.is_served() {
                return;
            }
            if board.is_quiet() {
                return give_back(&mut clerk, &board).await;
            }
        }
        let deadline = queue.ack_deadline;
        let done = board.messages(|messages| messages.take_done(ENTRIES_MAX));
        let near = match done.is_empty() && left.is_none() {
            true => board.messages(|messages| messages.near(now + deadline / LEFT, ENTRIES_MAX)),
            false => Vec::new(),
        };
        let told = if !done.is_empty() {
            let told = clerk.delete(&done).await;
            board.messages(|messages| {
                let again = told.as_ref().map_or(done.as_slice(), Vec::as_slice);
                let heard: Vec<_> = done.iter().filter(|told| !again.contains(told)).cloned().collect();
                messages.put_back(again);
                messages.forget(&heard);
            });
            board.room.notify_one();
            told
        } else if !near.is_empty() {
            let told = clerk.extend(&near, deadline).await;
            if told.is_ok() {
                board.messages(|messages| messages.extend(&near, now + deadline));
            }
            told
        } else {
            let _ = tokio::time::timeout(LOOK_EVERY, board.said.notified()).await;
            continue;
        };
        match told {
            Ok(again) if again.is_empty() => pauses.reset(),
            Ok(_) => tokio::time::sleep(pauses.take()).await,
            Err(Missed::Now { why, .. } | Missed::Aside(why) | Missed::Gone(why)) => {
                said.say(
                    "The queue of S3's notifications takes no answers now, it is told again",
                    &why,
                    &pull,
                    None,
                );
                tokio::time::sleep(pauses.take()).await;
            }
        }
    }
}
