//! What keeps the API server from answering, said once a minute for each kind of it, with what to do.

use http_client::Answer;
use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// How often the same is said.
const PERIOD: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 401: the token is none, or none any more.
    Token,
    /// 403: the account may not.
    Rights,
    /// It cannot be reached, or says what nobody understands.
    Other,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Trouble {
    pub kind: Kind,
    pub words: String,
}

impl Trouble {
    pub fn other(words: impl Into<String>) -> Trouble {
        Trouble { kind: Kind::Other, words: words.into() }
    }

    /// Of an answer that is not what was asked for.
    pub fn of(answer: &Answer) -> Trouble {
        let kind = match answer.status {
            401 => Kind::Token,
            403 => Kind::Rights,
            _ => Kind::Other,
        };
        Trouble { kind, words: answer.words() }
    }
}

/// When which kind was said last.
#[derive(Default)]
pub struct Said(Mutex<State>);

#[derive(Default)]
struct State {
    said: [Option<Instant>; 3],
    /// Something was said since it last went well.
    is_told: bool,
    is_refused: bool,
    was_well: bool,
}

impl Said {
    /// `server`: its name and port.
    pub fn say(&self, server: &str, trouble: &Trouble) {
        self.0.lock().is_refused = trouble.kind == Kind::Rights;
        if !self.is_due(trouble.kind, Instant::now()) {
            return;
        }
        let (text, remedy) = match trouble.kind {
            Kind::Token => (
                "The API server of Kubernetes does not take the token, pods stay as they are known",
                "let token-file() name the token of a service account; in a pod, automountServiceAccountToken must not be false",
            ),
            Kind::Rights => (
                "The API server of Kubernetes does not let pods be seen, messages go on without",
                "give the service account a ClusterRole with the verbs get, list and watch for pods, see docs/kubernetes.md; or write pod-metadata(no)",
            ),
            Kind::Other => (
                "The API server of Kubernetes cannot be asked, pods stay as they are known",
                "look whether it can be reached from here; nothing is lost meanwhile",
            ),
        };
        oplog::warning(text, &[("server", &server), ("error", &trouble.words), ("remedy", &remedy)]);
    }

    /// It went well again.
    pub fn is_well(&self, server: &str) {
        let mut state = self.0.lock();
        (state.is_refused, state.was_well) = (false, true);
        if std::mem::take(&mut state.is_told) {
            drop(state);
            oplog::notice("The API server of Kubernetes answers again", &[("server", &server)]);
        }
    }

    /// The server knows who asks, and never has let pods be seen. One that has may refuse for a moment, while
    /// it starts.
    pub fn is_refused(&self) -> bool {
        let state = self.0.lock();
        state.is_refused && !state.was_well
    }

    fn is_due(&self, kind: Kind, now: Instant) -> bool {
        let mut state = self.0.lock();
        let Some(last) = state.said.get_mut(kind as usize) else { return false };
        let is_due = last.is_none_or(|last| now.duration_since(last) >= PERIOD);
        if is_due {
            *last = Some(now);
            state.is_told = true;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_let_in_once_is_not_turned_away() {
        let said = Said::default();
        let refused = || Trouble { kind: Kind::Rights, words: "403".to_owned() };
        said.say("h", &refused());
        assert!(said.is_refused());
        said.say("h", &Trouble::other("away"));
        assert!(!said.is_refused());
        said.is_well("h");
        said.say("h", &refused());
        assert!(!said.is_refused());
    }

    #[test]
    fn each_kind_is_said_once_a_minute() {
        let (said, now) = (Said::default(), Instant::now());
        let at = |seconds| now + Duration::from_secs(seconds);
        assert!(said.is_due(Kind::Rights, at(0)) && !said.is_due(Kind::Rights, at(59)));
        assert!(said.is_due(Kind::Other, at(59)), "another kind");
        assert!(said.is_due(Kind::Rights, at(60)));
    }
}
