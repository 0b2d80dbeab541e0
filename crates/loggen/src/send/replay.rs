//! Sending the lines of a file instead of generated messages (`--read-file`): parsed and given the current
//! time, or as they are. Each connection reads the file on its own.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Stdin};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{Run, Second};
use crate::clock::Moment;
use crate::message::{Framing, Syntax};
use crate::pace::Pace;
use crate::wire::Wire;
use stdio::CommandError;

/// Longer lines are cut.
const LINE_MAX: u64 = 1 << 20;
/// Unpaced stream output is gathered up to this size.
const WRITE_BYTES: usize = 64 * 1024;
/// How many bad lines are named one by one.
const NAMED_MAX: u64 = 10;

#[derive(Clone, Debug)]
pub struct Replay {
    pub path: PathBuf,
    /// Start again at the end of the file.
    pub again: bool,
    /// Send lines as they are.
    pub raw: bool,
    /// Blank-separated words to drop from the front of a line before parsing it.
    pub skip_tokens: usize,
    /// Octet counting also for lines sent as they are.
    pub frame_raw: bool,
}

impl Replay {
    pub fn new(path: PathBuf) -> Replay {
        Replay { path, again: false, raw: false, skip_tokens: 0, frame_raw: false }
    }

    fn is_stdin(&self) -> bool {
        self.path == Path::new("-")
    }

    pub(super) fn check(&self, connections: usize) -> Result<(), CommandError> {
        if self.is_stdin() {
            if self.again {
                return Err("standard input cannot be read in a loop".into());
            }
            if connections > 1 {
                return Err("standard input can feed one connection only".into());
            }
            return Ok(());
        }
        Ok(File::open(&self.path)
            .map(drop)
            .map_err(|e| format!("cannot open {}: {e}", self.path.display()))?)
    }
}

/// A line of a legacy log taken apart; the time is not kept.
#[derive(Debug, PartialEq, Eq)]
struct Parsed<'a> {
    pri: Option<&'a [u8]>,
    host: &'a [u8],
    program: &'a [u8],
    pid: Option<&'a [u8]>,
    text: &'a [u8],
}

enum Source {
    File(BufReader<File>),
    Stdin(BufReader<Stdin>),
}

pub(super) fn send(run: &Run, replay: &Replay, sockets: Vec<(usize, Wire)>) -> Vec<String> {
    let mut errors = Vec::new();
    for (index, mut wire) in sockets {
        if let Err(error) = one(run, replay, index, &mut wire) {
            errors.push(format!("connection {index}: {error}"));
        }
        wire.finish();
    }
    errors
}

fn one(run: &Run, replay: &Replay, index: usize, wire: &mut Wire) -> Result<(), CommandError> {
    let load = run.load;
    let mut source = open(replay)?;
    let mut second = Second::new();
    let pace = load.rate.map(|rate| Pace::new(rate, index, load.connections));
    let goal = load.share(index).unwrap_or(u64::MAX);
    let (mut line, mut out) = (Vec::new(), Vec::with_capacity(WRITE_BYTES + 4096));
    let (mut sent, mut number, mut bad, mut pending) = (0u64, 0u64, 0u64, 0u64);
    let mut found_any = false;
    while sent + pending < goal && !run.stopped(Instant::now()) {
        if !read_line(&mut source, &mut line)
            .map_err(|e| format!("cannot read {}: {e}", replay.path.display()))?
        {
            // A file without one usable line would be read for ever.
            if !replay.again || !found_any || !rewind(&mut source) {
                break;
            }
            continue;
        }
        number += 1;
        let at = out.len();
        if !render(run, replay, &line, second.at(Instant::now()), &mut out) {
            bad += 1;
            if bad <= NAMED_MAX {
                stdio::err!("Invalid line {number}");
            }
            continue;
        }
        found_any = true;
        pending += 1;
        // Of a connection that breaks, only the message that was being sent is sent again.
        let single = !load.target.is_stream() || load.reconnect;
        if pace.is_some_and(|pace| !sleep_until_due(run, pace, sent + pending - 1)) {
            out.truncate(at);
            pending -= 1;
            break;
        }
        if single || pace.is_some() || out.len() >= WRITE_BYTES {
            deliver(run, index, wire, &out)?;
            run.progress.add(index, pending, out.len() as u64);
            sent += pending;
            pending = 0;
            out.clear();
        }
    }
    deliver(run, index, wire, &out)?;
    run.progress.add(index, pending, out.len() as u64);
    if bad > NAMED_MAX {
        stdio::err!("{bad} invalid lines were skipped");
    }
    Ok(())
}

/// Sends what is whole messages; with `--reconnect` until a connection takes it or the run ends.
fn deliver(run: &Run, index: usize, wire: &mut Wire, out: &[u8]) -> Result<(), CommandError> {
    while let Err(error) = wire.write_all(out) {
        let failed = format!("error sending: {error}");
        if !run.load.reconnect {
            return Err(failed.into());
        }
        run.say_lost(index, &error);
        *wire = run.reconnect(index).ok_or(failed)?;
    }
    Ok(())
}

/// False when the run ended first.
fn sleep_until_due(run: &Run, pace: Pace, sent: u64) -> bool {
    loop {
        let elapsed = run.start.elapsed();
        if pace.due(elapsed) > sent {
            return true;
        }
        if run.stopped(Instant::now()) {
            return false;
        }
        std::thread::sleep(pace.due_at(sent).saturating_sub(elapsed).min(Duration::from_millis(50)));
    }
}

fn open(replay: &Replay) -> Result<Source, CommandError> {
    if replay.is_stdin() {
        return Ok(Source::Stdin(BufReader::with_capacity(WRITE_BYTES, std::io::stdin())));
    }
    let file = File::open(&replay.path).map_err(|e| format!("cannot open {}: {e}", replay.path.display()))?;
    Ok(Source::File(BufReader::with_capacity(WRITE_BYTES, file)))
}

fn rewind(source: &mut Source) -> bool {
    match source {
        Source::File(file) => file.seek(SeekFrom::Start(0)).is_ok(),
        Source::Stdin(_) => false,
    }
}

/// The next line without its LF; false at the end.
fn read_line(source: &mut Source, line: &mut Vec<u8>) -> std::io::Result<bool> {
    line.clear();
    let reader: &mut dyn BufRead = match source {
        Source::File(file) => file,
        Source::Stdin(stdin) => stdin,
    };
    let count = reader.take(LINE_MAX).read_until(b'\n', line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok(count > 0)
}

/// Appends the frame for `line`; false when it is not a message.
fn render(run: &Run, replay: &Replay, line: &[u8], now: &Moment, out: &mut Vec<u8>) -> bool {
    let style = &run.load.style;
    let mut message = Vec::with_capacity(line.len() + 64);
    if replay.raw {
        message.extend_from_slice(line);
    } else {
        let Some(parsed) = skip_tokens(line, replay.skip_tokens).and_then(parse) else { return false };
        let pid = parsed.pid.unwrap_or(b"");
        message.push(b'<');
        message.extend_from_slice(parsed.pri.unwrap_or(b"38"));
        match style.syntax {
            Syntax::Rfc3164 => {
                let rest = [b">".as_slice(), now.bsd.as_bytes(), b" ", parsed.host, b" ", parsed.program];
                rest.iter().for_each(|part| message.extend_from_slice(part));
                if !pid.is_empty() {
                    [b"[".as_slice(), pid, b"]"].iter().for_each(|part| message.extend_from_slice(part));
                }
                message.extend_from_slice(b": ");
            }
            Syntax::Rfc5424 => {
                let pid = if pid.is_empty() { b"-" } else { pid };
                let sdata = style.sdata.as_deref().unwrap_or("-").as_bytes();
                let time = [b">1 ".as_slice(), now.iso.as_bytes(), now.offset.as_bytes()];
                let rest = [
                    b" ".as_slice(),
                    parsed.host,
                    b" ",
                    parsed.program,
                    b" ",
                    pid,
                    b" - ",
                    sdata,
                    b" \xef\xbb\xbf",
                ];
                time.iter().chain(&rest).for_each(|part| message.extend_from_slice(part));
            }
        }
        message.extend_from_slice(parsed.text);
    }
    message.push(b'\n');
    if style.framing == Framing::OctetCount && (!replay.raw || replay.frame_raw) {
        out.extend_from_slice(format!("{} ", message.len()).as_bytes());
    }
    out.extend_from_slice(&message);
    true
}

fn skip_tokens(mut line: &[u8], count: usize) -> Option<&[u8]> {
    for _ in 0..count {
        line = &line[memchr::memchr(b' ', line)? + 1..];
    }
    Some(line)
}

/// `<PRI>Mmm dd hh:mm:ss HOST PROGRAM[PID]: TEXT`, where PRI and PID may be missing.
fn parse(line: &[u8]) -> Option<Parsed<'_>> {
    let (pri, rest) = match line.strip_prefix(b"<") {
        Some(inner) => {
            let end = memchr::memchr(b'>', inner).filter(|&end| (1..=3).contains(&end))?;
            (Some(&inner[..end]).filter(|pri| pri.iter().all(u8::is_ascii_digit)), &inner[end + 1..])
        }
        None => (None, line),
    };
    let rest = rest.get(15..).filter(|_| is_bsd_time(&rest[..15]))?.strip_prefix(b" ")?;
    let (host, rest) = rest.split_at(memchr::memchr(b' ', rest)?);
    let rest = &rest[1..];
    let (tag, text) = rest.split_at(memchr::memchr(b':', rest)?);
    let text = text[1..].strip_prefix(b" ").unwrap_or(&text[1..]);
    if tag.is_empty() || tag.contains(&b' ') {
        return None;
    }
    let (program, pid) = match memchr::memchr(b'[', tag) {
        Some(at) => (&tag[..at], Some(tag[at + 1..].strip_suffix(b"]")?)),
        None => (tag, None),
    };
    Some(Parsed { pri, host, program, pid, text })
}

fn is_bsd_time(text: &[u8]) -> bool {
    let shape = b"aaa dd dd:dd:dd";
    text.len() == shape.len()
        && text.iter().zip(shape).all(|(&byte, &kind)| match kind {
            b'a' => byte.is_ascii_alphabetic(),
            b'd' => byte.is_ascii_digit() || byte == b' ',
            other => byte == other,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_apart() {
        let parsed = parse(b"<14>Nov  1 10:00:00 hst prog[12]: hello there").unwrap();
        let expected = Parsed {
            pri: Some(b"14"),
            host: b"hst",
            program: b"prog",
            pid: Some(b"12"),
            text: b"hello there",
        };
        assert_eq!(parsed, expected);
        let parsed = parse(b"Nov 21 10:00:00 hst prog: x").unwrap();
        assert_eq!((parsed.pri, parsed.pid, parsed.text), (None, None, b"x".as_slice()));
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for line in [
            "",
            "plain text",
            "<14>",
            "Nov 21 10:00:00 hst",
            "Nov 21 10:00:00 hst no colon",
            "<9999>Nov 21 10:00:00 h p: x",
        ] {
            assert_eq!(parse(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn tokens_are_skipped() {
        assert_eq!(skip_tokens(b"a b c d", 2), Some(b"c d".as_slice()));
        assert_eq!(skip_tokens(b"a b", 5), None);
    }
}
