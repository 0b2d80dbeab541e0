//! Which keys of a variable a block looks at. Where that is all it does with the variable, a scanner that
//! sets it passes over everything else.

use super::Compiler;
use crate::ast::{AssignBy, Binary, Expr, Kind, Quote};
use parsers::scanners::names::Table;
use std::collections::HashMap;

/// With more keys than these, everything is taken.
const KEYS_MAX: usize = 16;

/// What is asked of each variable of a block, by its name.
#[derive(Default)]
pub(super) struct Wanted {
    variables: HashMap<String, Keys>,
    /// Somebody looks at all variables.
    everything: bool,
}

enum Keys {
    All,
    These(Vec<Vec<u8>>),
}

/// The keys that are looked at, with the numbers of their texts, of the variable that is set.
pub struct Only {
    pub variable: u32,
    pub keys: Table<u32>,
}

impl Wanted {
    /// Adds what statements ask for.
    pub fn note(&mut self, statements: &[Expr]) {
        statements.iter().for_each(|statement| self.visit(statement));
    }

    fn visit(&mut self, expr: &Expr) {
        if let Some((name, key)) = element(expr) {
            return self.key(name, key);
        }
        match &expr.kind {
            Kind::Name(name) => self.all(name),
            // What it was before is of no matter.
            Kind::Assign(to, AssignBy::Plain | AssignBy::Coalesce, value)
                if matches!(to.kind, Kind::Name(_)) =>
            {
                self.visit(value);
            }
            kind => {
                match kind {
                    // Later blocks may look at all of it.
                    Kind::Declare(name, _) => self.all(&name.text),
                    Kind::Call(call) => self.everything |= call.name.text == "vars",
                    _ => {}
                }
                kind.each(&mut |inner| self.visit(inner));
            }
        }
    }

    fn all(&mut self, name: &str) {
        self.variables.insert(name.to_owned(), Keys::All);
    }

    fn key(&mut self, name: &str, key: &[u8]) {
        let keys = self.variables.entry(name.to_owned()).or_insert(Keys::These(Vec::new()));
        let Keys::These(known) = keys else { return };
        if known.iter().any(|known| known == key) {
            return;
        }
        known.push(key.to_vec());
        if known.len() > KEYS_MAX {
            *keys = Keys::All;
        }
    }

    fn keys(&self, name: &str) -> Option<&[Vec<u8>]> {
        match self.variables.get(name)? {
            Keys::These(keys) if !self.everything => Some(keys),
            _ => None,
        }
    }
}

/// The variable and the key of an element, where both are written down.
fn element(expr: &Expr) -> Option<(&str, &[u8])> {
    let (of, key) = match &expr.kind {
        Kind::Attribute(of, key) => (of, key.text.as_bytes()),
        Kind::Element(of, key) => match &key.kind {
            Kind::Text(key, quote) if *quote == Quote::Slash || !key.contains(&b'$') => (of, &**key),
            _ => return None,
        },
        _ => return None,
    };
    match &of.kind {
        Kind::Name(name) => Some((name, key)),
        _ => None,
    }
}

impl Compiler<'_> {
    /// What is looked at of a variable that is assigned what a function returns.
    pub(super) fn only_wanted(&mut self, to: &Expr, value: &Expr) -> Option<Only> {
        let Kind::Name(name) = &to.kind else { return None };
        let called = match &value.kind {
            Kind::Binary(Binary::Coalesce, value, _) => value,
            _ => value,
        };
        if !matches!(called.kind, Kind::Call(_)) {
            return None;
        }
        let keys = self.wanted.keys(name)?.to_vec();
        let variable = self.block_variable(name, to.at)?;
        let keys = keys.into_iter().map(|key| {
            let number = self.text(&key);
            (key.into_boxed_slice(), number)
        });
        let keys = Table::new(keys.collect());
        Some(Only { variable, keys })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys that are asked of `x`.
    fn keys(text: &str) -> Option<String> {
        let (statements, _) = crate::grammar::parse(text);
        let mut wanted = Wanted::default();
        wanted.note(&statements);
        let keys = wanted.keys("x")?.iter().map(|key| String::from_utf8_lossy(key).into_owned());
        Some(keys.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn keys_that_are_written_down() {
        for (text, expected) in [
            ("x = f(); $A = x.a; if (x[\"b\"].c == 1) { x.d = 2; unset(x.e); };", Some("a b d e")),
            ("x = f(); isset(x.a) and len(x.b[0]) > 1; x = {}; x =?? g();", Some("a b")),
            ("x = f(); $A = x;", None),
            ("x = f(); $A = x[y];", None),
            ("x = f(); $A = x[\"$MSG\"]; $B = x.a;", None),
            ("x = f(); x += {}; $A = x.a;", None),
            ("declare x = f(); $A = x.a;", None),
            ("x = f(); $A = x.a; $B = vars();", None),
            ("x = f(); switch (1) { case x: $A = x.a; };", None),
            ("x = f();", None),
        ] {
            assert_eq!(keys(text).as_deref(), expected, "{text}");
        }
        let many: String = (0..=KEYS_MAX).map(|n| format!("$A = x.k{n};")).collect();
        assert_eq!(keys(&many), None);
    }
}
