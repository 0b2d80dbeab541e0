//! What a subscriber asks of Pub/Sub: messages as they come, acknowledgements, deadlines that are moved.

use crate::frame;
use std::time::Duration;
use wire::protobuf::{put_bytes, put_number};

pub const STREAMING_PULL: &str = "/google.pubsub.v1.Subscriber/StreamingPull";
pub const ACKNOWLEDGE: &str = "/google.pubsub.v1.Subscriber/Acknowledge";
pub const MODIFY_ACK_DEADLINE: &str = "/google.pubsub.v1.Subscriber/ModifyAckDeadline";

/// What is subscribed to, and how much of it may be under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// `projects/PROJECT/subscriptions/NAME`.
    pub name: String,
    /// The server sends no further messages while so many have no answer.
    pub messages_max: usize,
    /// The same in bytes.
    pub bytes_max: usize,
    /// A message comes again when nothing was heard of it for so long: 10 s to 10 min.
    pub ack_deadline: Duration,
}

impl Subscription {
    fn seconds(&self) -> u64 {
        self.ack_deadline.as_secs()
    }

    /// What Google's servers find their way by.
    pub fn params(&self) -> String {
        format!("subscription={}", self.name.replace('%', "%25").replace('/', "%2F"))
    }

    /// The first message of a stream. `client`: whoever comes back under this name goes on with the same
    /// ordering keys.
    pub fn opening(&self, client: &str) -> Vec<u8> {
        framed(|out| {
            put_bytes(out, 1, self.name.as_bytes());
            put_number(out, 5, self.seconds());
            put_bytes(out, 6, client.as_bytes());
            put_number(out, 7, self.messages_max as u64);
            put_number(out, 8, self.bytes_max as u64);
        })
    }

    pub fn acknowledge<'a>(&self, ids: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
        framed(|out| {
            put_bytes(out, 1, self.name.as_bytes());
            ids.for_each(|id| put_bytes(out, 2, id));
        })
    }

    /// Has the server wait for so much longer, from now on.
    pub fn extend<'a>(&self, ids: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
        self.modify(self.seconds(), ids)
    }

    /// Has the server send these again, to whomever.
    pub fn release<'a>(&self, ids: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
        self.modify(0, ids)
    }

    fn modify<'a>(&self, seconds: u64, ids: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
        framed(|out| {
            put_bytes(out, 1, self.name.as_bytes());
            put_number(out, 3, seconds);
            ids.for_each(|id| put_bytes(out, 4, id));
        })
    }
}

/// A message without fields, which only shows that this side is there.
pub fn alive() -> Vec<u8> {
    framed(|_| {})
}

fn framed(put: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = frame::begin(128);
    put(&mut out);
    frame::end(&mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::protobuf::{Value, fields};

    fn read(message: &[u8]) -> Vec<(u32, Value<'_>)> {
        fields(&message[frame::HEAD_BYTES..]).map(|field| field.expect("good")).collect()
    }

    #[test]
    fn requests_have_the_numbers_of_their_document() {
        let subscription = Subscription {
            name: "projects/p/subscriptions/s".to_owned(),
            messages_max: 100,
            bytes_max: 1000,
            ack_deadline: Duration::from_secs(30),
        };
        let name = (1, Value::Bytes(b"projects/p/subscriptions/s"));
        let ids = || [&b"a"[..], b"b"].into_iter();
        assert_eq!(
            read(&subscription.opening("me")),
            [
                name,
                (5, Value::Varint(30)),
                (6, Value::Bytes(b"me")),
                (7, Value::Varint(100)),
                (8, Value::Varint(1000))
            ]
        );
        let acknowledged = subscription.acknowledge(ids());
        assert_eq!(read(&acknowledged), [name, (2, Value::Bytes(b"a")), (2, Value::Bytes(b"b"))]);
        let [a, b] = [(4, Value::Bytes(&b"a"[..])), (4, Value::Bytes(b"b"))];
        assert_eq!(read(&subscription.extend(ids())), [name, (3, Value::Varint(30)), a, b]);
        assert_eq!(read(&subscription.release(ids())), [name, (3, Value::Varint(0)), a, b]);
        assert_eq!(alive(), [0; 5]);
        assert_eq!(subscription.params(), "subscription=projects%2Fp%2Fsubscriptions%2Fs");
    }
}
