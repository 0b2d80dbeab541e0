//! What a subscription brings: answers of `Subscriber/StreamingPull`, each with any number of messages.

use wire::protobuf::{Malformed, Value, fields};

/// A message as it stands in an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received<'a> {
    /// What the server knows this delivery by.
    pub ack_id: &'a [u8],
    /// How often it was tried; 0 where the subscription does not count.
    pub attempt: u64,
    pub data: &'a [u8],
    pub id: &'a [u8],
    pub ordering_key: &'a [u8],
    /// When it was published, in milliseconds since 1970.
    pub published_ms: Option<i64>,
    /// The message without what belongs to its delivery.
    message: &'a [u8],
}

/// The messages of an answer, one after the other. Ends after an error.
pub fn messages(answer: &[u8]) -> impl Iterator<Item = Result<Received<'_>, Malformed>> {
    let mut is_over = false;
    fields(answer).filter_map(move |field| {
        let received = match field {
            _ if is_over => return None,
            Ok((1, Value::Bytes(bytes))) => Received::read(bytes),
            Ok(_) => return None,
            Err(malformed) => Err(malformed),
        };
        is_over = received.is_err();
        Some(received)
    })
}

impl<'a> Received<'a> {
    fn read(bytes: &'a [u8]) -> Result<Received<'a>, Malformed> {
        let mut received = Received::default();
        for field in fields(bytes) {
            match field? {
                (1, Value::Bytes(id)) => received.ack_id = id,
                (2, Value::Bytes(message)) => received.message = message,
                (3, Value::Varint(attempt)) => received.attempt = attempt,
                _ => {}
            }
        }
        for field in fields(received.message) {
            match field? {
                (1, Value::Bytes(data)) => received.data = data,
                // Looked at now, so that whoever reads it later finds no error.
                (2, Value::Bytes(pair)) => {
                    attribute(pair)?;
                }
                (3, Value::Bytes(id)) => received.id = id,
                (4, Value::Bytes(time)) => received.published_ms = Some(milliseconds(time)?),
                (5, Value::Bytes(key)) => received.ordering_key = key,
                _ => {}
            }
        }
        // Without it the message could never be acknowledged: it would come for ever.
        if received.ack_id.is_empty() { Err(Malformed) } else { Ok(received) }
    }

    /// Of what its publisher has put in it.
    pub fn bytes(&self) -> usize {
        self.message.len()
    }

    /// Names and values.
    pub fn attributes(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        fields(self.message).filter_map(|field| match field {
            Ok((2, Value::Bytes(pair))) => attribute(pair).ok(),
            _ => None,
        })
    }
}

/// An entry of a map of texts.
fn attribute(pair: &[u8]) -> Result<(&[u8], &[u8]), Malformed> {
    let (mut name, mut value) = (&[][..], &[][..]);
    for field in fields(pair) {
        match field? {
            (1, Value::Bytes(bytes)) => name = bytes,
            (2, Value::Bytes(bytes)) => value = bytes,
            _ => {}
        }
    }
    Ok((name, value))
}

/// Of a `google.protobuf.Timestamp`.
fn milliseconds(time: &[u8]) -> Result<i64, Malformed> {
    let (mut seconds, mut nanoseconds) = (0i64, 0i64);
    for field in fields(time) {
        match field? {
            (1, Value::Varint(number)) => seconds = number as i64,
            (2, Value::Varint(number)) => nanoseconds = number as i64,
            _ => {}
        }
    }
    // What is no time of this world is one at its end.
    Ok(seconds.saturating_mul(1000).saturating_add(nanoseconds.clamp(0, 999_999_999) / 1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wire::protobuf::{put_bytes, put_message, put_number};

    /// Id, data, attributes.
    type Given<'a> = (&'a str, &'a [u8], &'a [(String, String)]);

    fn answer(all: &[Given<'_>]) -> Vec<u8> {
        let mut out = Vec::new();
        for (id, data, attributes) in all {
            put_message(&mut out, 1, |out| {
                put_bytes(out, 1, id.as_bytes());
                put_message(out, 2, |out| {
                    put_bytes(out, 1, data);
                    for (name, value) in *attributes {
                        put_message(out, 2, |out| {
                            put_bytes(out, 1, name.as_bytes());
                            put_bytes(out, 2, value.as_bytes());
                        });
                    }
                    put_bytes(out, 3, b"17");
                    put_message(out, 4, |out| {
                        put_number(out, 1, 1_700_000_000);
                        put_number(out, 2, 250_000_000);
                    });
                    put_bytes(out, 5, b"key");
                });
                put_number(out, 3, 2);
            });
        }
        out
    }

    #[test]
    fn a_message_has_what_its_publisher_and_the_server_say_of_it() {
        let pairs = [("host".to_owned(), "web".to_owned()), ("empty".to_owned(), String::new())];
        let answer = answer(&[("A1", b"one", &pairs), ("A2", b"", &[])]);
        let all: Vec<Received<'_>> = messages(&answer).map(|m| m.expect("good")).collect();
        let one = all[0];
        assert_eq!((one.ack_id, one.data, one.id), (&b"A1"[..], &b"one"[..], &b"17"[..]));
        assert_eq!((one.attempt, one.ordering_key), (2, &b"key"[..]));
        assert_eq!(one.published_ms, Some(1_700_000_000_250));
        let attributes: Vec<_> = one.attributes().collect();
        assert_eq!(attributes, [(&b"host"[..], &b"web"[..]), (b"empty", b"")]);
        assert_eq!((all.len(), all[1].data), (2, &b""[..]));
    }

    #[test]
    fn what_could_not_be_acknowledged_is_an_error_and_the_last() {
        let mut bytes = answer(&[("", b"one", &[])]);
        bytes.extend_from_slice(&answer(&[("A", b"two", &[])]));
        let all: Vec<_> = messages(&bytes).collect();
        assert_eq!(all, [Err(Malformed)]);
        // An answer that only shows that the server is there.
        assert_eq!(messages(b"\x22\x02\x08\x01").count(), 0);
        // An attribute that is none.
        let wrong = b"\x0a\x0a\x0a\x01A\x12\x05\x12\x03\x0a\x09x";
        assert_eq!(messages(wrong).collect::<Vec<_>>(), [Err(Malformed)]);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            all in prop::collection::vec(
                (".{0,9}", prop::collection::vec(any::<u8>(), 0..300), prop::collection::vec((".{0,9}", ".{0,9}"), 0..5)),
                0..9,
            ),
        ) {
            let given: Vec<_> = all
                .iter()
                .map(|(id, data, pairs)| (format!("A{id}"), data.as_slice(), pairs.as_slice()))
                .collect();
            let given: Vec<_> = given.iter().map(|(id, data, pairs)| (id.as_str(), *data, *pairs)).collect();
            let answer = answer(&given);
            let read: Vec<_> = messages(&answer).map(|m| m.expect("good")).collect();
            prop_assert_eq!(read.len(), given.len());
            for (read, (id, data, pairs)) in read.iter().zip(&given) {
                prop_assert_eq!((read.ack_id, read.data), (id.as_bytes(), *data));
                let attributes: Vec<_> = read.attributes().collect();
                let expected: Vec<_> = pairs.iter().map(|(n, v)| (n.as_bytes(), v.as_bytes())).collect();
                prop_assert_eq!(attributes, expected);
            }
        }

        #[test]
        fn foreign_bytes_end_and_never_panic(bytes: Vec<u8>) {
            prop_assert!(messages(&bytes).count() <= bytes.len());
            for received in messages(&bytes).flatten() {
                prop_assert!(received.attributes().count() <= bytes.len());
            }
        }

        #[test]
        fn what_is_cut_or_changed_is_an_error_or_a_message(at in 0usize..80, byte: u8) {
            let pairs = [("host".to_owned(), "web".to_owned())];
            let mut answer = answer(&[("A1", b"one", &pairs), ("A2", b"two", &[])]);
            let at = at.min(answer.len() - 1);
            let whole = messages(&answer[..at]).take_while(Result::is_ok).count();
            prop_assert!(whole <= 1);
            answer[at] = byte;
            messages(&answer).flatten().for_each(|m| assert!(m.attributes().count() <= 2));
        }
    }
}
