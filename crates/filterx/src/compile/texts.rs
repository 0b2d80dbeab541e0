//! Texts, which may be templates, and names of the message, which may be macros.

use super::Compiler;
use crate::ast::{Expr as Written, Extent, Kind, Quote};
use crate::program::Expr;
use diag::Diagnostic;
use record::ValueType;
use template::Template;
use value::{Value, double_of, integer_of};

impl Compiler<'_> {
    /// A quoted text: a literal, a variable, or a template.
    pub(super) fn quoted(&mut self, text: &[u8], quote: Quote, at: Extent) -> Option<Expr> {
        if quote == Quote::Slash || !text.contains(&b'$') {
            return Some(Expr::Text(self.text(text)));
        }
        let Ok(text) = std::str::from_utf8(text) else {
            self.wrong_with(
                "Y0106",
                "a text with `$` in it has to be UTF-8",
                at,
                "put the other bytes into a text of their own",
            );
            return None;
        };
        match single_name(text) {
            Some(name) => self.message(name, at),
            None => self.template(text, at),
        }
    }

    /// `$NAME`: a value of the message, or a macro.
    pub(super) fn message(&mut self, name: &str, at: Extent) -> Option<Expr> {
        if let Some(id) = template::value_name(name) {
            return self.message_variable(id, at).map(Expr::Variable);
        }
        self.template(&format!("${{{name}}}"), at)
    }

    /// A template of the program's own.
    pub fn own_template(&mut self, text: &str) -> Option<Expr> {
        self.template(text, Extent::default())
    }

    fn template(&mut self, text: &str, at: Extent) -> Option<Expr> {
        let made = Template::compile(text, &self.options, self.setting.env.scope());
        let made = match made {
            Ok(made) => made,
            Err(error) => {
                let finding = Diagnostic::error("Y0106", format!("wrong template: {error}"), self.span(at));
                self.diags.push(match error.help {
                    Some(help) => finding.help(help),
                    None => finding,
                });
                return None;
            }
        };
        let literal = made.literal().map(|text| (text.to_vec(), made.literal_type()));
        let constant = literal.and_then(|(text, kind)| match kind {
            ValueType::String => Some(Expr::Text(self.text(&text))),
            ValueType::Int => integer_of(&text).map(|n| Expr::Value(Value::Integer(n))),
            ValueType::Double => double_of(&text).map(|n| Expr::Value(Value::Double(n))),
            ValueType::Null => Some(Expr::Value(Value::Null)),
            _ => None,
        });
        if let Some(constant) = constant {
            return Some(constant);
        }
        made.reads(&mut self.uses.reads);
        self.uses.has_templates = true;
        Some(Expr::Template(Box::new(made)))
    }

    /// A text that has to be known before there is a message: `$$` is a dollar sign, and so is one
    /// that begins no name.
    pub fn literal_text(&mut self, expr: &Written) -> Option<Vec<u8>> {
        match &expr.kind {
            Kind::Text(text, Quote::Slash) => Some(text.clone()),
            Kind::Text(text, _) => literal_of(text),
            _ => None,
        }
    }
}

/// The text without doubled dollar signs; `None` where it refers to the message.
fn literal_of(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte == b'$' {
            match after.first() {
                Some(b'$') => rest = after.get(1..).unwrap_or_default(),
                Some(b'{' | b'(') => return None,
                Some(b) if b.is_ascii_alphanumeric() || *b == b'_' => return None,
                _ => {}
            }
        }
        out.push(*byte);
    }
    Some(out)
}

/// The name of a text that is one reference and nothing else.
pub(super) fn single_name(text: &str) -> Option<&str> {
    let name = text.strip_prefix('$')?;
    if let Some(inside) = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
        let is_plain = !inside.is_empty() && !inside.contains(['}', '$']) && !inside.contains(":-");
        return is_plain.then_some(inside);
    }
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (begins && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')).then_some(name)
}
