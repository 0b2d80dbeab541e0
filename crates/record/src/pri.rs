//! Facilities and severities: names and numbers of RFC 5424 section 6.2.1 and the aliases syslog-ng accepts.

/// user.notice, for messages without a PRI.
pub const DEFAULT: u16 = 8 + 5;

/// Severity names as the SEVERITY macro prints them, by number.
pub const SEVERITIES: [&str; 8] = ["emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"];

/// Facility names as the FACILITY macro prints them, by number.
pub const FACILITIES: [&str; 24] = [
    "kern",
    "user",
    "mail",
    "daemon",
    "auth",
    "syslog",
    "lpr",
    "news",
    "uucp",
    "cron",
    "authpriv",
    "ftp",
    "ntp",
    "security",
    "console",
    "solaris-cron",
    "local0",
    "local1",
    "local2",
    "local3",
    "local4",
    "local5",
    "local6",
    "local7",
];

/// The number of a severity name, as filters and `default-severity()` take it.
pub fn severity(name: &str) -> Option<u8> {
    if let Some(n) = SEVERITIES.iter().position(|s| *s == name) {
        return Some(n as u8);
    }
    Some(match name {
        "emergency" | "panic" => 0,
        "critical" => 2,
        "error" => 3,
        "warn" => 4,
        "informational" => 6,
        _ => return None,
    })
}

/// The number of a severity name with the many spellings programs use, as `set-severity()` takes it.
pub fn severity_loose(name: &str) -> Option<u8> {
    let same = |known: &str| known.eq_ignore_ascii_case(name);
    let plain = SEVERITIES.iter().position(|s| same(s)).map(|n| n as u8);
    plain.or_else(|| LOOSE.iter().find(|(known, _)| same(known)).map(|(_, n)| *n))
}

/// Spellings of severities beside [`SEVERITIES`].
const LOOSE: [(&str, u8); 22] = [
    ("emergency", 0),
    ("panic", 0),
    ("emrg", 0),
    ("alrt", 1),
    ("critical", 2),
    ("fatal", 2),
    ("ftl", 2),
    ("crt", 2),
    ("error", 3),
    ("eror", 3),
    ("warn", 4),
    ("wrn", 4),
    ("noti", 5),
    ("ntc", 5),
    ("informational", 6),
    ("inf", 6),
    ("log", 6),
    ("dbg", 7),
    ("trace", 7),
    ("trc", 7),
    ("verbose", 7),
    ("vrb", 7),
];

/// The number of a facility name. Names that RFC 5424 leaves open for 10..=15 are accepted in every usual
/// spelling.
pub fn facility(name: &str) -> Option<u8> {
    if let Some(n) = FACILITIES.iter().position(|s| *s == name) {
        return Some(n as u8);
    }
    Some(match name {
        "megasafe" => 10,
        _ => return None,
    })
}

/// `facility * 8 + severity`.
pub fn join(facility: u8, severity: u8) -> u16 {
    u16::from(facility) * 8 + u16::from(severity & 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_aliases() {
        assert_eq!((severity("err"), severity("error"), severity("fatal")), (Some(3), Some(3), None));
        assert_eq!(
            (severity_loose("WRN"), severity_loose("Err"), severity_loose("x")),
            (Some(4), Some(3), None)
        );
        assert_eq!((facility("local7"), facility("authpriv"), facility("x")), (Some(23), Some(10), None));
        assert_eq!(join(4, 6), 38);
    }
}
