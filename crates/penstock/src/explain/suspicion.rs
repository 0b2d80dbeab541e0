//! What is suspicious about a message as it came in: the signs by which one sees that the sender and the
//! source do not speak of the same format.

use super::tree::Tree;
use engine::watch::inquiry::{Happened, Story, Text};

/// Seconds that a clock may be ahead.
const AHEAD_MAX: i64 = 60;
/// Seconds after which a message is old.
const OLD: i64 = 2 * 86_400;

/// A sentence for each doubt.
pub fn doubts(story: &Story, tree: &Tree<'_>) -> Vec<String> {
    let mut doubts = Vec::new();
    // What parsers make was not read.
    let Some(came) = story.came else { return doubts };
    if let Some(received) = tree.received {
        doubts.extend(of_bytes(received));
    }
    let value = |name: &str| tree.values.iter().find_map(|event| value_of(event, name));
    if value("PROGRAM").is_some_and(|program| program == "1") {
        let text = "it is of RFC 5424, and the source reads RFC 3164: syslog(), or flags(syslog-protocol)";
        doubts.push(text.to_owned());
    } else if let Some(program) = value("PROGRAM").filter(|program| is_no_program(program)) {
        doubts.push(format!(
            "PROGRAM is \"{program}\": the text has no header that is known, so its beginning was taken for one"
        ));
    }
    if let Some(host) = value("HOST").filter(|host| is_no_host(host)) {
        doubts.push(format!("HOST is \"{host}\": the header is not in the order that the source expects"));
    }
    let stamp = value("STAMP").and_then(|text| text.split('.').next()?.parse::<i64>().ok());
    match stamp.map(|stamp| stamp - came.secs) {
        Some(ahead) if ahead > AHEAD_MAX => {
            doubts.push(format!("its time is {} in the future: a clock or a zone is wrong", lasting(ahead)));
        }
        Some(late) if late < -OLD => doubts.push(format!("its time is {} ago", lasting(-late))),
        _ => {}
    }
    doubts
}

fn value_of(event: &Happened, wanted: &str) -> Option<String> {
    match event {
        Happened::Changed { name, is_tag: false, after: Some(after), .. } if name == wanted => {
            Some(String::from_utf8_lossy(&after.kept).escape_debug().to_string())
        }
        _ => None,
    }
}

fn of_bytes(text: &Text) -> Option<String> {
    let bytes = text.kept.as_slice();
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let doubt = match bytes {
        [0x16, 0x03, ..] => "it is the beginning of a TLS session: the source needs transport(\"tls\")",
        [0x1f, 0x8b, ..] => "it is compressed with gzip: the source does not unpack it",
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "it is UTF-16: the source needs encoding()",
        _ if bytes.starts_with(b"PROXY ") => {
            "it is a header of the PROXY protocol: transport(\"proxied-tcp\")"
        }
        _ if bytes.starts_with(b"GET ") || bytes.starts_with(b"POST ") => "it is a request of HTTP",
        _ if (1..=8).contains(&digits) && bytes.get(digits..).is_some_and(|rest| rest.starts_with(b" <")) => {
            "it begins with the count of its bytes: a syslog() source, or transport(\"auto\"), takes them off"
        }
        _ if bytes.iter().filter(|byte| **byte == 0).count() > bytes.len() / 4 => {
            "every other byte is 0: it is UTF-16 or no text"
        }
        _ if !bytes.starts_with(b"<") => "it has no priority: it counts as the default of the source",
        _ if bytes.iter().filter(|byte| **byte == b'\n').count() > 0 => "there are several lines in it",
        _ if std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_some()) => "it is not UTF-8",
        _ => return None,
    };
    Some(doubt.to_owned())
}

/// `date=2026-11-23`, `2026`, `{"a"`.
fn is_no_program(program: &str) -> bool {
    program.contains(['=', '{', '"', ',', '|'])
        || (!program.is_empty()
            && program.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | ':')))
}

/// `10:00:00`, `Nov`, `app[7]:`.
fn is_no_host(host: &str) -> bool {
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let is_time =
        host.len() == 8 && host.bytes().filter(|byte| *byte == b':').count() == 2 && !host.contains("::");
    months.contains(&host) || is_time || host.contains(['=', '[', '{', '"'])
}

fn lasting(seconds: i64) -> String {
    match seconds {
        ..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}
