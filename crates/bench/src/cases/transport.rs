//! How messages come and go, and filters and rewrites in between.

use super::aim::Aim;
use super::{Case, Feed, Input, ONE, OWN, PLAIN, Path, TEN};
use crate::receiver::Receiver;

const COUNT: usize = 26;

/// Plain TCP to one file is what everything else is compared with.
const PLAIN_AIMS: &[Aim] = &[
    Aim::TimesFloor(1.6),
    Aim::CheaperThan { peer: Receiver::SyslogNg, times: 12.0 },
    Aim::CheaperThan { peer: Receiver::Rsyslog, times: 6.0 },
];

const fn tcp(connections: usize) -> Input {
    Input { connections, ..ONE }
}

const fn ietf(connections: usize) -> Input {
    Input { connections, ietf: true, ..ONE }
}

pub(super) const CASES: [Case; COUNT] = [
    Case { name: "tcp-1", about: "RFC 3164 lines to one file", aims: PLAIN_AIMS, ..PLAIN },
    Case { name: "tcp-10", about: "the same, 10 connections", input: tcp(10), aims: PLAIN_AIMS, ..PLAIN },
    Case { name: "tcp-50", about: "the same, 50 connections", input: tcp(50), ..PLAIN },
    Case { name: "tcp-100", about: "the same, 100 connections", input: tcp(100), aims: PLAIN_AIMS, ..PLAIN },
    Case { name: "tcp-200", about: "the same, 200 connections", input: tcp(200), ..PLAIN },
    Case {
        name: "ietf-1",
        about: "RFC 5424, octet counted, to one file",
        input: ietf(1),
        aims: &[Aim::TimesCase { case: "tcp-1", times: 1.15 }],
        ..PLAIN
    },
    Case {
        name: "ietf-10",
        about: "the same, 10 connections",
        input: ietf(10),
        aims: &[Aim::TimesCase { case: "tcp-10", times: 1.15 }],
        ..PLAIN
    },
    Case { name: "ietf-50", about: "the same, 50 connections", input: ietf(50), ..PLAIN },
    Case {
        name: "ietf-100",
        about: "the same, 100 connections",
        input: ietf(100),
        aims: &[Aim::TimesCase { case: "tcp-100", times: 1.15 }],
        ..PLAIN
    },
    Case { name: "ietf-200", about: "the same, 200 connections", input: ietf(200), ..PLAIN },
    Case {
        name: "hosts-10-one-file",
        about: "10 hosts in one file, 10 connections",
        input: Input { hosts: 10, ..TEN },
        ..PLAIN
    },
    Case {
        name: "hosts-10",
        about: "the same messages, a file for each host",
        input: Input { hosts: 10, ..TEN },
        path: Path::FilesByHost,
        aims: &[Aim::TimesCase { case: "hosts-10-one-file", times: 1.25 }],
        ..PLAIN
    },
    Case {
        name: "relay-1",
        about: "TCP in, TCP out",
        path: Path::Relay,
        aims: &[Aim::TimesFloor(2.2)],
        ..PLAIN
    },
    Case {
        name: "relay-10",
        about: "the same, 10 connections in",
        input: TEN,
        path: Path::Relay,
        aims: &[Aim::TimesFloor(2.2)],
        ..PLAIN
    },
    Case {
        name: "filter-facility",
        about: "a facility filter, 10 connections",
        input: TEN,
        path: Path::FilterFacility,
        aims: &[Aim::TimesCase { case: "tcp-10", times: 1.10 }],
        ..PLAIN
    },
    Case {
        name: "filter-host",
        about: "a host filter, 10 connections",
        input: Input { hosts: 10, ..TEN },
        path: Path::FilterHost,
        aims: &[Aim::TimesCase { case: "tcp-10", times: 1.10 }],
        ..PLAIN
    },
    Case {
        name: "filter-tag",
        about: "a tag filter, 10 connections",
        input: TEN,
        path: Path::FilterTag,
        aims: &[Aim::TimesCase { case: "tcp-10", times: 1.10 }],
        ..PLAIN
    },
    Case {
        name: "filters-20",
        about: "twenty filters and files, 10 connections",
        input: TEN,
        path: Path::TwentyFilters,
        aims: &[Aim::TimesCase { case: "tcp-10", times: 1.60 }],
        ..PLAIN
    },
    Case {
        name: "regexp",
        about: "a regular expression on the message, 10 connections",
        input: TEN,
        path: Path::Regexp,
        aims: &[Aim::TimesCase { case: "tcp-10", times: 1.40 }],
        ..PLAIN
    },
    Case {
        name: "subst-host",
        about: "subst on HOST, 10 connections",
        input: TEN,
        path: Path::SubstHost,
        aims: &[Aim::TimesCase { case: "tcp-10", times: 1.25 }],
        ..PLAIN
    },
    Case {
        name: "costly-1",
        about: "two regular expressions and a subst, 1 connection",
        path: Path::Costly,
        ..PLAIN
    },
    Case {
        name: "costly-prepared-one-worker",
        about: "the same from a prepared socket buffer, one worker",
        input: Input { feed: Feed::Prepared, ..ONE },
        path: Path::Costly,
        worker_threads: Some(1),
        receivers: &[Receiver::Penstock, Receiver::SyslogNgTuned],
        ..PLAIN
    },
    Case {
        name: "costly-prepared",
        about: "the same from a prepared socket buffer, all cores",
        input: Input { feed: Feed::Prepared, ..ONE },
        path: Path::Costly,
        receivers: &[Receiver::Penstock, Receiver::SyslogNgTuned],
        aims: &[Aim::FasterThanCase { case: "costly-prepared-one-worker", times: 1.6 }],
        ..PLAIN
    },
    Case {
        name: "sharing-off",
        about: "as tcp-100, workers keep to their own connections",
        input: tcp(100),
        sharing: false,
        receivers: OWN,
        ..PLAIN
    },
    Case {
        name: "sharing-on",
        about: "as tcp-100, idle workers help",
        input: tcp(100),
        receivers: OWN,
        aims: &[Aim::Within { case: "sharing-off", share: 0.02 }],
        ..PLAIN
    },
    Case {
        name: "memory-1000",
        about: "memory with 1,000 connections",
        input: Input { feed: Feed::Paced { per_second: 100.0 }, connections: 1000, share: 0.2, ..ONE },
        aims: &[Aim::BytesPerConnection(64 * 1024)],
        ..PLAIN
    },
];
