//! Properties of a consumer.

use super::Effect::{Moot, Read};
use super::values::{duration, number, word, yes_no};
use super::{Properties, Table, done};
use kafka::{FetchSize, Strategy};
use std::time::Duration;

/// What they come to.
#[derive(Clone, Debug)]
pub struct Reads {
    pub group: Option<String>,
    /// `group.instance.id`: under which a member comes back.
    pub instance: Option<String>,
    pub session: Duration,
    pub heartbeat: Duration,
    /// How long members have to join a rebalance.
    pub rebalance: Duration,
    pub strategies: Vec<Strategy>,
    /// `group.protocol=consumer`: the coordinator divides.
    pub is_ruled: bool,
    /// `group.remote.assignor`.
    pub assignor: Option<String>,
    /// A property was given that is of the classic protocol.
    pub classic: Option<&'static str>,
    pub size: FetchSize,
    pub checked: bool,
    /// Bytes that may wait to be read before brokers are asked for more.
    pub unread_bytes_max: usize,
    /// Between two times that offsets are committed.
    pub commit: Duration,
    pub answer_bytes_max: usize,
    /// `client.rack`.
    pub rack: String,
}

impl Default for Reads {
    fn default() -> Reads {
        Reads {
            group: None,
            instance: None,
            session: Duration::from_secs(45),
            heartbeat: Duration::from_secs(3),
            rebalance: Duration::from_secs(300),
            strategies: vec![Strategy::Range, Strategy::RoundRobin],
            is_ruled: false,
            assignor: None,
            classic: None,
            size: FetchSize {
                wait_ms: 500,
                bytes_min: 1,
                bytes_max: 4 << 20,
                partition_bytes_max: 1 << 20,
                committed_only: true,
            },
            checked: false,
            unread_bytes_max: 4 << 20,
            commit: Duration::from_secs(1),
            answer_bytes_max: 100_000_000,
            rack: String::new(),
        }
    }
}

const BOOKMARKS: &str = "positions are kept by acknowledgement, see persist-store() and disable-bookmarks()";
const BEGINS: &str = "read-old-records() says where a partition begins that has no bookmark; one that is not there any more goes on at the first \
                      message there is";
const SENDS: &str = "it is about what is sent";
const ASKED: &str = "brokers are asked again as soon as what they brought is being read";

pub(super) const OWN: &Table = &[
    (
        &["group.id"],
        Read(|p, v| done(&mut p.reads.group, Some(v.to_owned()).filter(|group| !group.is_empty()))),
    ),
    (&["group.instance.id"], Read(|p, v| done(&mut p.reads.instance, Some(v.to_owned())))),
    (
        &["session.timeout.ms"],
        Read(|p, v| {
            p.reads.classic = Some("session.timeout.ms");
            done(&mut p.reads.session, duration(v, 1, 3_600_000)?)
        }),
    ),
    (
        &["heartbeat.interval.ms"],
        Read(|p, v| {
            p.reads.classic = Some("heartbeat.interval.ms");
            done(&mut p.reads.heartbeat, duration(v, 1, 3_600_000)?)
        }),
    ),
    (&["max.poll.interval.ms"], Read(|p, v| done(&mut p.reads.rebalance, duration(v, 1, 86_400_000)?))),
    (&["partition.assignment.strategy"], Read(strategies)),
    (&["fetch.wait.max.ms"], Read(|p, v| done(&mut p.reads.size.wait_ms, number(v, 0, 300_000)? as i32))),
    (&["fetch.min.bytes"], Read(|p, v| done(&mut p.reads.size.bytes_min, number(v, 1, 100_000_000)? as i32))),
    (
        &["fetch.max.bytes"],
        Read(|p, v| done(&mut p.reads.size.bytes_max, number(v, 1, i32::MAX.into())? as i32)),
    ),
    (
        &["max.partition.fetch.bytes", "fetch.message.max.bytes"],
        Read(|p, v| done(&mut p.reads.size.partition_bytes_max, number(v, 1, 1_000_000_000)? as i32)),
    ),
    (
        &["receive.message.max.bytes"],
        Read(|p, v| done(&mut p.reads.answer_bytes_max, number(v, 1000, i32::MAX.into())? as usize)),
    ),
    (
        &["queued.max.messages.kbytes"],
        Read(|p, v| done(&mut p.reads.unread_bytes_max, number(v, 1, 2_097_151)? as usize * 1024)),
    ),
    (
        &["isolation.level"],
        Read(|p, v| {
            let word = word(v, &["read_uncommitted", "read_committed"])?;
            done(&mut p.reads.size.committed_only, word == "read_committed")
        }),
    ),
    (&["check.crcs"], Read(|p, v| done(&mut p.reads.checked, yes_no(v)?))),
    (&["auto.commit.interval.ms"], Read(|p, v| done(&mut p.reads.commit, duration(v, 0, 86_400_000)?))),
    (&["enable.auto.commit", "auto.commit.enable"], Moot(BOOKMARKS)),
    (&["enable.auto.offset.store"], Moot(BOOKMARKS)),
    (&["offset.store.method"], Moot(BOOKMARKS)),
    (&["auto.offset.reset"], Moot(BEGINS)),
    (&["queued.min.messages"], Moot(ASKED)),
    (&["fetch.queue.backoff.ms"], Moot(ASKED)),
    (&["fetch.error.backoff.ms"], Moot("a partition with an error is asked for again after half a second")),
    (&["enable.partition.eof"], Moot("nothing depends on it")),
    (&["coordinator.query.interval.ms"], Moot("a coordinator is asked for when there is none")),
    (&["group.protocol.type"], Moot("it is `consumer`")),
    (&["message.max.bytes", "max.in.flight.requests.per.connection", "max.in.flight"], Moot(SENDS)),
    (&["max.poll.records", "consume.callback.max.messages"], Moot(ASKED)),
    (&["offset.store.path", "offset.store.sync.interval.ms"], Moot(BOOKMARKS)),
    (&["allow.auto.create.topics"], Moot("a source makes no topics")),
    (&["retry.backoff.ms"], Moot("pauses are half a second")),
    (&["retry.backoff.max.ms"], Moot("pauses are half a second")),
    (&["group.protocol"], Read(protocol)),
    (
        &["group.remote.assignor"],
        Read(|p, v| done(&mut p.reads.assignor, Some(v.to_owned()).filter(|v| !v.is_empty()))),
    ),
    (&["client.rack"], Read(|p, v| done(&mut p.reads.rack, v.to_owned()))),
];

fn strategies(p: &mut Properties, value: &str) -> Result<(), String> {
    let named = value.split(',').map(|name| Strategy::named(name.trim()));
    let found: Option<Vec<Strategy>> = named.collect();
    p.reads.classic = Some("partition.assignment.strategy");
    p.reads.strategies = found.ok_or("`range`, `roundrobin` or both with a comma between")?;
    Ok(())
}

fn protocol(p: &mut Properties, value: &str) -> Result<(), String> {
    done(&mut p.reads.is_ruled, word(value, &["classic", "consumer"])? == "consumer")
}
