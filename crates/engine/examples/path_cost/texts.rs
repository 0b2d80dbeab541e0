//! The messages that the rows are run with.

use std::fmt::Write;

/// In a batch.
pub const MESSAGES: usize = 160;
const MESSAGE_BYTES: usize = 400;
/// Of the row that has the shape of Splunk Connect for Syslog; messages are from so many programs.
pub const APPLICATIONS: usize = 300;

/// What a row is run with, by its name. Where it says `mixed`, the pairs of each message stand in an order of
/// their own, and some are missing; where it ends with `json` or `xml` and has a block, messages are that.
pub fn of(name: &str) -> Vec<u8> {
    match name {
        "filterx-json" => structured(&json),
        "filterx-xml" => structured(&xml),
        name if name.contains("mixed-") => mixed(&messages()),
        _ => messages(),
    }
}

/// Lines of 400 bytes whose text `put` makes of their number.
fn structured(put: &dyn Fn(usize, &mut String)) -> Vec<u8> {
    let mut text = String::new();
    for n in 0..MESSAGES {
        let _ = write!(
            text,
            "<{}>Nov 21 10:00:{:02} host{:03} app{}[{}]: ",
            8 + n % 180,
            n / 80,
            n % 16,
            n % 7,
            1000 + n
        );
        put(n, &mut text);
        text.push('\n');
    }
    text.into_bytes()
}

fn json(n: usize, out: &mut String) {
    let _ = write!(
        out,
        "{{\"user\":\"u{}\",\"src\":\"10.0.{}.{}\",\"dst\":\"10.9.8.{}\",\"act\":\"{}\",\"len\":{},\"code\":{},\"nest\":{{\"zone\":\"{}\",\"depth\":{}}},\
         \"tags\":[\"a\",\"b\",{n}],\"ratio\":0.5,\"seen\":true,\"none\":null,\"path\":\"/var/log/app/{n}.log\",\"text\":\"session closed for user root by (uid=0) after {} bytes, \
         nothing else is known of it at this time and nobody has asked for more\"}}",
        n % 100,
        n % 7,
        n % 250,
        n % 11,
        ["allow", "deny"][n % 2],
        40 + n * 9,
        200 + n % 5,
        ["in", "out", "dmz"][n % 3],
        n % 4,
        n * 31,
    );
}

fn xml(n: usize, out: &mut String) {
    let _ = write!(
        out,
        "<e><user id=\"{n}\">u{}</user><act>{}</act><code>{}</code><src>10.0.{}.{}</src><text>session closed &amp; gone for user \
         root after {} bytes, nothing else is known of it at this time and nobody has asked for more</text></e>",
        n % 100,
        ["allow", "deny"][n % 2],
        200 + n % 5,
        n % 7,
        n % 250,
        n * 31,
    );
}

/// Lines of 400 bytes with twenty pairs each, from some hosts and programs.
fn messages() -> Vec<u8> {
    let mut text = String::new();
    for n in 0..MESSAGES {
        let start = text.len();
        let _ = write!(
            text,
            "<{}>Nov 21 10:00:{:02} host{:03} app{}[{}]: conn=0001 seq={n} user=u{} src=10.0.{}.{} dst=10.9.8.{} sp={} \
             dp=443 prot=tcp act={} len={} code={} meth=GET zone={} if=eth0 rule={} lvl=low dept=it os=lnx cc=de id={} text=\"",
            8 + n % 180,
            n / 80,
            n % 16,
            n * 7 % APPLICATIONS,
            1000 + n,
            n % 100,
            n % 7,
            n % 250,
            n % 11,
            1024 + n,
            ["allow", "deny"][n % 2],
            40 + n * 9,
            200 + n % 5,
            ["in", "out", "dmz"][n % 3],
            n % 90,
            10_000 + n,
        );
        while text.len() - start < MESSAGE_BYTES - 2 {
            text.push_str("session closed ");
        }
        text.truncate(start + MESSAGE_BYTES - 2);
        text.push_str("\"\n");
    }
    text.into_bytes()
}

/// The same messages, each with its pairs in another order and without every eighth of them.
fn mixed(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    let (mut out, mut seed) = (String::new(), 7u64);
    for line in text.lines() {
        let (head, pairs) = line.split_once(": ").unwrap_or(("", line));
        let (pairs, last) = pairs.split_once(" text=").unwrap_or((pairs, ""));
        let mut left: Vec<&str> = pairs.split(' ').collect();
        out.push_str(head);
        out.push(':');
        while !left.is_empty() {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let pair = left.remove((seed >> 33) as usize % left.len());
            if seed >> 61 > 0 {
                let _ = write!(out, " {pair}");
            }
        }
        let _ = writeln!(out, " text={last}");
    }
    out.into_bytes()
}
