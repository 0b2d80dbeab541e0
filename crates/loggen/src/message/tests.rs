use super::*;

fn moment() -> Moment {
    Moment::at(&"2026-11-21T10:00:00+02:00[+02:00]".parse().unwrap())
}

fn all(style: &Style) -> Vec<Message> {
    build_all(style, 64, &moment())
}

#[test]
fn sizes_are_exact() {
    for syntax in [Syntax::Rfc3164, Syntax::Rfc5424] {
        for body in
            [Body::Padd, Body::Text, Body::Kv, Body::Json, Body::Csv, Body::Xml, Body::Events, Body::Devices]
        {
            for size in [600, 601, 700, 9000] {
                for stamp in [false, true] {
                    let mut style = Style::new(syntax, body, size);
                    style.stamp = stamp;
                    for message in all(&style) {
                        assert_eq!(message.bytes.len(), size, "{style:?}");
                        assert_eq!(message.bytes.last(), Some(&b'\n'));
                        assert_eq!(message.bytes.iter().filter(|&&b| b == b'\n').count(), 1);
                    }
                }
            }
        }
    }
}

#[test]
fn octet_count_counts_the_rest() {
    let mut style = Style::new(Syntax::Rfc5424, Body::Text, 400);
    style.framing = Framing::OctetCount;
    for message in all(&style) {
        assert!(message.bytes.starts_with(b"400 <"));
        assert_eq!(message.bytes.len(), 404);
        let at = message.conn4_at.unwrap();
        assert_eq!(&message.bytes[at - 5..at], b"conn=");
        let at = message.seq9_at.unwrap();
        assert_eq!(&message.bytes[at - 4..at], b"seq=");
    }
}

#[test]
fn too_small_a_size_becomes_the_least_possible() {
    let mut style = Style::new(Syntax::Rfc3164, Body::Padd, 40);
    style.run_id = 1_795_293_152;
    let messages = all(&style);
    assert_eq!(messages[0].bytes.len(), 128);
    let text = Style::new(Syntax::Rfc3164, Body::Text, 10);
    let lengths: Vec<_> = all(&text).iter().map(|m| m.bytes.len()).collect();
    assert!(lengths.iter().all(|&length| length == lengths[0]), "{lengths:?}");
}

#[test]
fn default_layout() {
    let mut style = Style::new(Syntax::Rfc3164, Body::Padd, 256);
    style.run_id = 1_795_293_152;
    let message = &all(&style)[0];
    let text = std::str::from_utf8(&message.bytes).unwrap();
    assert!(text.starts_with(
        "<38>2026-11-21T10:00:00 localhost prg00000[1234]: seq: 0000000000, thread: 0000, runid: 1795293152, \
         stamp: 2026-11-21T10:00:00 PADDPADD"
    ));
    assert_eq!(message.times_at.len(), 2);
    style.syntax = Syntax::Rfc5424;
    style.sdata = Some("[a b=\"c\"]".into());
    let message = &all(&style)[0];
    assert!(message.bytes.starts_with(
        b"<38>1 2026-11-21T10:00:00+02:00 localhost prg00000 1234 - [a b=\"c\"] \xef\xbb\xbfseq: 0000000000, thread: 0000, "
    ));
}

#[test]
fn json_parses() {
    for message in all(&Style::new(Syntax::Rfc3164, Body::Json, 400)) {
        let text = std::str::from_utf8(&message.bytes).unwrap();
        let (_, json) = text.split_once("]: ").unwrap();
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(value["stamp"], "conn=0000 seq=000000000 ");
        assert!(value["sp"].is_number() && value["user"].is_string() && value["nest"]["b"] == "x");
    }
}

#[test]
fn bodies_have_their_fields() {
    let count = |body, sign| {
        let message = all(&Style::new(Syntax::Rfc3164, body, 400)).remove(1);
        String::from_utf8(message.bytes).unwrap().matches(sign).count()
    };
    assert_eq!(count(Body::Csv, ","), 21);
    assert_eq!(count(Body::Xml, "</"), 23);
    assert_eq!(count(Body::Kv, " act=deny "), 1);
    let events = all(&Style::new(Syntax::Rfc3164, Body::Events, 400));
    let begin = |text: &str| {
        events.iter().filter(|m| m.bytes.windows(text.len()).any(|w| w == text.as_bytes())).count()
    };
    assert_eq!((begin("]: event 3000 user u"), begin("]: event 3000x user u")), (1, 4));
}

#[test]
fn hosts_and_priorities_are_spread() {
    let mut style = Style::new(Syntax::Rfc3164, Body::Text, 400);
    style.hosts = 10;
    let texts: Vec<_> =
        build_all(&style, 480, &moment()).into_iter().map(|m| String::from_utf8(m.bytes).unwrap()).collect();
    for host in 0..10 {
        assert_eq!(texts.iter().filter(|t| t.contains(&format!(" host{host:03} "))).count(), 48);
    }
    let pris: std::collections::BTreeSet<_> =
        texts.iter().map(|t| t[1..].split('>').next().unwrap()).collect();
    assert_eq!(pris.len(), 192);
}
