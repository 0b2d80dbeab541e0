//! What stands in log paths and statements, in order: references followed, filters in a row made one.

use super::{Maker, Node, context};
use conf_schema::Context;
use conf_syntax::{FilterExpr, If, LogItem, LogPath, ObjectKind, RawBlock, Reference};
use diag::Span;
use std::collections::BTreeSet;

/// Conditions that leave something behind, so that their order counts.
const STORES: &str = "store-matches";

impl Maker<'_> {
    /// The items of a log path, channel or branch, with its flags behind them.
    pub fn log_path(&self, kind: &'static str, path: &LogPath) -> Node {
        let mut children = self.items(&path.items, None);
        let sources: BTreeSet<String> =
            children.iter().filter(|child| child.is_a("from")).map(|child| child.text.clone()).collect();
        children.retain(|child| !child.is_a("from"));
        if !sources.is_empty() {
            let terms: Vec<String> = sources.into_iter().collect();
            let (text, at) = (terms.join(" "), self.at(path.span));
            children.insert(0, Node { kind: "from", text, terms, at, ..Node::default() });
        }
        let mut flags: Vec<String> = path.flags.iter().map(conf_syntax::Name::norm).collect();
        flags.sort_unstable();
        flags.dedup();
        if let Some(first) = path.flags.first() {
            children.push(Node {
                kind: "flags",
                text: flags.join(" "),
                at: self.at(first.span),
                ..Node::default()
            });
        }
        Node { kind, children, at: self.at(path.span), spans: vec![path.span], ..Node::default() }
    }

    /// `bare` is what a call that stands there is.
    pub fn items(&self, items: &[LogItem], bare: Option<Context>) -> Vec<Node> {
        let mut nodes: Vec<Node> = Vec::new();
        for item in items {
            nodes.extend(self.item(item, bare));
        }
        let mut nodes = one_filter(nodes);
        in_any_order(&mut nodes);
        nodes
    }

    fn item(&self, item: &LogItem, bare: Option<Context>) -> Vec<Node> {
        match item {
            LogItem::Call(call) => vec![self.call(call, bare)],
            LogItem::Reference(reference) => self.reference(reference),
            LogItem::Inline(inline) if inline.kind == ObjectKind::Destination => vec![Node {
                kind: "destination",
                children: self.items(&inline.body, context(inline.kind)),
                at: self.at(inline.span),
                ..Node::default()
            }],
            LogItem::Inline(inline) => self.items(&inline.body, context(inline.kind)),
            LogItem::InlineFilter(expr, span) => {
                expr.iter().map(|expr| self.filter_node(expr, String::new(), *span)).collect()
            }
            LogItem::FilterX(raw) => vec![self.filterx(raw)],
            LogItem::Junction(branches, span) => vec![Node {
                kind: "junction",
                children: self.items(branches, bare),
                at: self.at(*span),
                ..Node::default()
            }],
            LogItem::Channel(path) => vec![self.channel("channel", path, bare)],
            LogItem::Log(path) => vec![self.log_path("log", path)],
            LogItem::If(choice) => vec![self.choice(choice)],
            LogItem::Parallelize(call) => vec![self.call(call, Some(Context::LogPath))],
        }
    }

    /// A channel, which in a statement may have bare calls in it.
    fn channel(&self, kind: &'static str, path: &LogPath, bare: Option<Context>) -> Node {
        let mut node = self.log_path(kind, path);
        if bare.is_some() {
            let flags = node.children.pop().filter(|last| last.is_a("flags"));
            node.children = self.items(&path.items, bare);
            node.children.extend(flags);
        }
        node
    }

    fn reference(&self, reference: &Reference) -> Vec<Node> {
        let (kind, name) = (reference.kind, &reference.name);
        let at = self.at(reference.span);
        match kind {
            ObjectKind::Source => {
                self.follow(kind, name, || ());
                vec![Node { kind: "from", text: name.text.clone(), at, ..Node::default() }]
            }
            ObjectKind::Destination => {
                self.follow(kind, name, || ());
                let name = name.text.clone();
                vec![Node { kind: "destination", text: name.clone(), name, at, ..Node::default() }]
            }
            ObjectKind::Filter => {
                let Some(Some(expr)) = self.filters.get(name.text.as_str()) else { return Vec::new() };
                let mut node =
                    self.follow(kind, name, || self.filter_node(expr, name.text.clone(), reference.span));
                node.stated = Some(self.at(expr.span()));
                vec![node]
            }
            ObjectKind::Parser | ObjectKind::Rewrite => {
                let Some(object) = self.objects.get(&(kind, name.text.clone())) else { return Vec::new() };
                let mut nodes = self.follow(kind, name, || self.items(&object.body, context(kind)));
                nodes.iter_mut().for_each(|node| node.name = name.text.clone());
                nodes
            }
        }
    }

    fn choice(&self, choice: &If) -> Node {
        let mut children = Vec::new();
        for branch in &choice.branches {
            let mut case = self.log_path("case", &branch.body);
            let condition = branch.condition.as_ref();
            case.text = condition.map_or_else(String::new, |condition| self.filter(condition));
            case.at = condition.map_or(case.at.clone(), |condition| self.at(condition.span()));
            case.spans = condition.map(Self::spans).unwrap_or_default();
            children.push(case);
        }
        children.extend(choice.otherwise.as_ref().map(|path| self.log_path("else", path)));
        Node { kind: "if", children, at: self.at(choice.span), ..Node::default() }
    }

    /// The text of a block of expressions without comments and layout.
    pub fn filterx(&self, raw: &RawBlock) -> Node {
        Node { kind: "filterx", text: without_layout(&raw.text), at: self.at(raw.span), ..Node::default() }
    }

    /// `span` is the place where it is used.
    pub fn filter_node(&self, expr: &FilterExpr, name: String, span: Span) -> Node {
        let terms = match self.meant(expr) {
            FilterExpr::And(all, _) => self.operands(all, true),
            _ => vec![self.operand(expr)],
        };
        let spans = [vec![span], Self::spans(expr)].concat();
        let (text, at) = (self.filter(expr), self.at(span));
        Node { kind: "filter", name, text, terms, at, spans, ..Node::default() }
    }

    /// A condition, and its parts that all have to hold.
    fn spans(expr: &FilterExpr) -> Vec<Span> {
        let parts: &[FilterExpr] = if let FilterExpr::And(all, _) = expr { all } else { &[] };
        std::iter::once(expr.span()).chain(parts.iter().flat_map(Self::spans)).collect()
    }

    /// A condition with the filters that it refers to put in, in an order that does not depend on how it is
    /// written.
    pub fn filter(&self, expr: &FilterExpr) -> String {
        match expr {
            FilterExpr::Not(inner, _) => format!("not {}", self.operand(inner)),
            FilterExpr::And(all, _) => joined(self.operands(all, true), " and "),
            FilterExpr::Or(all, _) => joined(self.operands(all, false), " or "),
            FilterExpr::Call(call) if call.is("filter") => {
                let name = call.args.first().and_then(|arg| arg.text()).unwrap_or_default();
                let Some(Some(inner)) = self.filters.get(name) else { return call.canonical() };
                let name = conf_syntax::Name { text: name.to_owned(), span: call.span };
                self.follow(ObjectKind::Filter, &name, || self.filter(inner))
            }
            _ => expr.canonical(),
        }
    }

    fn operand(&self, expr: &FilterExpr) -> String {
        let text = self.filter(expr);
        let meant = self.meant(expr);
        if matches!(meant, FilterExpr::And(..) | FilterExpr::Or(..)) { format!("({text})") } else { text }
    }

    /// What a reference to a filter stands for.
    fn meant<'e>(&'e self, expr: &'e FilterExpr) -> &'e FilterExpr {
        if let FilterExpr::Call(call) = expr {
            let name = call.args.first().and_then(|arg| arg.text()).filter(|_| call.is("filter"));
            if let Some(Some(inner)) = name.and_then(|name| self.filters.get(name)) {
                return inner;
            }
        }
        expr
    }

    fn operands(&self, all: &[FilterExpr], is_and: bool) -> Vec<String> {
        let mut texts = Vec::new();
        for expr in all {
            match (self.meant(expr), is_and) {
                (FilterExpr::And(inner, _), true) | (FilterExpr::Or(inner, _), false) => {
                    texts.extend(self.operands(inner, is_and));
                }
                _ => texts.push(self.operand(expr)),
            }
        }
        texts
    }
}

/// Conditions of which each is the same wherever it stands are sorted.
fn joined(mut texts: Vec<String>, word: &str) -> String {
    if !texts.iter().any(|text| text.contains(STORES)) {
        texts.sort_unstable();
        texts.dedup();
    }
    texts.join(word)
}

/// Filters in a row are one: all of them have to hold.
fn one_filter(nodes: Vec<Node>) -> Vec<Node> {
    let mut out: Vec<Node> = Vec::new();
    for node in nodes {
        match out.last_mut() {
            Some(last) if last.is_a("filter") && node.is_a("filter") => {
                last.terms.extend(node.terms);
                last.spans.extend(node.spans);
                last.text = joined(last.terms.clone(), " and ");
                last.stated = None;
                last.name = match last.name.is_empty() || node.name.is_empty() {
                    true => String::new(),
                    false => format!("{}, {}", last.name, node.name),
                };
            }
            _ => out.push(node),
        }
    }
    out
}

/// Destinations in a row get the same messages whatever their order.
pub fn in_any_order(nodes: &mut [Node]) {
    let mut from = 0;
    while from < nodes.len() {
        let run = nodes.get(from..).unwrap_or_default();
        let count = run.iter().take_while(|node| node.is_a("destination")).count();
        if let Some(run) = nodes.get_mut(from..from + count) {
            run.sort_by_cached_key(Node::meaning);
        }
        from += count.max(1);
    }
}

/// Comments and white space taken out of a block of expressions; strings stay as they are.
fn without_layout(text: &str) -> String {
    let (mut out, mut quote, mut escaped, mut comment) = (String::new(), None, false, false);
    for c in text.chars() {
        match (quote, c) {
            _ if comment => {
                comment = c != '\n';
                if !comment && !out.ends_with(' ') {
                    out.push(' ');
                }
                continue;
            }
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '#') => {
                comment = true;
                continue;
            }
            (None, c) if c.is_whitespace() => {
                if !out.ends_with(' ') {
                    out.push(' ');
                }
                continue;
            }
            (None, _) => {}
        }
        out.push(c);
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::without_layout;

    #[test]
    fn layout_is_taken_out_of_expressions() {
        let check = |text: &str, expected: &str| assert_eq!(without_layout(text), expected, "{text}");
        check("\n  a = 1; # one\n  b = \"#  x\";\n", "a = 1; b = \"#  x\";");
        check("a='\\' #';", "a='\\' #';");
    }
}
