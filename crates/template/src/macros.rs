//! The table of macros: names, help and what each compiles to. Any other name is a name-value pair.

use crate::Cost;
use crate::date::{Clock, DateKind};
use record::{NameId, ValueType};

/// A macro for the reference manual.
#[derive(Clone, Copy, Debug)]
pub struct MacroInfo {
    pub name: &'static str,
    pub help: &'static str,
    /// What it prints for the [`crate::sample`].
    pub example: &'static str,
    pub(crate) kind: Kind,
}

impl MacroInfo {
    pub fn cost(&self) -> Cost {
        match self.kind {
            Kind::Value(_) | Kind::Host => COPY,
            Kind::Msghdr => COPY,
            Kind::Stamp | Kind::Date(_) => {
                Cost::of("formatted once an hour and zone, after that a copy with new digits")
                    .shown_by("tcp-1")
            }
            Kind::Fact(Fact::Sdata) => {
                Cost::of("a copy if no value of it was changed, else built anew").shown_by("ietf-1")
            }
            Kind::Fact(Fact::Tags | Fact::Matches) => Cost::of("in proportion to what there is of them"),
            Kind::Fact(_) => Cost::of("a number or short text"),
        }
    }

    /// Whether it takes one of the [`DATE_PREFIXES`].
    pub fn is_time(&self) -> bool {
        matches!(self.kind, Kind::Stamp | Kind::Date(_))
    }
}

const COPY: Cost =
    Cost::of("a copy; neighbours in the message that follow each other are one copy").shown_by("tcp-1");

/// What a macro's name stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A value, looked up by id.
    Value(NameId),
    /// The part of the host field that names the sender.
    Host,
    Msghdr,
    /// The sender's time in the style of `ts-format()`.
    Stamp,
    Date(DateKind),
    Fact(Fact),
}

/// Macros that are computed from the message or the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    Facility,
    FacilityNum,
    Severity,
    SeverityNum,
    Pri,
    Tag,
    Tags,
    BsdTag,
    SysUptime,
    LogHost,
    Sdata,
    SourceIp,
    SourcePort,
    DestIp,
    DestPort,
    PeerIp,
    PeerPort,
    IpProto,
    Proto,
    ProtoName,
    RawMsg,
    RawMsgSize,
    SeqNum,
    RcptId,
    HostId,
    RunId,
    UniqId,
    MsgFormat,
    ContextId,
    Matches,
}

impl Fact {
    /// The type of the value where a lone macro keeps its type. As in syslog-ng, PRI, SYSUPTIME and the
    /// numbers of messages and runs are texts (test `lone_names_and_functions_keep_their_type`).
    pub fn value_type(self) -> ValueType {
        match self {
            Fact::FacilityNum | Fact::SeverityNum | Fact::RawMsgSize => ValueType::Int,
            Fact::SourcePort | Fact::DestPort | Fact::PeerPort | Fact::IpProto | Fact::Proto => {
                ValueType::Int
            }
            Fact::Tags | Fact::Matches => ValueType::List,
            _ => ValueType::String,
        }
    }
}

const fn value(name: &'static str, id: NameId, help: &'static str, example: &'static str) -> MacroInfo {
    MacroInfo { name, help, example, kind: Kind::Value(id) }
}

const fn fact(name: &'static str, fact: Fact, help: &'static str, example: &'static str) -> MacroInfo {
    MacroInfo { name, help, example, kind: Kind::Fact(fact) }
}

const fn date(name: &'static str, date: DateKind, help: &'static str, example: &'static str) -> MacroInfo {
    MacroInfo { name, help, example, kind: Kind::Date(date) }
}

/// Every macro. The date macros among them also take a prefix, see [`DATE_PREFIXES`].
pub const MACROS: &[MacroInfo] = &[
    fact("FACILITY", Fact::Facility, "name of the facility; an unknown one in hexadecimal", "auth"),
    fact("FACILITY_NUM", Fact::FacilityNum, "number of the facility", "4"),
    fact(
        "SEVERITY",
        Fact::Severity,
        "name of the severity: emerg alert crit err warning notice info debug",
        "info",
    ),
    fact("LEVEL", Fact::Severity, "the same as SEVERITY", "info"),
    fact("PRIORITY", Fact::Severity, "the same as SEVERITY", "info"),
    fact("SEVERITY_NUM", Fact::SeverityNum, "number of the severity, 0 to 7", "6"),
    fact("LEVEL_NUM", Fact::SeverityNum, "the same as SEVERITY_NUM", "6"),
    fact("PRI", Fact::Pri, "facility * 8 + severity, decimal", "38"),
    fact("TAG", Fact::Tag, "facility * 8 + severity in two hexadecimal digits", "26"),
    fact("TAGS", Fact::Tags, "the tags of the message as a comma separated list", ""),
    fact("BSDTAG", Fact::BsdTag, "digit of the severity, then a letter for the facility (kern is A)", "6E"),
    MacroInfo {
        name: "STAMP",
        help: "time of the message in the style of ts-format()",
        example: "Nov 21 10:00:00",
        kind: Kind::Stamp,
    },
    date("DATE", DateKind::Bsd, "time as `Mmm dd hh:mm:ss`", "Nov 21 10:00:00"),
    date("FULLDATE", DateKind::Full, "time as `YYYY Mmm dd hh:mm:ss`", "2026 Nov 21 10:00:00"),
    date("ISODATE", DateKind::Iso, "time as RFC 3339 with the offset from UTC", "2026-11-21T10:00:00+01:00"),
    date("UNIXTIME", DateKind::Unix, "seconds since 1970-01-01 UTC", "1795251600"),
    date("YEAR", DateKind::Year, "year, 4 digits", "2026"),
    date("MONTH", DateKind::Month, "month, 01 to 12", "11"),
    date("DAY", DateKind::Day, "day of the month, 01 to 31", "21"),
    date("HOUR", DateKind::Hour, "hour, 00 to 23", "10"),
    date("MIN", DateKind::Min, "minute, 00 to 59", "00"),
    date("SEC", DateKind::Sec, "second, 00 to 59", "00"),
    date("MSEC", DateKind::Msec, "milliseconds, 3 digits", "123"),
    date("USEC", DateKind::Usec, "microseconds, 6 digits", "123456"),
    date("HOUR12", DateKind::Hour12, "hour, 01 to 12", "10"),
    date("AMPM", DateKind::Ampm, "AM or PM", "AM"),
    date("MONTH_ABBREV", DateKind::MonthAbbrev, "name of the month, 3 letters", "Nov"),
    date("MONTH_NAME", DateKind::MonthName, "name of the month", "November"),
    date("MONTH_WEEK", DateKind::MonthWeek, "week of the month, 0 to 5; week 1 has the first Monday", "3"),
    date("WEEKDAY", DateKind::WeekDayAbbrev, "name of the day, 3 letters", "Sat"),
    date("WEEK_DAY_ABBREV", DateKind::WeekDayAbbrev, "the same as WEEKDAY", "Sat"),
    date("WEEK_DAY_NAME", DateKind::WeekDayName, "name of the day", "Saturday"),
    date("WEEK_DAY", DateKind::WeekDay, "number of the day, 1 is Sunday", "7"),
    date("WEEK", DateKind::Week, "week of the year, 00 to 53; week 1 has the first Monday", "46"),
    date("ISOWEEK", DateKind::IsoWeek, "week of the year by ISO 8601, 01 to 53", "47"),
    date("YEAR_DAY", DateKind::YearDay, "day of the year, 001 to 366", "325"),
    date("TZ", DateKind::TzOffset, "offset from UTC as `+hh:mm`", "+01:00"),
    date("TZOFFSET", DateKind::TzOffset, "the same as TZ", "+01:00"),
    fact("SYSUPTIME", Fact::SysUptime, "hundredths of a second since the program started", "6138"),
    MacroInfo {
        name: "HOST",
        help: "host; where chain-hostnames() of the source put it together the part between `@` and `/`",
        example: "host",
        kind: Kind::Host,
    },
    value("FULLHOST", NameId::HOST, "the whole host field", "host"),
    value("HOST_FROM", NameId::HOST_FROM, "name of the peer the message came from", "sender"),
    value("FULLHOST_FROM", NameId::HOST_FROM, "the same as HOST_FROM", "sender"),
    fact("LOGHOST", Fact::LogHost, "name of this machine", "loghost"),
    value("PROGRAM", NameId::PROGRAM, "name of the program", "app"),
    value("PID", NameId::PID, "process id", "123"),
    value("MSGID", NameId::MSGID, "MSGID of RFC 5424", ""),
    value("MESSAGE", NameId::MESSAGE, "text of the message, without the header", "hello world"),
    value("MSG", NameId::MESSAGE, "the same as MESSAGE", "hello world"),
    value("MSGONLY", NameId::MESSAGE, "the same as MESSAGE", "hello world"),
    MacroInfo {
        name: "MSGHDR",
        help: "the program part as received, else `PROGRAM[PID]: `",
        example: "app[123]: ",
        kind: Kind::Msghdr,
    },
    value(
        "LEGACY_MSGHDR",
        NameId::LEGACY_MSGHDR,
        "the program part as received with its trailing blank",
        "app[123]: ",
    ),
    fact("SDATA", Fact::Sdata, "STRUCTURED-DATA of RFC 5424", ""),
    value("SOURCE", NameId::SOURCE, "name of the source statement", "s_net"),
    fact("SOURCEIP", Fact::SourceIp, "address of the sender; 127.0.0.1 when it has none", "10.1.2.3"),
    fact("SOURCEPORT", Fact::SourcePort, "port of the sender; 0 when it has none", "4567"),
    fact(
        "DESTIP",
        Fact::DestIp,
        "address the message was received on; 127.0.0.1 when there is none",
        "2001:db8::1",
    ),
    fact("DESTPORT", Fact::DestPort, "port the message was received on; 0 when there is none", "514"),
    fact("PEERIP", Fact::PeerIp, "address of the proxy, else SOURCEIP", "10.9.9.9"),
    fact("PEERPORT", Fact::PeerPort, "port of the proxy, else SOURCEPORT", "99"),
    fact("IP_PROTO", Fact::IpProto, "4 or 6; 0 when the message did not come over IP", "4"),
    fact("PROTO", Fact::Proto, "number of the protocol: 6 is TCP, 17 is UDP", "6"),
    fact("PROTO_NAME", Fact::ProtoName, "tcp or udp", "tcp"),
    fact("RAWMSG", Fact::RawMsg, "the message as received, with flags(store-raw-message)", ""),
    fact("RAWMSG_SIZE", Fact::RawMsgSize, "bytes of the message as received", "46"),
    fact(
        "SEQNUM",
        Fact::SeqNum,
        "number of a local message at this destination, going on over restarts; of others their sequenceId",
        "",
    ),
    fact(
        "CONTEXT_ID",
        Fact::ContextId,
        "id of the correlation context; the item of $(map) and $(filter)",
        "",
    ),
    fact("_", Fact::ContextId, "the same as CONTEXT_ID", ""),
    fact("*", Fact::Matches, "all matches of the last regular expression as a list", ""),
    fact("RCPTID", Fact::RcptId, "number of the message, with use-uniqid(yes)", ""),
    fact("HOSTID", Fact::HostId, "random id of this installation, 8 hexadecimal digits", "00000abc"),
    fact("RUNID", Fact::RunId, "how often the program was started", "7"),
    fact("UNIQID", Fact::UniqId, "`HOSTID@RCPTID` in hexadecimal, with use-uniqid(yes)", ""),
    value("TRANSPORT", NameId::TRANSPORT, "how the message came in, such as rfc3164+tcp", "rfc3164+tcp"),
    fact("MSGFORMAT", Fact::MsgFormat, "rfc3164, rfc5424, raw or syslog-error", "rfc3164"),
    value("FILE_NAME", NameId::FILE_NAME, "file the message was read from", "/var/log/x"),
];

/// Prefixes of the date macros and the time they choose.
pub const DATE_PREFIXES: &[(&str, &str)] = &[
    ("S_", "the message's own time, as without prefix"),
    ("R_", "when the message was received"),
    ("C_", "the current time"),
    ("P_", "when the message was processed"),
];

/// A macro by name, date prefixes understood.
pub(crate) fn find(name: &str) -> Option<(Kind, Clock)> {
    let by_name = |name: &str| MACROS.iter().find(|m| m.name == name).map(|m| m.kind);
    if let Some(kind) = by_name(name) {
        return Some((kind, Clock::Message));
    }
    let (prefix, rest) = name.split_at_checked(2)?;
    let clock = match prefix {
        "S_" => Clock::Message,
        "R_" => Clock::Received,
        "C_" | "P_" => Clock::Now,
        _ => return None,
    };
    match by_name(rest)? {
        kind @ (Kind::Date(_) | Kind::Stamp) => Some((kind, clock)),
        _ => None,
    }
}

/// Shorter names are too near to each other.
const MEANT_LETTERS_MIN: usize = 4;

/// The macro that a name in capital letters, which is none, was likely meant to be.
pub fn nearest_macro(name: &str) -> Option<String> {
    let capitals = name.bytes().filter(u8::is_ascii_uppercase).count();
    let others = name.bytes().any(|b| b.is_ascii_lowercase() || b == b'.');
    if capitals < MEANT_LETTERS_MIN || others || find(name).is_some() {
        return None;
    }
    let near = |name: &str, may_be: fn(&&MacroInfo) -> bool| {
        diag::nearest(name, MACROS.iter().filter(may_be).map(|m| m.name))
    };
    let dates = DATE_PREFIXES.iter().find_map(|(prefix, _)| Some((prefix, name.strip_prefix(prefix)?)));
    match dates.and_then(|(prefix, rest)| Some((prefix, near(rest, |m| m.is_time())?))) {
        Some((prefix, found)) => Some(format!("{prefix}{found}")),
        None => near(name, |_| true).map(str::to_owned),
    }
}
