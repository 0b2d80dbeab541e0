//! A session between batches and what a server says.

use super::*;

fn plan(declared: Option<&str>) -> Arc<Plan> {
    let exchange = Exchange { name: "logs".into(), declared: declared.map(str::to_owned) };
    let login = Login::Plain { user: "me".into(), password: "secret".into() };
    let vhost = "/".to_owned();
    Arc::new(Plan {
        login,
        vhost,
        exchange,
        persistent: true,
        channel_max: 0,
        frame_max: 0,
        heartbeat: 2,
        keyed: true,
    })
}

fn method(channel: u16, method: frame::Method, arguments: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let begin = frame::method(&mut out, channel, method);
    out.extend_from_slice(arguments);
    frame::end(&mut out, begin);
    out
}

fn begin(session: &mut AmqpSession, id: u32, keys: &[&str]) {
    let messages: Vec<Vec<u8>> = keys
        .iter()
        .map(|key| {
            let mut out = Vec::new();
            flight::begin_fields(&mut out, 3);
            flight::put_field(&mut out, key.as_bytes());
            flight::put_field(&mut out, &[key.len() as u8; 12]);
            flight::put_field(&mut out, b"");
            out.extend_from_slice(b"body");
            out
        })
        .collect();
    let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    session.begin(id, &Part { messages: &messages, bytes: 9, key: &[], number: None, numbers: &[] });
}

fn said(session: &mut AmqpSession) -> Vec<u8> {
    let text = session.output().to_vec();
    session.sent(text.len());
    text
}

fn hears(session: &mut AmqpSession, bytes: &[u8]) -> Vec<(u32, Outcome)> {
    let mut out = Vec::new();
    assert_eq!(session.hear(bytes, &mut out), Ok(bytes.len()));
    session.settled(&mut out);
    out
}

fn start() -> Vec<u8> {
    method(0, frame::START, b"\0\x09\0\0\0\0\0\0\0\x0ePLAIN AMQPLAIN\0\0\0\x05en_US")
}

fn opened(session: &mut AmqpSession) {
    session.open();
    assert_eq!(said(session), b"AMQP\0\0\x09\x01");
    assert_eq!(hears(session, &start()), []);
    assert!(said(session).windows(10).any(|part| part == b"\0me\0secret"));
    assert_eq!(hears(session, &method(0, frame::TUNE, &[0, 0, 0, 2, 0, 0, 0, 60])), []);
    let answer = [method(0, frame::TUNE_OK, &[0, 1, 0, 2, 0, 0, 0, 2]), method(0, frame::OPEN, b"\x01/\0\0")];
    assert_eq!(said(session), answer.concat());
    hears(session, &method(0, frame::OPEN_OK, b"\0"));
    assert_eq!(said(session), method(1, frame::CHANNEL_OPEN, b"\0"));
    hears(session, &method(1, frame::CHANNEL_OPEN_OK, b"\0\0\0\0"));
    if session.plan.exchange.declared.is_some() {
        assert_eq!(said(session), method(1, frame::EXCHANGE_DECLARE, b"\0\0\x04logs\x06fanout\0\0\0\0\0"));
        hears(session, &method(1, frame::EXCHANGE_DECLARE_OK, b""));
    }
    assert_eq!(said(session), method(1, frame::CONFIRM_SELECT, b"\0"));
    assert!(!session.is_open());
    hears(session, &method(1, frame::CONFIRM_SELECT_OK, b""));
    assert!(session.is_open());
}

#[test]
fn messages_are_confirmed_in_any_order() {
    let mut session = AmqpSession::new(plan(Some("fanout")));
    begin(&mut session, 1, &["a", "b"]);
    opened(&mut session);
    begin(&mut session, 2, &["c"]);
    let bytes = said(&mut session);
    assert_eq!(bytes.windows(4).filter(|part| part == b"body").count(), 3);
    let third = method(1, frame::ACK, b"\0\0\0\0\0\0\0\x03\0");
    assert_eq!(hears(&mut session, &third), [(2, Outcome::Delivered)]);
    let all = method(1, frame::ACK, b"\0\0\0\0\0\0\0\x02\x01");
    assert_eq!(hears(&mut session, &all), [(1, Outcome::Delivered)]);
    assert!(!session.awaits());
}

#[test]
fn one_that_cannot_be_sent_is_refused_and_the_others_are_not() {
    let mut session = AmqpSession::new(plan(None));
    opened(&mut session);
    let long = "k".repeat(256);
    begin(&mut session, 1, &["a", &long, "bb"]);
    said(&mut session);
    let both = method(1, frame::ACK, b"\0\0\0\0\0\0\0\x02\x01");
    let Some((1, Outcome::Judged { verdicts, .. })) = hears(&mut session, &both).pop() else {
        panic!("judged")
    };
    let refused = verdicts.iter().filter(|verdict| **verdict != flight::Verdict::Delivered).count();
    assert_eq!((verdicts.len(), refused), (3, 1));
    // Nobody has to answer for it alone.
    begin(&mut session, 2, &[&long]);
    let mut out = Vec::new();
    session.settled(&mut out);
    assert!(matches!(out.as_slice(), [(2, Outcome::Judged { .. })]));
}

#[test]
fn what_no_queue_gets_is_refused() {
    let mut session = AmqpSession::new(plan(None));
    opened(&mut session);
    begin(&mut session, 1, &["a", "bb"]);
    let mut header = Vec::new();
    let at = frame::begin(&mut header, HEADER, 1);
    header.extend_from_slice(&[0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0x30, 0x80]);
    header.extend_from_slice(&[0, 0, 0, 0, 2, 24]);
    header.extend_from_slice("02".repeat(12).as_bytes());
    frame::end(&mut header, at);
    let returned = method(1, frame::RETURN, b"\x01\x38\x08NO_ROUTE\x04logs\x02bb");
    let ack = method(1, frame::ACK, b"\0\0\0\0\0\0\0\x02\x01");
    let verdicts = vec![flight::Verdict::Delivered, flight::Verdict::Refused("312: NO_ROUTE".into())];
    let expected = [(1, Outcome::Judged { verdicts, after: None })];
    assert_eq!(hears(&mut session, &[returned, header, ack].concat()), expected);
}

#[test]
fn a_refused_login_holds() {
    let mut session = AmqpSession::new(plan(None));
    begin(&mut session, 1, &["a"]);
    session.open();
    hears(&mut session, &start());
    let close = method(0, frame::CLOSE, b"\x01\x93\x0eACCESS_REFUSED\0\x0a\0\x0b");
    let mut out = Vec::new();
    let Err(fault) = session.hear(&close, &mut out) else { panic!("a fault") };
    assert_eq!(fault, Loss::Refused("403: ACCESS_REFUSED".into()));
    session.lost(&fault, &mut out);
    assert_eq!(out, [(1, Outcome::Hold("403: ACCESS_REFUSED".into()))]);
}

/// What becomes of two messages when the server closes the channel with these words.
fn closed_with(keyed: bool, code: u16, text: &str) -> Vec<(u32, Outcome)> {
    let plan = Plan { keyed, ..Plan::clone(&plan(None)) };
    let mut session = AmqpSession::new(Arc::new(plan));
    opened(&mut session);
    begin(&mut session, 1, &["a", "b"]);
    said(&mut session);
    let mut words = code.to_be_bytes().to_vec();
    frame::short(&mut words, text.as_bytes());
    words.extend_from_slice(b"\0\x3c\0\x28");
    let mut out = Vec::new();
    let Err(fault) = session.hear(&method(1, frame::CHANNEL_CLOSE, &words), &mut out) else {
        panic!("a fault")
    };
    session.lost(&fault, &mut out);
    out
}

#[test]
fn a_message_that_the_server_cannot_take_is_looked_for() {
    let refused = "ACCESS_REFUSED - access to topic 'b' in exchange 'logs' refused";
    for (code, text) in [
        (311, "CONTENT_TOO_LARGE"),
        (406, "PRECONDITION_FAILED - message size 9 larger than"),
        (406, "PRECONDITION_FAILED - invalid message"),
        (403, refused),
    ] {
        let out = closed_with(true, code, text);
        assert!(matches!(out.as_slice(), [(1, Outcome::Split(_))]), "{text}: {out:?}");
    }
    // With the same key for all it is not a message; and an exchange is none.
    for (keyed, code, text) in
        [(false, 403, refused), (true, 403, "ACCESS_REFUSED"), (true, 404, "NOT_FOUND")]
    {
        let out = closed_with(keyed, code, text);
        assert!(matches!(out.as_slice(), [(1, Outcome::Hold(_))]), "{text}: {out:?}");
    }
}

#[test]
fn values_are_no_routing_keys() {
    let mut values = Vec::new();
    for name in [&b"A"[..], b"CC", b"BCC", b"B"] {
        // A text.
        values.push(0);
        flight::put_field(&mut values, name);
        flight::put_field(&mut values, b"x@y");
    }
    let message = Message { routing_key: b"", id: &[0; 12], values: &values, body: b"" };
    let mut out = Vec::new();
    publish::append(&mut out, b"logs", true, &message, 4096).expect("it fits");
    let has = |name: &[u8]| out.windows(name.len()).any(|part| part == name);
    assert!(has(b"\x01AS") && has(b"\x01BS") && !has(b"CC"));
}

#[test]
fn signs_of_life_go_while_nothing_else_does() {
    let mut session = AmqpSession::new(plan(None));
    opened(&mut session);
    let now = Instant::now();
    session.rest(now, now);
    assert_eq!(said(&mut session), b"");
    session.rest(now, now + Duration::from_secs(1));
    assert_eq!(said(&mut session), b"\x08\0\0\0\0\0\0\xce");
}
