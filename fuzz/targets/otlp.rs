//! Fuzzes the parser of OpenTelemetry's records: record, resource and scope are whatever comes.
#![no_main]

#[path = "parser/run.rs"]
#[allow(dead_code)]
mod run;

use filter::FilterContext;
use parsers::Parse;
use record::{Batch, Context, Record, Span, Stamp, ValueType, intern};
use std::sync::{Arc, LazyLock};
use template::Identity;

static PARSER: LazyLock<Arc<dyn Parse>> =
    LazyLock::new(|| run::made("opentelemetry()", b"").expect("a parser"));

fn check(input: &[u8]) {
    let mut batch = Batch::new(Vec::new(), Arc::new(Context::local("s", "h", "otlp")), Stamp::now(0));
    for kind in ["log", "metric", "span"] {
        let index = batch.records.len();
        batch.records.push(Record::new(Span::EMPTY));
        let values = [("type", kind.as_bytes()), ("resource", input), ("scope", input), (kind, input)];
        for (name, bytes) in values {
            if let Some(id) = intern(&format!(".otel_raw.{name}")) {
                batch.set(index, id, bytes, ValueType::Protobuf);
            }
        }
    }
    let mut selection = vec![0, 1, 2];
    PARSER.parse(&mut batch, &mut selection, &mut FilterContext::new(Identity::new("h")));
    assert_eq!(batch.records.len(), 3);
}

driver::fuzz_target!(|input: &[u8]| check(input));
