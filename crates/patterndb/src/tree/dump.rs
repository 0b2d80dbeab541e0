//! A tree printed for people.

use super::{NONE, Node, Tree};
use std::fmt::Write;

impl Tree {
    /// One line a node, indented by its depth; `label` names a rule.
    pub fn dump(&self, label: &dyn Fn(u32) -> String) -> String {
        let mut out = String::new();
        if let Some(root) = self.nodes.first() {
            self.dump_node(root, None, 0, label, &mut out);
        }
        out
    }

    fn dump_node(
        &self,
        node: &Node,
        parser: Option<u32>,
        depth: usize,
        label: &dyn Fn(u32) -> String,
        out: &mut String,
    ) {
        let _ = write!(out, "[{depth}]\t{:width$}", "", width = depth * 2);
        if let Some(parser) = parser.and_then(|p| self.parsers.get(p as usize)) {
            let _ = write!(out, "@{}:{}", parser.type_name, parser.name);
            if !parser.param.is_empty() {
                let _ = write!(out, ":{}", parser.param);
            }
            out.push('@');
        } else {
            let _ = write!(out, "'{}'", String::from_utf8_lossy(node.literal.of(&self.bytes)).escape_debug());
        }
        if node.rule != NONE {
            let _ = write!(out, " {}", label(node.rule));
        }
        out.push('\n');
        // Patterns are short, so the recursion is: each level takes at least a byte of one.
        for kid in node.kids.start..node.kids.start + node.kids.count {
            if let Some(kid) = self.nodes.get(kid as usize) {
                self.dump_node(kid, None, depth + 1, label, out);
            }
        }
        for edge in node.edges.start..node.edges.start + node.edges.count {
            if let Some(edge) = self.edges.get(edge as usize)
                && let Some(node) = self.nodes.get(edge.node as usize)
            {
                self.dump_node(node, Some(edge.parser), depth + 1, label, out);
            }
        }
    }
}
