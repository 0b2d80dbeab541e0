//! Properties of a producer.

use super::Effect::{Moot, Read};
use super::values::{self, duration, number, word, yes_no};
use super::{Properties, Table, done};
use kafka::Partitioner;

const OWN_QUEUE: &str = "there is no second queue: messages wait in the queue of the destination until a broker has acknowledged them";
const FOREVER: &str = "messages are sent again until a broker has taken or refused them; with disk-buffer() they survive meanwhile";

pub(super) const OWN: &Table = &[
    (&["acks", "request.required.acks"], Read(acks)),
    (&["enable.idempotence"], Read(|p, v| done(&mut p.numbered, Some(yes_no(v)?)))),
    (
        &["max.in.flight.requests.per.connection", "max.in.flight"],
        Read(|p, v| done(&mut p.in_flight, number(v, 1, 1_000_000)? as usize)),
    ),
    (&["batch.size"], Read(|p, v| done(&mut p.batch_bytes, number(v, 1, i32::MAX.into())? as usize))),
    (
        &["message.max.bytes"],
        Read(|p, v| done(&mut p.message_bytes, number(v, 1000, 1_000_000_000)? as usize)),
    ),
    (&["batch.num.messages"], Read(|p, v| done(&mut p.batch_lines, number(v, 1, 1_000_000)? as usize))),
    (
        &["linger.ms", "queue.buffering.max.ms"],
        Read(|p, v| done(&mut p.linger, Some(duration(v, 0, 900_000)?))),
    ),
    (
        &["compression.codec", "compression.type"],
        Read(|p, v| {
            done(&mut p.compression, word(v, &["none", "gzip", "snappy", "lz4", "zstd", "inherit"])?)
        }),
    ),
    (&["compression.level"], Read(|p, v| done(&mut p.level, Some(number(v, -1, 22)? as i32)))),
    (
        &["partitioner"],
        Read(|p, v| {
            done(&mut p.partitioner, Partitioner::named(v).ok_or_else(|| values::one_of(PARTITIONERS))?)
        }),
    ),
    (&["allow.auto.create.topics"], Read(|p, v| done(&mut p.makes_topics, yes_no(v)?))),
    (&["client.rack"], Moot("records go to the leaders of partitions")),
    (&["queue.buffering.max.messages"], Moot(OWN_QUEUE)),
    (&["queue.buffering.max.kbytes"], Moot(OWN_QUEUE)),
    (&["queue.buffering.backpressure.threshold"], Moot(OWN_QUEUE)),
    (&["message.timeout.ms", "delivery.timeout.ms"], Moot(FOREVER)),
    (&["retries", "message.send.max.retries"], Moot(FOREVER)),
    (&["retry.backoff.ms"], Moot("pauses begin at 50 ms and double up to a second")),
    (&["retry.backoff.max.ms"], Moot("pauses begin at 50 ms and double up to a second")),
    (&["queuing.strategy"], Moot(OWN_QUEUE)),
    (&["receive.message.max.bytes"], Moot("answers to a producer are short")),
    (&["delivery.report.only.error", "produce.offset.report"], Moot("each batch is accounted for")),
    (&["enable.gapless.guarantee"], Moot("order is kept always, and nothing is left out")),
    (&["sticky.partitioning.linger.ms"], Moot("messages without a key change the partition with each batch")),
    (&["transactional.id"], Read(|p, v| done(&mut p.transaction, Some(v.to_owned())))),
    (
        &["transaction.timeout.ms"],
        Read(|p, v| done(&mut p.transaction_timeout, duration(v, 1000, i32::MAX as u32)?)),
    ),
];

const PARTITIONERS: &[&str] =
    &["random", "consistent", "consistent_random", "murmur2", "murmur2_random", "fnv1a", "fnv1a_random"];

fn acks(p: &mut Properties, value: &str) -> Result<(), String> {
    p.acks = match value {
        "all" | "-1" => -1,
        "1" => 1,
        "0" => return Err("`all` or `1`: with 0 nobody would know what was delivered".to_owned()),
        _ => return Err("`all` or `1`".to_owned()),
    };
    Ok(())
}
