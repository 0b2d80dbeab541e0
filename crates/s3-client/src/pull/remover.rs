//! The remover: it deletes finished objects, or moves them to another name first.

use super::fetch::{Missed, missed};
use super::listing::Listed;
use super::puller::Said;
use super::{Afterwards, Board, Pull};
use crate::answer::{element, outcome};
use crate::name::encoded;
use crate::speaker::{Ask, Speaker};
use guest::Pauses;
use http_client::{Answer, Method};
use std::sync::Arc;
use std::time::Duration;

const LOOK_EVERY: Duration = Duration::from_secs(1);

pub async fn remove(pull: Arc<Pull>, board: Arc<Board>, turn: u64) {
    let mut speaker = Speaker::new(&pull.server);
    let (mut pauses, mut said) = (Pauses::new(pull.pause_max), Said::default());
    while board.is_turn(turn) {
        let Some((id, found)) = board.take_waste(turn) else {
            let _ = tokio::time::timeout(LOOK_EVERY, board.waste.notified()).await;
            continue;
        };
        match dispose(&pull, &found, &mut speaker).await {
            Ok(()) => {
                pauses.reset();
                board.is_gone(&id);
            }
            Err(Missed::Gone(_)) => board.is_gone(&id),
            Err(Missed::Now { why, .. } | Missed::Aside(why)) => {
                let text = "S3 does not take a finished object away, it is asked again";
                let why = format!("{why}; object {}", found.key);
                said.say(text, &why, &pull, None);
                board.is_still_there(&id);
                tokio::time::sleep(pauses.take()).await;
            }
        }
    }
}

async fn dispose(pull: &Pull, found: &Listed, speaker: &mut Speaker) -> Result<(), Missed> {
    let path = pull.server.path_of(&found.key);
    // One that has come under its name since then was not read.
    let head = speaker.ask(Ask::new(Method::HEAD, &path)).await.map_err(missed)?;
    let tag = head.headers.get("etag").and_then(|tag| tag.to_str().ok()).unwrap_or_default();
    match head.status {
        200..=299 if found.has_tag(tag) => {}
        200..=299 | 404 => return Err(Missed::Gone("it is there no more".to_owned())),
        _ => return Err(missed(outcome(&head))),
    }
    if let Afterwards::Move(prefix) = &pull.afterwards {
        copy(pull, found, prefix, speaker).await?;
    }
    let mut ask = Ask::new(Method::DELETE, &path);
    if !found.tag.is_empty() {
        ask = ask.header("if-match", &found.tag);
    }
    done(speaker.ask(ask).await.map_err(missed)?)
}

/// Under a name that begins with the prefix in the place of that of the source.
async fn copy(pull: &Pull, found: &Listed, prefix: &str, speaker: &mut Speaker) -> Result<(), Missed> {
    let rest = found.key.strip_prefix(&pull.prefix).unwrap_or(&found.key);
    let to = pull.server.path_of(&format!("{prefix}{rest}"));
    let from = format!("{}/{}", pull.server.bucket, encoded(found.key.as_bytes(), true));
    let mut ask = Ask::new(Method::PUT, &to).header("x-amz-copy-source", &from);
    if !found.tag.is_empty() {
        ask = ask.header("x-amz-copy-source-if-match", &found.tag);
    }
    done(speaker.ask(ask).await.map_err(missed)?)
}

fn done(answer: Answer) -> Result<(), Missed> {
    match answer.status {
        // A copy may be answered with success before it is known to be one.
        200..=299 if element(&answer.body, "Code").is_none() => Ok(()),
        404 | 412 => Err(Missed::Gone(answer.words())),
        _ => Err(missed(outcome(&answer))),
    }
}
