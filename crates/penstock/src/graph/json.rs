//! The drawing as JSON: its boxes and the arrows between them.

use super::model::Graph;
use serde_json::{Value, json};

/// Grows when something is removed or changes its meaning.
const VERSION: u32 = 1;

pub fn render(graph: &Graph) -> String {
    let boxes: Vec<Value> = graph
        .items
        .iter()
        .enumerate()
        .map(|(id, item)| {
            json!({
                "id": id,
                "kind": item.kind.name(),
                "name": item.name,
                "title": item.title,
                "detail": item.detail,
                "at": item.at,
                "is_dead": item.is_dead,
                "messages_per_second": item.rate,
            })
        })
        .collect();
    let arrows: Vec<Value> = graph
        .arrows
        .iter()
        .map(|arrow| {
            json!({
                "from": arrow.from,
                "to": arrow.to,
                "flow_control": arrow.is_thick,
                "is_dead": arrow.is_dead,
                "messages_per_second": arrow.rate,
            })
        })
        .collect();
    format!("{:#}\n", json!({ "version": VERSION, "boxes": boxes, "arrows": arrows }))
}
