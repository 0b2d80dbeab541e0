//! A session between batches and what a server says.

use super::*;
use flight::Verdict;

fn session(version: Version, quality: Quality, topic: Option<&str>) -> MqttSession {
    let login = Login { user: Some("me".into()), password: Some("pw".into()) };
    let (client_id, topic) = ("id".to_owned(), topic.map(str::to_owned));
    let plan = Plan { version, client_id, login, keep_alive: 60, quality, topic, fallback: "f".into() };
    MqttSession::new(Arc::new(plan))
}

fn begin(session: &mut MqttSession, id: u32, topics: &[&str]) {
    let messages: Vec<Vec<u8>> = topics
        .iter()
        .map(|topic| {
            let mut out = Vec::new();
            flight::begin_fields(&mut out, 1);
            flight::put_field(&mut out, topic.as_bytes());
            out.push(b'.');
            out
        })
        .collect();
    let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    session.begin(id, &Part { messages: &messages, bytes: 9, key: &[], number: None, numbers: &[] });
}

fn said(session: &mut MqttSession) -> Vec<u8> {
    let bytes = session.output().to_vec();
    session.sent(bytes.len());
    bytes
}

fn hears(session: &mut MqttSession, bytes: &[u8]) -> Vec<(u32, Outcome)> {
    let mut out = Vec::new();
    assert_eq!(session.hear(bytes, &mut out), Ok(bytes.len()));
    session.settled(&mut out);
    out
}

fn settled(session: &mut MqttSession) -> Vec<(u32, Outcome)> {
    let mut out = Vec::new();
    session.settled(&mut out);
    out
}

#[test]
fn of_quality_0_what_is_sent_is_delivered() {
    let mut session = session(Version::Three, Quality::Sent, None);
    begin(&mut session, 1, &["a", "b/#"]);
    session.open();
    assert_eq!(said(&mut session), b"\x10\x16\0\x04MQTT\x04\xc2\0\x3c\0\x02id\0\x02me\0\x02pw");
    assert_eq!(hears(&mut session, b"\x20\x02\0\0"), []);
    assert_eq!(session.output(), b"\x30\x04\0\x01a.\x30\x04\0\x01f.");
    session.sent(7);
    assert_eq!(settled(&mut session), []);
    session.sent(5);
    assert_eq!(settled(&mut session), [(1, Outcome::Delivered)]);
    assert!(!session.awaits());
}

#[test]
fn of_quality_1_answers_come_in_any_order() {
    let mut session = session(Version::Five, Quality::AtLeastOnce, None);
    session.open();
    said(&mut session);
    // Two at once.
    assert_eq!(hears(&mut session, b"\x20\x06\0\0\x03\x21\0\x02"), []);
    begin(&mut session, 1, &["a", "b", "c"]);
    assert_eq!(said(&mut session), b"\x32\x07\0\x01a\0\x01\0.\x32\x07\0\x01b\0\x02\0.");
    assert_eq!(hears(&mut session, b"\x40\x03\0\x02\x87"), []);
    assert_eq!(said(&mut session), b"\x32\x07\0\x01c\0\x03\0.");
    let refused = Verdict::Refused("not authorized (reason 0x87)".into());
    let verdicts = vec![Verdict::Delivered, refused, Verdict::Delivered];
    let judged = Outcome::Judged { verdicts, after: None };
    // One that was never asked for, and one twice.
    assert_eq!(
        hears(&mut session, b"\x40\x02\0\x09\x40\x02\0\x01\x40\x02\0\x01\x40\x02\0\x03"),
        [(1, judged)]
    );
}

#[test]
fn of_quality_2_the_last_word_counts() {
    let mut session = session(Version::Three, Quality::Once, Some("t"));
    session.open();
    said(&mut session);
    hears(&mut session, b"\x20\x02\0\0");
    begin(&mut session, 1, &["ignored"]);
    assert_eq!(said(&mut session), b"\x34\x06\0\x01t\0\x01.");
    assert_eq!(hears(&mut session, b"\x50\x02\0\x01"), []);
    assert_eq!(said(&mut session), b"\x62\x02\0\x01");
    assert!(session.awaits());
    assert_eq!(hears(&mut session, b"\x70\x02\0\x01"), [(1, Outcome::Delivered)]);
}

#[test]
fn a_refused_login_holds_and_what_is_lost_is_given_back() {
    let mut session = session(Version::Three, Quality::AtLeastOnce, None);
    begin(&mut session, 1, &["a"]);
    session.open();
    let mut out = Vec::new();
    let Err(fault @ Loss::Refused(_)) = session.hear(b"\x20\x02\0\x05", &mut out) else { panic!("a fault") };
    session.lost(&fault, &mut out);
    assert!(matches!(out.as_slice(), [(1, Outcome::Hold(_))]));
    session.open();
    said(&mut session);
    hears(&mut session, b"\x20\x02\0\0");
    begin(&mut session, 2, &["a", "b"]);
    said(&mut session);
    hears(&mut session, b"\x40\x02\0\x02");
    let (mut out, gone) = (Vec::new(), Loss::Broken("gone".into()));
    session.lost(&gone, &mut out);
    let verdicts = vec![Verdict::Again, Verdict::Delivered];
    assert_eq!(out, [(2, Outcome::Judged { verdicts, after: Some(Duration::ZERO) })]);
}

#[test]
fn a_message_that_ends_the_connection_is_looked_for() {
    for (topic, code, is_found) in
        [(None, 0x95, true), (None, 0x90, true), (Some("t"), 0x90, false), (None, 0x8b, false)]
    {
        let mut session = session(Version::Five, Quality::AtLeastOnce, topic);
        session.open();
        said(&mut session);
        hears(&mut session, b"\x20\x03\0\0\0");
        begin(&mut session, 1, &["a", "b"]);
        said(&mut session);
        let mut out = Vec::new();
        let Err(fault) = session.hear(&[0xe0, 2, code, 0], &mut out) else { panic!("a fault") };
        session.lost(&fault, &mut out);
        assert_eq!(matches!(out.as_slice(), [(1, Outcome::Split(_))]), is_found, "{code:#x}: {out:?}");
    }
}

#[test]
fn signs_of_life() {
    let mut session = session(Version::Three, Quality::AtLeastOnce, None);
    session.open();
    said(&mut session);
    hears(&mut session, b"\x20\x02\0\0");
    let now = Instant::now();
    session.rest(now, now + Duration::from_secs(29));
    assert_eq!(said(&mut session), b"");
    session.rest(now, now + Duration::from_secs(30));
    session.rest(now, now + Duration::from_secs(31));
    assert_eq!((said(&mut session), session.awaits()), (b"\xc0\0".to_vec(), true));
    hears(&mut session, b"\xd0\0");
    assert!(!session.awaits());
}
