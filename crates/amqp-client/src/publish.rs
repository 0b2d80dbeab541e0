//! A message as it is published: a method, a header with its properties, its body in pieces.

use crate::frame::{self, AROUND, BODY, HEADER, PUBLISH};
use crate::session::CHANNEL;

/// Properties of the header: headers, delivery-mode, message-id.
const PROPERTIES: u16 = 1 << 13 | 1 << 12 | 1 << 7;
/// Returned when no queue gets it.
const MANDATORY: u8 = 1;
const KEPT: u8 = 2;
const PASSING: u8 = 1;
pub const ID_BYTES: usize = 12;
/// Headers that are further routing keys to RabbitMQ, and have to be lists: values of a message decide
/// nothing about that.
const FOR_ROUTING: [&[u8]; 2] = [b"CC", b"BCC"];

/// A message in its parts, as it waits: see [`flight::fields`].
pub struct Message<'a> {
    pub routing_key: &'a [u8],
    pub id: &'a [u8],
    pub values: &'a [u8],
    pub body: &'a [u8],
}

impl<'a> Message<'a> {
    /// What waits from before it was for AMQP is a text.
    pub fn of(message: &'a [u8]) -> Message<'a> {
        let mut fields = flight::fields(message);
        match (fields.next(), fields.next(), fields.next(), fields.next()) {
            (Some(routing_key), Some(id), Some(values), Some(body)) => {
                Message { routing_key, id, values, body }
            }
            _ => Message { routing_key: &[], id: &[], values: &[], body: flight::fields(message).text() },
        }
    }

    /// As the property message-id has it.
    pub fn id_text(&self) -> Vec<u8> {
        self.id.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()
    }
}

/// Appends a message; the error says why it can never be sent, and nothing is appended then.
pub fn append(
    out: &mut Vec<u8>,
    exchange: &[u8],
    persistent: bool,
    message: &Message<'_>,
    frame_bytes_max: usize,
) -> Result<(), &'static str> {
    if message.routing_key.len() > 255 {
        return Err("its routing key is longer than 255 bytes");
    }
    let start = out.len();
    let begin = frame::method(out, CHANNEL, PUBLISH);
    out.extend_from_slice(&[0; 2]);
    frame::short(out, exchange);
    frame::short(out, message.routing_key);
    out.push(MANDATORY);
    frame::end(out, begin);
    let header = frame::begin(out, HEADER, CHANNEL);
    out.extend_from_slice(&PUBLISH.0.to_be_bytes());
    out.extend_from_slice(&[0; 2]);
    out.extend_from_slice(&(message.body.len() as u64).to_be_bytes());
    out.extend_from_slice(&PROPERTIES.to_be_bytes());
    let table = frame::begin_table(out);
    for pair in flight::pairs(message.values).filter(|pair| !FOR_ROUTING.contains(&pair.name)) {
        frame::text_in_table(out, pair.name, pair.value);
    }
    frame::end_table(out, table);
    out.push(if persistent { KEPT } else { PASSING });
    frame::short(out, &message.id_text());
    if out.len() - header + AROUND > frame_bytes_max {
        out.truncate(start);
        return Err("its headers are larger than a frame of the server");
    }
    frame::end(out, header);
    for piece in message.body.chunks(frame_bytes_max.saturating_sub(AROUND).max(1)) {
        let begin = frame::begin(out, BODY, CHANNEL);
        out.extend_from_slice(piece);
        frame::end(out, begin);
    }
    Ok(())
}
