//! A mail: its headers (RFC 5322, RFC 2047) and its body, as they go over the wire.

use crate::address::Mailbox;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write;

/// A header whose value is made from each message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub name: String,
}

/// What all mails of a destination have in common.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub from: Vec<Mailbox>,
    pub sender: Option<Mailbox>,
    pub to: Vec<Mailbox>,
    pub cc: Vec<Mailbox>,
    pub bcc: Vec<Mailbox>,
    pub reply_to: Vec<Mailbox>,
    /// In the order of their values in each message.
    pub headers: Vec<Header>,
    /// What ids end with: the name of this host.
    pub host: String,
}

/// What says what a body is, and how it is written.
const CONTENT_TYPE: &str = "Content-Type";
pub const TRANSFER_ENCODING: &str = "Content-Transfer-Encoding";

/// What is made of one message.
pub struct Parts<'a> {
    /// Seconds since 1970.
    pub time: u64,
    pub subject: &'a [u8],
    pub headers: Vec<&'a [u8]>,
    pub id: &'a [u8],
    pub body: &'a [u8],
}

/// Bytes of a line that go as they are; RFC 5322 section 2.1.1 allows 998.
const LINE_BYTES_MAX: usize = 900;
/// Bytes that become one encoded word: 60 characters, with its frame below 75.
const WORD_BYTES: usize = 42;
/// Bytes that become a line of base64 of 76 characters.
const BASE64_BYTES: usize = 57;
const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

impl Plan {
    pub fn recipients(&self) -> impl Iterator<Item = &Mailbox> {
        self.to.iter().chain(&self.cc).chain(&self.bcc)
    }

    /// Whom the server is told that mails are from.
    pub fn envelope_sender(&self) -> &str {
        self.sender.as_ref().or(self.from.first()).map_or("", |mailbox| &mailbox.address)
    }

    /// The mail with CRLF ends of lines, its dots doubled, and the line with the last dot.
    pub fn mail(&self, parts: &Parts<'_>) -> Vec<u8> {
        let mut text = String::new();
        self.put(&mut text, "Date", || date(parts.time));
        self.list(&mut text, "From", &self.from);
        self.list(&mut text, "Sender", self.sender.as_slice());
        self.list(&mut text, "Reply-To", &self.reply_to);
        self.list(&mut text, "To", &self.to);
        self.list(&mut text, "Cc", &self.cc);
        self.put(&mut text, "Subject", || unstructured(parts.subject));
        self.put(&mut text, "Message-ID", || {
            let mut id = String::from("<");
            for byte in parts.id {
                let _ = write!(id, "{byte:02x}");
            }
            id + "@" + &self.host + ">"
        });
        self.put(&mut text, "MIME-Version", || "1.0".to_owned());
        let mut kind = None;
        for (header, value) in self.headers.iter().zip(&parts.headers) {
            if header.is(CONTENT_TYPE) {
                kind = Some(unstructured(value));
            } else if !header.is(TRANSFER_ENCODING) {
                let _ = write!(text, "{}: {}\r\n", header.name, unstructured(value));
            }
        }
        let mut mail = text.into_bytes();
        put_body(&mut mail, parts.body, kind.as_deref());
        mail
    }

    /// Writes a header, unless the destination has one of that name itself: a mail has each of these once.
    fn put(&self, text: &mut String, name: &str, value: impl FnOnce() -> String) {
        if !self.headers.iter().any(|header| header.is(name)) {
            let _ = write!(text, "{name}: {}\r\n", value());
        }
    }

    fn list(&self, text: &mut String, name: &str, boxes: &[Mailbox]) {
        if !boxes.is_empty() {
            self.put(text, name, || boxes.iter().map(Mailbox::shown).collect::<Vec<_>>().join(",\r\n "));
        }
    }
}

impl Header {
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}

/// The value of a header that is any text: what would end the line becomes a blank.
fn unstructured(value: &[u8]) -> String {
    let text: String =
        String::from_utf8_lossy(value).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let text = text.trim();
    match text.is_ascii() && text.len() <= LINE_BYTES_MAX && !text.contains("=?") {
        true => text.to_owned(),
        false => encoded(text),
    }
}

/// As encoded words, each on a line of its own: RFC 2047.
pub fn encoded(text: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut end = rest.len().min(WORD_BYTES);
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        let (word, after) = rest.split_at(end);
        words.push(format!("=?utf-8?B?{}?=", STANDARD.encode(word)));
        rest = after;
    }
    words.join("\r\n ")
}

/// What says how the body is written, and the body. Plain lines go as they are, whatever else as base64, so
/// that no server on the way changes it. `kind`: what the destination says that it is; a text says in which
/// letters as well.
fn put_body(mail: &mut Vec<u8>, body: &[u8], kind: Option<&str>) {
    let is_plain = body.split(|byte| *byte == b'\n').all(|line| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        line.len() <= LINE_BYTES_MAX && line.iter().all(|byte| *byte == b'\t' || (b' '..0x7f).contains(byte))
    });
    let charset = match std::str::from_utf8(body) {
        Ok(text) if text.is_ascii() => "us-ascii",
        Ok(_) => "utf-8",
        // RFC 1428
        Err(_) => "unknown-8bit",
    };
    let coding = if is_plain { "7bit" } else { "base64" };
    let kind = kind.filter(|kind| !kind.is_empty()).unwrap_or("text/plain");
    let lower = kind.to_ascii_lowercase();
    let letters = match lower.starts_with("text/") && !lower.contains("charset") {
        true => format!("; charset={charset}"),
        false => String::new(),
    };
    let head = format!("{CONTENT_TYPE}: {kind}{letters}\r\n{TRANSFER_ENCODING}: {coding}\r\n\r\n");
    mail.extend_from_slice(head.as_bytes());
    if is_plain {
        let whole = body.strip_suffix(b"\n").unwrap_or(body);
        for line in whole.split(|byte| *byte == b'\n') {
            if line.starts_with(b".") {
                mail.push(b'.');
            }
            mail.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
            mail.extend_from_slice(b"\r\n");
        }
    } else {
        for line in body.chunks(BASE64_BYTES) {
            mail.extend_from_slice(STANDARD.encode(line).as_bytes());
            mail.extend_from_slice(b"\r\n");
        }
    }
    mail.extend_from_slice(b".\r\n");
}

/// `Tue, 24 Nov 2026 12:00:00 +0000`
fn date(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years that begin with March, in eras of 400 years.
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let date = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let of = |names: &[&'static str], at: u64| names.get(at as usize).copied().unwrap_or_default();
    format!(
        "{}, {date:02} {} {year:04} {:02}:{:02}:{:02} +0000",
        of(&DAYS, days % 7),
        of(&MONTHS, month - 1),
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plan() -> Plan {
        let mailbox = |address| Mailbox::new(None, address).expect("good");
        Plan {
            from: vec![mailbox("log@a")],
            to: vec![mailbox("x@a"), mailbox("y@a")],
            bcc: vec![mailbox("z@a")],
            headers: vec![Header { name: "X-Host".to_owned() }],
            host: "h".to_owned(),
            ..Plan::default()
        }
    }

    fn mail(subject: &[u8], body: &[u8]) -> String {
        let parts =
            Parts { time: 951_827_696, subject, headers: vec![b"one\r\nBcc: q@a"], id: &[1, 0xab], body };
        String::from_utf8(plan().mail(&parts)).expect("text")
    }

    #[test]
    fn a_plain_mail() {
        assert_eq!(
            mail(b"disk full", b".\nline two\n"),
            "Date: Tue, 29 Feb 2000 12:34:56 +0000\r\nFrom: log@a\r\nTo: x@a,\r\n y@a\r\nSubject: disk full\r\n\
             Message-ID: <01ab@h>\r\nMIME-Version: 1.0\r\nX-Host: one  Bcc: q@a\r\n\
             Content-Type: text/plain; charset=us-ascii\r\nContent-Transfer-Encoding: 7bit\r\n\r\n\
             ..\r\nline two\r\n.\r\n"
        );
    }

    #[test]
    fn what_is_not_plain_is_encoded() {
        let mail = mail("\u{e9}".repeat(30).as_bytes(), b"\xff");
        assert!(
            mail.contains("Subject: =?utf-8?B?w6nDqcOp") && mail.contains("?=\r\n =?utf-8?B?w6nDqcOp"),
            "{mail}"
        );
        assert!(
            mail.contains("charset=unknown-8bit\r\nContent-Transfer-Encoding: base64\r\n\r\n/w==\r\n.\r\n")
        );
    }

    #[test]
    fn a_header_of_the_destination_stands_in_the_place_of_ours() {
        let names = ["content-type", "Date", "SUBJECT", "To", "content-transfer-encoding"];
        let headers = names.map(|name| Header { name: name.to_owned() }).to_vec();
        let plan = Plan { headers, ..plan() };
        let mail = |kind: &'static str, body| {
            let headers = [kind, "now", "other", "z@z", "8bit"].map(str::as_bytes).to_vec();
            let parts = Parts { time: 0, subject: b"s", headers, id: &[1], body };
            String::from_utf8(plan.mail(&parts)).expect("text")
        };
        assert_eq!(
            mail("text/html", "<p>\u{e9}".as_bytes()),
            "From: log@a\r\nMessage-ID: <01@h>\r\nMIME-Version: 1.0\r\nDate: now\r\nSUBJECT: other\r\nTo: z@z\r\n\
             Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\nPHA+w6k=\r\n.\r\n"
        );
        assert!(mail("text/html; Charset=x", b"a").contains("\r\nContent-Type: text/html; Charset=x\r\n"));
        assert!(mail("application/json", b"{}").contains("\r\nContent-Type: application/json\r\n"));
        assert!(mail("", b"a").contains("\r\nContent-Type: text/plain; charset=us-ascii\r\n"));
    }

    proptest! {
        #[test]
        fn a_body_comes_back_and_nothing_ends_the_mail_early(body in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut mail = Vec::new();
            put_body(&mut mail, &body, None);
            let text = String::from_utf8(mail).expect("text");
            let (head, rest) = text.split_once("\r\n\r\n").expect("a head");
            let inner = rest.strip_suffix(".\r\n").expect("an end");
            prop_assert!(!inner.starts_with(".\r\n") && !inner.contains("\r\n.\r\n"));
            let lines = inner.split("\r\n");
            let found = match head.ends_with("base64") {
                true => STANDARD.decode(inner.replace("\r\n", "")).expect("base64"),
                false => lines.map(|line| line.strip_prefix('.').unwrap_or(line)).collect::<Vec<_>>().join("\n").into_bytes(),
            };
            let plain: Vec<u8> = body.iter().copied().filter(|byte| *byte != b'\r').collect();
            let found: Vec<u8> = found.into_iter().filter(|byte| *byte != b'\r').collect();
            let ended = |bytes: &[u8]| bytes.strip_suffix(b"\n").unwrap_or(bytes).to_vec();
            prop_assert_eq!(ended(&found), ended(&plain));
        }
    }
}
