//! The tree as indented text, for golden cases.

use conf_syntax::*;

pub fn statements(out: &mut String, items: &[Statement]) {
    for item in items {
        match item {
            Statement::Source(o) => object(out, "source", o),
            Statement::Destination(o) => object(out, "destination", o),
            Statement::Parser(o) => object(out, "parser", o),
            Statement::Rewrite(o) => object(out, "rewrite", o),
            Statement::Filter(f) => {
                line(out, 0, &format!("filter {}: {}", f.name.text, filter(f.expr.as_ref())))
            }
            Statement::Template(t) => match &t.body {
                TemplateBody::Text(text) => {
                    line(out, 0, &format!("template {}: {}", t.name.text, typed(text)))
                }
                TemplateBody::Options(options) => {
                    line(out, 0, &format!("template {}", t.name.text));
                    options.iter().for_each(|c| line(out, 1, &call(c)));
                }
            },
            Statement::TemplateFunction(t) => {
                line(out, 0, &format!("template-function {}: {}", t.name.text, typed(&t.text)))
            }
            Statement::Options(o) => {
                line(out, 0, "options");
                o.options.iter().for_each(|c| line(out, 1, &call(c)));
            }
            Statement::Log(l) => path(out, 0, "log", l),
            Statement::Application(a) => {
                line(out, 0, &format!("application {}[{}]", a.name.text, a.topic.text));
                line(out, 1, &format!("filter: {}", filter(a.filter.as_ref())));
                body(out, 1, a.parser.as_deref().unwrap_or_default());
                if let Some(f) = &a.filterx {
                    line(out, 1, &raw(f));
                }
            }
            Statement::Transformation(t) => {
                line(out, 0, &format!("transformation {}[{}]", t.name.text, t.topic.text));
                for transform in &t.transforms {
                    line(out, 1, &format!("transform {}", transform.name.text));
                    transform.steps.iter().for_each(|step| path(out, 2, "step", step));
                }
            }
            Statement::Python(r) => line(out, 0, &raw(r)),
        }
    }
}

fn line(out: &mut String, depth: usize, text: &str) {
    out.push_str(&"  ".repeat(depth));
    out.push_str(text);
    out.push('\n');
}

fn raw(r: &RawBlock) -> String {
    let head: Vec<&str> = r.head.iter().map(|n| n.text.as_str()).collect();
    format!("{} {head:?} {:?}", r.keyword.text, r.text)
}

fn object(out: &mut String, kind: &str, o: &Object) {
    line(out, 0, &format!("{kind} {}", o.name.text));
    body(out, 1, &o.body);
}

fn path(out: &mut String, depth: usize, kind: &str, l: &LogPath) {
    let name = l.name.as_ref().map(|n| format!(" {}", n.text)).unwrap_or_default();
    let flags: Vec<&str> = l.flags.iter().map(|f| f.text.as_str()).collect();
    let flags = if flags.is_empty() { String::new() } else { format!(" flags {flags:?}") };
    line(out, depth, &format!("{kind}{name}{flags}"));
    body(out, depth + 1, &l.items);
}

fn body(out: &mut String, depth: usize, items: &[LogItem]) {
    for item in items {
        match item {
            LogItem::Call(c) => line(out, depth, &call(c)),
            LogItem::Parallelize(c) => line(out, depth, &format!("parallel: {}", call(c))),
            LogItem::Reference(r) => line(out, depth, &format!("-> {} {}", r.kind.keyword(), r.name.text)),
            LogItem::Inline(i) => {
                line(out, depth, &format!("inline {}", i.kind.keyword()));
                body(out, depth + 1, &i.body);
            }
            LogItem::InlineFilter(f, _) => {
                line(out, depth, &format!("inline filter: {}", filter(f.as_ref())))
            }
            LogItem::FilterX(r) => line(out, depth, &raw(r)),
            LogItem::Junction(branches, _) => {
                line(out, depth, "junction");
                body(out, depth + 1, branches);
            }
            LogItem::Channel(l) => path(out, depth, "channel", l),
            LogItem::Log(l) => path(out, depth, "log", l),
            LogItem::If(i) => {
                for (n, branch) in i.branches.iter().enumerate() {
                    let word = if n == 0 { "if" } else { "elif" };
                    let condition = match branch.has_condition {
                        true => format!("{word} ({})", filter(branch.condition.as_ref())),
                        false => word.to_string(),
                    };
                    path(out, depth, &condition, &branch.body);
                }
                if let Some(otherwise) = &i.otherwise {
                    path(out, depth, "else", otherwise);
                }
            }
        }
    }
}

pub fn call(c: &Call) -> String {
    format!("{}({})", c.name.text, args(&c.args))
}

fn args(list: &[Arg]) -> String {
    list.iter().map(arg).collect::<Vec<_>>().join(" ")
}

fn arg(a: &Arg) -> String {
    match &a.kind {
        ArgKind::Call(c) => call(c),
        ArgKind::Str { text, quote: Quote::Double } => format!("{text:?}"),
        ArgKind::Str { text, quote: Quote::Single } => format!("'{text}'"),
        ArgKind::Ident(text) => text.clone(),
        ArgKind::Int { value, .. } => value.to_string(),
        ArgKind::Float { value, .. } => format!("{value:?}f"),
        ArgKind::Range(from, to) => format!("[{} .. {}]", arg(from), arg(to)),
        ArgKind::Pair(key, value) => format!("[{} => {}]", arg(key), arg(value)),
        ArgKind::Op(op) => op.symbol().to_string(),
        ArgKind::Group(inner) => format!("({})", args(inner)),
        ArgKind::List(inner) => format!("[{}]", args(inner)),
        ArgKind::Braces(inner) => format!("{{{}}}", args(inner)),
        ArgKind::Semicolon => ";".into(),
    }
}

fn typed(t: &TypedText) -> String {
    match &t.type_hint {
        Some(hint) => format!("{}({:?})", hint.text, t.text),
        None => format!("{:?}", t.text),
    }
}

fn operand(o: &Operand) -> String {
    match &o.kind {
        OperandKind::Template(t) => typed(t),
        OperandKind::Int(n) => n.to_string(),
        OperandKind::Float(f) => format!("{f:?}f"),
    }
}

pub fn filter(f: Option<&FilterExpr>) -> String {
    let list = |l: &[FilterExpr]| l.iter().map(|f| filter(Some(f))).collect::<Vec<_>>().join(", ");
    match f {
        None => "nothing".into(),
        Some(FilterExpr::Not(inner, _)) => format!("not {}", filter(Some(inner))),
        Some(FilterExpr::And(l, _)) => format!("all[{}]", list(l)),
        Some(FilterExpr::Or(l, _)) => format!("any[{}]", list(l)),
        Some(FilterExpr::Call(c)) => call(c),
        Some(FilterExpr::Compare { lhs, op, rhs, .. }) => {
            format!("{} {} {}", operand(lhs), op.symbol(), operand(rhs))
        }
    }
}
