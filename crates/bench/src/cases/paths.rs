//! Paths that once cost several times what the plain one does: formats of many values, expressions, hundreds
//! of applications. Each format stands beside a template that prints the same values; both print the message
//! as well, so that its delivery can be verified.

use super::aim::Aim;
use super::{Case, Input, ONE, OWN, PLAIN, Path, Processing, Window};
use crate::receiver::Receiver;
use loggen::message::Body;

/// What is printed behind the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printed {
    /// Two of twenty values that `kv-parser()` finds.
    Two,
    /// Five of them.
    Five,
    FiveJson,
    FiveWelf,
    FiveCef,
    /// All of them.
    AllJson,
    /// What the scope `rfc5424` means.
    Core,
    CoreJson,
    /// What GELF says of a message.
    Graylog,
    GraylogGelf,
}

impl Printed {
    pub fn template(self) -> &'static str {
        match self {
            Printed::Two => "${user} ${code}",
            Printed::Five => "${user} ${src} ${dst} ${act} ${len}",
            Printed::FiveJson => "$(format-json user=$user src=$src dst=$dst act=$act len=$len)",
            Printed::FiveWelf => "$(format-welf user=$user src=$src dst=$dst act=$act len=$len)",
            Printed::FiveCef => "$(format-cef-extension user=$user src=$src dst=$dst act=$act len=$len)",
            Printed::AllJson => "$(format-json --scope nv-pairs)",
            Printed::Core => "$FACILITY $PRIORITY $HOST $PROGRAM $PID $MESSAGE $DATE $MSGID $SDATA",
            Printed::CoreJson => "$(format-json --scope rfc5424)",
            Printed::Graylog => "$HOST $MESSAGE $LEVEL_NUM $R_UNIXTIME $PROGRAM $PID $FACILITY",
            Printed::GraylogGelf => "$(format-gelf)",
        }
    }

    /// Whether the message has to be parsed for it.
    pub fn is_parsed(self) -> bool {
        !matches!(self, Printed::Core | Printed::CoreJson | Printed::Graylog | Printed::GraylogGelf)
    }
}

const fn printed(name: &'static str, about: &'static str, what: Printed, aims: &'static [Aim]) -> Case {
    Case {
        name,
        about,
        input: Input { body: Body::Kv, ..ONE },
        path: Path::Processing(Processing::Printed(what)),
        worker_threads: Some(1),
        receivers: &[Receiver::Floor, Receiver::Penstock, Receiver::SyslogNg],
        aims,
        ..PLAIN
    }
}

pub(super) const CASES: [Case; 15] = [
    printed("paths-two", "kv-parser of 20 pairs, two printed", Printed::Two, &[]),
    Case {
        path: Path::ParsedRelay(Printed::Two),
        receivers: OWN,
        aims: &[Aim::TimesCase { case: "paths-two", times: 1.15 }],
        ..printed("paths-two-network", "the same into network()", Printed::Two, &[])
    },
    printed("paths-five", "kv-parser of 20 pairs, five printed by a template", Printed::Five, &[]),
    printed(
        "paths-five-json",
        "the same five through format-json",
        Printed::FiveJson,
        &[Aim::TimesCase { case: "paths-five", times: 3.0 }],
    ),
    printed(
        "paths-five-welf",
        "the same five through format-welf",
        Printed::FiveWelf,
        &[Aim::TimesCase { case: "paths-five", times: 3.0 }],
    ),
    printed(
        "paths-five-cef",
        "the same five through format-cef-extension",
        Printed::FiveCef,
        &[Aim::TimesCase { case: "paths-five", times: 3.0 }],
    ),
    printed(
        "paths-all-json",
        "all 20 through format-json --scope nv-pairs",
        Printed::AllJson,
        &[Aim::CpuUs(1.1)],
    ),
    printed("paths-core", "what rfc5424 means, by a template", Printed::Core, &[]),
    printed(
        "paths-core-json",
        "the same through format-json --scope rfc5424",
        Printed::CoreJson,
        &[Aim::TimesCase { case: "paths-core", times: 3.0 }],
    ),
    printed("paths-graylog", "what GELF says, by a template", Printed::Graylog, &[]),
    printed(
        "paths-graylog-gelf",
        "the same through format-gelf",
        Printed::GraylogGelf,
        &[Aim::TimesCase { case: "paths-graylog", times: 3.0 }],
    ),
    Case {
        name: "paths-regexps",
        about: "two regular expressions and a subst",
        path: Path::Costly,
        worker_threads: Some(1),
        receivers: &[Receiver::Floor, Receiver::Penstock, Receiver::SyslogNg],
        aims: &[Aim::CpuUs(0.9)],
        ..PLAIN
    },
    Case {
        name: "paths-shared",
        about: "two regular expressions and a subst, one connection, two workers",
        path: Path::Costly,
        worker_threads: Some(2),
        receivers: OWN,
        ..PLAIN
    },
    Case {
        name: "paths-shared-window",
        about: "the same with log-iw-size(160000) max-connections(2000)",
        input: Input { window: Some(Window { messages: 160_000, connections: 2000 }), ..ONE },
        path: Path::Costly,
        worker_threads: Some(2),
        receivers: OWN,
        aims: &[Aim::FasterThanCase { case: "paths-shared", times: 0.9 }],
        ..PLAIN
    },
    Case {
        path: Path::Processing(Processing::AppsToJson { count: 300 }),
        aims: &[Aim::CpuUs(10.0)],
        ..printed(
            "paths-applications",
            "300 applications by PROGRAM and values, as JSON for Splunk",
            Printed::Two,
            &[],
        )
    },
];
