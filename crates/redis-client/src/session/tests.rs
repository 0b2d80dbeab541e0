//! A session between batches and what a server says.

use super::*;

fn message(arguments: &[&str]) -> Vec<u8> {
    let mut message = Vec::new();
    flight::begin_fields(&mut message, arguments.len() - 1);
    let (last, fields) = arguments.split_last().expect("one");
    fields.iter().for_each(|field| flight::put_field(&mut message, field.as_bytes()));
    message.extend_from_slice(last.as_bytes());
    message
}

fn begin(session: &mut RedisSession, id: u32, count: usize) {
    let message = message(&["INCR", "k"]);
    let messages = vec![message.as_slice(); count];
    session.begin(
        id,
        &Part { messages: &messages, bytes: message.len() * count, key: &[], number: None, numbers: &[] },
    );
}

fn said(session: &mut RedisSession) -> String {
    let text = String::from_utf8_lossy(session.output()).into_owned();
    session.sent(text.len());
    text
}

fn hears(session: &mut RedisSession, text: &str) -> Vec<(u32, Outcome)> {
    let mut out = Vec::new();
    assert_eq!(session.hear(text.as_bytes(), &mut out), Ok(text.len()));
    out
}

const INCR: &str = "*2\r\n$4\r\nINCR\r\n$1\r\nk\r\n";

#[test]
fn replies_belong_to_commands_in_their_order() {
    let mut session = RedisSession::new(None, Same { command: true, key: true });
    begin(&mut session, 1, 2);
    session.open();
    begin(&mut session, 2, 1);
    assert_eq!(said(&mut session), INCR.repeat(3));
    assert_eq!(hears(&mut session, ":1\r\n"), []);
    let verdicts = vec![Verdict::Delivered, Verdict::Refused("WRONGTYPE no".into())];
    let judged = Outcome::Judged { verdicts, after: None };
    assert_eq!(hears(&mut session, "-WRONGTYPE no\r\n:2\r\n"), [(1, judged), (2, Outcome::Delivered)]);
    assert!(!session.awaits());
}

#[test]
fn a_login_comes_first_and_one_that_fails_holds() {
    let login = Login { user: Some("me".into()), password: "secret".into() };
    let mut session = RedisSession::new(Some(Arc::new(login)), Same { command: true, key: true });
    begin(&mut session, 1, 1);
    session.open();
    assert_eq!(said(&mut session), "*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n$6\r\nsecret\r\n");
    assert_eq!(said(&mut session), "");
    assert_eq!(hears(&mut session, "+OK\r\n"), []);
    assert_eq!(said(&mut session), INCR);
    let mut out = Vec::new();
    session.open();
    let fault = session.hear(b"-WRONGPASS no\r\n", &mut out).expect_err("refused");
    session.lost(&fault, &mut out);
    assert_eq!(out, [(1, Outcome::Hold("WRONGPASS no".into()))]);
}

#[test]
fn what_was_answered_before_a_cut_counts() {
    let mut session = RedisSession::new(None, Same { command: true, key: true });
    session.open();
    begin(&mut session, 1, 3);
    begin(&mut session, 2, 1);
    let first = INCR.len() * 3;
    session.sent(first);
    hears(&mut session, ":1\r\n");
    let mut out = Vec::new();
    let cut = Loss::Broken("cut".into());
    session.lost(&cut, &mut out);
    let judged = Outcome::Judged { verdicts: vec![Verdict::Delivered], after: Some(Duration::ZERO) };
    assert_eq!(out, [(1, judged), (2, Outcome::Away("cut".into()))]);
    begin(&mut session, 3, 1);
    session.open();
    assert_eq!(session.output(), INCR.as_bytes());
    session.sent(1);
    out.clear();
    session.lost(&cut, &mut out);
    assert_eq!(out, [(3, Outcome::Unknown("cut".into()))]);
}

#[test]
fn a_busy_server_and_a_missing_right_let_all_wait() {
    let mut session = RedisSession::new(None, Same { command: true, key: true });
    session.open();
    begin(&mut session, 1, 2);
    let again = Outcome::Again { after: None, counts: false, why: "LOADING wait".into() };
    assert_eq!(hears(&mut session, "-LOADING wait\r\n-LOADING wait\r\n"), [(1, again)]);
    begin(&mut session, 2, 1);
    assert_eq!(hears(&mut session, "-NOAUTH no\r\n"), [(2, Outcome::Hold("NOAUTH no".into()))]);
    // Nobody asked: the server says why it is about to hang up.
    assert_eq!(
        session.hear(b"-ERR max number of clients reached\r\n", &mut Vec::new()),
        Err(Loss::Broken("ERR max number of clients reached".into()))
    );
}
