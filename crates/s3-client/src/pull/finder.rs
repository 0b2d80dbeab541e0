//! The finder: it looks at the bucket again and again, and puts what is new on the board.

use super::fetch::{Missed, missed};
use super::listing::{page, query};
use super::puller::Said;
use super::{Board, Pull, now};
use crate::answer::outcome;
use crate::speaker::{Ask, Speaker};
use guest::Pauses;
use http_client::{Answer, Method, seconds};
use pattern::Cache;
use std::sync::Arc;
use std::time::Duration;

/// Nothing is listed while there is no room; it is looked so often at least.
const LOOK_EVERY: Duration = Duration::from_secs(1);

pub async fn find(pull: Arc<Pull>, board: Arc<Board>, turn: u64) {
    let mut speaker = Speaker::new(&pull.server);
    let (mut pauses, mut said, mut cache) = (Pauses::new(pull.pause_max), Said::default(), Cache::new());
    let mut is_first = true;
    while board.is_turn(turn) {
        if !board.has_room() {
            let _ = tokio::time::timeout(LOOK_EVERY, board.room.notified()).await;
            continue;
        }
        match look(&pull, &board, turn, &mut speaker, &mut cache).await {
            Ok(is_last) => {
                pauses.reset();
                if std::mem::take(&mut is_first) | said.is_over() {
                    let server = &pull.server;
                    let fields: [oplog::Field<'_>; 3] = [
                        ("server", &server.url.authority),
                        ("bucket", &server.bucket),
                        ("prefix", &pull.prefix),
                    ];
                    oplog::notice("Objects of S3 are listed", &fields);
                }
                if is_last {
                    rest(&board, turn, pull.period).await;
                }
            }
            Err(missed) => {
                let (why, after) = missed.words();
                said.say("S3 does not list objects now, it is asked again", &why, &pull, None);
                rest(&board, turn, after.unwrap_or_default().max(pauses.take())).await;
            }
        }
    }
}

/// Waits, unless the turn is over.
async fn rest(board: &Board, turn: u64, pause: Duration) {
    let until = tokio::time::Instant::now() + pause;
    while board.is_turn(turn) && tokio::time::Instant::now() < until {
        // Whoever calls may only have made room.
        let _ = tokio::time::timeout_at(until, board.room.notified()).await;
    }
}

/// Lists the next objects; `true` with the last ones.
async fn look(
    pull: &Pull,
    board: &Board,
    turn: u64,
    speaker: &mut Speaker,
    cache: &mut Cache,
) -> Result<bool, Missed> {
    let begun = board.cursor();
    let after = begun.clone().unwrap_or_else(|| pull.start_after.clone());
    let ask = Ask::new(Method::GET, &pull.server.path()).query(query(&pull.prefix, &after));
    let answer = speaker.ask(ask).await.map_err(missed)?;
    let listed = if answer.is_success() && answer.is_whole { page(&answer.body) } else { None };
    let Some(mut listed) = listed else { return Err(missed(outcome(&answer))) };
    if begun.is_none() {
        board.begin_look(time(&answer), &after, pull.reads_old);
    }
    let is_last = listed.is_last || listed.last.is_none();
    if listed.archived > 0 {
        let fields: [oplog::Field<'_>; 2] = [("bucket", &pull.server.bucket), ("objects", &listed.archived)];
        let text = "Objects of S3 are passed over: they are in an archive, where nobody can read them";
        oplog::limited("s3-archive", oplog::Level::Warning, text, &fields);
    }
    // A server may say more than it was asked for.
    listed.objects.retain(|found| !found.is_folder() && pull.wants(&found.key, cache));
    board.put(turn, listed.objects, listed.last.as_deref());
    if is_last {
        board.end_look();
    }
    Ok(is_last)
}

/// The server's clock, by which objects were written too, in milliseconds; ours where it does not say.
fn time(answer: &Answer) -> u64 {
    let said = answer.headers.get("date").and_then(|date| seconds(date.to_str().ok()?));
    said.and_then(|seconds| u64::try_from(seconds).ok()).map_or_else(now, |seconds| seconds * 1000)
}
