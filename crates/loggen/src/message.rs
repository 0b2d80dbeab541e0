//! What a generated message looks like, built once and exactly as long as asked for.

pub use crate::clock::Moment;
use clap::ValueEnum;

mod body;
mod devices;
mod words;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    Rfc3164,
    Rfc5424,
}

/// What `--body` takes; its help lists these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Body {
    /// seq, thread, runid, stamp and PADD up to the size
    Padd,
    /// words of real log lines, mixed hosts, programs, facilities and severities
    Text,
    /// twenty fields of a firewall's record as key=value pairs
    Kv,
    /// the same fields as a JSON object, with a nested one
    Json,
    /// the same fields as a line of twenty-two columns
    Csv,
    /// the same fields as XML elements
    Xml,
    /// one in ten is `event NNNN user U from ADDRESS port N`, four begin like one
    Events,
    /// lines of forty kinds of devices, with headers of their own; the syntax and the priority are theirs
    Devices,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// The message ends with LF.
    Newline,
    /// `LEN SP MSG`, the message still ends with LF inside the frame (RFC 6587 section 3.4.1).
    OctetCount,
}

/// Everything that decides the bytes of a message except its number, connection and time.
#[derive(Clone, Debug)]
pub struct Style {
    pub syntax: Syntax,
    pub body: Body,
    pub framing: Framing,
    /// Bytes of one message with its LF, without an octet count.
    pub size: usize,
    /// Host names `host000`, `host001` ... to spread messages over; ignored by `Body::Padd`.
    pub hosts: u32,
    /// Facility and severity of every message (`facility * 8 + severity`); spread over all of them when
    /// `None` (`Body::Padd`: 38).
    pub pri: Option<u8>,
    /// Give RFC 3164 messages BSD, BSD with fraction, BSD with year, ISO 8601 and ISO 8601 UTC stamps in
    /// turn.
    pub mixed_stamps: bool,
    /// STRUCTURED-DATA of RFC 5424 messages; `Body::Padd` has none by default, the others a small element.
    pub sdata: Option<String>,
    /// Carry `conn=<4 digits> seq=<9 digits>`, what `verify` reads.
    pub stamp: bool,
    pub run_id: i64,
}

impl Style {
    pub fn new(syntax: Syntax, body: Body, size: usize) -> Style {
        Style {
            syntax,
            body,
            framing: Framing::Newline,
            size,
            hosts: 1,
            pri: None,
            mixed_stamps: false,
            sdata: None,
            stamp: body != Body::Padd,
            run_id: Moment::now().unix_seconds,
        }
    }
}

/// One message with the places that change from sending to sending.
#[derive(Clone, Debug, Default)]
pub struct Message {
    /// The whole frame.
    pub bytes: Vec<u8>,
    pub seq10_at: Option<usize>,
    pub thread4_at: Option<usize>,
    pub conn4_at: Option<usize>,
    pub seq9_at: Option<usize>,
    /// 19-byte times `YYYY-MM-DDTHH:MM:SS`.
    pub times_at: Vec<usize>,
}

const BOM: &[u8] = b"\xef\xbb\xbf";
/// The longest message that can be asked for.
pub const SIZE_MAX: usize = 8 << 20;

/// Messages for all places of a ring. They have one length: `style.size`, or the least that all contents fit
/// into.
pub fn build_all(style: &Style, count: usize, now: &Moment) -> Vec<Message> {
    let build = |size: usize| (0..count).map(|index| build_one(style, size, index, now)).collect::<Vec<_>>();
    let longest = |messages: &[Message]| messages.iter().map(|m| m.bytes.len()).max().unwrap_or(0);
    let size = style.size.min(SIZE_MAX);
    let mut messages = build(size);
    if longest(&messages) > size {
        messages = build(longest(&messages));
    }
    if style.framing == Framing::OctetCount {
        messages.iter_mut().for_each(count_octets);
    }
    messages
}

fn build_one(style: &Style, size: usize, index: usize, now: &Moment) -> Message {
    match style.body {
        Body::Padd => padd(style, size, now),
        Body::Devices => {
            let mut m = Message::default();
            devices::append(&mut m, style, size, index, now);
            m
        }
        _ => realistic(style, size, index, now),
    }
}

fn padd(style: &Style, size: usize, now: &Moment) -> Message {
    let mut m = Message::default();
    let pri = style.pri.unwrap_or(38);
    match style.syntax {
        Syntax::Rfc3164 => {
            m.text(&format!("<{pri}>"));
            m.time(&now.iso);
            m.text(" localhost prg00000[1234]: ");
        }
        Syntax::Rfc5424 => {
            m.text(&format!("<{pri}>1 "));
            m.time(&now.iso);
            m.text(&format!(
                "{} localhost prg00000 1234 - {} ",
                now.offset,
                style.sdata.as_deref().unwrap_or("-")
            ));
            m.bytes.extend_from_slice(BOM);
        }
    }
    m.text("seq: ");
    m.seq10_at = Some(m.bytes.len());
    m.text("0000000000, thread: ");
    m.thread4_at = Some(m.bytes.len());
    m.text(&format!("0000, runid: {}, stamp: ", style.run_id));
    m.time(&now.iso);
    m.text(" ");
    if style.stamp {
        m.stamp();
    }
    while m.bytes.len() + 1 < size {
        let take = (size - 1 - m.bytes.len()).min(4);
        m.text(&"PADD"[..take]);
    }
    m.text("\n");
    m
}

fn realistic(style: &Style, size: usize, index: usize, now: &Moment) -> Message {
    let mut m = Message::default();
    // 24 facilities and 8 severities, each combination as often as the next.
    let pri = style.pri.unwrap_or((index * 53 % 192) as u8);
    let host = index as u32 % style.hosts.max(1);
    let (program, pid, message_id) = (index % 17, 1000 + index, index % 50);
    match style.syntax {
        Syntax::Rfc3164 => {
            let stamp = if style.mixed_stamps { mixed_stamp(index, now) } else { now.bsd.clone() };
            m.text(&format!("<{pri}>{stamp} host{host:03} app{program}[{pid}]: "));
        }
        Syntax::Rfc5424 => {
            let (iso, offset) = (&now.iso, &now.offset);
            let fraction = index % 1000;
            m.text(&format!(
                "<{pri}>1 {iso}.{fraction:03}{offset} host{host:03} app{program} {pid} ID{message_id} "
            ));
            match &style.sdata {
                Some(sdata) => m.text(&format!("{sdata} ")),
                None => m.text(&format!("[ex@32473 k=\"v{index}\" sid=\"{}\"] ", index % 9)),
            }
        }
    }
    body::append(&mut m, style, size, index);
    m
}

fn mixed_stamp(index: usize, now: &Moment) -> String {
    let (date, clock) = now.iso.split_once('T').unwrap_or(("", ""));
    let (year, month_day) = (date.get(..4).unwrap_or(""), now.bsd.get(..6).unwrap_or(""));
    match index % 5 {
        0 => now.bsd.clone(),
        1 => format!("{}.{:03}", now.bsd, index % 1000),
        2 => format!("{month_day} {year} {clock}"),
        3 => format!("{}{}", now.iso, now.offset),
        _ => format!("{}.{:06}Z", now.iso, index),
    }
}

fn count_octets(m: &mut Message) {
    let prefix = format!("{} ", m.bytes.len());
    m.bytes.splice(..0, prefix.bytes());
    let places = [&mut m.seq10_at, &mut m.thread4_at, &mut m.conn4_at, &mut m.seq9_at];
    places.into_iter().flatten().chain(m.times_at.iter_mut()).for_each(|at| *at += prefix.len());
}

impl Message {
    fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn time(&mut self, iso: &str) {
        self.times_at.push(self.bytes.len());
        self.text(iso);
    }

    fn stamp(&mut self) {
        self.conn4_at = Some(self.bytes.len() + 5);
        self.seq9_at = Some(self.bytes.len() + 14);
        self.text("conn=0000 seq=000000000 ");
    }
}

#[cfg(test)]
mod tests;
