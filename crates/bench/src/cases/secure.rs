//! The same as plain TCP, through TLS 1.3 with a certificate of the server: what encryption adds.

use super::aim::Aim;
use super::{Case, Feed, Input, ONE, PLAIN};
use crate::receiver::Receiver;

const COUNT: usize = 4;

/// The floor does not decrypt, and what is installed of rsyslog has no TLS.
const WITH_TLS: &[Receiver] = &[Receiver::Penstock, Receiver::SyslogNg, Receiver::SyslogNgTuned];

const fn tls(connections: usize) -> Input {
    Input { connections, secure: true, ..ONE }
}

/// The same messages a second for both: a sender that encrypts is slower, and a receiver that waits for it wakes more often.
const PACED: Input = Input { feed: Feed::Paced { per_second: 2000.0 }, connections: 100, ..ONE };

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
];
