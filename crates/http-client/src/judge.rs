//! Servers that say in the body of an answer what became of each message: one file each.

mod elasticsearch;
mod openobserve;
mod pubsub;
mod splunk;

use crate::action::{Actions, usual};
use crate::answer::Answer;
use crate::url::Url;
use flight::{Detail, Outcome};
use serde_json::Value;

/// Where a message is.
pub type Whereabouts = Vec<(&'static str, Detail)>;

/// `response-adapter()`: who reads the answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Judge {
    /// The status says all.
    #[default]
    Status,
    Elasticsearch,
    OpenObserve,
    PubSub,
    Splunk,
}

impl Judge {
    pub const NAMES: [(&'static str, Judge); 5] = [
        ("elasticsearch", Judge::Elasticsearch),
        ("opensearch", Judge::Elasticsearch),
        ("openobserve", Judge::OpenObserve),
        ("google-pubsub", Judge::PubSub),
        ("splunk", Judge::Splunk),
    ];

    pub fn named(name: &str) -> Option<Judge> {
        Judge::NAMES.iter().find(|(known, _)| *known == name).map(|(_, judge)| *judge)
    }

    /// Asks for no more of an answer than is read: of Elasticsearch's this is an eighth. `where_too`:
    /// somebody wants to know where the documents are.
    pub fn ask_for_less(self, url: &mut Url, where_too: bool) {
        let (path, query) = url.path.split_once('?').unwrap_or((&url.path, ""));
        if self != Judge::Elasticsearch || !path.ends_with("/_bulk") || query.contains("filter_path") {
            return;
        }
        url.path.push(if query.is_empty() && !url.path.ends_with('?') { '?' } else { '&' });
        url.path.push_str("filter_path=errors,items.*.status,items.*.error.type,items.*.error.reason");
        if where_too {
            url.path.push_str(elasticsearch::WHERE);
        }
    }

    /// Where the server has put each message of a batch, as far as its answer says it.
    pub fn places(self, answer: &Answer) -> Vec<Whereabouts> {
        match self {
            Judge::Elasticsearch => elasticsearch::places(answer),
            Judge::PubSub => pubsub::places(answer),
            Judge::Status | Judge::OpenObserve | Judge::Splunk => Vec::new(),
        }
    }

    /// What became of a batch of so many messages.
    pub fn outcome(self, answer: &Answer, actions: &Actions, messages: usize) -> Outcome {
        // For a status that the configuration names, its word counts.
        if let Some(outcome) = actions.outcome(answer, || splunk::named(answer, messages)) {
            return outcome;
        }
        let read = match self {
            Judge::Status => None,
            Judge::Elasticsearch => elasticsearch::read(answer, actions, messages),
            Judge::OpenObserve => openobserve::read(answer),
            Judge::PubSub => pubsub::read(answer, messages),
            Judge::Splunk => splunk::read(answer, messages),
        };
        read.unwrap_or_else(|| usual(answer))
    }
}

/// A body as JSON, or what may be said of a success whose body tells nothing.
fn json(answer: &Answer) -> Result<Value, Option<Outcome>> {
    match serde_json::from_slice(&answer.body) {
        Ok(value) => Ok(value),
        Err(_) if answer.is_success() && !answer.is_whole => {
            Err(Some(Outcome::Unknown("the answer ended in its middle".to_owned())))
        }
        Err(_) if answer.is_success() => Err(Some(another_server(answer))),
        Err(_) => Err(None),
    }
}

fn another_server(answer: &Answer) -> Outcome {
    Outcome::Hold(format!("another server seems to answer: {}", answer.words()))
}

/// Any bytes as an answer: the first is the status divided by ten, the second the number of messages.
#[cfg(any(test, feature = "fuzzing"))]
pub fn fuzz(input: &[u8]) {
    let Some(([status, messages], body)) = input.split_first_chunk::<2>() else { return };
    let messages = usize::from(*messages);
    crate::acks::fuzz(body);
    crate::proof::fuzz(body);
    for (_, judge) in Judge::NAMES {
        let answer = Answer::of(u16::from(*status) * 10, body);
        if let Outcome::Judged { verdicts, .. } = judge.outcome(&answer, &Actions::default(), messages) {
            assert_eq!(verdicts.len(), messages, "a verdict for each message");
        }
    }
}

#[cfg(test)]
mod tests;
