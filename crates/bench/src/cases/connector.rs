//! A connector for Splunk: lines of forty kinds of devices through hundreds of applications, as events for
//! its HTTP Event Collector.

use super::aim::Aim;
use super::{Case, Input, ONE, PLAIN, Path, TEN};
use crate::receiver::Receiver;
use loggen::message::Body;

const CONNECTOR: Case = Case {
    path: Path::Connector,
    receivers: &[Receiver::Floor, Receiver::Penstock, Receiver::SyslogNg],
    ..PLAIN
};

pub(super) const CASES: [Case; 2] = [
    Case {
        name: "sc4s-1",
        about: "the shape of Splunk Connect for Syslog: 300 applications, one connection",
        input: Input { body: Body::Devices, size: 480, share: 0.2, ..ONE },
        worker_threads: Some(1),
        aims: &[Aim::CpuUs(6.0)],
        ..CONNECTOR
    },
    Case {
        name: "sc4s-10",
        about: "the same, ten connections",
        input: Input { body: Body::Devices, size: 480, share: 0.2, ..TEN },
        aims: &[Aim::CpuUs(6.0)],
        ..CONNECTOR
    },
];
