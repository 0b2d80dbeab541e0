//! What can be assigned to, unset and asked for.

use super::Compiler;
use crate::ast::{Expr as Written, Kind, Quote};
use crate::program::{Expr, Step, Target};

impl Compiler<'_> {
    /// A variable or an element below one. `what` says what it is for.
    pub fn target(&mut self, expr: &Written, what: &str) -> Option<Target> {
        let mut path = Vec::new();
        let variable = self.target_root(expr, what, &mut path)?;
        Some(Target { variable, path: path.into() })
    }

    fn target_root(&mut self, expr: &Written, what: &str, path: &mut Vec<Step>) -> Option<u32> {
        match &expr.kind {
            Kind::Name(name) => self.block_variable(name, expr.at),
            Kind::Message(name) => self.settable(name, expr, what),
            Kind::Text(text, quote) if *quote != Quote::Slash => {
                let name = std::str::from_utf8(text).ok()?.strip_prefix('$')?;
                let name = name.strip_prefix('{').and_then(|n| n.strip_suffix('}')).unwrap_or(name);
                self.settable(name, expr, what)
            }
            Kind::Attribute(of, name) => {
                let variable = self.target_root(of, what, path);
                let key = self.text(name.text.as_bytes());
                path.push(Step::Key(Expr::Text(key)));
                variable
            }
            Kind::Element(of, key) => {
                let variable = self.target_root(of, what, path);
                let key = self.expr(key);
                path.push(Step::Key(key?));
                variable
            }
            Kind::Append(of) => {
                let variable = self.target_root(of, what, path);
                path.push(Step::Append);
                variable
            }
            _ => {
                let text = format!("{what} takes a variable or an element of one");
                self.wrong_with("Y0108", text, expr.at, "give the value a name first: `x = ...;`");
                None
            }
        }
    }

    fn settable(&mut self, name: &str, expr: &Written, what: &str) -> Option<u32> {
        if let Some(id) = template::value_name(name) {
            return self.message_variable(id, expr.at);
        }
        let text = format!("`${name}` is computed from the message: {what} cannot be used with it");
        self.wrong_with("Y0108", text, expr.at, "give the value another name");
        None
    }
}
