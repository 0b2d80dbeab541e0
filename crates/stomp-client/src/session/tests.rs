//! A session between batches and what a server says.

use super::*;
use flight::Verdict;
use std::time::Duration;

fn session(receipts: bool) -> StompSession {
    let plan = Plan {
        host: "/".into(),
        user: "me".into(),
        password: "pw".into(),
        destination: "/queue/a".into(),
        persistent: true,
        receipts,
    };
    StompSession::new(Arc::new(plan))
}

fn begin(session: &mut StompSession, id: u32, count: usize) {
    let (mut message, mut values) = (Vec::new(), Vec::new());
    flight::put_pair(&mut values, "H", record_kind(), b"a:b");
    flight::begin_fields(&mut message, 1);
    flight::put_field(&mut message, &values);
    message.extend_from_slice(b"body");
    let messages = vec![message.as_slice(); count];
    session.begin(id, &Part { messages: &messages, bytes: 9, key: &[], number: None, numbers: &[] });
}

fn record_kind() -> record::ValueType {
    record::ValueType::String
}

fn said(session: &mut StompSession) -> String {
    let text = String::from_utf8_lossy(session.output()).into_owned();
    session.sent(text.len());
    text
}

fn hears(session: &mut StompSession, text: &str) -> Vec<(u32, Outcome)> {
    let mut out = Vec::new();
    // Line ends behind a frame are a part of the next one.
    assert_eq!(session.hear(text.as_bytes(), &mut out), Ok(text.trim_end_matches('\n').len()));
    session.settled(&mut out);
    out
}

fn opened(session: &mut StompSession) {
    session.open();
    let greeting = "CONNECT\naccept-version:1.1,1.2\nhost:/\nlogin:me\npasscode:pw\n\n\0";
    assert_eq!(said(session), greeting);
    assert_eq!(hears(session, "CONNECTED\nversion:1.2\n\n\0\n"), []);
}

#[test]
fn a_receipt_is_the_word_on_a_message() {
    let mut session = session(true);
    begin(&mut session, 1, 2);
    opened(&mut session);
    let sent = |n: usize| {
        format!(
            "SEND\ndestination:/queue/a\npersistent:true\nreceipt:{n}\ncontent-length:4\nH:a\\cb\n\nbody\0"
        )
    };
    assert_eq!(said(&mut session), sent(0) + &sent(1));
    assert_eq!(hears(&mut session, "RECEIPT\nreceipt-id:1\n\n\0"), []);
    assert_eq!(hears(&mut session, "RECEIPT\nreceipt-id:0\n\n\0"), [(1, Outcome::Delivered)]);
    begin(&mut session, 2, 2);
    said(&mut session);
    hears(&mut session, "RECEIPT\nreceipt-id:3\n\n\0");
    let (mut out, gone) = (Vec::new(), Loss::Broken("gone".into()));
    session.lost(&gone, &mut out);
    let verdicts = vec![Verdict::Again, Verdict::Delivered];
    assert_eq!(out, [(2, Outcome::Judged { verdicts, after: Some(Duration::ZERO) })]);
}

#[test]
fn without_receipts_what_is_sent_is_delivered() {
    let mut session = session(false);
    opened(&mut session);
    begin(&mut session, 1, 1);
    let length = session.output().len();
    session.sent(length - 1);
    assert_eq!(hears(&mut session, ""), []);
    session.sent(1);
    assert_eq!((hears(&mut session, ""), session.awaits()), (vec![(1, Outcome::Delivered)], false));
}

#[test]
fn an_error_holds() {
    let mut session = session(true);
    begin(&mut session, 1, 1);
    session.open();
    let mut out = Vec::new();
    let said = "ERROR\nmessage:Bad CONNECT\ncontent-length:2\n\nno\0";
    let Err(fault) = session.hear(said.as_bytes(), &mut out) else { panic!("a fault") };
    session.lost(&fault, &mut out);
    assert_eq!(out, [(1, Outcome::Hold("Bad CONNECT: no".into()))]);
}

#[test]
fn a_message_that_the_server_cannot_take_is_looked_for() {
    for (words, is_found) in [
        ("ERROR\nmessage:precondition_failed\n\nmessage size 9 is larger\n\0", true),
        ("ERROR\nmessage:not_found\n\nno exchange\n\0", false),
    ] {
        let mut session = session(true);
        opened(&mut session);
        begin(&mut session, 1, 2);
        said(&mut session);
        let mut out = Vec::new();
        let Err(fault) = session.hear(words.as_bytes(), &mut out) else { panic!("a fault") };
        session.lost(&fault, &mut out);
        assert_eq!(matches!(out.as_slice(), [(1, Outcome::Split(_))]), is_found, "{out:?}");
        assert_eq!(matches!(out.as_slice(), [(1, Outcome::Hold(_))]), !is_found, "{out:?}");
    }
}

#[test]
fn values_of_a_message_say_nothing_about_its_frame() {
    let mut session = session(false);
    opened(&mut session);
    let (mut message, mut values) = (Vec::new(), Vec::new());
    for name in ["message-id", "other", "receipt", "transaction"] {
        flight::put_pair(&mut values, name, record_kind(), b"x");
    }
    flight::begin_fields(&mut message, 1);
    flight::put_field(&mut message, &values);
    let messages = [message.as_slice()];
    session.begin(1, &Part { messages: &messages, bytes: 9, key: &[], number: None, numbers: &[] });
    let expected = "SEND\ndestination:/queue/a\npersistent:true\ncontent-length:0\nother:x\n\n\0";
    assert_eq!(said(&mut session), expected);
}
