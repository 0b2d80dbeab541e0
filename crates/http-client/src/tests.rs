//! Bodies and keys of batches.

use crate::plan::{Plan, Prefix, UrlOf};
use crate::{Actions, Judge, Network, Servers, Url, keys, load, load_shared};
use flight::{Part, Piece, enclose};
use hyper::{HeaderMap, Method};
use std::sync::Arc;
use std::time::Duration;

fn plan(prefix: Prefix) -> Plan {
    Plan {
        name: "test".into(),
        method: Method::POST,
        urls: vec![UrlOf::Fixed(Url::parse("http://h/").expect("good"))],
        servers: Servers::new(1, Duration::from_secs(1)),
        base: HeaderMap::new(),
        headers: Vec::new(),
        extras: Vec::new(),
        prefix,
        suffix: b"]".to_vec(),
        delimiter: b",".to_vec(),
        coding: None,
        timeout: None,
        accepts_redirects: false,
        judge: Judge::Status,
        acks: None,
        actions: Actions::default(),
        network: Arc::new(Network::new(None, None)),
        proof: None,
    }
}

#[test]
fn a_body_has_prefix_messages_delimiters_and_suffix() {
    let mut key = Vec::new();
    for part in ["http://a/", "", "{["] {
        enclose(&mut key, part.as_bytes(), b"");
    }
    let body = |prefix, messages: &[&[u8]]| {
        let bytes = messages.iter().map(|message| message.len()).sum();
        let part = Part { messages, bytes, key: &key, number: None, numbers: &[] };
        let plan = plan(prefix);
        let copied = load(&plan, &part);
        assert_eq!(copied.messages, messages.len());
        let body = copied.body.joined();
        // The same from where they lie, each with its delimiter.
        let piece = |message: &&[u8]| {
            let text = [b"before", *message, b",behind"].concat();
            Piece::of(Arc::new(text), 6..message.len() + 7)
        };
        let shared = load_shared(&plan, &part, messages.iter().map(piece).collect());
        assert_eq!(
            (shared.messages, shared.key, shared.body.bytes()),
            (copied.messages, copied.key, body.len())
        );
        assert_eq!(shared.body.joined(), body);
        String::from_utf8(body.to_vec()).expect("text")
    };
    assert_eq!(body(Prefix::Fixed(b"[".to_vec()), &[b"a", b"", b"bc"]), "[a,,bc]");
    assert_eq!(body(Prefix::Key(2), &[b"a"]), "{[a]");
    assert_eq!(body(Prefix::Key(3), &[b"a"]), "a]");
}

#[test]
fn keys_come_out_as_they_went_in_and_foreign_bytes_end() {
    let mut key = Vec::new();
    let parts: [&[u8]; 3] = [b"one", b"", &[0xff; 300]];
    parts.iter().for_each(|part| enclose(&mut key, part, b""));
    assert_eq!(keys(&key).collect::<Vec<_>>(), parts);
    assert!(keys(b"\xff\xff\xff\xffxy").count() <= 1 && keys(b"x").count() <= 1);
}
