//! The log paths of a configuration as nodes and arcs, for `export-config-graph`.

use super::secrets;
use conf_syntax::{Config, LogItem, LogPath, Statement};
use diag::{SourceMap, Span};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Of one statement.
const TEXT_BYTES_MAX: usize = 16 << 10;

/// `{"nodes": [{"node", "kind", "name", "info", "at"}], "arcs": [{"from", "to", "type"}]}`, and the text of
/// each node without secrets.
pub fn of(config: &Config, sources: &SourceMap) -> (String, BTreeMap<String, String>) {
    let mut graph = Graph::new(sources);
    for statement in &config.items {
        match statement {
            Statement::Source(o) => graph.object("source", &o.name.text, drivers(&o.body), o.span),
            Statement::Destination(o) => graph.object("destination", &o.name.text, drivers(&o.body), o.span),
            Statement::Parser(o) => graph.object("parser", &o.name.text, drivers(&o.body), o.span),
            Statement::Rewrite(o) => graph.object("rewrite", &o.name.text, drivers(&o.body), o.span),
            Statement::Filter(o) => graph.object("filter", &o.name.text, Vec::new(), o.span),
            _ => {}
        }
    }
    let mut count = 0;
    for statement in &config.items {
        if let Statement::Log(path) = statement {
            let name = path.name.as_ref().map_or_else(|| format!("#{count}"), |n| n.text.clone());
            count += 1;
            graph.path(path, &name);
        }
    }
    (json!({ "nodes": graph.nodes, "arcs": graph.arcs }).to_string(), graph.texts)
}

struct Graph<'a> {
    sources: &'a SourceMap,
    nodes: Vec<Value>,
    arcs: Vec<Value>,
    /// By node.
    texts: BTreeMap<String, String>,
    anonymous: usize,
}

impl Graph<'_> {
    fn new(sources: &SourceMap) -> Graph<'_> {
        Graph { sources, nodes: Vec::new(), arcs: Vec::new(), texts: BTreeMap::new(), anonymous: 0 }
    }

    fn node(&mut self, node: &str, kind: &str, name: &str, info: Vec<String>, span: Span) {
        if self.texts.contains_key(node) {
            return;
        }
        let location = self.sources.locate(span);
        let at = format!("{}:{}", location.file, location.line);
        self.texts.insert(node.to_owned(), self.text(span));
        self.nodes.push(json!({ "node": node, "kind": kind, "name": name, "info": info, "at": at }));
    }

    /// As it is written, but for secrets.
    fn text(&self, span: Span) -> String {
        let file = self.sources.file(span.file);
        let text =
            file.and_then(|file| file.text.get(span.start as usize..span.end as usize)).unwrap_or_default();
        // Before it is cut: of what that leaves of a secret, nobody sees that it is one.
        let mut text = secrets::blotted(text);
        let end =
            (0..=text.len().min(TEXT_BYTES_MAX)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text
    }

    fn object(&mut self, kind: &str, name: &str, info: Vec<String>, span: Span) {
        self.node(&format!("{kind}:{name}"), kind, name, info, span);
    }

    fn inline(&mut self, kind: &str, info: Vec<String>, span: Span) -> String {
        let name = format!("#anon-{kind}{}", self.anonymous);
        self.anonymous += 1;
        self.object(kind, &name, info, span);
        format!("{kind}:{name}")
    }

    fn arc(&mut self, from: &str, to: &str) {
        self.arcs.push(json!({ "from": from, "to": to, "type": "next" }));
    }

    fn path(&mut self, path: &LogPath, name: &str) {
        let log = format!("log:{name}");
        let info = path.flags.iter().map(|flag| flag.text.clone()).collect();
        self.node(&log, "log", name, info, path.span);
        self.items(&path.items, vec![log]);
    }

    /// Follows items from the nodes `from`; gives those the next item follows.
    fn items(&mut self, items: &[LogItem], mut from: Vec<String>) -> Vec<String> {
        for item in items {
            from = self.item(item, from);
        }
        from
    }

    fn item(&mut self, item: &LogItem, from: Vec<String>) -> Vec<String> {
        let (kind, node) = match item {
            LogItem::Reference(r) => (r.kind.keyword(), format!("{}:{}", r.kind.keyword(), r.name.text)),
            LogItem::Inline(i) => (i.kind.keyword(), self.inline(i.kind.keyword(), drivers(&i.body), i.span)),
            LogItem::InlineFilter(_, span) => ("filter", self.inline("filter", Vec::new(), *span)),
            LogItem::Call(call) => ("step", self.inline("step", vec![call.name.text.clone()], call.span)),
            LogItem::FilterX(block) => ("filterx", self.inline("filterx", Vec::new(), block.span)),
            LogItem::Parallelize(_) => return from,
            LogItem::Junction(branches, _) => {
                return branches.iter().flat_map(|b| self.item(b, from.clone())).collect();
            }
            LogItem::Channel(path) => return self.items(&path.items, from),
            LogItem::Log(path) => {
                // Nothing follows an embedded log path.
                self.items(&path.items, from.clone());
                return from;
            }
            LogItem::If(conditional) => {
                let bodies = conditional.branches.iter().map(|b| &b.body).chain(&conditional.otherwise);
                let mut ends: Vec<String> =
                    bodies.flat_map(|body| self.items(&body.items, from.clone())).collect();
                if conditional.otherwise.is_none() {
                    ends.extend(from);
                }
                ends.dedup();
                return ends;
            }
        };
        match kind {
            // Sources feed the path they are named in.
            "source" => {
                from.iter().for_each(|at| self.arc(&node, at));
                from
            }
            // Destinations take messages, and let them pass on.
            "destination" => {
                from.iter().for_each(|at| self.arc(at, &node));
                from
            }
            _ => {
                from.iter().for_each(|at| self.arc(at, &node));
                vec![node]
            }
        }
    }
}

/// Names of what stands in the body of a statement.
fn drivers(body: &[LogItem]) -> Vec<String> {
    let calls = body.iter().filter_map(|item| match item {
        LogItem::Call(call) => Some(call.name.text.clone()),
        _ => None,
    });
    calls.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arcs(log: &str) -> Vec<String> {
        let options = conf_syntax::ParseOptions::default();
        let parsed = conf_syntax::parse_text("x", &format!("@version: 4.11\n{log}\n"), &options);
        let graph: Value = serde_json::from_str(&of(&parsed.config, &parsed.sources).0).unwrap();
        let list = graph["arcs"].as_array().unwrap();
        list.iter()
            .map(|a| format!("{} {}", a["from"].as_str().unwrap(), a["to"].as_str().unwrap()))
            .collect()
    }

    #[test]
    fn a_plain_path() {
        let found = arcs("log { source(s); filter(f); destination(d); };");
        assert_eq!(found, ["source:s log:#0", "log:#0 filter:f", "filter:f destination:d"]);
    }

    #[test]
    fn branches_meet_again() {
        let found =
            arcs("log p { if (facility(mail)) { rewrite(r); } else { rewrite(q); }; destination(d); };");
        assert_eq!(
            found,
            ["log:p rewrite:r", "log:p rewrite:q", "rewrite:r destination:d", "rewrite:q destination:d"]
        );
    }
}
