//! Messages that nobody sends again: UDP, where the aim is that nothing is lost.

use super::aim::Aim;
use super::{Case, Feed, Input, ONE, PLAIN};

/// What guides advise for rates beyond what senders of today reach.
const LARGE_BUFFER: Option<u64> = Some(64 << 20);

const fn udp(senders: usize, per_second: u32, size: usize, receive_bytes: Option<u64>) -> Input {
    Input { feed: Feed::Udp { per_second, receive_bytes }, connections: senders, size, ..ONE }
}

const NOTHING_LOST: Case = Case { aims: &[Aim::NothingLost], ..PLAIN };

pub(super) const CASES: [Case; 4] = [
    Case {
        name: "udp-512",
        about: "one UDP sender, 512 bytes, 67 000 a second, default settings",
        input: udp(1, 67_000, 512, None),
        ..NOTHING_LOST
    },
    Case {
        name: "udp-1000",
        about: "the same with 1,000 bytes",
        input: udp(1, 67_000, 1000, None),
        ..NOTHING_LOST
    },
    Case {
        name: "udp-300k",
        about: "one UDP sender, 512 bytes, 300 000 a second, so-rcvbuf(64MiB)",
        input: udp(1, 300_000, 512, LARGE_BUFFER),
        ..NOTHING_LOST
    },
    Case {
        name: "udp-300k-8",
        about: "the same from eight senders together",
        input: udp(8, 300_000, 512, LARGE_BUFFER),
        ..NOTHING_LOST
    },
];
