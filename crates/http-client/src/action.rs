//! What a status means for a batch: the table of syslog-ng with `response-action()` over it, changed where
//! its own would jam or lose.

use crate::answer::Answer;
use flight::Outcome;

/// What `response-action()` may say of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Success,
    /// Sent again; after `retries()` of them the batch is halved.
    Retry,
    /// Refused: the message that is bad where the status speaks of the data, else all of the batch.
    Drop,
    /// Sent again, for ever.
    Disconnect,
}

impl Action {
    pub fn named(name: &str) -> Option<Action> {
        match name {
            "success" => Some(Action::Success),
            "retry" => Some(Action::Retry),
            "drop" => Some(Action::Drop),
            "disconnect" => Some(Action::Disconnect),
            _ => None,
        }
    }
}

/// `response-action()`, by status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Actions(pub Vec<(u16, Action)>);

impl Actions {
    /// What the configuration says of a status.
    pub fn of(&self, status: u16) -> Option<Action> {
        self.0.iter().rev().find(|(code, _)| *code == status).map(|(_, action)| *action)
    }

    /// What the configuration says of this answer, where it says anything. `named`: the place of the message
    /// that the server found bad, if it says so.
    pub fn outcome(&self, answer: &Answer, named: impl FnOnce() -> Option<usize>) -> Option<Outcome> {
        Some(match self.of(answer.status)? {
            Action::Success => Outcome::Delivered,
            Action::Retry => again(answer, true),
            Action::Drop if speaks_of_data(answer.status) => {
                Outcome::LetGo { why: answer.words(), named: named() }
            }
            Action::Drop => Outcome::Refused(answer.words()),
            Action::Disconnect => again(answer, false),
        })
    }
}

/// What a status means where nobody says otherwise.
pub fn usual(answer: &Answer) -> Outcome {
    match answer.status {
        200..=299 => Outcome::Delivered,
        // syslog-ng drops all of the batch, and sends one with 400 or 413 again for ever.
        status if speaks_of_data(status) => Outcome::Split(answer.words()),
        429 | 503 => again(answer, false),
        // A password, a right, an address: somebody has to do something.
        300..=303 | 305..=399 | 401 | 402 | 403 | 404 | 405 | 406 | 407 | 411 | 415 => {
            Outcome::Hold(answer.words())
        }
        102 | 103 | 304 | 428 | 504 => again(answer, true),
        100..=199 | 400..=599 => again(answer, false),
        _ => again(answer, true),
    }
}

/// The batch is too large, or something in it is bad.
fn speaks_of_data(status: u16) -> bool {
    matches!(status, 400 | 410 | 413 | 416 | 422 | 424 | 425 | 451 | 508)
}

pub fn again(answer: &Answer, counts: bool) -> Outcome {
    Outcome::Again { after: answer.retry_after, counts, why: answer.words() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(outcome: &Outcome) -> &'static str {
        match outcome {
            Outcome::Delivered => "delivered",
            Outcome::Refused(_) => "refused",
            Outcome::Split(_) => "split",
            Outcome::LetGo { named: None, .. } => "let go",
            Outcome::LetGo { .. } => "let go of one",
            Outcome::Again { counts: true, .. } => "retry",
            Outcome::Again { counts: false, .. } => "again",
            Outcome::Hold(_) => "hold",
            _ => "other",
        }
    }

    #[test]
    fn statuses() {
        let check =
            |status, expected| assert_eq!(kind(&usual(&Answer::of(status, ""))), expected, "{status}");
        for (status, expected) in [
            (200, "delivered"),
            (204, "delivered"),
            (302, "hold"),
            (304, "retry"),
            (400, "split"),
            (401, "hold"),
            (413, "split"),
            (418, "again"),
            (428, "retry"),
            (429, "again"),
            (500, "again"),
            (504, "retry"),
            (508, "split"),
            (700, "retry"),
        ] {
            check(status, expected);
        }
    }

    #[test]
    fn the_configuration_has_the_last_word() {
        let actions = Actions(vec![(418, Action::Drop), (200, Action::Retry), (418, Action::Success)]);
        let kinds = |status| actions.outcome(&Answer::of(status, ""), || None).as_ref().map(kind);
        assert_eq!((kinds(418), kinds(200), kinds(404)), (Some("delivered"), Some("retry"), None));
    }
    #[test]
    fn what_is_dropped_is_what_the_status_speaks_of() {
        let actions = Actions([400, 404, 413].map(|status| (status, Action::Drop)).to_vec());
        let kinds =
            |status, named| actions.outcome(&Answer::of(status, ""), || named).as_ref().map(kind).unwrap();
        assert_eq!((kinds(400, None), kinds(413, None), kinds(404, None)), ("let go", "let go", "refused"));
        assert_eq!((kinds(400, Some(3)), kinds(404, Some(3))), ("let go of one", "refused"));
    }
}
