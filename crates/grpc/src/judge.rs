//! What a status means for a batch: the table of syslog-ng with `response-action()` over it, changed where
//! its own would lose or jam.

use crate::status::{Code, Status};
use flight::{Outcome, Verdict};
use http_client::Action;
use std::time::Duration;

/// `response-action()`, by code.
#[derive(Clone, Debug, Default)]
pub struct Actions(pub Vec<(Code, Action)>);

impl Actions {
    /// What the configuration says of this status, where it says anything.
    pub fn outcome(&self, status: &Status) -> Option<Outcome> {
        let action = self.0.iter().rev().find(|(code, _)| *code == status.code)?.1;
        Some(match action {
            Action::Success => Outcome::Delivered,
            Action::Retry => again(status, true),
            Action::Drop => Outcome::Refused(status.words()),
            Action::Disconnect => again(status, false),
        })
    }
}

pub fn again(status: &Status, counts: bool) -> Outcome {
    Outcome::Again { after: status.retry_after, counts, why: status.words() }
}

/// What a status means where nobody says otherwise. syslog-ng drops the whole batch for each that is not
/// clearly temporary.
pub fn usual(status: &Status) -> Outcome {
    match status.code {
        Code::OK => Outcome::Delivered,
        Code::UNAVAILABLE
        | Code::CANCELLED
        | Code::DEADLINE_EXCEEDED
        | Code::ABORTED
        | Code::OUT_OF_RANGE
        | Code::DATA_LOSS => again(status, false),
        Code::RESOURCE_EXHAUSTED if status.retry_after.is_some() => again(status, false),
        // grpc-go and grpc-java say so of a message that is larger than they take.
        Code::RESOURCE_EXHAUSTED if status.message.contains("larger than max") => {
            Outcome::Split(status.words())
        }
        // A password, a right, an address: somebody has to do something.
        Code::UNAUTHENTICATED
        | Code::PERMISSION_DENIED
        | Code::UNIMPLEMENTED
        | Code::NOT_FOUND
        | Code::FAILED_PRECONDITION => Outcome::Hold(status.words()),
        Code::INVALID_ARGUMENT | Code::ALREADY_EXISTS => Outcome::Split(status.words()),
        // Statuses of HTTP, which Loki answers with.
        Code(400 | 413 | 422) => Outcome::Split(status.words()),
        Code(401 | 403 | 404) => Outcome::Hold(status.words()),
        Code(429 | 500..=599) => again(status, false),
        _ => again(status, true),
    }
}

/// The batch without the messages that are wrong.
pub fn without(messages: usize, wrong: &[(usize, String)]) -> Outcome {
    let mut verdicts = vec![Verdict::Again; messages];
    let mut is_known = false;
    for (at, why) in wrong {
        if let Some(verdict) = verdicts.get_mut(*at) {
            *verdict = Verdict::Refused(why.as_str().into());
            is_known = true;
        }
    }
    match is_known {
        true => Outcome::Judged { verdicts, after: Some(Duration::ZERO) },
        // Rows that we have not sent are wrong: whichever it is.
        false => Outcome::Split(wrong.first().map(|(_, why)| why.clone()).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(code: Code, message: &str) -> Status {
        Status { code, message: message.to_owned(), retry_after: None }
    }

    fn kind(outcome: &Outcome) -> &'static str {
        match outcome {
            Outcome::Delivered => "delivered",
            Outcome::Refused(_) => "refused",
            Outcome::Split(_) => "split",
            Outcome::Again { counts: true, .. } => "retry",
            Outcome::Again { counts: false, .. } => "again",
            Outcome::Hold(_) => "hold",
            _ => "other",
        }
    }

    #[test]
    fn codes() {
        for (code, expected) in [
            (Code::OK, "delivered"),
            (Code::UNAVAILABLE, "again"),
            (Code::RESOURCE_EXHAUSTED, "retry"),
            (Code::INVALID_ARGUMENT, "split"),
            (Code::UNAUTHENTICATED, "hold"),
            (Code::UNIMPLEMENTED, "hold"),
            (Code::INTERNAL, "retry"),
            (Code(77), "retry"),
            (Code(400), "split"),
            (Code(429), "again"),
        ] {
            assert_eq!(kind(&usual(&status(code, ""))), expected, "{code:?}");
        }
        let large = status(Code::RESOURCE_EXHAUSTED, "grpc: received message larger than max (5 vs. 4)");
        assert_eq!(kind(&usual(&large)), "split");
        let asked = Status { retry_after: Some(Duration::from_secs(7)), ..large };
        assert!(
            matches!(usual(&asked), Outcome::Again { after: Some(after), counts: false, .. } if after.as_secs() == 7)
        );
    }

    #[test]
    fn the_configuration_has_the_last_word() {
        let actions = Actions(vec![(Code::INTERNAL, Action::Drop), (Code::OK, Action::Retry)]);
        let kinds = |code| actions.outcome(&status(code, "")).as_ref().map(kind);
        assert_eq!(
            (kinds(Code::INTERNAL), kinds(Code::OK), kinds(Code::ABORTED)),
            (Some("refused"), Some("retry"), None)
        );
    }

    #[test]
    fn wrong_rows_cost_their_messages() {
        let Outcome::Judged { verdicts, .. } = without(3, &[(1, "no".to_owned())]) else { panic!("judged") };
        assert!(matches!(verdicts[..], [Verdict::Again, Verdict::Refused(_), Verdict::Again]));
        assert!(matches!(without(3, &[(9, "no".to_owned())]), Outcome::Split(_)));
    }
}
