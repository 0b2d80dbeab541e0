//! The message of the manual's examples, from which the tests of all of them and the benchmark of the
//! elements start.

use crate::{Identity, RenderContext};
use record::{Batch, Context, NameId, Peer, Record, Span, Stamp, Transport, ValueType, intern, tag_id};
use std::sync::Arc;

pub const LINE: &str = "<38>Nov 21 10:00:00 host app[123]: hello world\n";

/// 2026-11-21 10:00:00.123456 +01:00, a Saturday.
pub const STAMP: Stamp = Stamp { secs: 1_795_251_600, usec: 123_456, offset: 3600 };

/// What the manual says of it.
pub const ABOUT: &str = "The examples are tests that are run with this message, which came over TCP from 10.1.2.3 to the source `s_net`:\n\n\
     ```\n<38>Nov 21 10:00:00 host app[123]: hello world\n```\n";

/// What the manual says of the values of [`with_values`].
pub const ABOUT_VALUES: &str = "It has the tag `web` and the values `user`, which is root, and `score`, which is the whole number 5. A filter with \
     flags(store-matches) has left `$1`, which is hello.\n";

/// The message over TCP, received two seconds after it was sent.
pub fn batch() -> Batch {
    let inet = |text: &str| text.parse().unwrap_or_else(|_| std::net::SocketAddr::from(([127, 0, 0, 1], 0)));
    let peer = Peer::Inet {
        remote: inet("10.1.2.3:4567"),
        local: inet("[2001:db8::1]:514"),
        proxy: Some(inet("10.9.9.9:99")),
    };
    let context = Context {
        source: "s_net".into(),
        peer,
        host_from: "sender".into(),
        transport: Transport("rfc3164+tcp"),
        ip_protocol: 6,
        values: vec![(NameId::FILE_NAME, b"/var/log/x"[..].into())],
    };
    let received = Stamp { secs: STAMP.secs + 2, usec: 5, offset: 7200 };
    let mut batch = Batch::new(LINE.as_bytes().to_vec(), Arc::new(context), received);
    let part = |part: &str| Span::new(LINE.find(part).unwrap_or(0), part.len());
    let mut record = Record::new(Span::new(0, LINE.len() - 1));
    record.pri = 38;
    record.stamp = STAMP;
    record.stamp_text = 4;
    record.host = part("host");
    record.program = part("app");
    record.pid = part("123");
    record.msghdr = part("app[123]: ");
    record.message = part("hello world");
    batch.records.push(record);
    batch
}

/// The same with values and a tag.
pub fn with_values() -> Batch {
    let mut batch = batch();
    for (name, value, kind) in [
        ("user", "root", ValueType::String),
        ("score", "5", ValueType::Int),
        ("1", "hello", ValueType::String),
    ] {
        if let Some(name) = intern(name) {
            batch.set(0, name, value.as_bytes(), kind);
        }
    }
    if let Some(tag) = tag_id("web") {
        batch.set_tag(0, tag);
    }
    batch
}

/// A minute later, on the machine `loghost`.
pub fn context() -> RenderContext {
    let mut identity = Identity::new("loghost");
    (identity.host_id, identity.run_id) = (0xabc, 7);
    identity.started = STAMP;
    let mut cx = RenderContext::new(identity);
    cx.begin_batch(now());
    cx
}

pub fn now() -> Stamp {
    Stamp { secs: STAMP.secs + 61, usec: 500_000, offset: 0 }
}
