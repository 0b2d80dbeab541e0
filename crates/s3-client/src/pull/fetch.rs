//! Parts of objects, and what it means when they do not come.

use super::listing::Listed;
use crate::answer::{element, outcome};
use crate::server::Server;
use crate::speaker::{Ask, Speaker};
use flight::Outcome;
use http_client::{Answer, Method};
use std::time::Duration;

/// Bytes of an object that are asked for at once.
pub const PART_BYTES: u64 = 2 << 20;

/// Why a part did not come.
#[derive(Debug)]
pub enum Missed {
    /// It may come in a moment, or when somebody has done something.
    Now { why: String, after: Option<Duration> },
    /// This object cannot be read now, others may: it is in an archive, or its key is not to be used.
    Aside(String),
    /// It is there no more, or another one is.
    Gone(String),
}

impl Missed {
    /// Why, and how long the server wants to be left alone.
    pub fn words(self) -> (String, Option<Duration>) {
        match self {
            Missed::Now { why, after } => (why, after),
            Missed::Aside(why) | Missed::Gone(why) => (why, None),
        }
    }
}

/// What an outcome says of a request about no batch.
pub fn missed(outcome: Outcome) -> Missed {
    match outcome {
        Outcome::Again { after, why, .. } => Missed::Now { why, after },
        Outcome::Away(why) | Outcome::Unknown(why) | Outcome::Hold(why) | Outcome::Refused(why) => {
            Missed::Now { why, after: None }
        }
        _ => Missed::Now { why: "the server gives no answer".to_owned(), after: None },
    }
}

/// The bytes of an object from a place on, `bytes` of them as far as there are so many.
pub async fn part(
    speaker: &mut Speaker,
    server: &Server,
    found: &Listed,
    from: u64,
    bytes: u64,
) -> Result<Vec<u8>, Missed> {
    let until = found.size.min(from.saturating_add(bytes));
    let mut ask = Ask::new(Method::GET, &server.path_of(&found.key));
    ask = ask.header("range", &format!("bytes={from}-{}", until.saturating_sub(1)));
    if !found.tag.is_empty() {
        ask = ask.header("if-match", &found.tag);
    }
    let answer = speaker.ask(ask).await.map_err(missed)?;
    judge(answer, found, until - from)
}

fn judge(answer: Answer, found: &Listed, wanted: u64) -> Result<Vec<u8>, Missed> {
    let code = element(&answer.body, "Code").unwrap_or_default();
    match (answer.status, code) {
        (200 | 206, _) => {
            let tag = answer.headers.get("etag").and_then(|tag| tag.to_str().ok()).unwrap_or_default();
            let is_same = found.tag.is_empty() || tag.is_empty() || found.has_tag(tag);
            match answer.body.len() as u64 == wanted {
                _ if !is_same => Err(Missed::Gone("another one has taken its place".to_owned())),
                true => Ok(answer.body),
                false if answer.is_whole => Err(Missed::Gone("it has another size".to_owned())),
                false => Err(Missed::Now { why: "the connection broke".to_owned(), after: None }),
            }
        }
        (404, code) if code != "NoSuchBucket" => Err(Missed::Gone("it is there no more".to_owned())),
        (412 | 416, _) => Err(Missed::Gone("another one has taken its place".to_owned())),
        (403, "InvalidObjectState" | "AccessDenied") => Err(Missed::Aside(answer.words())),
        (400, code) if code.starts_with("KMS") => Err(Missed::Aside(answer.words())),
        _ => Err(missed(outcome(&answer))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_client::HeaderMap;

    #[test]
    fn what_answers_mean() {
        let found =
            Listed { key: "k".into(), tag: "\"1\"".into(), size: 3, modified: 0, sequence: String::new() };
        let of = |status, body: &str| {
            judge(Answer::raw(status, HeaderMap::new(), body.as_bytes().to_vec(), true), &found, 3)
        };
        assert_eq!(of(206, "abc").expect("a part"), b"abc");
        assert!(matches!(of(206, "ab"), Err(Missed::Gone(_))));
        assert!(matches!(of(404, "<Code>NoSuchKey</Code>"), Err(Missed::Gone(_))));
        assert!(matches!(of(404, "<Code>NoSuchBucket</Code>"), Err(Missed::Now { .. })));
        assert!(matches!(of(412, ""), Err(Missed::Gone(_))));
        assert!(matches!(of(403, "<Code>InvalidObjectState</Code>"), Err(Missed::Aside(_))));
        assert!(matches!(of(403, "<Code>SignatureDoesNotMatch</Code>"), Err(Missed::Now { .. })));
        assert!(matches!(of(503, "<Code>SlowDown</Code>"), Err(Missed::Now { .. })));
        let mut other = Answer::raw(200, HeaderMap::new(), b"abc".to_vec(), true);
        other.headers.insert("etag", http_client::HeaderValue::from_static("\"2\""));
        assert!(matches!(judge(other, &found, 3), Err(Missed::Gone(_))));
    }
}
