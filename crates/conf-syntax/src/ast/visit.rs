//! A walk through a whole configuration in the order of its text, for those who look for calls or texts
//! wherever they stand.

use diag::Span;

use super::{
    Arg, ArgKind, Call, Config, FilterExpr, LogItem, Operand, OperandKind, Statement, TemplateBody, TypedText,
};

/// Told of what a walk comes by. Every method has a default that does nothing.
pub trait Visit {
    /// Any `name(args)`; its arguments come after it.
    fn call(&mut self, _call: &Call) {}

    /// A value: a string, a word or the text of a template. Not numbers, which hold nothing to look for.
    fn text(&mut self, _text: &str, _span: Span) {}
}

impl Config {
    pub fn visit(&self, visitor: &mut dyn Visit) {
        Walk(visitor).statements(&self.items);
    }
}

impl Statement {
    pub fn visit(&self, visitor: &mut dyn Visit) {
        Walk(visitor).statements(std::slice::from_ref(self));
    }
}

/// The same through a filter expression, where there is one, and what stands behind it.
pub fn visit_parts(filter: Option<&FilterExpr>, items: &[LogItem], visitor: &mut dyn Visit) {
    let mut walk = Walk(visitor);
    walk.expressions(filter);
    walk.items(items);
}

struct Walk<'v>(&'v mut dyn Visit);

impl Walk<'_> {
    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            match statement {
                Statement::Source(object)
                | Statement::Destination(object)
                | Statement::Parser(object)
                | Statement::Rewrite(object) => self.items(&object.body),
                Statement::Filter(filter) => self.expressions(&filter.expr),
                Statement::Template(template) => match &template.body {
                    TemplateBody::Text(text) => self.typed(text),
                    TemplateBody::Options(calls) => calls.iter().for_each(|call| self.call(call)),
                },
                Statement::TemplateFunction(function) => self.typed(&function.text),
                Statement::Options(options) => options.options.iter().for_each(|call| self.call(call)),
                Statement::Log(path) => self.items(&path.items),
                Statement::Application(app) => {
                    self.expressions(&app.filter);
                    self.items(app.parser.as_deref().unwrap_or_default());
                }
                Statement::Transformation(of) => {
                    let steps = of.transforms.iter().flat_map(|transform| &transform.steps);
                    steps.for_each(|step| self.items(&step.items));
                }
                Statement::Python(_) => {}
            }
        }
    }

    fn items(&mut self, items: &[LogItem]) {
        for item in items {
            match item {
                LogItem::Call(call) | LogItem::Parallelize(call) => self.call(call),
                LogItem::Inline(inline) => self.items(&inline.body),
                LogItem::InlineFilter(filter, _) => self.expressions(filter),
                LogItem::Junction(branches, _) => self.items(branches),
                LogItem::Channel(path) | LogItem::Log(path) => self.items(&path.items),
                LogItem::If(choice) => {
                    for branch in &choice.branches {
                        self.expressions(&branch.condition);
                        self.items(&branch.body.items);
                    }
                    choice.otherwise.iter().for_each(|path| self.items(&path.items));
                }
                LogItem::Reference(_) | LogItem::FilterX(_) => {}
            }
        }
    }

    fn expressions<'e>(&mut self, list: impl IntoIterator<Item = &'e FilterExpr>) {
        for filter in list {
            match filter {
                FilterExpr::Not(inner, _) => self.expressions([&**inner]),
                FilterExpr::And(all, _) | FilterExpr::Or(all, _) => self.expressions(all),
                FilterExpr::Call(call) => self.call(call),
                FilterExpr::Compare { lhs, rhs, .. } => {
                    self.operand(lhs);
                    self.operand(rhs);
                }
            }
        }
    }

    fn operand(&mut self, operand: &Operand) {
        if let OperandKind::Template(text) = &operand.kind {
            self.typed(text);
        }
    }

    fn typed(&mut self, text: &TypedText) {
        self.0.text(&text.text, text.span);
    }

    fn call(&mut self, call: &Call) {
        self.0.call(call);
        self.args(&call.args);
    }

    fn args(&mut self, args: &[Arg]) {
        for arg in args {
            self.arg(arg);
        }
    }

    fn arg(&mut self, arg: &Arg) {
        match &arg.kind {
            ArgKind::Call(inner) => self.call(inner),
            ArgKind::Group(inner) | ArgKind::Braces(inner) | ArgKind::List(inner) => self.args(inner),
            ArgKind::Str { text, .. } | ArgKind::Ident(text) => self.0.text(text, arg.span),
            ArgKind::Range(first, second) | ArgKind::Pair(first, second) => {
                self.arg(first);
                self.arg(second);
            }
            ArgKind::Int { .. } | ArgKind::Float { .. } | ArgKind::Op(_) | ArgKind::Semicolon => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen {
        calls: Vec<String>,
        texts: Vec<String>,
    }

    impl Visit for Seen {
        fn call(&mut self, call: &Call) {
            self.calls.push(call.name.text.clone());
        }

        fn text(&mut self, text: &str, _: Span) {
            self.texts.push(text.to_owned());
        }
    }

    #[test]
    fn every_corner_is_seen() {
        let text = r#"@version: 4.11
            template t { template("t1"); };
            template u "t2";
            template-function f "t3";
            options { flag(w1); };
            source s { a(b("x1" => c("x2"))); };
            filter f { not (program("p1" flags("p2")) or "$A" eq "$B"); };
            application a[b] { filter { host("h1"); }; parser { p("x3"); }; };
            log {
                source(s);
                filter { "$C" == 1 };
                junction { channel { rewrite { set("x4"); }; }; };
                if (message("m1")) { parser { q("x5"); }; } else { destination { d("x6"); }; };
                log { destination { e("x7"); }; };
            };
        "#;
        let parsed = crate::parse_text("x.conf", text, &crate::ParseOptions::default());
        assert!(!parsed.diagnostics.has_errors());
        let mut seen = Seen::default();
        parsed.config.visit(&mut seen);
        let calls =
            ["template", "flag", "a", "b", "c", "program", "flags", "host", "p", "set", "message", "q"];
        assert_eq!(seen.calls[..calls.len()], calls);
        let texts =
            ["t1", "t2", "t3", "w1", "x1", "x2", "p1", "p2", "$A", "$B", "h1", "x3", "$C", "x4", "m1"];
        assert_eq!(seen.texts[..texts.len()], texts);
        assert_eq!(seen.texts[texts.len()..], ["x5", "x6", "x7"]);
    }
}
