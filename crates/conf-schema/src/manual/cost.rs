//! What a component costs on the message path: a part of its manual page.

use crate::{Component, Measured};

/// The part of a page; nothing for a component that says nothing. Every parser and driver does, which a test
/// of the program checks.
pub fn section(component: &Component) -> String {
    component.cost.as_ref().map_or_else(String::new, |cost| {
        let (note, name) = (cost.note, component.name);
        match cost.measured {
            Measured::Bench(case) => {
                format!("\n## Cost\n\n{note} `penstock bench --cases {case}` measures it.\n")
            }
            Measured::Example => {
                format!("\n## Cost\n\n{note} `cargo run --release -p parsers --example parser_cost {name}` measures it.\n")
            }
            Measured::Elsewhere => format!("\n## Cost\n\n{note}\n"),
        }
    })
}
