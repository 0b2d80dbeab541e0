//! `/healthz` and `/readyz`: whether the program works, and what is not as it should be.

use control::{Health, Subject};
use http_server::Answer;
use parking_lot::Mutex;
use serde_json::json;
use std::time::{Duration, Instant};

/// The workers are asked at most this often, whoever wants to know.
const FRESH: Duration = Duration::from_secs(1);

#[derive(Default)]
pub struct Latest(Mutex<Option<(Instant, Health)>>);

impl Latest {
    /// Takes up to seconds when a worker is stuck.
    pub fn get(&self, subject: &dyn Subject) -> Health {
        let mut latest = self.0.lock();
        match &*latest {
            Some((at, health)) if at.elapsed() < FRESH => health.clone(),
            _ => {
                let health = subject.healthcheck();
                *latest = Some((Instant::now(), health.clone()));
                health
            }
        }
    }
}

/// Which of the two is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Does it live?
    Health,
    /// Should it get work?
    Ready { even_degraded: bool },
}

/// The reasons go only to whoever may know them.
pub fn answer(health: &Health, question: Question, with_reasons: bool) -> Answer {
    let status = match (health.is_stuck, health.is_healthy()) {
        (true, _) => "stuck",
        (false, true) => "ok",
        (false, false) => "degraded",
    };
    let good = match question {
        Question::Health | Question::Ready { even_degraded: true } => !health.is_stuck,
        Question::Ready { even_degraded: false } => health.is_healthy(),
    };
    let mut said = json!({ "version": 1, "status": status });
    if let (true, Some(said)) = (with_reasons, said.as_object_mut()) {
        said.insert("reasons".to_owned(), json!(health.complaints));
    }
    Answer::json(if good { 200 } else { 503 }, crate::looks::said(&format!("{said}\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_degraded_lives_and_may_be_ready() {
        let check = |health: &Health, expected: [u16; 3]| {
            let questions = [
                Question::Health,
                Question::Ready { even_degraded: true },
                Question::Ready { even_degraded: false },
            ];
            assert_eq!(questions.map(|question| answer(health, question, true).status()), expected);
        };
        check(&Health::default(), [200; 3]);
        let complaints = vec!["destination d waits".to_owned()];
        let degraded = Health { complaints: complaints.clone(), ..Health::default() };
        check(&degraded, [200, 200, 503]);
        check(&Health { is_stuck: true, complaints, ..Health::default() }, [503; 3]);
    }
}
