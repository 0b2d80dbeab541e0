use crate::testing::{batch, context, parser};
use record::{Batch, NameId, Stamp, ValueType, intern};
use wire::protobuf::{put_bytes, put_fixed64, put_message, put_number};

type Put<'a> = &'a dyn Fn(&mut Vec<u8>);

fn pair(out: &mut Vec<u8>, number: u32, key: &str, value: Put<'_>) {
    put_message(out, number, |pair| {
        put_bytes(pair, 1, key.as_bytes());
        put_message(pair, 2, value);
    });
}

/// A message as the source makes it.
fn received(kind: &str, record: Put<'_>, resource: Put<'_>) -> Batch {
    let mut batch = batch(&[b""]);
    let (mut own, mut around) = (Vec::new(), Vec::new());
    record(&mut own);
    resource(&mut around);
    let values: [(&str, &[u8], ValueType); 6] = [
        ("type", kind.as_bytes(), ValueType::String),
        ("resource", &around, ValueType::Protobuf),
        ("resource_schema_url", b"r", ValueType::String),
        ("scope", b"\x0a\x02me\x12\x011", ValueType::Protobuf),
        ("scope_schema_url", b"", ValueType::String),
        (kind, &own, ValueType::Protobuf),
    ];
    for (name, bytes, kind) in values {
        batch.set(0, intern(&format!(".otel_raw.{name}")).expect("room"), bytes, kind);
    }
    batch
}

fn value(batch: &Batch, name: &str) -> Option<(String, ValueType)> {
    let id = batch.names.known(name)?;
    let value = batch.value(&batch.records[0], id)?;
    Some((String::from_utf8_lossy(value.bytes).into_owned(), value.kind))
}

#[track_caller]
fn check(batch: &Batch, name: &str, text: &str, kind: ValueType) {
    assert_eq!(value(batch, name), Some((text.to_owned(), kind)), "{name}");
}

#[track_caller]
fn parse(batch: &mut Batch) -> bool {
    let mut selection = vec![0];
    parser("opentelemetry()").parse(batch, &mut selection, &mut context());
    !selection.is_empty()
}

#[test]
fn a_log_record() {
    let mut batch = received(
        "log",
        &|log| {
            put_fixed64(log, 1, 1_500_000_001_234_567_890);
            put_number(log, 2, 17);
            put_message(log, 5, |body| put_bytes(body, 1, b"hello"));
            pair(log, 6, "count", &|v| put_number(v, 3, 7));
            pair(log, 6, "share", &|v| put_fixed64(v, 4, 0.5f64.to_bits()));
            pair(log, 6, "good", &|v| put_number(v, 2, 1));
            pair(log, 6, "list", &|v| {
                put_message(v, 5, |a| {
                    put_message(a, 1, |v| put_bytes(v, 1, b"a"));
                    put_message(a, 1, |v| put_bytes(v, 1, b"b,c"));
                });
            });
            pair(log, 6, "deep", &|v| put_message(v, 6, |_| {}));
            put_bytes(log, 9, b"\x01\x02");
            put_fixed64(log, 11, 1_600_000_000_000_000_000);
        },
        &|resource| pair(resource, 1, "host.name", &|v| put_bytes(v, 1, b"web")),
    );
    assert!(parse(&mut batch));
    let record = batch.records[0];
    assert_eq!((batch.bytes(record.message), batch.bytes(record.host)), (&b"hello"[..], &b"web"[..]));
    assert_eq!(record.pri, 11);
    assert_eq!((record.stamp.secs, record.stamp.usec), (1_500_000_001, 234_567));
    assert_eq!(
        batch.received_at(&record),
        Stamp { secs: 1_600_000_000, usec: 0, offset: record.stamp.offset }
    );
    check(&batch, ".otel.type", "log", ValueType::String);
    check(&batch, ".otel.log.body", "hello", ValueType::String);
    check(&batch, ".otel.log.time_unix_nano", "1500000001234567890", ValueType::Int);
    check(&batch, ".otel.log.attributes.count", "7", ValueType::Int);
    check(&batch, ".otel.log.attributes.share", "0.5", ValueType::Double);
    check(&batch, ".otel.log.attributes.good", "true", ValueType::Boolean);
    check(&batch, ".otel.log.attributes.list", "a,\"b,c\"", ValueType::List);
    check(&batch, ".otel.log.attributes.deep", "2\0", ValueType::Protobuf);
    check(&batch, ".otel.log.trace_id", "\u{1}\u{2}", ValueType::Bytes);
    check(&batch, ".otel.resource.attributes.host.name", "web", ValueType::String);
    check(&batch, ".otel.resource.schema_url", "r", ValueType::String);
    check(&batch, ".otel.scope.name", "me", ValueType::String);
    check(&batch, ".otel.scope.version", "1", ValueType::String);
    assert_eq!(value(&batch, ".otel_raw.log"), None, "what is changed from here on counts");
}

#[test]
fn a_metric_keeps_its_bytes() {
    let mut batch = received(
        "metric",
        &|metric| {
            put_bytes(metric, 1, b"requests");
            put_message(metric, 7, |sum| {
                put_message(sum, 1, |point| {
                    put_fixed64(point, 6, 42);
                    pair(point, 7, "code", &|v| put_number(v, 3, 200));
                });
                put_number(sum, 3, 1);
            });
        },
        &|_| {},
    );
    assert!(parse(&mut batch));
    check(&batch, ".otel.metric.name", "requests", ValueType::String);
    check(&batch, ".otel.metric.data.type", "sum", ValueType::String);
    check(&batch, ".otel.metric.data.sum.is_monotonic", "true", ValueType::Boolean);
    check(&batch, ".otel.metric.data.sum.data_points.0.value", "42", ValueType::Int);
    check(&batch, ".otel.metric.data.sum.data_points.0.attributes.code", "200", ValueType::Int);
    assert!(value(&batch, ".otel_raw.metric").is_some());
}

#[test]
fn a_span() {
    let mut batch = received(
        "span",
        &|span| {
            put_bytes(span, 5, b"GET /");
            put_number(span, 6, 2);
            put_message(span, 11, |event| put_bytes(event, 2, b"thrown"));
            put_message(span, 15, |status| put_number(status, 3, 2));
        },
        &|_| {},
    );
    assert!(parse(&mut batch));
    check(&batch, ".otel.span.name", "GET /", ValueType::String);
    check(&batch, ".otel.span.kind", "2", ValueType::Int);
    check(&batch, ".otel.span.events.0.name", "thrown", ValueType::String);
    check(&batch, ".otel.span.status.code", "2", ValueType::Int);
}

#[test]
fn other_messages_and_damaged_records_do_not_match_and_stay_as_they_are() {
    assert!(!parse(&mut batch(&[b"hello"])));
    let mut damaged = received("log", &|log| log.extend_from_slice(b"\x0a"), &|_| {});
    assert!(!parse(&mut damaged));
    assert_eq!(value(&damaged, ".otel.type"), None);
    assert!(damaged.value(&damaged.records[0], NameId::MESSAGE).is_none_or(|value| value.bytes.is_empty()));
}

#[test]
fn what_nobody_reads_is_not_kept() {
    let mut batch = received(
        "log",
        &|log| {
            pair(log, 6, "a", &|v| put_bytes(v, 1, b"1"));
            pair(log, 6, "b", &|v| put_bytes(v, 1, b"2"));
        },
        &|_| {},
    );
    let mut demand = record::Demand::default();
    demand.name(intern(".otel.log.attributes.b").expect("room"));
    let narrowed = parser("opentelemetry()").narrowed(&demand).expect("a smaller one");
    narrowed.parse(&mut batch, &mut vec![0], &mut context());
    check(&batch, ".otel.log.attributes.b", "2", ValueType::String);
    assert_eq!(value(&batch, ".otel.log.attributes.a"), None);
}
