//! Metrics: what they are called, and the points of gauges and sums. Histograms and summaries keep their
//! bytes, which go on as they are.

use super::values::{Out, attributes};
use record::ValueType;
use wire::protobuf::{Malformed, Value, fields};

/// Points of a metric that become values.
const POINTS_MAX: usize = 1000;

pub(super) fn take_apart(metric: &[u8], out: &mut Out<'_>) -> Result<(), Malformed> {
    for field in fields(metric) {
        match field? {
            (1, Value::Bytes(text)) => out.text("metric.name", text, ValueType::String),
            (2, Value::Bytes(text)) => out.text("metric.description", text, ValueType::String),
            (3, Value::Bytes(text)) => out.text("metric.unit", text, ValueType::String),
            (5, Value::Bytes(data)) => points(data, "gauge", out)?,
            (7, Value::Bytes(data)) => sum(data, out)?,
            (9, Value::Bytes(_)) => kind("histogram", out),
            (10, Value::Bytes(_)) => kind("exponential_histogram", out),
            (11, Value::Bytes(_)) => kind("summary", out),
            _ => {}
        }
    }
    attributes(metric, 12, &["metric.metadata."], out)
}

fn kind(kind: &str, out: &mut Out<'_>) {
    out.text("metric.data.type", kind.as_bytes(), ValueType::String);
}

fn sum(data: &[u8], out: &mut Out<'_>) -> Result<(), Malformed> {
    for field in fields(data) {
        match field? {
            (2, Value::Varint(number)) => out.number("metric.data.sum.aggregation_temporality", number),
            (3, Value::Varint(truth)) => {
                let text: &[u8] = if truth == 0 { b"false" } else { b"true" };
                out.text("metric.data.sum.is_monotonic", text, ValueType::Boolean);
            }
            _ => {}
        }
    }
    points(data, "sum", out)
}

fn points(data: &[u8], name: &str, out: &mut Out<'_>) -> Result<(), Malformed> {
    kind(name, out);
    let mut count = 0;
    for field in fields(data) {
        let (1, Value::Bytes(message)) = field? else { continue };
        if count < POINTS_MAX {
            point(message, &format!("metric.data.{name}.data_points.{count}."), out)?;
        }
        count += 1;
    }
    Ok(())
}

fn point(message: &[u8], prefix: &str, out: &mut Out<'_>) -> Result<(), Malformed> {
    for field in fields(message) {
        match field? {
            (2, Value::Fixed64(time)) => out.number(&format!("{prefix}start_time_unix_nano"), time),
            (3, Value::Fixed64(time)) => out.number(&format!("{prefix}time_unix_nano"), time),
            (4, Value::Fixed64(bits)) => out.double(&format!("{prefix}value"), f64::from_bits(bits)),
            (6, Value::Fixed64(number)) => {
                out.text(&format!("{prefix}value"), (number as i64).to_string().as_bytes(), ValueType::Int);
            }
            (8, Value::Varint(flags)) => out.number(&format!("{prefix}flags"), flags),
            _ => {}
        }
    }
    attributes(message, 7, &[prefix, "attributes."], out)
}
