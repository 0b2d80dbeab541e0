//! Google Pub/Sub: `google.pubsub.v1.Publisher/Publish` of its public protocol; what subscribes is below.

mod desk;
mod received;
mod requests;
mod subscriber;

pub use desk::Desk;
pub use received::{Received, messages};
pub use requests::Subscription;
pub use subscriber::Subscriber;

use crate::frame;
use crate::plan::Load;
use flight::{Outcome, Part};
use wire::protobuf::{Value, fields, put_bytes, put_message};

const PATH: &str = "/google.pubsub.v1.Publisher/Publish";

/// The names of attributes, in the order of the fields.
pub struct Attributes(pub Vec<String>);

/// A batch as a call. The first part of its key is the project, the second the topic; fields of a message are
/// the values of its attributes, the text is its data.
pub fn load(part: &Part<'_>, attributes: &Attributes) -> Load {
    let mut keys = http_client::keys(part.key);
    let mut name = || String::from_utf8_lossy(keys.next().unwrap_or_default()).into_owned();
    let topic = format!("projects/{}/topics/{}", name(), name());
    let mut out = frame::begin(part.bytes + topic.len() + part.messages.len() * 8);
    put_bytes(&mut out, 1, topic.as_bytes());
    for message in part.messages {
        put_message(&mut out, 2, |out| {
            let mut all = flight::fields(message);
            for (name, value) in attributes.0.iter().zip(all.by_ref().take(attributes.0.len())) {
                put_message(out, 2, |pair| {
                    put_bytes(pair, 1, name.as_bytes());
                    put_bytes(pair, 2, String::from_utf8_lossy(value).as_bytes());
                });
            }
            put_bytes(out, 1, all.next().unwrap_or_default());
        });
    }
    frame::end(&mut out);
    Load::of(PATH, out, part)
}

/// An id for each message says that the server has it.
pub fn read(answer: &[u8], messages: usize) -> Outcome {
    let ids = fields(answer).filter(|field| matches!(field, Ok((1, Value::Bytes(_))))).count();
    match ids == messages {
        true => Outcome::Delivered,
        false => Outcome::Unknown(format!("the server has answered with {ids} ids for {messages} messages")),
    }
}

/// The ids of an answer.
pub fn ids(answer: &[u8]) -> Vec<String> {
    let all = fields(answer).map_while(Result::ok);
    let ids = all.filter_map(|field| match field {
        (1, Value::Bytes(id)) => Some(String::from_utf8_lossy(id).into_owned()),
        _ => None,
    });
    ids.collect()
}

/// Any bytes as an answer to a subscriber.
#[cfg(any(test, feature = "fuzzing"))]
pub fn fuzz(input: &[u8]) {
    for received in messages(input).flatten() {
        assert!(!received.ack_id.is_empty());
        assert!(received.attributes().count() <= input.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_counted() {
        assert_eq!(read(b"\x0a\x011\x0a\x012", 2), Outcome::Delivered);
        assert!(matches!(read(b"\x0a\x011", 2), Outcome::Unknown(_)));
        assert!(matches!(read(b"\xff", 0), Outcome::Delivered));
    }
}
