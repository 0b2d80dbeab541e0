//! Calls, arguments and filter expressions in one spelling, whatever theirs was: for whoever compares two
//! texts by what they mean, or shows one in a line.

use std::fmt::Write;

use super::{Arg, ArgKind, Call, FilterExpr, Operand, OperandKind, norm};

/// Calls of words, in an order that means nothing.
const SETS: [&str; 6] = ["facility", "level", "severity", "priority", "tags", "flags"];

impl Call {
    /// `name(values option(...))`: options in the order of their names, behind the values.
    pub fn canonical(&self) -> String {
        let mut options: Vec<String> = self.options().map(Call::canonical).collect();
        options.sort_unstable();
        let is_set = SETS.iter().any(|name| self.is(name));
        let mut parts: Vec<String> = self.values().map(|arg| value(arg, is_set || self.is("type"))).collect();
        if is_set {
            parts.sort_unstable();
            parts.dedup();
        }
        parts.append(&mut options);
        format!("{}({})", norm(&self.name.text), parts.join(" "))
    }
}

/// A word and the same in quotes are one.
fn value(arg: &Arg, are_words: bool) -> String {
    let is_word =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
    match &arg.kind {
        ArgKind::Str { text, .. } | ArgKind::Ident(text) => {
            if are_words && is_word(text) {
                text.clone()
            } else {
                quoted(text)
            }
        }
        _ => arg.canonical(),
    }
}

impl Arg {
    /// Strings in double quotes, words as they are.
    pub fn canonical(&self) -> String {
        let all = |args: &[Arg]| args.iter().map(Arg::canonical).collect::<Vec<_>>().join(" ");
        match &self.kind {
            ArgKind::Call(call) => call.canonical(),
            ArgKind::Str { text, .. } => quoted(text),
            ArgKind::Ident(word) => word.clone(),
            ArgKind::Int { value, .. } => value.to_string(),
            ArgKind::Float { value, .. } => value.to_string(),
            ArgKind::Range(from, to) => format!("{}..{}", from.canonical(), to.canonical()),
            ArgKind::Pair(key, value) => format!("{} => {}", key.canonical(), value.canonical()),
            ArgKind::Op(op) => op.symbol().to_owned(),
            ArgKind::Group(inner) => format!("({})", all(inner)),
            ArgKind::Braces(inner) => format!("{{ {} }}", all(inner)),
            // The same texts without brackets are the same list.
            ArgKind::List(inner) => all(inner),
            ArgKind::Semicolon => ";".to_owned(),
        }
    }
}

impl Operand {
    pub fn canonical(&self) -> String {
        match &self.kind {
            OperandKind::Template(text) => match &text.type_hint {
                Some(hint) => format!("{}({})", hint.text, quoted(&text.text)),
                None if self.bare => format!("\"${}\"", text.text),
                None => quoted(&text.text),
            },
            OperandKind::Int(value) => value.to_string(),
            OperandKind::Float(value) => value.to_string(),
        }
    }
}

impl FilterExpr {
    /// As it is written, in one line.
    pub fn canonical(&self) -> String {
        let joined = |all: &[FilterExpr], word: &str| {
            all.iter().map(FilterExpr::as_operand).collect::<Vec<_>>().join(word)
        };
        match self {
            FilterExpr::Not(inner, _) => format!("not {}", inner.as_operand()),
            FilterExpr::And(all, _) => joined(all, " and "),
            FilterExpr::Or(all, _) => joined(all, " or "),
            FilterExpr::Call(call) => call.canonical(),
            FilterExpr::Compare { lhs, op, rhs, .. } => {
                format!("{} {} {}", lhs.canonical(), op.symbol(), rhs.canonical())
            }
        }
    }

    fn as_operand(&self) -> String {
        match self {
            FilterExpr::And(..) | FilterExpr::Or(..) => format!("({})", self.canonical()),
            _ => self.canonical(),
        }
    }
}

/// In double quotes, as the language reads it.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() && (c as u32) < 0x80 => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use crate::{ParseOptions, Statement};

    fn filter(text: &str) -> String {
        let text = format!("@version: 4.11\nfilter f {{ {text} }};\n");
        let parsed = crate::parse_text("x.conf", &text, &ParseOptions::default());
        match parsed.config.items.first() {
            Some(Statement::Filter(filter)) => filter.expr.as_ref().expect("an expression").canonical(),
            _ => panic!("{text}"),
        }
    }

    #[test]
    fn spellings_are_one() {
        for (text, expected) in [
            ("facility(mail,  kern);", "facility(kern mail)"),
            ("match('a\\d' value(\"X\") flags(b, a));", "match(\"a\\\\d\" flags(a b) value(\"X\"))"),
            ("not (program(a) or host(\"b\"));", "not (program(\"a\") or host(\"b\"))"),
            ("level(err..crit) and \"$X\" eq '1\n';", "level(err..crit) and \"$X\" eq \"1\\n\""),
        ] {
            assert_eq!(filter(text), expected, "{text}");
            // What it writes means the same.
            assert_eq!(filter(&format!("{expected};")), expected);
        }
    }
}
