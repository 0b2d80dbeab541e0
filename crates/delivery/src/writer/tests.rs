//! Shapes of lines, repetitions, numbers, marks.

use super::*;
use crate::testing::{Rig, identity, template};
use engine::program::Format;
use engine::{Budget, Progress, Sink, Status, Whole, Window};
use record::{Context, NameId, Span, Stamp, ValueType};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A batch of messages `host|program|text`, local or not.
fn batch(messages: &[&str], at: i64, flags: Flags) -> Batch {
    let stamp = Stamp { secs: at, usec: 0, offset: 0 };
    let mut batch = Batch::new(Vec::new(), Arc::new(Context::local("s", "h", "local")), stamp);
    for (index, message) in messages.iter().enumerate() {
        let mut record = Record::new(Span::EMPTY);
        (record.stamp, record.flags) = (stamp, flags);
        batch.records.push(record);
        let names = [NameId::HOST, NameId::PROGRAM, NameId::MESSAGE];
        for (name, text) in names.into_iter().zip(message.split('|')) {
            batch.set(index, name, text.as_bytes(), ValueType::String);
        }
    }
    batch
}

fn writer(text: &str) -> Writer {
    Writer::new(template(text), &identity())
}

fn lines(writer: &Writer, messages: &[&str]) -> Vec<String> {
    let batch = batch(messages, 1000, Flags::LOCAL);
    let selection: Vec<u32> = (0..messages.len() as u32).collect();
    let mut chunk = Chunk::default();
    writer.append(&batch, &selection, &mut Scratch::new(identity()), &mut chunk);
    chunk.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect()
}

#[test]
fn shapes() {
    let messages = ["h|p|one", "h|p|a\nlong one"];
    let shaped = |shape: &dyn Fn(&mut Writer)| {
        let mut writer = writer("$MSG\n");
        shape(&mut writer);
        lines(&writer, &messages)
    };
    assert_eq!(shaped(&|_| {}), ["one\n", "a\nlong one\n"]);
    assert_eq!(shaped(&|w| w.envelope = Envelope::OctetCounting), ["4 one\n", "11 a\nlong one\n"]);
    assert_eq!(shaped(&|w| w.no_multi_line = true), ["one\n", "a long one\n"]);
    assert_eq!(shaped(&|w| w.truncate_size = 4), ["one\n", "a\nlo"]);
    assert_eq!(shaped(&|w| w.pad_size = 6), ["one\0\0\0", "a\nlong"]);
    let all = |w: &mut Writer| {
        (w.envelope, w.no_multi_line, w.truncate_size) = (Envelope::OctetCounting, true, 5);
    };
    assert_eq!(shaped(&all), ["4 one\n", "5 a lon"]);
}

#[test]
fn what_stands_behind_messages_is_no_part_of_them() {
    let (messages, plain) = (["h|p|one", "h|p|"], writer("$MSG"));
    let mut delimited = writer("$MSG");
    assert!(delimited.behind(template("$MSG;"), 1));
    assert_eq!(lines(&delimited, &messages), ["one", ""]);
    let batch = batch(&messages, 1000, Flags::LOCAL);
    let mut scratch = Scratch::new(identity());
    assert_eq!(delimited.preview(&batch, 0, &mut scratch).as_deref(), Some(&b"one"[..]));
    // A reload while a chunk is filled: what comes later lies there as what is there.
    for (first, second, bytes) in [(&delimited, &plain, &b"one;;one;;"[..]), (&plain, &delimited, b"oneone")]
    {
        let mut chunk = Chunk::default();
        for writer in [first, second] {
            writer.append(&batch, &[0, 1], &mut scratch, &mut chunk);
        }
        assert_eq!(chunk.bytes.as_slice(), bytes);
        assert_eq!(chunk.iter().collect::<Vec<_>>(), [&b"one"[..], b"", b"one", b""]);
    }
    let mut shaped = writer("$MSG");
    shaped.no_multi_line = true;
    assert!(!shaped.behind(template("$MSG;"), 1), "what is shaped has no place for it");
}

#[test]
fn local_messages_are_numbered_over_batches() {
    let mut writer = writer("$SEQNUM ");
    assert_eq!(lines(&writer, &["h|p|a", "h|p|b"]), ["1 ", "2 "]);
    assert_eq!(lines(&writer, &["h|p|c"]), ["3 "]);
    writer.numbers = false;
    assert_eq!(lines(&writer, &["h|p|c"]), [" "]);
}

#[test]
fn messages_of_other_machines_are_numbered_when_all_are() {
    let mut writer = writer("$SEQNUM ");
    let remote = |writer: &Writer| {
        let batch = batch(&["h|p|a", "h|p|b"], 1000, Flags::default());
        let mut chunk = Chunk::default();
        writer.append(&batch, &[0, 1], &mut Scratch::new(identity()), &mut chunk);
        String::from_utf8(chunk.bytes.to_vec()).expect("text")
    };
    assert_eq!(remote(&writer), "  ");
    writer.numbers_all = true;
    assert_eq!((remote(&writer), remote(&writer)), ("1 2 ".to_owned(), "3 4 ".to_owned()));
}

#[derive(Clone, Default)]
struct Collect(Arc<Mutex<String>>);

impl Sink for Collect {
    fn write(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>) -> Status {
        while let Some(mut chunk) = chunks.pop_front() {
            self.0.lock().push_str(&String::from_utf8_lossy(&chunk.bytes));
            progress.delivered(Whole { messages: chunk.messages(), bytes: chunk.bytes.len() });
            chunk.skip(usize::MAX);
            progress.finished(chunk);
        }
        Status::Done
    }

    fn close(&mut self, _queue: &mut VecDeque<Chunk>) {}
}

/// What a destination with this writer writes.
struct Written {
    rig: Rig,
    text: Arc<Mutex<String>>,
}

impl Written {
    fn new(writer: Writer) -> Written {
        let collect = Collect::default();
        let text = Arc::clone(&collect.0);
        Written { rig: Rig::with(writer, Box::new(move |_| Box::new(collect.clone()))), text }
    }

    fn deliver(&self, mut batch: Batch) -> String {
        let selection: Vec<u32> = (0..batch.records.len() as u32).collect();
        let mut out = Outbox::default();
        self.rig.destination.format(&mut batch, &selection, &mut Scratch::new(identity()), &mut out);
        let window = Window::new(usize::MAX, None, Budget::new(usize::MAX));
        let ticket = window.ticket(0, selection.len());
        out.end_batch(&ticket);
        ticket.settle();
        out.flush();
        self.take()
    }

    fn take(&self) -> String {
        std::mem::take(&mut *self.text.lock())
    }
}

#[test]
fn repetitions_are_counted() {
    let mut writer = writer("$HOST $PROGRAM $MSG\n");
    writer.suppress = Some(Suppress::new(10));
    let written = Written::new(writer);
    let remote = |messages: &[&str], at| batch(messages, at, Flags::default());
    let long = "h|p|a message of some length";
    assert_eq!(
        written.deliver(remote(&["h|p|x", long, long, long, "h|q|a message of some length"], 1000)),
        "h p x\nh p a message of some length\n\
         h p Last message 'a message of some le' repeated 2 times, suppressed by syslog-ng on collector\n\
         h q a message of some length\n"
    );
    // Over the border of a batch, and when the time is over.
    assert_eq!(written.deliver(remote(&["h|q|a message of some length"], 1010)), "");
    assert_eq!(
        written.deliver(remote(&["h|q|a message of some length"], 1011)),
        "h q Last message 'a message of some le' repeated 1 times, suppressed by syslog-ng on collector\n\
         h q a message of some length\n"
    );
    assert_eq!(written.deliver(remote(&["h|q|a message of some length"], 1012)), "");
    // Nothing comes any more: the clock brings the count out.
    written.rig.outlet.tick(Instant::now());
    assert_eq!(
        written.take(),
        "h q Last message 'a message of some le' repeated 1 times, suppressed by syslog-ng on collector\n"
    );
    assert_eq!(written.rig.counters().suppressed.value(), 4);
    written.rig.wait_balanced();
}

#[test]
fn the_count_of_repetitions_is_a_message_of_this_program() {
    let mut writer = writer("$UNIXTIME $HOST $PROGRAM $PID $SEQNUM $MSG\n");
    writer.suppress = Some(Suppress::new(10));
    let written = Written::new(writer);
    let text = written.deliver(batch(&["h|p|x", "h|p|x", "h|p|y"], 1000, Flags::default()));
    let note = text.lines().nth(1).expect("a note");
    let (stamp, rest) = note.split_once(' ').expect("a stamp");
    assert!(stamp.parse::<i64>().expect("a number") > 1_700_000_000, "{note}");
    let id = std::process::id();
    assert_eq!(
        rest,
        format!("h p {id} 1 Last message 'x' repeated 1 times, suppressed by syslog-ng on collector")
    );
}

#[test]
fn marks_come_by_the_clock_and_those_of_others_are_dropped() {
    let marked = |mode| {
        let mut writer = writer("<$PRI>$HOST $MSG\n");
        writer.marks = Marks { mode, freq: Duration::from_secs(1200) };
        Written::new(writer)
    };
    let later = Instant::now() + Duration::from_secs(1201);
    let mark = "<46>collector -- MARK --\n";
    for (mode, expected) in [
        (MarkMode::None, ""),
        (MarkMode::Internal, ""),
        (MarkMode::Periodical, mark),
        (MarkMode::DstIdle, mark),
        (MarkMode::HostIdle, mark),
    ] {
        let written = marked(mode);
        written.rig.outlet.tick(Instant::now());
        assert_eq!(written.take(), "", "{mode:?}");
        written.rig.outlet.tick(later);
        assert_eq!(written.take(), expected, "{mode:?}");
        // The next one has to wait again.
        written.rig.outlet.tick(later);
        assert_eq!(written.take(), "", "{mode:?}");
        let flags = Flags(Flags::MARK.0 | Flags::INTERNAL.0 | Flags::LOCAL.0);
        let passed = if mode == MarkMode::Internal { "<13>h -- MARK --\n" } else { "" };
        assert_eq!(written.deliver(batch(&["h||-- MARK --"], 1000, flags)), passed, "{mode:?}");
    }
}

#[test]
fn throttled_messages_wait_and_none_is_lost() {
    let mut writer = writer("$MSG\n");
    writer.throttle = 100;
    let written = Written::new(writer);
    let messages: Vec<String> = (0..130).map(|n| format!("h|p|{n}")).collect();
    let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
    let mut text = written.deliver(batch(&messages, 1000, Flags::default()));
    assert!((100..130).contains(&text.lines().count()), "{text}");
    crate::testing::wait_until("the rest", || {
        text.push_str(&written.take());
        text.lines().count() == 130
    });
    assert_eq!(text, (0..130).map(|n| format!("{n}\n")).collect::<String>());
    written.rig.wait_balanced();
}

#[test]
fn senders_stand_before_messages_that_have_one() {
    let mut writer = writer("$MSG\n");
    writer.envelope = Envelope::Sender { ipv6: false, bytes_max: 4 };
    writer.truncate_size = 6;
    let written = |remote: Option<&str>| {
        let mut batch = batch(&["h|p|a text"], 1000, Flags::default());
        if let Some(remote) = remote {
            let remote = remote.parse().expect("address");
            let mut context = Context::local("s", "h", "rfc3164+udp");
            context.peer = record::Peer::Inet { remote, local: remote, proxy: None };
            batch.contexts = vec![Arc::new(context)];
        }
        let mut chunk = Chunk::default();
        let mut scratch = Scratch::new(identity());
        scratch.begin_batch(batch.received);
        let cut = writer.append(&batch, &[0], &mut scratch, &mut chunk);
        let (from, text) = sender::take(chunk.front().unwrap_or_default());
        (from.map(|f| f.to_string()), String::from_utf8_lossy(text).into_owned(), cut)
    };
    assert_eq!(written(Some("192.0.2.1:5")), (Some("192.0.2.1:5".to_owned()), "a te".to_owned(), 1));
    assert_eq!(written(Some("[2001:db8::1]:5")), (None, "a text".to_owned(), 1));
    assert_eq!(written(None), (None, "a text".to_owned(), 1));
}

#[test]
fn what_waits_can_be_put_into_each_form() {
    let with_sender = Envelope::Sender { ipv6: false, bytes_max: 99 };
    let all = [Envelope::Plain, Envelope::Text, Envelope::OctetCounting, with_sender];
    for from in all.map(Envelope::form) {
        for to in all.map(Envelope::form) {
            let (mut there, mut back) = (Vec::new(), Vec::new());
            (from.put)(&mut there, b"<13>1 a line\n");
            (to.put)(&mut back, (from.bare)(&there));
            assert_eq!((to.bare)(&back), b"<13>1 a line\n", "{} to {}", from.name, to.name);
        }
    }
    let mut line = Vec::new();
    (Envelope::Plain.form().put)(&mut line, b"counted, without an end");
    assert_eq!(line, b"counted, without an end\n");
    line.clear();
    (Envelope::Text.form().put)(&mut line, b"a text has none");
    assert_eq!(line, b"a text has none");
    let mut names = all.map(|envelope| envelope.form().name);
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
}
