//! What parsers, patterns and branches cost. The aims are multiples of the floor's CPU: a path costs what it
//! reads.

use super::aim::Aim;
use super::{Block, Case, Input, OWN, PLAIN, Path, Printed, Python, TEN};
use crate::receiver::Receiver;
use loggen::message::Body;

/// Work on the text of a message. Each passes every message on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Processing {
    /// `kv-parser()`, three fields used.
    Kv,
    /// `json-parser()`, four fields used, one of them nested.
    Json,
    /// `csv-parser()`, three columns used.
    Csv,
    /// `xml()`, three fields used.
    Xml,
    /// A regular expression that no message matches.
    RegexpSeldom,
    /// A regular expression that every message matches, with three captures used.
    RegexpCaptures,
    /// `json-parser()`, and all of it out again through `format-json`.
    FormatJson,
    /// `kv-parser()`, a regular expression, a `subst`, and all values out through `format-json`.
    KvToJson,
    /// `date-parser()` on a stamp in the message.
    Date,
    /// `add-contextual-data()` by HOST from a table of a thousand.
    ContextualData,
    /// `db-parser()` with so many rules; one message in ten matches.
    PatternDb { rules: usize },
    /// `if`, `elif` ... `else` on the program.
    Chain { branches: usize },
    /// `app-parser()` over so many applications.
    Applications { count: usize },
    /// Applications decided by PROGRAM, by values and by both, and what they set as JSON: the shape of Splunk
    /// Connect for Syslog.
    AppsToJson { count: usize },
    /// `kv-parser()` where it has to be parsed, and values behind the message.
    Printed(Printed),
    /// Expressions.
    Block(Block),
    /// A class of the user's own.
    Python(Python),
}

const PARSED: Case = Case { receivers: &[Receiver::Floor, Receiver::Penstock, Receiver::SyslogNg], ..PLAIN };

const fn with(body: Body) -> Input {
    Input { body, ..TEN }
}

pub(super) const CASES: [Case; 16] = [
    Case {
        name: "kv",
        about: "kv-parser, three fields used, 10 connections",
        input: with(Body::Kv),
        path: Path::Processing(Processing::Kv),
        aims: &[Aim::TimesFloor(3.5)],
        ..PARSED
    },
    Case {
        name: "json",
        about: "json-parser, four fields used, one nested, 10 connections",
        input: with(Body::Json),
        path: Path::Processing(Processing::Json),
        aims: &[Aim::TimesFloor(3.5)],
        ..PARSED
    },
    Case {
        name: "csv",
        about: "csv-parser, 22 columns, three used, 10 connections",
        input: with(Body::Csv),
        path: Path::Processing(Processing::Csv),
        aims: &[Aim::TimesFloor(2.6)],
        ..PARSED
    },
    Case {
        name: "xml",
        about: "xml, three fields used, 10 connections",
        input: with(Body::Xml),
        path: Path::Processing(Processing::Xml),
        aims: &[Aim::TimesFloor(9.0)],
        ..PARSED
    },
    Case {
        name: "regexp-seldom",
        about: "a regular expression on the message that does not match, 10 connections",
        input: TEN,
        path: Path::Processing(Processing::RegexpSeldom),
        aims: &[Aim::TimesFloor(2.2)],
        ..PARSED
    },
    Case {
        name: "regexp-captures",
        about: "a regular expression that always matches, three captures used, 10 connections",
        input: TEN,
        path: Path::Processing(Processing::RegexpCaptures),
        aims: &[Aim::TimesFloor(4.4)],
        ..PARSED
    },
    Case {
        name: "format-json",
        about: "json-parser, and all of it out through format-json, 10 connections",
        input: with(Body::Json),
        path: Path::Processing(Processing::FormatJson),
        aims: &[Aim::CheaperThan { peer: Receiver::SyslogNg, times: 4.0 }],
        ..PARSED
    },
    Case {
        name: "date",
        about: "date-parser on the message's number as seconds, 10 connections",
        input: TEN,
        path: Path::Processing(Processing::Date),
        ..PARSED
    },
    Case {
        name: "contextual-data",
        about: "add-contextual-data by HOST, two of three values used, 10 connections",
        input: Input { hosts: 100, ..TEN },
        path: Path::Processing(Processing::ContextualData),
        ..PARSED
    },
    Case {
        name: "patterndb-10",
        about: "db-parser with 10 rules, one message in ten matches, 10 connections",
        input: with(Body::Events),
        path: Path::Processing(Processing::PatternDb { rules: 10 }),
        ..PARSED
    },
    Case {
        name: "patterndb-1000",
        about: "the same with 1,000 rules",
        input: with(Body::Events),
        path: Path::Processing(Processing::PatternDb { rules: 1000 }),
        aims: &[Aim::TimesFloor(4.4)],
        ..PARSED
    },
    Case {
        name: "patterndb-10000",
        about: "the same with 10,000 rules",
        input: with(Body::Events),
        path: Path::Processing(Processing::PatternDb { rules: 10_000 }),
        aims: &[Aim::TimesCase { case: "patterndb-10", times: 2.0 }],
        ..PARSED
    },
    Case {
        name: "chain-1",
        about: "if and else on the program, 10 connections",
        input: TEN,
        path: Path::Processing(Processing::Chain { branches: 1 }),
        ..PARSED
    },
    Case {
        name: "chain-50",
        about: "the same with 50 branches",
        input: TEN,
        path: Path::Processing(Processing::Chain { branches: 50 }),
        aims: &[Aim::TimesCase { case: "chain-1", times: 2.0 }],
        ..PARSED
    },
    Case {
        name: "applications-17",
        about: "app-parser over the 17 applications of the messages, 10 connections",
        input: TEN,
        path: Path::Processing(Processing::Applications { count: 17 }),
        receivers: OWN,
        ..PARSED
    },
    Case {
        name: "applications-300",
        about: "the same with 300 applications",
        input: TEN,
        path: Path::Processing(Processing::Applications { count: 300 }),
        receivers: OWN,
        aims: &[Aim::TimesFloor(13.0)],
        ..PARSED
    },
];
