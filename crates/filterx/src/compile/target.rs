//! What can be assigned to, unset and asked for.

use super::Compiler;
use super::texts::single_name;
use crate::ast::{Expr as Written, Kind, Quote};
use crate::program::{Expr, Holder, Step, Target};

impl Compiler<'_> {
    /// A variable or an element below one. `what` says what it is for.
    pub fn target(&mut self, expr: &Written, what: &str) -> Option<Target> {
        let mut path = Vec::new();
        let variable = self.target_root(expr, what, &mut path)?;
        Some(Target { variable, path: path.into() })
    }

    fn target_root(&mut self, expr: &Written, what: &str, path: &mut Vec<Step>) -> Option<u32> {
        if let Some(name) = referred(expr) {
            return self.settable(name, expr, what);
        }
        match &expr.kind {
            Kind::Name(name) => self.block_variable(name, expr.at),
            Kind::Message(name) => self.settable(name, expr, what),
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

    /// A container to be changed: a variable, an element of one, or what an expression makes.
    pub fn holder(&mut self, expr: &Written, what: &str) -> Option<Holder> {
        if !Self::is_target(expr) {
            return self.expr(expr).map(Holder::Made);
        }
        let target = self.target(expr, what)?;
        self.note_write(target.variable);
        Some(Holder::Target(target))
    }

    /// Whether it is a variable or an element of one.
    pub fn is_target(expr: &Written) -> bool {
        match &expr.kind {
            Kind::Name(_) | Kind::Message(_) => true,
            Kind::Attribute(of, _) | Kind::Element(of, _) => Self::is_target(of),
            _ => referred(expr).is_some(),
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

/// The name in `"$name"` or `"${name}"`, which stands for the variable.
fn referred(expr: &Written) -> Option<&str> {
    match &expr.kind {
        Kind::Text(text, Quote::Double | Quote::Single) => single_name(std::str::from_utf8(text).ok()?),
        _ => None,
    }
}
