//! Tests of the dispatcher and of what the flags ask for.

use super::*;
use record::{Context, Stamp};

pub(crate) fn parse_one(options: SyslogOptions, frame: &[u8]) -> (Batch, Record) {
    let context = Arc::new(Context::local("s_test", "here", "local+file"));
    let received = Stamp { secs: 1_795_255_200, usec: 5, offset: 0 };
    let mut batch = Batch::new(frame.to_vec(), context, received);
    batch.records.push(Record::new(Span::new(0, frame.len())));
    SyslogParser::new(options).parse_batch(&mut batch, 0);
    let record = batch.records[0];
    (batch, record)
}

#[test]
fn canonical() {
    let options = SyslogOptions { recv_zone: Zone::UTC, ..SyslogOptions::default() };
    let (b, r) = parse_one(options, b"<38>Nov 21 10:00:07 host012 app3[1234]: hello there");
    assert_eq!(
        (b.bytes(r.host), b.bytes(r.program), b.bytes(r.pid)),
        (&b"host012"[..], &b"app3"[..], &b"1234"[..])
    );
    assert_eq!((b.bytes(r.msghdr), b.bytes(r.message)), (&b"app3[1234]: "[..], &b"hello there"[..]));
    assert_eq!((r.pri, r.stamp.secs, r.stamp_text), (38, 1_795_255_207, 4));
    assert_eq!(r.msghdr.end(), r.message.start as usize);
}
