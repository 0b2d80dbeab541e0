//! What holds for any bytes at all. Used by the fuzz targets and by the test that replays their seeds.

use record::{Batch, Context, Record, Span, Stamp, Zone};
use std::sync::Arc;
use wire::relp::{self, Command};
use wire::{Framer, FramerOptions, Framing, SyslogOptions, SyslogParser, sdata};

/// The first four bytes choose framing, flags, size and a cut; the rest is the stream. However it is cut, the
/// frames are the same.
pub fn framer(input: &[u8]) {
    let Some(([framing, flags, size, cut], stream)) = input.split_first_chunk::<4>() else { return };
    let framings = [
        Framing::Lines,
        Framing::LinesWithNuls,
        Framing::NulTerminated,
        Framing::OctetCounting,
        Framing::Auto,
    ];
    let options = FramerOptions {
        framing: framings[usize::from(*framing) % framings.len()],
        log_msg_size: usize::from(*size) + 1,
        empty_lines: flags & 1 != 0,
        trim_large_messages: flags & 2 != 0,
        is_text: flags & 4 != 0,
    };
    let whole = frames(options, stream, stream.len().max(1));
    assert_eq!(frames(options, stream, usize::from(*cut) + 1), whole);
    assert_eq!(frames(options, stream, 1), whole);
}

type Frames = (Vec<Vec<u8>>, bool, u64);

/// Feeds the stream in pieces of `step` bytes.
fn frames(options: FramerOptions, stream: &[u8], step: usize) -> Frames {
    let mut framer = Framer::new(options);
    let (mut found, mut buffer) = (Vec::new(), Vec::new());
    for piece in stream.chunks(step) {
        buffer.extend_from_slice(piece);
        match framer.scan(&buffer, 0, |span| found.push(span.of(&buffer).to_vec())) {
            Ok(tail) => drop(buffer.drain(..tail)),
            Err(_) => return (found, false, framer.take_truncated()),
        }
        assert!(buffer.len() < framer.tail_max());
    }
    let good = framer.finish(&buffer, 0, |span| found.push(span.of(&buffer).to_vec())).is_ok();
    (found, good, framer.take_truncated())
}

/// What a proxy sends ahead of a connection. Every piece of a header asks for more or is refused as the whole
/// is, what follows it does not matter, and its length is within bounds.
pub fn proxy(input: &[u8]) {
    use wire::proxy::{V1_MAX, V2_MAX, parse};
    let whole = parse(input);
    for end in 0..input.len() {
        match (parse(&input[..end]), &whole) {
            (Ok(None), _) => {}
            (Ok(Some(header)), Ok(Some(same))) => assert!(header == *same && header.len <= end),
            (Err(_), Err(_)) => {}
            (part, whole) => panic!("{part:?} of {end} bytes, {whole:?} of {}", input.len()),
        }
    }
    match whole {
        Ok(Some(header)) => {
            assert!(header.len > 0 && header.len <= input.len() && header.len <= V1_MAX.max(V2_MAX));
            assert_eq!(parse(&input[..header.len]), Ok(Some(header)));
        }
        Ok(None) => assert!(input.len() < V2_MAX),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// The first two bytes choose the longest message and a cut; the rest is what a RELP peer sends. However it
/// is cut, the frames are the same, and written again they are read as the same.
pub fn relp(input: &[u8]) {
    let Some(([size, cut], stream)) = input.split_first_chunk::<2>() else { return };
    let max = usize::from(*size) + 1;
    let whole = relp_frames(max, stream, stream.len());
    assert_eq!(relp_frames(max, stream, usize::from(*cut) + 1), whole);
    assert_eq!(relp_frames(max, stream, 1), whole);
    let mut again = Vec::new();
    for (txnr, command, data) in &whole.0 {
        match command {
            Command::Syslog => relp::frame(&mut again, *txnr, "syslog", data),
            Command::Rsp => relp::frame(&mut again, *txnr, "rsp", data),
            _ => continue,
        }
        let _ = relp::Response::parse(data);
        let _ = relp::Offers::parse(data).check();
    }
    let kept = whole.0.into_iter().filter(|f| matches!(f.1, Command::Syslog | Command::Rsp));
    assert_eq!(relp_frames(usize::MAX / 2, &again, again.len()).0, kept.collect::<Vec<_>>());
}

type RelpFrames = (Vec<(u32, Command, Vec<u8>)>, Option<relp::FrameError>, u64);

fn relp_frames(max: usize, stream: &[u8], step: usize) -> RelpFrames {
    let mut reader = relp::Reader::new(max);
    let (mut found, mut buffer) = (Vec::new(), Vec::new());
    for piece in stream.chunks(step.max(1)) {
        buffer.extend_from_slice(piece);
        let sink = |f: relp::Frame| found.push((f.txnr, f.command, f.data.of(&buffer).to_vec()));
        match reader.scan(&buffer, sink) {
            Ok(tail) => drop(buffer.drain(..tail)),
            Err(error) => return (found, Some(error), reader.take_truncated()),
        }
        assert!(buffer.len() < reader.tail_max());
    }
    (found, None, reader.take_truncated())
}

/// Lines of a file. Each is of one message; what a message is depends on its own lines only, a carriage
/// return changes nothing, and none goes on for ever.
pub fn backtrace(input: &[u8]) {
    use wire::backtrace::{Backtrace, Step, look};
    /// As the limit of the machine.
    const LINES_MAX: usize = 4096;
    let (mut machine, mut fresh) = (Backtrace::default(), Backtrace::default());
    let mut before = Step { begins: false, ends: true };
    let mut lines = 0;
    for line in input.split(|byte| *byte == b'\n') {
        let seen = look(line);
        assert_eq!(look(&[line, b"\r"].concat()), seen);
        let step = machine.step(seen);
        assert!(step.begins || !before.ends, "a message goes on behind its end");
        if step.begins {
            (fresh, lines) = (Backtrace::default(), 0);
        }
        assert_eq!(fresh.step(seen), step);
        assert_eq!(fresh, machine);
        lines += 1;
        assert!(lines <= LINES_MAX);
        before = step;
    }
}

/// The first two bytes choose flags, the rest is a message.
pub fn rfc3164(input: &[u8]) {
    let Some(([one, two], frame)) = input.split_first_chunk::<2>() else { return };
    parse(options(*one, *two, false), frame);
}

/// The first two bytes choose flags, the rest is a message.
pub fn rfc5424(input: &[u8]) {
    let Some(([one, two], frame)) = input.split_first_chunk::<2>() else { return };
    parse(options(*one, *two, true), frame);
}

fn options(one: u8, two: u8, protocol: bool) -> SyslogOptions {
    let mut options = SyslogOptions { recv_zone: Zone::Fixed(3600), ..SyslogOptions::default() };
    let bit = |byte: u8, n: u32| byte >> n & 1 == 1;
    options.flags.syslog_protocol = protocol;
    options.flags.validate_utf8 = bit(one, 0);
    options.flags.sanitize_utf8 = bit(one, 1);
    options.flags.no_multi_line = bit(one, 2);
    options.flags.store_raw_message = bit(one, 3);
    options.flags.expect_hostname = !bit(one, 4);
    options.flags.guess_timezone = bit(one, 5);
    options.flags.no_rfc3164_fallback = bit(one, 6);
    options.flags.piggyback_errors = !bit(one, 7);
    options.flags.check_hostname = bit(two, 0);
    options.flags.check_program = bit(two, 1);
    options.flags.kernel = bit(two, 2);
    options.local = bit(two, 3);
    options.keep_timestamp = !bit(two, 4);
    options
}

/// Every span lies in the text, STRUCTURED-DATA is what it claims to be, and neither the bytes around a
/// message nor the fast paths change what it says.
fn parse(options: SyslogOptions, frame: &[u8]) {
    let alone = fields(options.clone(), &[frame]);
    assert_eq!(fields(options.clone(), &[frame, &[b'~'; 100]]), alone);
    // A matcher that never matches turns the fast path off.
    let general = SyslogOptions { bad_hostname: Some(Arc::new(|_| false)), ..options };
    assert_eq!(fields(general, &[frame, &[b'~'; 100]]), alone);
}

/// The fields of the first of these messages.
fn fields(options: SyslogOptions, frames: &[&[u8]]) -> (u16, u16, Stamp, Vec<Vec<u8>>) {
    let context = Arc::new(Context::local("s_fuzz", "here", "local+file"));
    let mut batch = Batch::new(Vec::new(), context, Stamp { secs: 1_795_255_200, usec: 5, offset: 0 });
    for frame in frames {
        let span = batch.append(frame);
        batch.records.push(Record::new(span));
    }
    SyslogParser::new(options).parse_batch(&mut batch, 0);
    let r = batch.records[0];
    let spans: [Span; 7] = [r.host, r.program, r.pid, r.msgid, r.msghdr, r.message, r.sdata];
    assert!(spans.iter().all(|span| *span == Span::NOTHING || span.end() <= batch.text.len()));
    if r.stamp_text != Record::NO_TEXT {
        let text = batch.bytes(Span::new(r.stamp_text as usize, 15));
        let mut printed = Vec::new();
        let mut bsd = wire::timestamp::StampFormatter::new(wire::timestamp::TimeFormat::Bsd, 0);
        bsd.append(&mut printed, &r.stamp, r.stamp.offset);
        assert_eq!(text, printed);
    }
    rebuild(batch.bytes(r.sdata));
    (r.pri, r.flags.0, r.stamp, spans.iter().map(|span| batch.bytes(*span).to_vec()).collect())
}

/// Reading all parameters and writing them again gives exact STRUCTURED-DATA with the same parameters.
fn rebuild(read: &[u8]) {
    let (mut written, mut buffer) = (Vec::new(), Vec::new());
    let mut builder = sdata::Builder::new(&mut written);
    for param in sdata::params(read) {
        builder.param(param.id, param.name, sdata::unescape(param.value, &mut buffer));
    }
    assert_eq!(builder.finish(), !read.is_empty());
    let checked = sdata::check(&written, 0, 0);
    assert_eq!(checked, Ok(sdata::Checked { end: written.len(), exact: true }));
    let names = |text| sdata::params(text).map(|p| (p.id.to_vec(), p.name.to_vec())).collect::<Vec<_>>();
    // Elements of the same id that follow each other are joined.
    assert_eq!(names(&written).len(), names(read).len());
}

/// The first byte says how the rest is cut. However it is, the frames are the same, and every message lies in
/// its batch. No bytes do harm; whatever is read is part of the file, and no more messages come than the
/// header counts.
pub fn queue_file(input: &[u8]) {
    use wire::queue_file::{Header, Message, messages};
    let _ = Message::parse(input).map(|(_, used)| assert!(used <= input.len()));
    let Ok(header) = Header::parse(input) else { return };
    let (mut count, mut bytes) = (0, 0);
    let found = messages(input, input.len() as u64, &header, |message| {
        count += 1;
        bytes += message.values.iter().map(|(name, value, _)| name.len() + value.len()).sum::<usize>();
        count < 10_000
    });
    assert_eq!(found.messages, count);
    assert!(count <= header.messages());
}

pub fn rltp(input: &[u8]) {
    let Some((cut, stream)) = input.split_first() else { return };
    let _ = wire::rltp::read_hello(stream);
    let whole = rltp_frames(stream, stream.len().max(1));
    assert_eq!(rltp_frames(stream, usize::from(*cut) + 1), whole);
    assert_eq!(rltp_frames(stream, 1), whole);
}

/// The frames as text, and whether the stream is good to its end.
fn rltp_frames(stream: &[u8], step: usize) -> (Vec<String>, bool) {
    use wire::rltp::{self, Frame};
    const PAYLOAD_MAX: usize = 4096;
    let (mut found, mut buffer) = (Vec::new(), Vec::new());
    for piece in stream.chunks(step) {
        buffer.extend_from_slice(piece);
        loop {
            let length = match rltp::next(&buffer, PAYLOAD_MAX) {
                Ok(None) => break,
                Ok(Some((frame, length))) => {
                    assert_eq!(rltp::frame_bytes(&buffer), Some(length));
                    let messages = match &frame {
                        Frame::Batch(batch) => rltp_messages(batch),
                        _ => None,
                    };
                    found.push(format!("{frame:?} {messages:?}"));
                    length
                }
                Err(_) => return (found, false),
            };
            buffer.drain(..length);
        }
    }
    (found, true)
}

fn rltp_messages(batch: &wire::rltp::Batch<'_>) -> Option<Vec<Vec<u8>>> {
    let mut text = batch.payload.to_vec();
    if batch.packed {
        text = vec![0; batch.plain as usize];
        wire::rltp::unpack(batch.payload, &mut text).ok()?;
    }
    let mut messages = Vec::new();
    let mut end = 4 * batch.messages as usize;
    let outcome = wire::rltp::messages(&text, batch.messages, 0, |span| {
        assert_eq!((span.start as usize, span.end() <= text.len()), (end, true));
        end = span.end();
        wire::rltp::cut(&FramerOptions::default(), &text, span, |kept| {
            assert!(kept.start >= span.start && kept.end() <= span.end());
        });
        messages.push(span.of(&text).to_vec());
    });
    outcome.is_ok().then_some(messages)
}

/// Members are parts of the text, one behind the other.
pub fn json_parts(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let mut end = 0;
    for (name, value) in wire::json_parts::Members::of(text).into_iter().flatten() {
        let (at, from) = (name.as_ptr() as usize, value.as_ptr() as usize);
        let start = text.as_ptr() as usize;
        assert!(at >= start + end && from >= at + name.len() && !value.is_empty());
        end = from + value.len() - start;
        assert!(end <= text.len());
    }
}
