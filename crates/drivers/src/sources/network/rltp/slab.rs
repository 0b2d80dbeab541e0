//! Received bytes become records: the frames of a slab, their messages as spans of it, what is compressed put
//! behind it.

use record::{Batch, Record};
use wire::FramerOptions;
use wire::rltp::{self, Error, Frame, Number, Start};

/// What the frames of a slab come to.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// Bytes of complete frames.
    pub consumed: usize,
    /// The last batch among them, and the last position that one of them said; 0 when none did.
    pub last: Option<Number>,
    /// Messages of the batches, as the sender counts them.
    pub span: u32,
    /// Messages cut because they were longer than log-msg-size().
    pub truncated: u64,
    /// Batches came compressed: what was read is much more than it looks.
    pub packed: bool,
    /// The numbering that was begun, behind everything else that is in `consumed`.
    pub start: Option<Start>,
}

/// What is wrong with what the sender sent.
#[derive(Debug, PartialEq, Eq)]
pub enum Wrong {
    Frame(Error),
    /// A batch that is not the next one.
    Sequence {
        found: u64,
        expected: u64,
    },
    /// A frame that is not the sender's to send, or not now.
    Unexpected(&'static str),
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Wrong::Frame(error) => error.fmt(f),
            Wrong::Sequence { found, expected } => write!(f, "batch {found} came where {expected} was due"),
            Wrong::Unexpected(frame) => write!(f, "a {frame} came where it does not belong"),
        }
    }
}

pub struct Limits {
    pub payload_bytes_max: usize,
    pub framing: FramerOptions,
}

/// Where a packed payload lies in the slab, and what becomes of it.
struct Packed {
    at: usize,
    length: usize,
    plain: usize,
    messages: u32,
}

/// Takes the complete frames at the front of the batch's text apart. `expected` is the number of the next
/// batch, `None` before a start. After an error what was found before it is good.
pub fn scan(batch: &mut Batch, expected: Option<u64>, limits: &Limits) -> (Scanned, Option<Wrong>) {
    let mut found = Scanned::default();
    let end = batch.text.len();
    let mut expected = expected;
    let outcome = loop {
        match one(batch, end, &mut expected, limits, &mut found) {
            // What follows a start is looked at when it has taken effect.
            Ok(true) if found.start.is_none() => {}
            Ok(_) => break None,
            Err(wrong) => break Some(wrong),
        }
    };
    (found, outcome)
}

/// One frame. `false` when there is no complete one.
fn one(
    batch: &mut Batch,
    end: usize,
    expected: &mut Option<u64>,
    limits: &Limits,
    found: &mut Scanned,
) -> Result<bool, Wrong> {
    let Batch { text, records, .. } = batch;
    let rest = text.get(found.consumed..end).unwrap_or_default();
    let Some((frame, length)) = rltp::next(rest, limits.payload_bytes_max).map_err(Wrong::Frame)? else {
        return Ok(false);
    };
    match frame {
        Frame::Ping => {}
        Frame::Start(start) if expected.is_none() && start.run != 0 => found.start = Some(start),
        Frame::Start(_) => return Err(Wrong::Unexpected("start")),
        Frame::Batch(one) => {
            match *expected {
                Some(expected) if one.sequence == expected => {}
                Some(expected) => return Err(Wrong::Sequence { found: one.sequence, expected }),
                None => return Err(Wrong::Unexpected("batch")),
            }
            let (sequence, position, messages) = (one.sequence, one.position, one.messages);
            let at = found.consumed + length - one.payload.len();
            let before = records.len();
            let outcome = match one.packed {
                false => {
                    rltp::messages(one.payload, one.messages, at, |span| records.push(Record::new(span)))
                }
                true => {
                    found.packed = true;
                    let (length, plain) = (one.payload.len(), one.plain as usize);
                    let packed = Packed { at, length, plain, messages: one.messages };
                    unpack(text, &packed, records)
                }
            };
            outcome.map_err(Wrong::Frame)?;
            found.truncated += trim(text, records, before, &limits.framing);
            let position = match position {
                0 => found.last.map_or(0, |last| last.position),
                position => position,
            };
            found.last = Some(Number { sequence, position });
            found.span = found.span.saturating_add(messages);
            *expected = Some(sequence.wrapping_add(1));
        }
        Frame::Welcome(_) | Frame::Refuse { .. } | Frame::Ack(_) => {
            return Err(Wrong::Unexpected("word of a receiver"));
        }
    }
    found.consumed += length;
    Ok(true)
}

fn unpack(text: &mut Vec<u8>, packed: &Packed, records: &mut Vec<Record>) -> Result<(), Error> {
    let base = text.len();
    text.resize(base + packed.plain, 0);
    let (received, room) = text.split_at_mut(base);
    let source = received.get(packed.at..packed.at + packed.length).unwrap_or_default();
    let outcome = rltp::unpack(source, room)
        .and_then(|()| rltp::messages(room, packed.messages, base, |span| records.push(Record::new(span))));
    if outcome.is_err() {
        text.truncate(base);
    }
    outcome
}

/// Cuts the messages from `before` on. Nearly always that only takes their line ends off.
fn trim(text: &[u8], records: &mut Vec<Record>, before: usize, framing: &FramerOptions) -> u64 {
    let is_plain = |record: &Record| (record.frame.len as usize) <= framing.log_msg_size;
    if records.iter().skip(before).all(is_plain) {
        let mut empty = false;
        for record in records.iter_mut().skip(before) {
            let mut kept = record::Span::new(record.frame.start as usize, 0);
            rltp::cut(framing, text, record.frame, |span| kept = span);
            empty |= kept.is_empty();
            record.frame = kept;
        }
        if empty && !framing.empty_lines {
            let mut at = 0;
            records.retain(|record| {
                at += 1;
                at <= before || !record.frame.is_empty()
            });
        }
        return 0;
    }
    let whole: Vec<Record> = records.drain(before..).collect();
    whole
        .iter()
        .map(|record| rltp::cut(framing, text, record.frame, |span| records.push(Record::new(span))))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        let framing = FramerOptions { log_msg_size: 8, ..FramerOptions::default() };
        Limits { payload_bytes_max: 1000, framing }
    }

    /// Every second batch says where it stands.
    fn number(sequence: u64) -> Number {
        Number { sequence, position: if sequence % 2 == 1 { sequence * 10 } else { 0 } }
    }

    fn frame(sequence: u64, messages: &[&str], packer: Option<&mut rltp::Packer>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let ends: Vec<u32> = messages
            .iter()
            .map(|message| {
                bytes.extend_from_slice(message.as_bytes());
                bytes.len() as u32
            })
            .collect();
        let payload = rltp::Payload { bytes: &bytes, ends: &ends, start: 0 };
        let mut out = Vec::new();
        match packer.and_then(|packer| packer.pack(payload)) {
            Some(packed) => {
                rltp::packed_batch(&mut out, number(sequence), payload, packed.len());
                out.extend_from_slice(packed);
            }
            None => {
                rltp::batch(&mut out, number(sequence), payload);
                out.extend_from_slice(&bytes);
            }
        }
        out
    }

    fn scanned(bytes: Vec<u8>, expected: Option<u64>) -> (Scanned, Option<Wrong>, Vec<String>) {
        let mut batch = Batch::default();
        batch.text.extend_from_slice(&bytes);
        let (found, wrong) = scan(&mut batch, expected, &limits());
        let text = |r: &Record| String::from_utf8_lossy(r.frame.of(&batch.text)).into_owned();
        (found, wrong, batch.records.iter().map(text).collect())
    }

    #[test]
    fn frames_of_all_kinds_in_one_slab() {
        let mut packer = rltp::Packer::new(1).expect("memory");
        let many = ["the same"; 50];
        let mut bytes = frame(4, &["one\n", "\n", "longer than eight\n"], None);
        rltp::ping(&mut bytes);
        bytes.extend(frame(5, &many, Some(&mut packer)));
        bytes.extend(frame(6, &["end\n"], None));
        let whole = bytes.len();
        bytes.extend_from_slice(&frame(7, &["cut"], None)[..20]);
        let (found, wrong, messages) = scanned(bytes, Some(4));
        assert_eq!(wrong, None);
        let last = Some(Number { sequence: 6, position: 50 });
        let expected = Scanned { consumed: whole, last, span: 54, truncated: 2, packed: true, start: None };
        assert_eq!(found, expected);
        assert_eq!(messages[..4], ["one", "longer t", "han eigh", "t"]);
        assert_eq!((messages.len(), messages[4].as_str(), messages[54].as_str()), (55, "the same", "end"));
    }

    #[test]
    fn what_does_not_belong_here_ends_it_and_keeps_what_came_before() {
        let mut bytes = frame(1, &["a"], None);
        bytes.extend(frame(3, &["b"], None));
        let (found, wrong, messages) = scanned(bytes, Some(1));
        assert_eq!(wrong, Some(Wrong::Sequence { found: 3, expected: 2 }));
        assert_eq!((found.last, messages), (Some(number(1)), vec!["a".to_owned()]));
        assert_eq!(scanned(frame(1, &["a"], None), None).1, Some(Wrong::Unexpected("batch")));
        let mut ack = Vec::new();
        rltp::ack(&mut ack, 1);
        assert_eq!(scanned(ack, Some(1)).1, Some(Wrong::Unexpected("word of a receiver")));
    }

    #[test]
    fn a_start_is_looked_at_before_what_follows_it() {
        let mut bytes = Vec::new();
        let start = Start { run: 9, numbering: 0 };
        rltp::start(&mut bytes, start);
        let length = bytes.len();
        bytes.extend(frame(1, &["a"], None));
        let (found, wrong, _) = scanned(bytes.clone(), None);
        assert_eq!((found.start, found.consumed, wrong), (Some(start), length, None));
        assert_eq!(scanned(bytes, Some(1)).1, Some(Wrong::Unexpected("start")));
    }
}
