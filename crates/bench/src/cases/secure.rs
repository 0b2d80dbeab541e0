//! The same as plain TCP, through TLS 1.3 with a certificate of the server: what encryption adds.

use super::aim::Aim;
use super::{Case, Input, ONE, PLAIN};
use crate::receiver::Receiver;

const COUNT: usize = 2;

/// The floor does not decrypt, and what is installed of rsyslog has no TLS.
const WITH_TLS: &[Receiver] = &[Receiver::Penstock, Receiver::SyslogNg, Receiver::SyslogNgTuned];

const fn tls(connections: usize) -> Input {
    Input { connections, secure: true, ..ONE }
}

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
];
