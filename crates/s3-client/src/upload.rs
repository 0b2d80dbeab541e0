//! An object in several parts: begun, its parts sent side by side, made whole. Until then there is nothing.

use crate::answer::{self, element, elements, unescaped};
use crate::name::encoded;
use crate::plan::Plan;
use crate::speaker::{Ask, Speaker};
use bytes::Bytes;
use flight::Outcome;
use http_client::{Answer, HeaderMap, Method};
use std::fmt::Write;
use std::sync::Arc;

/// The connections that an outlet has.
pub struct Speakers {
    plan: Arc<Plan>,
    idle: Vec<Speaker>,
}

impl Speakers {
    pub fn new(plan: &Arc<Plan>) -> Speakers {
        Speakers { plan: Arc::clone(plan), idle: Vec::new() }
    }

    pub fn reopen(&mut self) {
        self.idle.iter_mut().for_each(Speaker::reopen);
    }

    fn take(&mut self) -> Speaker {
        self.idle.pop().unwrap_or_else(|| Speaker::new(&self.plan.server))
    }

    pub async fn ask(&mut self, ask: Ask) -> Result<Answer, Outcome> {
        let mut speaker = self.take();
        let answer = speaker.ask(ask).await;
        self.idle.push(speaker);
        answer
    }

    /// Uploads an object; the answer is that to the request which made it whole. What was begun and did not
    /// come to that is taken back.
    pub async fn upload(
        &mut self,
        path: &str,
        headers: Vec<(String, String)>,
        body: &Bytes,
    ) -> Result<Answer, Outcome> {
        let begin = Ask { headers, ..Ask::new(Method::POST, path) };
        let answer = self.ask(begin.query("uploads=".to_owned())).await?;
        let id = element(&answer.body, "UploadId").map(|id| encoded(unescaped(id).as_bytes(), false));
        let Some(id) = id.filter(|_| answer.is_success()) else { return Err(answer::outcome(&answer)) };
        let made = match self.send_parts(path, &id, body).await {
            Ok(tags) => self.complete(path, &id, &tags).await,
            Err(outcome) => Err(outcome),
        };
        let is_made = made.as_ref().is_ok_and(|answer| answer.is_success() && !is_error(answer));
        if !is_made {
            // What cannot be taken back now is found at the next start.
            let _ = self.ask(Ask::new(Method::DELETE, path).query(format!("uploadId={id}"))).await;
        }
        made
    }

    /// The tags of all parts, in their order.
    async fn send_parts(&mut self, path: &str, id: &str, body: &Bytes) -> Result<Vec<String>, Outcome> {
        let mut tags = Vec::new();
        let size = self.plan.parts.bytes.max(1);
        let starts: Vec<usize> = (0..body.len()).step_by(size).collect();
        for group in starts.chunks(self.plan.parts.at_once.max(1)) {
            let tasks: Vec<_> = group
                .iter()
                .map(|start| {
                    let part = body.slice(*start..(start + size).min(body.len()));
                    let query = format!("partNumber={}&uploadId={id}", start / size + 1);
                    let ask = Ask::new(Method::PUT, path).query(query).body(part);
                    let mut speaker = self.take();
                    tokio::spawn(async move { (speaker.ask(ask).await, speaker) })
                })
                .collect();
            let mut failed = None;
            for task in tasks {
                let answer = match task.await {
                    Ok((answer, speaker)) => {
                        self.idle.push(speaker);
                        answer
                    }
                    Err(error) => Err(Outcome::Unknown(error.to_string())),
                };
                match answer.map(|answer| (tag(&answer.headers), answer)) {
                    Ok((Some(tag), answer)) if answer.is_success() => tags.push(tag),
                    Ok((_, answer)) => failed = Some(answer::outcome(&answer)),
                    Err(outcome) => failed = Some(outcome),
                }
            }
            if let Some(outcome) = failed {
                return Err(outcome);
            }
        }
        Ok(tags)
    }

    async fn complete(&mut self, path: &str, id: &str, tags: &[String]) -> Result<Answer, Outcome> {
        let mut text = String::from("<CompleteMultipartUpload>");
        for (at, tag) in tags.iter().enumerate() {
            let tag = tag.replace('&', "&amp;").replace('<', "&lt;");
            let _ = write!(text, "<Part><PartNumber>{}</PartNumber><ETag>{tag}</ETag></Part>", at + 1);
        }
        text.push_str("</CompleteMultipartUpload>");
        let ask = Ask::new(Method::POST, path).query(format!("uploadId={id}"));
        self.ask(ask.header("if-none-match", "*").body(text.into())).await
    }

    /// Takes back what an earlier run began under names that begin so, and could not end.
    pub async fn take_back(&mut self, bucket: &str, before: &[u8]) -> Result<(), Outcome> {
        let query = format!("prefix={}&uploads=", encoded(before, false));
        let answer = self.ask(Ask::new(Method::GET, bucket).query(query)).await?;
        if !answer.is_success() {
            // Whoever may not look at uploads may still make them.
            return Ok(());
        }
        for upload in elements(&answer.body, "Upload") {
            let part = |name| element(upload.as_bytes(), name).map(unescaped);
            let (Some(key), Some(id)) = (part("Key"), part("UploadId")) else { continue };
            // A server may say more than it was asked for.
            if !key.as_bytes().starts_with(before) {
                continue;
            }
            let path = format!("{bucket}/{}", encoded(key.as_bytes(), true));
            let query = format!("uploadId={}", encoded(id.as_bytes(), false));
            self.ask(Ask::new(Method::DELETE, &path).query(query)).await?;
        }
        Ok(())
    }
}

fn tag(headers: &HeaderMap) -> Option<String> {
    headers.get("etag").and_then(|tag| tag.to_str().ok()).map(str::to_owned)
}

/// The request that makes an object whole is answered with success before the server knows whether it is one.
pub fn is_error(answer: &Answer) -> bool {
    element(&answer.body, "Code").is_some()
}
