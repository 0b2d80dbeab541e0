//! What runs for one outlet: it takes batches one after the other, makes an object of each, and says what
//! became of it.

use crate::answer;
use crate::batch::Load;
use crate::earlier;
use crate::name::{KEY_BYTES_MAX, encoded, object};
use crate::place::{ObjectPlace, Places};
use crate::plan::{Packing, Plan};
use crate::speaker::Ask;
use crate::upload::{Speakers, is_error};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use flight::{Outcome, Verdict};
use guest::{Jobs, Order};
use http_client::{Answer, Method};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

/// Carries the number of the last message of an object.
const LAST: &str = "x-amz-meta-penstock-last";

/// Serves an outlet until it is closed. `before`: the name of its objects as far as messages say it;
/// `queue`: tells its queue on disk from others, in names; by chance where it is in memory.
pub async fn serve(plan: Arc<Plan>, before: Arc<[u8]>, queue: Arc<str>, jobs: Jobs<Load>) {
    let speakers = Speakers::new(&plan);
    let bucket = plan.server.path();
    let (is_tidy, knows_earlier) = (false, false);
    let places = Places::new(queue);
    let mut session =
        Session { plan, before, bucket, speakers, places, object: None, is_tidy, knows_earlier };
    while let Some(order) = jobs.next().await {
        match order {
            Order::Reopen => session.speakers.reopen(),
            Order::Send(job) => {
                session.object = None;
                let outcome = session.deliver(job.load).await.unwrap_or_else(|outcome| outcome);
                session.say_where(&job.answer, &outcome);
                job.answer.say(outcome);
            }
        }
    }
}

struct Session {
    plan: Arc<Plan>,
    before: Arc<[u8]>,
    /// As paths have it.
    bucket: String,
    speakers: Speakers,
    places: Places,
    /// The name of the one that has messages of the batch in hand, or was to have them.
    object: Option<String>,
    /// What an earlier run began and could not end is taken back.
    is_tidy: bool,
    /// Whether an object of an earlier run has the first messages was looked up.
    knows_earlier: bool,
}

impl Session {
    /// Where messages are that somebody follows.
    fn say_where(&self, answer: &guest::Answer, outcome: &Outcome) {
        let Some(object) = &self.object else { return };
        let is_there = |at: usize| match outcome {
            Outcome::Delivered => true,
            Outcome::Judged { verdicts, .. } => verdicts.get(at) == Some(&Verdict::Delivered),
            _ => false,
        };
        answer.is_at(|at| {
            let place =
                [("bucket", self.plan.server.bucket.as_str().into()), ("object", object.as_str().into())];
            place.into_iter().filter(move |_| is_there(at))
        });
    }

    async fn deliver(&mut self, load: Load) -> Result<Outcome, Outcome> {
        if let Some(outcome) = self.made_earlier(&load).await? {
            return Ok(outcome);
        }
        let place = self.places.of(&load);
        let made = self.make(&load, &place).await.transpose();
        match &made {
            Some(Ok(Outcome::Delivered)) => self.places.is_made(),
            Some(_) => self.places.is_open(&load, place.name),
            // The next attempt has the next name.
            None => {}
        }
        made.unwrap_or_else(|| {
            let why = "there is an object of the name already, and it is not ours".to_owned();
            Err(Outcome::Again { after: None, counts: false, why })
        })
    }

    /// Makes the object of a batch. `None`: its name is somebody else's.
    async fn make(&mut self, load: &Load, place: &ObjectPlace) -> Result<Option<Outcome>, Outcome> {
        let suffix = match self.plan.packing {
            Packing::None => self.plan.suffix.clone(),
            Packing::Gzip(_) => format!("{}.gz", self.plan.suffix),
        };
        let name = object(&self.before, &place.name, &suffix);
        if name.len() > KEY_BYTES_MAX {
            let why = format!("the name of the object has {} bytes, at most {KEY_BYTES_MAX}", name.len());
            return Ok(Some(Outcome::Refused(why)));
        }
        let path = format!("{}/{}", self.bucket, encoded(&name, true));
        self.object = Some(String::from_utf8_lossy(&name).into_owned());
        let body = self.packed(load.body.clone()).await?;
        let mut headers = self.plan.headers.clone();
        if let Some((_, last)) = load.range() {
            headers.push((LAST.to_owned(), last.to_string()));
        }
        let answer = self.put(&path, headers, body).await?;
        match answer.status {
            200..=299 if !is_error(&answer) => Ok(Some(Outcome::Delivered)),
            412 if place.is_again => self.found(&path, load).await.map(Some),
            412 => Ok(None),
            _ => Ok(Some(answer::outcome(&answer))),
        }
    }

    /// Makes the object where there is none of its name.
    async fn put(
        &mut self,
        path: &str,
        headers: Vec<(String, String)>,
        body: Bytes,
    ) -> Result<Answer, Outcome> {
        if body.len() <= self.plan.parts.bytes {
            let ask = Ask { headers, ..Ask::new(Method::PUT, path) };
            return self.speakers.ask(ask.header("if-none-match", "*").body(body)).await;
        }
        if !self.is_tidy {
            let before = object(&self.before, &self.places.queue, "");
            self.speakers.take_back(&self.bucket, &before).await?;
            self.is_tidy = true;
        }
        self.speakers.upload(path, headers, &body).await
    }

    /// How far a queue is delivered is kept by pieces of the queue: after a kill it may begin in the middle
    /// of an object, whose name is that of a message before.
    async fn made_earlier(&mut self, load: &Load) -> Result<Option<Outcome>, Outcome> {
        let Some((first, _)) = load.range().filter(|_| !self.knows_earlier) else { return Ok(None) };
        let before = object(&self.before, &self.places.queue, "-");
        let name = earlier::find(&mut self.speakers, &self.bucket, &before, first).await?;
        let outcome = match name {
            Some(name) => {
                let path = format!("{}/{}", self.bucket, encoded(name.as_bytes(), true));
                let has_some = |outcome: &Outcome| match outcome {
                    Outcome::Judged { verdicts, .. } => !verdicts.is_empty(),
                    // Somebody else made it.
                    Outcome::Hold(_) => false,
                    _ => true,
                };
                let found = Some(self.found(&path, load).await?).filter(has_some);
                self.object = Some(name);
                found
            }
            None => None,
        };
        self.knows_earlier = matches!(outcome, None | Some(Outcome::Judged { .. }));
        Ok(outcome)
    }

    /// There is an object of that name: it has all of the batch, or the first of its messages.
    async fn found(&mut self, path: &str, load: &Load) -> Result<Outcome, Outcome> {
        if load.range().is_none() {
            return Ok(Outcome::Delivered);
        }
        let answer = self.speakers.ask(Ask::new(Method::HEAD, path)).await?;
        let last = answer.headers.get(LAST).and_then(|last| last.to_str().ok()?.parse::<u64>().ok());
        Ok(match last {
            Some(last) if answer.is_success() => {
                let there = load.until(last);
                if there >= load.messages {
                    // It may have the next ones too.
                    self.knows_earlier = false;
                    return Ok(Outcome::Delivered);
                }
                Outcome::Judged { verdicts: vec![Verdict::Delivered; there], after: Some(Duration::ZERO) }
            }
            None if answer.is_success() => {
                Outcome::Hold(format!("{path} is there, and does not say which messages it has"))
            }
            _ => answer::outcome(&answer),
        })
    }

    async fn packed(&self, body: Bytes) -> Result<Bytes, Outcome> {
        let Packing::Gzip(level) = self.plan.packing else { return Ok(body) };
        let work = move || {
            let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::new(level));
            encoder.write_all(&body)?;
            encoder.finish()
        };
        let again = |why: String| Outcome::Again { after: None, counts: false, why };
        let packed = tokio::task::spawn_blocking(work).await.map_err(|error| again(error.to_string()))?;
        packed.map(Bytes::from).map_err(|error| again(error.to_string()))
    }
}
