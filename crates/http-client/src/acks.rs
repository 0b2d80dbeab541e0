//! Batches that a Splunk indexer has taken and not yet put where they are safe: what it is asked about them,
//! and what it answers.

use crate::answer::Answer;
use crate::channel::Way;
use flight::Outcome;
use hyper::body::Bytes;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Between two questions: the first, and the most after many without news.
const ASK_MIN: Duration = Duration::from_millis(100);
const ASK_MAX: Duration = Duration::from_secs(1);
/// Between two lines of the log that say the same.
const SAY_AGAIN: Duration = Duration::from_secs(60);
/// The most numbers of one question.
const NUMBERS_MAX: usize = 1000;

/// A batch that was taken.
struct Taken {
    way: Way,
    number: u64,
    since: Instant,
    answer: guest::Answer,
}

pub struct Acks {
    /// How long is waited for one.
    patience: Duration,
    taken: Vec<Taken>,
    pause: Duration,
    next: Option<Instant>,
    /// When it was said that nobody answers questions.
    said: Option<Instant>,
}

/// Batches of one channel.
pub struct Question {
    pub way: Way,
    pub body: Bytes,
}

/// The number under which a server will say what became of what it has taken.
pub fn number(body: &[u8]) -> Option<u64> {
    serde_json::from_slice::<Value>(body).ok()?.get("ackId")?.as_u64()
}

impl Acks {
    pub fn new(patience: Duration) -> Acks {
        Acks { patience, taken: Vec::new(), pause: ASK_MIN, next: None, said: None }
    }

    /// When to ask.
    pub fn next(&self) -> Option<Instant> {
        self.next
    }

    /// A batch was taken. Numbers that begin anew say that the indexer did: it knows nothing of the others.
    pub fn taken(&mut self, way: Way, number: u64, answer: guest::Answer, now: Instant) {
        self.end_unless("the indexer counts its acknowledgements anew", |before| {
            before.way.channel != way.channel || before.number < number
        });
        answer.load_is_sent();
        self.taken.push(Taken { way, number, since: now, answer });
        self.pause = ASK_MIN;
        self.next = Some(self.next.map_or(now + ASK_MIN, |next| next.min(now + ASK_MIN)));
    }

    /// What is to be asked now: of each channel once.
    pub fn questions(&self) -> Vec<Question> {
        let mut questions: Vec<Question> = Vec::new();
        for taken in &self.taken {
            if questions.iter().any(|question| question.way.channel == taken.way.channel) {
                continue;
            }
            let same = self.taken.iter().filter(|other| other.way.channel == taken.way.channel);
            let numbers: Vec<u64> = same.map(|other| other.number).take(NUMBERS_MAX).collect();
            questions.push(Question {
                way: taken.way.clone(),
                body: serde_json::json!({ "acks": numbers }).to_string().into_bytes().into(),
            });
        }
        questions
    }

    /// What was answered. An answer that is none is passed over: it is asked again.
    pub fn hear(&mut self, question: &Question, answer: &Answer) {
        match read(answer) {
            Heard::Safe(numbers) => {
                let before = self.taken.len();
                for at in (0..before).rev() {
                    let is_safe = |taken: &Taken| {
                        taken.way.channel == question.way.channel && numbers.contains(&taken.number)
                    };
                    if self.taken.get(at).is_some_and(is_safe) {
                        self.taken.remove(at).answer.say(Outcome::Delivered);
                    }
                }
                if self.taken.len() < before {
                    self.pause = ASK_MIN;
                }
            }
            Heard::Nothing if !answer.is_success() => self.say(answer),
            Heard::Nothing => {}
            Heard::Unknown => {
                let why = format!("the indexer knows nothing of its acknowledgements: {}", answer.words());
                self.end_unless(&why, |taken| taken.way.channel != question.way.channel);
            }
        }
    }

    /// Somebody in between may not know where questions go. Batches wait until ack-timeout() meanwhile.
    fn say(&mut self, answer: &Answer) {
        let now = Instant::now();
        if self.said.is_none_or(|said| now.saturating_duration_since(said) >= SAY_AGAIN) {
            self.said = Some(now);
            oplog::warning(
                "Acknowledgements cannot be asked for, what was taken waits",
                &[("answer", &answer.words())],
            );
        }
    }

    /// All has been asked: those that are waited for too long are sent again.
    pub fn asked(&mut self, now: Instant) {
        let patience = self.patience;
        self.end_unless("the indexer has not acknowledged it within ack-timeout()", |taken| {
            now.saturating_duration_since(taken.since) < patience
        });
        self.next = (!self.taken.is_empty()).then(|| now + self.pause);
        self.pause = (self.pause * 2).min(ASK_MAX);
    }

    fn end_unless(&mut self, why: &str, keep: impl Fn(&Taken) -> bool) {
        for at in (0..self.taken.len()).rev() {
            if !self.taken.get(at).is_some_and(&keep) {
                self.taken.remove(at).answer.say(Outcome::Unknown(why.to_owned()));
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Heard {
    /// These are where nothing can happen to them.
    Safe(Vec<u64>),
    Nothing,
    /// The channel, or all acknowledgements, are gone.
    Unknown,
}

fn read(answer: &Answer) -> Heard {
    let Ok(value) = serde_json::from_slice::<Value>(&answer.body) else { return Heard::Nothing };
    if !answer.is_success() {
        // No channel, a wrong one, none that are acknowledged.
        let code = value.get("code").and_then(Value::as_u64);
        return if matches!(code, Some(10 | 11 | 14)) { Heard::Unknown } else { Heard::Nothing };
    }
    let Some(acks) = value.get("acks").and_then(Value::as_object) else { return Heard::Nothing };
    let safe = acks.iter().filter(|(_, is_safe)| **is_safe == Value::Bool(true));
    Heard::Safe(safe.filter_map(|(number, _)| number.parse().ok()).collect())
}

/// Any bytes as an answer.
#[cfg(any(test, feature = "fuzzing"))]
pub fn fuzz(input: &[u8]) {
    number(input);
    for status in [200, 400] {
        read(&Answer::of(status, input));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_indexers_answer() {
        let check =
            |status, body: &str, expected| assert_eq!(read(&Answer::of(status, body)), expected, "{body}");
        check(200, r#"{"acks":{"0":true,"1":false,"7":true}}"#, Heard::Safe(vec![0, 7]));
        check(200, r#"{"acks":{"x":true,"-1":true,"2":1}}"#, Heard::Safe(vec![]));
        check(200, "well", Heard::Nothing);
        check(503, r#"{"text":"Server is busy","code":9}"#, Heard::Nothing);
        check(400, r#"{"text":"Data channel is missing","code":10}"#, Heard::Unknown);
        check(400, r#"{"text":"ACK is disabled","code":14}"#, Heard::Unknown);
        assert_eq!(number(br#"{"text":"Success","code":0,"ackId":3}"#), Some(3));
        assert_eq!(number(br#"{"text":"Success","code":0}"#), None);
        fuzz(b"{}");
    }
}
