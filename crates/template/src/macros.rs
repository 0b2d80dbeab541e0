//! The table of macros: names, help and what each compiles to. Any other name is a name-value pair.

use crate::date::{Clock, DateKind};
use record::{NameId, ValueType};

/// A macro for the reference manual.
#[derive(Clone, Copy, Debug)]
pub struct MacroInfo {
    pub name: &'static str,
    pub help: &'static str,
    pub(crate) kind: Kind,
}

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
    /// The type of the value where a lone macro keeps its type.
    pub fn value_type(self) -> ValueType {
        match self {
            Fact::FacilityNum | Fact::SeverityNum | Fact::Pri | Fact::SysUptime | Fact::RawMsgSize => {
                ValueType::Int
            }
            Fact::SourcePort | Fact::DestPort | Fact::PeerPort | Fact::IpProto | Fact::Proto => {
                ValueType::Int
            }
            Fact::SeqNum | Fact::RcptId | Fact::RunId => ValueType::Int,
            Fact::Tags | Fact::Matches => ValueType::List,
            _ => ValueType::String,
        }
    }
}

const fn value(name: &'static str, id: NameId, help: &'static str) -> MacroInfo {
    MacroInfo { name, help, kind: Kind::Value(id) }
}

const fn fact(name: &'static str, fact: Fact, help: &'static str) -> MacroInfo {
    MacroInfo { name, help, kind: Kind::Fact(fact) }
}

const fn date(name: &'static str, date: DateKind, help: &'static str) -> MacroInfo {
    MacroInfo { name, help, kind: Kind::Date(date) }
}

/// Every macro. The date macros among them also take a prefix, see [`DATE_PREFIXES`].
pub const MACROS: &[MacroInfo] = &[
    fact("FACILITY", Fact::Facility, "name of the facility; an unknown one in hexadecimal"),
    fact("FACILITY_NUM", Fact::FacilityNum, "number of the facility"),
    fact("SEVERITY", Fact::Severity, "name of the severity: emerg alert crit err warning notice info debug"),
    fact("LEVEL", Fact::Severity, "the same as SEVERITY"),
    fact("PRIORITY", Fact::Severity, "the same as SEVERITY"),
    fact("SEVERITY_NUM", Fact::SeverityNum, "number of the severity, 0 to 7"),
    fact("LEVEL_NUM", Fact::SeverityNum, "the same as SEVERITY_NUM"),
    fact("PRI", Fact::Pri, "facility * 8 + severity, decimal"),
    fact("TAG", Fact::Tag, "facility * 8 + severity in two hexadecimal digits"),
    fact("TAGS", Fact::Tags, "the tags of the message as a comma separated list"),
    fact("BSDTAG", Fact::BsdTag, "digit of the severity, then a letter for the facility (kern is A)"),
    MacroInfo { name: "STAMP", help: "time of the message in the style of ts-format()", kind: Kind::Stamp },
    date("DATE", DateKind::Bsd, "time as `Mmm dd hh:mm:ss`"),
    date("FULLDATE", DateKind::Full, "time as `YYYY Mmm dd hh:mm:ss`"),
    date("ISODATE", DateKind::Iso, "time as RFC 3339 with the offset from UTC"),
    date("UNIXTIME", DateKind::Unix, "seconds since 1970-01-01 UTC"),
    date("YEAR", DateKind::Year, "year, 4 digits"),
    date("MONTH", DateKind::Month, "month, 01 to 12"),
    date("DAY", DateKind::Day, "day of the month, 01 to 31"),
    date("HOUR", DateKind::Hour, "hour, 00 to 23"),
    date("MIN", DateKind::Min, "minute, 00 to 59"),
    date("SEC", DateKind::Sec, "second, 00 to 59"),
    date("MSEC", DateKind::Msec, "milliseconds, 3 digits"),
    date("USEC", DateKind::Usec, "microseconds, 6 digits"),
    date("HOUR12", DateKind::Hour12, "hour, 01 to 12"),
    date("AMPM", DateKind::Ampm, "AM or PM"),
    date("MONTH_ABBREV", DateKind::MonthAbbrev, "name of the month, 3 letters"),
    date("MONTH_NAME", DateKind::MonthName, "name of the month"),
    date("MONTH_WEEK", DateKind::MonthWeek, "week of the month, 0 to 5; week 1 has the first Monday"),
    date("WEEKDAY", DateKind::WeekDayAbbrev, "name of the day, 3 letters"),
    date("WEEK_DAY_ABBREV", DateKind::WeekDayAbbrev, "the same as WEEKDAY"),
    date("WEEK_DAY_NAME", DateKind::WeekDayName, "name of the day"),
    date("WEEK_DAY", DateKind::WeekDay, "number of the day, 1 is Sunday"),
    date("WEEK", DateKind::Week, "week of the year, 00 to 53; week 1 has the first Monday"),
    date("ISOWEEK", DateKind::IsoWeek, "week of the year by ISO 8601, 01 to 53"),
    date("YEAR_DAY", DateKind::YearDay, "day of the year, 001 to 366"),
    date("TZ", DateKind::TzOffset, "offset from UTC as `+hh:mm`"),
    date("TZOFFSET", DateKind::TzOffset, "the same as TZ"),
    fact("SYSUPTIME", Fact::SysUptime, "hundredths of a second since the program started"),
    MacroInfo {
        name: "HOST",
        help: "host; with chain-hostnames(yes) the part between `@` and `/`",
        kind: Kind::Host,
    },
    value("FULLHOST", NameId::HOST, "the whole host field"),
    value("HOST_FROM", NameId::HOST_FROM, "name of the peer the message came from"),
    value("FULLHOST_FROM", NameId::HOST_FROM, "the same as HOST_FROM"),
    fact("LOGHOST", Fact::LogHost, "name of this machine"),
    value("PROGRAM", NameId::PROGRAM, "name of the program"),
    value("PID", NameId::PID, "process id"),
    value("MSGID", NameId::MSGID, "MSGID of RFC 5424"),
    value("MESSAGE", NameId::MESSAGE, "text of the message, without the header"),
    value("MSG", NameId::MESSAGE, "the same as MESSAGE"),
    value("MSGONLY", NameId::MESSAGE, "the same as MESSAGE"),
    MacroInfo {
        name: "MSGHDR",
        help: "the program part as received, else `PROGRAM[PID]: `",
        kind: Kind::Msghdr,
    },
    value("LEGACY_MSGHDR", NameId::LEGACY_MSGHDR, "the program part as received with its trailing blank"),
    fact("SDATA", Fact::Sdata, "STRUCTURED-DATA of RFC 5424"),
    value("SOURCE", NameId::SOURCE, "name of the source statement"),
    fact("SOURCEIP", Fact::SourceIp, "address of the sender; 127.0.0.1 when it has none"),
    fact("SOURCEPORT", Fact::SourcePort, "port of the sender; 0 when it has none"),
    fact("DESTIP", Fact::DestIp, "address the message was received on; 127.0.0.1 when there is none"),
    fact("DESTPORT", Fact::DestPort, "port the message was received on; 0 when there is none"),
    fact("PEERIP", Fact::PeerIp, "address of the proxy, else SOURCEIP"),
    fact("PEERPORT", Fact::PeerPort, "port of the proxy, else SOURCEPORT"),
    fact("IP_PROTO", Fact::IpProto, "4 or 6; 0 when the message did not come over IP"),
    fact("PROTO", Fact::Proto, "number of the protocol: 6 is TCP, 17 is UDP"),
    fact("PROTO_NAME", Fact::ProtoName, "tcp or udp"),
    fact("RAWMSG", Fact::RawMsg, "the message as received, with flags(store-raw-message)"),
    fact("RAWMSG_SIZE", Fact::RawMsgSize, "bytes of the message as received"),
    fact("SEQNUM", Fact::SeqNum, "number of a local message at this destination; of others their sequenceId"),
    fact("CONTEXT_ID", Fact::ContextId, "id of the correlation context; the item of $(map) and $(filter)"),
    fact("_", Fact::ContextId, "the same as CONTEXT_ID"),
    fact("*", Fact::Matches, "all matches of the last regular expression as a list"),
    fact("RCPTID", Fact::RcptId, "number of the message, with use-uniqid(yes)"),
    fact("HOSTID", Fact::HostId, "random id of this installation, 8 hexadecimal digits"),
    fact("RUNID", Fact::RunId, "how often the program was started"),
    fact("UNIQID", Fact::UniqId, "`HOSTID@RCPTID` in hexadecimal, with use-uniqid(yes)"),
    value("TRANSPORT", NameId::TRANSPORT, "how the message came in, such as rfc3164+tcp"),
    fact("MSGFORMAT", Fact::MsgFormat, "rfc3164, rfc5424, raw or syslog-error"),
    value("FILE_NAME", NameId::FILE_NAME, "file the message was read from"),
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
