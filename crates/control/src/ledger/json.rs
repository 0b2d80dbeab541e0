//! The balance as JSON and back.

use serde_json::{Map, Value, json};

use super::{Disk, Drops, Failures, Flow, Held, Ledger, Row, Wait};

/// Grows when something is removed or changes its meaning.
const VERSION: u64 = 1;

pub fn render(ledger: &Ledger) -> String {
    json!({
        "version": VERSION,
        "balanced": ledger.balanced(),
        "sources": rows(&ledger.sources),
        "paths": rows(&ledger.paths),
        "destinations": rows(&ledger.destinations),
        "waits": ledger.waits.iter().map(Wait::to_json).collect::<Vec<Value>>(),
        "filterx": ledger.failures.iter().map(failures).collect::<Vec<Value>>(),
        "held": ledger.held.iter().map(Held::to_json).collect::<Vec<Value>>(),
        "disks": ledger.disks.iter().map(Disk::to_json).collect::<Vec<Value>>(),
    })
    .to_string()
}

pub fn parse(text: &str) -> Result<Ledger, String> {
    let value: Value = serde_json::from_str(text).map_err(|e| format!("not a ledger: {e}"))?;
    Ok(Ledger {
        sources: read_rows(&value, "sources")?,
        paths: read_rows(&value, "paths")?,
        destinations: read_rows(&value, "destinations")?,
        waits: read_list(&value, "waits", Wait::from_json)?,
        held: read_list(&value, "held", Held::from_json)?,
        disks: read_list(&value, "disks", Disk::from_json)?,
        failures: read_failures(&value),
    })
}

fn rows(rows: &[Row]) -> Value {
    rows.iter().map(row).collect()
}

fn row(row: &Row) -> Value {
    let flow = &row.flow;
    let dropped: Map<String, Value> =
        flow.dropped.iter().map(|(reason, n)| (reason.name().to_owned(), n.into())).collect();
    let mut value = json!({
        "name": row.name,
        "detail": row.detail,
        "received": flow.received,
        "recovered": flow.recovered,
        "delivered": flow.delivered,
        "waiting": flow.waiting,
        "filtered": flow.filtered,
        "dropped": flow.dropped.total(),
        "dropped_by_reason": dropped,
        "received_bytes": flow.received_bytes,
        "delivered_bytes": flow.delivered_bytes,
        "balanced": flow.balanced(),
    });
    if !row.refused_with.is_empty() {
        value["refused_with"] = row.refused_with.as_str().into();
    }
    value
}

fn read_rows(value: &Value, section: &str) -> Result<Vec<Row>, String> {
    let list = value.get(section).and_then(Value::as_array);
    list.ok_or_else(|| format!("not a ledger: no list '{section}'"))?.iter().map(read_row).collect()
}

/// Programs before these do not say it.
fn read_list<T>(
    value: &Value,
    name: &str,
    read: impl Fn(&Value) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    value.get(name).and_then(Value::as_array).into_iter().flatten().map(read).collect()
}

fn failures(block: &Failures) -> Value {
    let causes: Map<String, Value> = block.causes.iter().map(|(c, n)| (c.clone(), (*n).into())).collect();
    json!({"place": block.place, "failed": causes})
}

/// Programs before these do not say it.
fn read_failures(value: &Value) -> Vec<Failures> {
    let list = value.get("filterx").and_then(Value::as_array);
    let block = |block: &Value| {
        let causes = block.get("failed")?.as_object()?.iter();
        Some(Failures {
            place: block.get("place")?.as_str()?.to_owned(),
            causes: causes.filter_map(|(cause, count)| Some((cause.clone(), count.as_u64()?))).collect(),
        })
    };
    list.into_iter().flatten().filter_map(block).collect()
}

fn read_row(value: &Value) -> Result<Row, String> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = |key: &str| {
        value.get(key).and_then(Value::as_u64).ok_or_else(|| format!("not a ledger: no number '{key}'"))
    };
    let mut dropped = Drops::default();
    if let Some(reasons) = value.get("dropped_by_reason").and_then(Value::as_object) {
        for (name, count) in reasons {
            dropped.add(name.parse()?, count.as_u64().ok_or("not a ledger: a drop count is no number")?);
        }
    }
    Ok(Row {
        name: text("name"),
        detail: text("detail"),
        flow: Flow {
            received: number("received")?,
            // Programs before disk-buffer() do not say it.
            recovered: value.get("recovered").and_then(Value::as_u64).unwrap_or(0),
            delivered: number("delivered")?,
            waiting: number("waiting")?,
            filtered: number("filtered")?,
            dropped,
            received_bytes: number("received_bytes")?,
            delivered_bytes: number("delivered_bytes")?,
        },
        refused_with: text("refused_with"),
    })
}
