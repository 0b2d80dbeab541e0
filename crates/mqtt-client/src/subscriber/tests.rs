//! A subscriber and its server, by hand.

use super::*;

fn subscriber(quality: Quality, is_clean: bool) -> Subscriber {
    let plan = Subscription {
        version: Version::Three,
        client_id: "me".to_owned(),
        login: Login { user: None, password: None },
        keep_alive: 60,
        quality,
        filters: vec!["a/#".to_owned(), "b".to_owned()],
        is_clean,
    };
    Subscriber::new(Arc::new(plan))
}

fn said(subscriber: &mut Subscriber) -> Vec<u8> {
    std::mem::take(subscriber.output())
}

/// What came, as `topic=text`.
fn hears(subscriber: &mut Subscriber, bytes: &[u8]) -> Vec<String> {
    let mut all = Vec::new();
    let mut take = |message: &Message<'_>| {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        all.push(format!("{}={}", text(message.topic), text(message.text)));
        true
    };
    assert_eq!(subscriber.hear(bytes, &mut take), Ok(bytes.len()));
    all
}

/// `remembers`: the server has a session of this client, who has subscribed before.
fn opened(subscriber: &mut Subscriber, remembers: u8) {
    subscriber.open();
    said(subscriber);
    assert!(hears(subscriber, &[0x20, 2, remembers, 0]).is_empty());
    if remembers == 1 {
        // What is retained would come again with a subscription.
        assert!(said(subscriber).is_empty() && subscriber.is_open());
        return;
    }
    let quality = subscriber.plan.quality as u8;
    let expected = [&[0x82, 12, 0, 1, 0, 3][..], b"a/#", &[quality, 0, 1], b"b", &[quality]].concat();
    assert_eq!(said(subscriber), expected);
    assert!(hears(subscriber, &[0x90, 4, 0, 1, 1, 1]).is_empty());
    assert!(subscriber.is_open());
}

#[test]
fn answers_go_in_order_and_when_messages_are_dealt_with() {
    let mut subscriber = subscriber(Quality::AtLeastOnce, false);
    subscriber.open();
    assert_eq!(said(&mut subscriber), b"\x10\x0e\0\x04MQTT\x04\0\0\x3c\0\x02me");
    opened(&mut subscriber, 0);
    assert_eq!(
        hears(&mut subscriber, b"\x30\x04\0\x01bx\x32\x06\0\x01b\0\x07y\x32\x06\0\x01b\0\x08z"),
        ["b=x", "b=y", "b=z"]
    );
    assert_eq!(subscriber.next_number(), 2, "one of quality 0 has no number");
    subscriber.dealt_before(0);
    assert!(said(&mut subscriber).is_empty() && subscriber.owes());
    subscriber.dealt_before(2);
    assert_eq!(said(&mut subscriber), b"\x40\x02\0\x07\x40\x02\0\x08");
    assert!(!subscriber.owes());
}

#[test]
fn of_quality_2_what_comes_again_after_a_lost_connection_is_the_same() {
    let mut subscriber = subscriber(Quality::Once, false);
    opened(&mut subscriber, 0);
    let message = b"\x34\x06\0\x01b\0\x07y";
    assert_eq!(hears(&mut subscriber, message), ["b=y"]);
    subscriber.lost();
    opened(&mut subscriber, 1);
    // With the flag that says so.
    let again = b"\x3c\x06\0\x01b\0\x07y";
    assert!(hears(&mut subscriber, again).is_empty());
    subscriber.dealt_before(1);
    assert_eq!(said(&mut subscriber), b"\x50\x02\0\x07");
    assert!(hears(&mut subscriber, b"\x62\x02\0\x07").is_empty());
    assert_eq!(said(&mut subscriber), b"\x70\x02\0\x07");
    // Released, the identifier is free for another one; and a server that remembers nothing means another
    // one.
    assert_eq!(hears(&mut subscriber, message), ["b=y"]);
    subscriber.lost();
    opened(&mut subscriber, 0);
    assert_eq!(hears(&mut subscriber, message), ["b=y"]);
    // What was given up is taken again.
    subscriber.forget_from(0);
    subscriber.lost();
    opened(&mut subscriber, 1);
    assert_eq!(hears(&mut subscriber, again), ["b=y"]);
}

#[test]
fn refusals_and_silence_end_the_connection() {
    let mut subscriber = subscriber(Quality::AtLeastOnce, true);
    subscriber.open();
    let mut refused = |bytes: &[u8]| {
        let outcome = subscriber.hear(bytes, |_| true);
        matches!(outcome, Err(Loss::Refused(_)))
    };
    assert!(refused(b"\x20\x02\0\x05"), "the login");
    assert!(!refused(b"\x20\x02\0\0"));
    assert!(refused(b"\x90\x04\0\x01\x01\x80"), "one of the filters");
    subscriber.lost();
    opened(&mut subscriber, 0);
    let begin = Instant::now();
    let after = |seconds| begin + Duration::from_secs(seconds);
    assert_eq!(subscriber.rest(begin, after(29)), Ok(()));
    assert!(said(&mut subscriber).is_empty());
    assert_eq!(subscriber.rest(begin, after(31)), Ok(()));
    assert_eq!(subscriber.rest(begin, after(32)), Ok(()));
    assert_eq!(said(&mut subscriber), b"\xc0\0");
    assert!(subscriber.rest(begin, after(90)).is_err());
}

#[test]
fn it_is_enough_when_whoever_takes_says_so() {
    let mut subscriber = subscriber(Quality::Sent, true);
    opened(&mut subscriber, 0);
    let two = b"\x30\x04\0\x01bx\x30\x04\0\x01by";
    assert_eq!(subscriber.hear(two, |_| false), Ok(6));
}

#[test]
fn of_mqtt_5_what_is_retained_comes_once() {
    let mut subscriber = subscriber(Quality::AtLeastOnce, false);
    subscriber.plan =
        Arc::new(Subscription { version: Version::Five, ..Subscription::clone(&subscriber.plan) });
    subscriber.open();
    said(&mut subscriber);
    hears(&mut subscriber, b"\x20\x03\0\0\0");
    let expected = [&[0x82, 13, 0, 1, 0, 0, 3][..], b"a/#", &[0x11, 0, 1], b"b", &[0x11]].concat();
    assert_eq!(said(&mut subscriber), expected);
}

#[test]
fn a_message_that_is_too_large_is_left_out_and_answered_in_its_turn() {
    let mut subscriber = subscriber(Quality::AtLeastOnce, false);
    opened(&mut subscriber, 0);
    let large = |id: u8| {
        let mut out = Vec::new();
        packet::head(&mut out, 0x32, MESSAGE_BYTES_MAX + 1);
        out.extend_from_slice(&[0, 1, b'b', 0, id]);
        let end = out.len() + MESSAGE_BYTES_MAX - 4;
        out.resize(end, b'x');
        out
    };
    // Nothing is known while its topic is not whole.
    assert_eq!(subscriber.hear(&large(7)[..9], |_| true), Ok(0));
    let bytes = [b"\x32\x06\0\x01b\0\x06y", &large(7)[..], b"\x32\x06\0\x01b\0\x08z"].concat();
    let (first, second) = bytes.split_at(1000);
    assert_eq!(hears(&mut subscriber, first), ["b=y"]);
    assert_eq!(hears(&mut subscriber, second), ["b=z"]);
    let left_out = LeftOut { topic: "b".to_owned(), bytes: MESSAGE_BYTES_MAX + 1 };
    assert_eq!((subscriber.take_left_out(), subscriber.take_left_out()), (vec![left_out], vec![]));
    assert!(said(&mut subscriber).is_empty(), "the one before it is not dealt with");
    subscriber.dealt_before(1);
    assert_eq!(said(&mut subscriber), b"\x40\x02\0\x06\x40\x02\0\x07");
    subscriber.dealt_before(2);
    said(&mut subscriber);
    hears(&mut subscriber, &large(9));
    assert_eq!(said(&mut subscriber), b"\x40\x02\0\x09");
}
