//! The same as plain TCP, through TLS 1.3 with a certificate of the server: what encryption adds, many
//! connections, storms of handshakes.

use super::aim::Aim;
use super::{Case, Feed, Input, ONE, PLAIN};
use crate::receiver::Receiver;

const COUNT: usize = 8;

/// The floor does not decrypt, and what is installed of rsyslog has no TLS.
const WITH_TLS: &[Receiver] = &[Receiver::Penstock, Receiver::SyslogNg, Receiver::SyslogNgTuned];

const fn tls(connections: usize) -> Input {
    Input { connections, secure: true, ..ONE }
}

/// The same messages a second for both: a sender that encrypts is slower, and a receiver that waits for it
/// wakes more often.
const PACED: Input = Input { feed: Feed::Paced { per_second: 2000.0 }, connections: 100, ..ONE };

/// The same messages a second from twenty times as many connections.
const MANY: Input = Input { feed: Feed::Paced { per_second: 100.0 }, connections: 2000, ..ONE };
/// What opens and closes beside the measured connections.
const STORM: u32 = 500;

pub(super) const CASES: [Case; COUNT] = [
    Case {
        name: "tls-10",
        about: "as tcp-10, through TLS",
        input: tls(10),
        receivers: WITH_TLS,
        aims: &[Aim::TimesCase { case: "tcp-10", times: 1.35 }],
        ..PLAIN
    },
    Case {
        name: "tls-100",
        about: "as tcp-100, through TLS",
        input: tls(100),
        receivers: WITH_TLS,
        aims: &[Aim::TimesCase { case: "tcp-100", times: 1.35 }],
        ..PLAIN
    },
    Case {
        name: "tcp-100-paced",
        about: "as tcp-100, 200,000 a second",
        input: PACED,
        receivers: WITH_TLS,
        ..PLAIN
    },
    Case {
        name: "tls-100-paced",
        about: "as tcp-100-paced, through TLS",
        input: Input { secure: true, ..PACED },
        receivers: WITH_TLS,
        aims: &[Aim::TimesCase { case: "tcp-100-paced", times: 1.35 }],
        ..PLAIN
    },
    Case {
        name: "tcp-2000-paced",
        about: "2,000 connections, 200,000 a second together",
        input: MANY,
        receivers: WITH_TLS,
        ..PLAIN
    },
    Case {
        name: "tls-2000",
        about: "as tcp-2000-paced, through TLS, the handshakes included",
        input: Input { secure: true, ..MANY },
        receivers: WITH_TLS,
        // The handshakes take a second or two, the messages of a short run not much more.
        aims: &[Aim::FasterThanCase { case: "tcp-2000-paced", times: 0.5 }],
        ..PLAIN
    },
    Case {
        name: "tls-2000-full",
        about: "2,000 connections through TLS, as fast as the receiver takes them",
        input: tls(2000),
        receivers: WITH_TLS,
        ..PLAIN
    },
    Case {
        name: "tls-storm",
        about: "as tls-100-paced, beside 500 handshakes a second",
        input: Input { secure: true, storm: STORM, ..PACED },
        receivers: WITH_TLS,
        aims: &[Aim::FasterThanCase { case: "tls-100-paced", times: 0.9 }],
        ..PLAIN
    },
];
