//! Labels of metrics: names and values, of which a name may come several times until somebody cleans up.

use super::convert::first;
use crate::function::{Build, Function, Parameter};
use crate::program::{Holder, Operation};
use crate::run::{Eval, Failure, Halt, Run};
use crate::types::Types;
use value::{Node, Value};

pub const FUNCTIONS: &[Function] = &[
    Function {
        name: "metrics_labels",
        parameters: &[Parameter::value("dict", Types::MAPPING).optional()],
        returns: Types::LABELS,
        help: "Labels for update_metric(), collected as a message goes along: setting one adds it. Values become texts; null and empty ones are left out.",
        examples: &[
            (
                "m = metrics_labels({\"b\":2,\"a\":\"x\",\"n\":null}); m",
                "metrics_labels('{b=\"2\",a=\"x\"}')",
            ),
            ("m = metrics_labels(); m.a = 1; m.a = 2; [m.a, len(m)]", "[\"2\",2]"),
        ],
        build: Build::Plain(labels),
    },
    Function {
        name: "dedup_metrics_labels",
        parameters: &[Parameter::holder("labels")],
        returns: Types::BOOLEAN,
        help: "Leaves of labels with one name the last.",
        examples: &[("m = metrics_labels(); m.a = 1; m.a = 2; dedup_metrics_labels(m); len(m)", "1")],
        build: Build::Made(|args| {
            let labels = args.holder(0)?;
            args.made(Dedup(labels))
        }),
    },
];

fn labels(run: &mut Run<'_>, args: &[Value]) -> Eval {
    let count = run.pair_count(first(args));
    if !args.is_empty() && count.is_none() {
        return run.fail(Failure::Type("Argument must be a dict", first(args).type_name()));
    }
    let node = run.new_dict()?;
    for at in 0..count.unwrap_or(0) {
        let Some((key, value)) = run.pair(first(args), at) else { continue };
        if !matches!(key, Value::String(_)) {
            return run.error("Names of labels must be strings");
        }
        add_label(run, node, key, value)?;
    }
    Ok(Value::Labels(node))
}

/// Appends a label; null and what is empty is left out.
pub(crate) fn add_label(run: &mut Run<'_>, node: Node, key: Value, value: Value) -> Result<(), Halt> {
    if value == Value::Null {
        return Ok(());
    }
    let text = run.text_of(value)?;
    if text.is_empty() {
        return Ok(());
    }
    let trees = run.trees();
    match trees.push(node, key).and_then(|()| trees.push(node, Value::String(text))) {
        Ok(()) => Ok(()),
        Err(_) => run.full(),
    }
}

/// Takes all labels of a name away.
pub(crate) fn remove_labels(run: &mut Run<'_>, node: Node, key: Value) {
    let cells = run.batch.trees.cells(node).to_vec();
    let kept: Vec<Value> = cells
        .chunks_exact(2)
        .filter(|pair| run.bytes(pair[0]) != run.bytes(key))
        .flat_map(|pair| [pair[0], pair[1]])
        .collect();
    refill(run, node, &kept);
}

pub(super) fn refill(run: &mut Run<'_>, node: Node, cells: &[Value]) {
    for (at, cell) in cells.iter().enumerate() {
        run.trees().set_cell(node, at, *cell);
    }
    run.trees().truncate(node, cells.len());
}

struct Dedup(Holder);

impl Operation for Dedup {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let value = run.own_holder(&self.0)?;
        let Value::Labels(node) = value else { return run.error("Argument must be metrics_labels") };
        let batch = &mut *run.batch;
        match batch.trees.merge_duplicates(node, &batch.text) {
            Ok(()) => Ok(Value::Boolean(true)),
            Err(_) => run.full(),
        }
    }
}
