//! Sessions with a broker spoken by hand.

use super::*;
use crate::login::Mechanism;
use crate::producer::Going;
use std::time::Duration;

fn answer(correlation: i32, body: &[u8]) -> Vec<u8> {
    let mut out = ((body.len() + 4) as i32).to_be_bytes().to_vec();
    out.extend(correlation.to_be_bytes());
    out.extend_from_slice(body);
    out
}

/// Versions 0 to 9 of everything that is asked.
fn versions() -> Vec<u8> {
    let mut body = vec![0, 0, 0, 0, 0, 6];
    for key in [0i16, 3, 17, 18, 22, 36] {
        body.extend(key.to_be_bytes());
        body.extend([0, 0, 0, 9]);
    }
    body
}

fn said(session: &mut Session) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        let (first, second) = session.output();
        if first.is_empty() {
            return all;
        }
        all.extend_from_slice(first);
        all.extend_from_slice(second);
        let n = first.len() + second.len();
        session.sent(n - 1);
        session.sent(1);
    }
}

/// Byte by byte.
fn hear(session: &mut Session, bytes: &[u8]) -> Result<Vec<Heard>, Fault> {
    let mut heard = Vec::new();
    for byte in bytes {
        session.input().push(*byte);
        session.hear(&mut heard)?;
    }
    Ok(heard)
}

fn ready() -> Session {
    let mut session = Session::new("me".into(), None);
    assert_eq!(said(&mut session), b"\0\0\0\x0c\0\x12\0\0\0\0\0\0\0\x02me");
    assert_eq!(hear(&mut session, &answer(0, &versions())), Ok(vec![Heard::Ready]));
    session
}

#[test]
fn a_request_to_write_is_its_head_and_the_batches() {
    let mut session = ready();
    let (small, large) = (Arc::new(vec![1; 10]), Arc::new(vec![2; COPIED_BYTES_MAX]));
    let going = |topic: &str, partition, bytes: &Arc<Vec<u8>>| Going {
        topic: topic.as_bytes().into(),
        partition,
        bytes: Arc::clone(bytes),
    };
    let batches = vec![going("t", 0, &small), going("t", 1, &large), going("u", 5, &small)];
    session
        .produce(&Produce { tag: 9, acks: -1, timeout_ms: 1000, transaction: None, batches })
        .expect("known");
    let said = said(&mut session);
    let mut expected = b"\0\0\0\0\0\0\0\x08\0\0\0\x01\0\x02me\xff\xff\xff\xff\0\0\x03\xe8\0\0\0\x02".to_vec();
    expected.extend(b"\0\x01t\0\0\0\x02\0\0\0\0\0\0\0\x0a");
    expected.extend([1; 10]);
    expected.extend(b"\0\0\0\x01\0\0\x40\0");
    expected.extend([2; COPIED_BYTES_MAX]);
    expected.extend(b"\0\x01u\0\0\0\x01\0\0\0\x05\0\0\0\x0a");
    expected.extend([1; 10]);
    let length = (expected.len() - 4) as i32;
    expected[..4].copy_from_slice(&length.to_be_bytes());
    assert!(said == expected, "{} bytes, expected {}", said.len(), expected.len());

    let mut body = b"\0\0\0\x01\0\x01t\0\0\0\x01\0\0\0\x01\0\x57".to_vec();
    body.extend(5u64.to_be_bytes());
    body.extend([0; 16]);
    body.extend(b"\0\0\0\x01\0\0\0\x07\0\x03bad\0\x05words\0\0\0\0");
    let written = Written {
        topic: b"t".to_vec(),
        partition: 1,
        error: 87,
        offset: Some(5),
        bad: vec![(7, "bad".to_owned())],
        words: "words".to_owned(),
    };
    assert_eq!(hear(&mut session, &answer(1, &body)), Ok(vec![Heard::Written(9, vec![written])]));
}

#[test]
fn who_leads_what() {
    let mut session = ready();
    session.ask_metadata(&[(*b"t").into()], true).expect("known");
    assert_eq!(said(&mut session), b"\0\0\0\x14\0\x03\0\x04\0\0\0\x01\0\x02me\0\0\0\x01\0\x01t\x01");
    let mut body = b"\0\0\0\0\0\0\0\x01\0\0\0\x07\0\x04host\0\0\x23\x84\xff\xff\xff\xff\0\0\0\x07".to_vec();
    body.extend(b"\0\0\0\x01\0\0\0\x01t\0\0\0\0\x02");
    body.extend(b"\0\0\0\0\0\0\0\0\0\x07\0\0\0\x01\0\0\0\x07\0\0\0\0");
    body.extend(b"\0\x05\0\0\0\x01\xff\xff\xff\xff\0\0\0\0\0\0\0\0");
    let partition = |index, leader| crate::PartitionMetadata { index, leader };
    let topic = crate::TopicMetadata {
        error: 0,
        name: b"t".to_vec(),
        partitions: vec![partition(0, Some(7)), partition(1, None)],
    };
    let brokers = vec![crate::Broker { id: 7, host: "host".to_owned(), port: 9092 }];
    let expected = Metadata { brokers, topics: vec![topic] };
    assert_eq!(hear(&mut session, &answer(1, &body)), Ok(vec![Heard::Metadata(expected)]));
    session.ask_identity().expect("known");
    assert_eq!(said(&mut session), b"\0\0\0\x12\0\x16\0\x01\0\0\0\x02\0\x02me\xff\xff\x7f\xff\xff\xff");
    let body = b"\0\0\0\0\0\0\0\0\0\0\0\0\0\x63\0\x05";
    assert_eq!(hear(&mut session, &answer(2, body)), Ok(vec![Heard::Identity(Ok((99, 5)))]));
}

#[test]
fn logins() {
    let login = Login::Password { mechanism: Mechanism::Plain, user: "u".into(), password: "pw".into() };
    let begun = || {
        let mut session = Session::new("me".into(), Some(Arc::new(login.clone())));
        said(&mut session);
        assert_eq!(hear(&mut session, &answer(0, &versions())), Ok(vec![]));
        assert_eq!(said(&mut session), b"\0\0\0\x13\0\x11\0\x01\0\0\0\x01\0\x02me\0\x05PLAIN");
        session
    };
    let mut session = begun();
    assert_eq!(hear(&mut session, &answer(1, b"\0\0\0\0\0\0")), Ok(vec![]));
    assert_eq!(said(&mut session), b"\0\0\0\x15\0\x24\0\x01\0\0\0\x02\0\x02me\0\0\0\x05\0u\0pw");
    let accepted = answer(2, b"\0\0\xff\xff\0\0\0\0\0\0\0\0\0\0\0\0");
    assert_eq!(hear(&mut session, &accepted), Ok(vec![Heard::Ready]));

    let mut session = begun();
    let refused = hear(&mut session, &answer(1, b"\0\x21\0\0\0\x01\0\x07SCRAM-X"));
    assert_eq!(refused, Err(Fault::Refused("the broker has no PLAIN; it has SCRAM-X".to_owned())));
    let mut session = begun();
    hear(&mut session, &answer(1, b"\0\0\0\0\0\0")).expect("good");
    let Err(Fault::Refused(why)) = hear(&mut session, &answer(2, b"\0\x3a\0\x02no\0\0\0\0\0\0\0\0\0\0\0\0"))
    else {
        panic!("a wrong password was accepted");
    };
    assert!(why.contains("SASL_AUTHENTICATION_FAILED no"), "{why}");
}

/// The token of RFC 7628 section 4.1, with something beside it.
#[test]
fn a_token_is_shown_and_shown_again() {
    let login = |token: &str| {
        let extensions = vec![("team".to_owned(), "a b".to_owned())];
        Arc::new(Login::Token { token: token.to_owned(), extensions })
    };
    let mut session = Session::new("me".into(), Some(login("vF9dft4qmT")));
    said(&mut session);
    assert_eq!(hear(&mut session, &answer(0, &versions())), Ok(vec![]));
    assert_eq!(said(&mut session), b"\0\0\0\x19\0\x11\0\x01\0\0\0\x01\0\x02me\0\x0bOAUTHBEARER");
    assert_eq!(hear(&mut session, &answer(1, b"\0\0\0\0\0\0")), Ok(vec![]));
    let words = b"n,,\x01auth=Bearer vF9dft4qmT\x01team=a b\x01\x01";
    assert!(said(&mut session).ends_with(words));
    // For a minute.
    let accepted = |number| answer(number, b"\0\0\xff\xff\0\0\0\0\0\0\0\0\0\0\xea\x60");
    assert_eq!(hear(&mut session, &accepted(2)), Ok(vec![Heard::Ready]));
    assert_eq!(session.take_login_end(), Some(Duration::from_secs(60)));
    assert_eq!(session.take_login_end(), None);

    // What was asked before is answered meanwhile, and nothing is asked.
    session.ask_identity().expect("known");
    session.log_in_again(login("another")).expect("known");
    assert!(session.is_ready() && !session.may_ask());
    said(&mut session);
    let body = b"\0\0\0\0\0\0\0\0\0\0\0\0\0\x63\0\x05";
    assert_eq!(hear(&mut session, &answer(3, body)), Ok(vec![Heard::Identity(Ok((99, 5)))]));
    assert_eq!(hear(&mut session, &answer(4, b"\0\0\0\0\0\0")), Ok(vec![]));
    assert!(said(&mut session).ends_with(b"n,,\x01auth=Bearer another\x01team=a b\x01\x01"));
    assert!(!session.may_ask());
    assert_eq!(hear(&mut session, &accepted(5)), Ok(vec![]), "it is ready already");
    assert!(session.may_ask());
    assert_eq!(session.take_login_end(), Some(Duration::from_secs(60)));
}

/// What somebody else says at a login.
struct Echo(u8);

impl crate::Speaker for Echo {
    fn hear(&mut self, said: &[u8]) -> Result<Option<Vec<u8>>, String> {
        self.0 -= 1;
        if said == b"bad" {
            return Err("nonsense".to_owned());
        }
        Ok((self.0 > 0).then(|| said.to_vec()))
    }
}

#[test]
fn a_login_of_several_steps_is_good_once() {
    let login = Login::Kerberos(crate::Opening::new(b"first".to_vec(), Box::new(Echo(2))));
    let begun = || {
        let mut session = Session::new("me".into(), Some(Arc::new(login.clone())));
        said(&mut session);
        hear(&mut session, &answer(0, &versions())).expect("good");
        assert_eq!(said(&mut session), b"\0\0\0\x14\0\x11\0\x01\0\0\0\x01\0\x02me\0\x06GSSAPI");
        session
    };
    let mut session = begun();
    hear(&mut session, &answer(1, b"\0\0\0\0\0\0")).expect("good");
    assert!(said(&mut session).ends_with(b"\0\0\0\x05first"));
    let goes_on = answer(2, b"\0\0\xff\xff\0\0\0\x04next\0\0\0\0\0\0\0\0");
    assert_eq!(hear(&mut session, &goes_on), Ok(vec![]));
    assert!(said(&mut session).ends_with(b"\0\0\0\x04next"));
    let accepted = answer(3, b"\0\0\xff\xff\0\0\0\0\0\0\0\0\0\0\0\0");
    assert_eq!(hear(&mut session, &accepted), Ok(vec![Heard::Ready]));
    let mut another = begun();
    assert!(hear(&mut another, &answer(1, b"\0\0\0\0\0\0")).is_err());
}

#[test]
fn a_token_that_is_refused() {
    let login = Login::Token { token: "t".into(), extensions: Vec::new() };
    let mut session = Session::new("me".into(), Some(Arc::new(login)));
    hear(&mut session, &answer(0, &versions())).expect("good");
    hear(&mut session, &answer(1, b"\0\0\0\0\0\0")).expect("good");
    said(&mut session);
    let error = answer(2, b"\0\0\xff\xff\0\0\0\x02{}\0\0\0\0\0\0\0\0");
    assert_eq!(hear(&mut session, &error), Ok(vec![]));
    assert!(said(&mut session).ends_with(b"\0\0\0\x01\x01"));
    let Err(Fault::Refused(why)) = hear(&mut session, &answer(3, b"\0\x3a\0\x02no\0\0\0\0\0\0\0\0\0\0\0\0"))
    else {
        panic!("a wrong token was accepted");
    };
    assert!(why.contains("SASL_AUTHENTICATION_FAILED no"), "{why}");
}

#[test]
fn what_is_no_kafka() {
    let broken = |bytes: &[u8]| {
        let mut session = Session::new("me".into(), None);
        assert!(matches!(hear(&mut session, bytes), Err(Fault::Broken(_))), "{bytes:?}");
    };
    broken(b"HTTP/1.1 400 Bad Request");
    broken(&answer(1, &versions()));
    broken(&answer(0, b"\0\0\0\0\0\x05"));
    let mut session = Session::new("me".into(), None);
    hear(&mut session, &answer(0, b"\0\0\0\0\0\0")).expect("it knows nothing");
    assert!(matches!(session.ask_identity(), Err(Fault::Refused(_))));
}
