//! Expressions to values.

use super::{Eval, Failure, Halt, Run};
use crate::ast::{By, Compare};
use crate::program::{ARGUMENTS_MAX, Expr, Target};
use record::ValueType;
use template::{Msg, Template};
use value::{Key, Node, Otel, Span, Value, integer_of};

impl Run<'_> {
    /// Evaluates an expression. A container may still be held by a variable: see [`Run::eval_owned`].
    #[inline(always)]
    pub fn eval(&mut self, expr: &Expr) -> Eval {
        match expr {
            Expr::Value(value) => Ok(*value),
            Expr::Text(number) => self.literal_value(*number),
            Expr::Variable(number) => match self.known_variable(*number) {
                Some(value) => Ok(value),
                None => self.variable(*number),
            },
            other => self.eval_other(other),
        }
    }

    #[inline(never)]
    fn eval_other(&mut self, expr: &Expr) -> Eval {
        match expr {
            Expr::Template(template) => self.template(template),
            Expr::Attribute(of, name) => self.attribute(of, *name),
            Expr::Element(parts) => self.element(&parts.0, &parts.1),
            Expr::Slice(parts) => self.slice(parts),
            Expr::Dict(pairs, may_repeat) => self.dict(pairs, *may_repeat),
            Expr::LaidOut(layout) => self.laid_out(layout),
            Expr::List(items) => self.sequence(items, Value::List),
            Expr::Tuple(items) => self.sequence(items, Value::Tuple),
            Expr::Not(inner) => {
                let value = self.eval(inner)?;
                Ok(Value::Boolean(!self.is_true(value)))
            }
            Expr::Or(sides) => Ok(Value::Boolean(self.holds(&sides.0)? || self.holds(&sides.1)?)),
            Expr::And(sides) => Ok(Value::Boolean(self.holds(&sides.0)? && self.holds(&sides.1)?)),
            Expr::IsText(of, text, equal) => self.is_text(of, *text, *equal),
            Expr::Compare(compare, by, sides) => self.comparison(*compare, *by, sides),
            Expr::Same(same, sides) => {
                let (a, b) = self.both(&sides.0, &sides.1)?;
                Ok(Value::Boolean(self.is_same(a, b) == *same))
            }
            Expr::Matches(matches, parts) => self.matches(*matches, parts),
            Expr::In(is_in, sides) => {
                let (a, b) = self.both(&sides.0, &sides.1)?;
                Ok(Value::Boolean(self.is_in(a, b)? == *is_in))
            }
            Expr::Coalesce(sides) => match self.attempt(&sides.0)? {
                Some(value) => Ok(value),
                None => self.eval(&sides.1),
            },
            Expr::Ternary(parts) => {
                let (condition, yes, no) = &**parts;
                let value = self.eval(condition)?;
                match (self.is_true(value), yes) {
                    (true, Some(yes)) => self.eval(yes),
                    (true, None) => Ok(value),
                    (false, _) => self.eval(no),
                }
            }
            Expr::Plain(function, arguments) => {
                let mut values = [Value::Null; ARGUMENTS_MAX];
                for (value, argument) in values.iter_mut().zip(arguments) {
                    *value = self.eval(argument)?;
                }
                function(self, values.get(..arguments.len()).unwrap_or(&values))
            }
            Expr::Operation(operation) => operation.run(self),
            Expr::Control(signal) => {
                self.signal = *signal;
                Err(Halt)
            }
            other => self.eval_rare(other),
        }
    }

    fn eval_rare(&mut self, expr: &Expr) -> Eval {
        match expr {
            Expr::Minus(inner) => {
                let value = self.eval(inner)?;
                self.negative(value)
            }
            Expr::Plus(inner) => {
                let value = self.eval(inner)?;
                self.positive(value)
            }
            Expr::Add(sides) => {
                let a = self.eval(&sides.0)?;
                let b = self.eval(&sides.1)?;
                self.add(a, b)
            }
            Expr::Calculate(operator, sides) => {
                let (a, b) = self.both(&sides.0, &sides.1)?;
                self.calculate(*operator, a, b)
            }
            Expr::Noted(signal) => {
                self.noted = Some(*signal);
                Ok(Value::Boolean(true))
            }
            Expr::Ending(statement, is_checked) => self.ending(statement, *is_checked),
            Expr::Isset(target) => self.isset(target),
            Expr::IsThere(element) => self.is_there(element),
            Expr::Unset(targets) => {
                for target in targets {
                    self.unset(target)?;
                }
                Ok(Value::Boolean(true))
            }
            Expr::Move(target) => self.move_out(target),
            Expr::If(branches, otherwise) => self.conditional(branches, otherwise.as_deref()),
            Expr::Chain(chain) => self.chain(chain),
            Expr::Switch(switch) => self.switch(switch),
            Expr::Assign(parts) => self.assignment(&parts.0, &parts.1),
            Expr::AssignUnlessNull(parts) => {
                if let Some(value) = self.attempt(&parts.1)? {
                    self.trees().share(value);
                    self.assign(&parts.0, value)?;
                }
                Ok(Value::Boolean(true))
            }
            Expr::AddTo(parts) => self.add_to(&parts.0, &parts.1),
            Expr::Counted(number, inner) => {
                self.count(*number);
                self.eval(inner)
            }
            Expr::AssignPath(parts, by) => self.assign_path(&parts.0, &parts.1, *by),
            Expr::Declare(variable, value) => {
                let value = self.eval_owned(value)?;
                if let Some(slot) = self.memory.slots.get_mut(*variable as usize) {
                    slot.declared = true;
                }
                self.set_variable(*variable, value);
                Ok(Value::Boolean(true))
            }
            _ => self.error("Not an expression"),
        }
    }

    /// Runs a statement with `done` or `break` in it: one that does not hold fails all the same.
    fn ending(&mut self, statement: &Expr, is_checked: bool) -> Eval {
        self.noted = None;
        let value = self.eval(statement)?;
        match self.noted.take() {
            Some(signal) if !is_checked || self.is_true(value) => {
                self.signal = signal;
                Err(Halt)
            }
            _ => Ok(value),
        }
    }

    /// Sets a target. A member of a variable and a text, as most, go to its slot without a stop between.
    pub(super) fn assignment(&mut self, target: &Target, value: &Expr) -> Eval {
        if let Some(value) = self.member_of_variable(value) {
            self.trees().share(value);
            self.assign(target, value)?;
        } else if let Expr::Text(number) = value {
            let text = self.literal_span(*number)?;
            self.assign(target, Value::String(text))?;
        } else {
            let value = self.eval_owned(value)?;
            self.assign(target, value)?;
        }
        Ok(Value::Boolean(true))
    }

    /// `variable.name` of a dict that has been read and has it.
    #[inline(always)]
    fn member_of_variable(&mut self, expr: &Expr) -> Option<Value> {
        let Expr::Attribute(of, name) = expr else { return None };
        let Expr::Variable(number) = **of else { return None };
        match self.known_variable(number) {
            Some(Value::Dict(node)) => self.named(node, *name),
            _ => None,
        }
    }

    /// The value of a dict's key that is a text of the block.
    #[inline(always)]
    fn named(&mut self, dict: Node, name: u32) -> Option<Value> {
        let name = self.literals.get(name as usize).map_or(&[][..], |text| text);
        let batch = &mut *self.batch;
        let pair = batch.trees.find(dict, Key::Text(name), &batch.text)?;
        batch.trees.cell(dict, 2 * pair + 1)
    }

    /// Evaluates an expression whose value is to be kept: a container that somebody else holds is marked.
    pub fn eval_owned(&mut self, expr: &Expr) -> Eval {
        match expr {
            // Nobody looks into it here: it stays the text it is.
            Expr::Variable(number) => {
                let value = self.unforced(*number)?;
                self.trees().share(value);
                Ok(value)
            }
            Expr::Counted(number, inner) => {
                self.count(*number);
                self.eval_owned(inner)
            }
            Expr::Value(_)
            | Expr::Text(_)
            | Expr::Dict(..)
            | Expr::LaidOut(_)
            | Expr::List(_)
            | Expr::Tuple(_)
            | Expr::Add(_) => self.eval(expr),
            _ => {
                let value = self.eval(expr)?;
                if !matches!(expr, Expr::Plain(..) | Expr::Operation(_)) {
                    self.trees().share(value);
                }
                Ok(value)
            }
        }
    }

    /// `None` for null, and for an error, which is passed over.
    pub(crate) fn attempt(&mut self, expr: &Expr) -> Result<Option<Value>, Halt> {
        let depth = self.memory.stack.len();
        match self.eval(expr) {
            Ok(Value::Null) => Ok(None),
            Ok(value) => Ok(Some(value)),
            Err(Halt) if self.is_error() => {
                self.note_suppressed();
                self.memory.stack.truncate(depth);
                Ok(None)
            }
            Err(Halt) => Err(Halt),
        }
    }

    pub(crate) fn holds(&mut self, expr: &Expr) -> Result<bool, Halt> {
        let value = self.eval(expr)?;
        Ok(self.is_true(value))
    }

    pub(super) fn both(&mut self, a: &Expr, b: &Expr) -> Result<(Value, Value), Halt> {
        Ok((self.eval(a)?, self.eval(b)?))
    }

    fn is_text(&mut self, of: &Expr, text: u32, equal: bool) -> Eval {
        let value = self.eval(of)?;
        let same = match value {
            Value::String(span) => self.batch.bytes(span) == self.literal(text),
            _ => {
                let text = self.literal_value(text)?;
                self.compare(Compare::Equal, By::Value, value, text)?
            }
        };
        Ok(Value::Boolean(same == equal))
    }

    fn comparison(&mut self, compare: Compare, by: By, sides: &(Expr, Expr)) -> Eval {
        let (a, b) = self.both(&sides.0, &sides.1)?;
        self.compare(compare, by, a, b).map(Value::Boolean)
    }

    fn matches(&mut self, matches: bool, parts: &(Expr, pattern::Pattern)) -> Eval {
        let value = self.eval(&parts.0)?;
        let Value::String(span) = value else {
            return self.fail(Failure::Type("Left hand side of a match must be string", value.type_name()));
        };
        let found = parts.1.is_match(span.of(&self.batch.text), &mut self.cx.work.patterns);
        Ok(Value::Boolean(found == matches))
    }

    fn template(&mut self, template: &Template) -> Eval {
        let Some(record) = self.seen() else { return Ok(Value::Null) };
        let mut out = self.cx.work.text();
        let kind =
            template.render_typed(Msg { batch: self.batch, record: &record }, &mut self.cx.render, &mut out);
        if let (ValueType::Int, Some(number)) = (kind, integer_of(&out)) {
            self.cx.work.keep_text(out);
            return Ok(Value::Integer(number));
        }
        let span = self.place(&out);
        self.cx.work.keep_text(out);
        match self.typed(span?, kind)? {
            Value::Json(span) => self.read_json(span),
            value => Ok(value),
        }
    }

    fn attribute(&mut self, of: &Expr, name: u32) -> Eval {
        let base = self.eval(of)?;
        let is_searched = match base {
            Value::Otel(kind, _) => kind != Otel::Array,
            Value::Labels(_) => true,
            _ => false,
        };
        if is_searched {
            let key = self.literal_value(name)?;
            if let Some(cell) = self.cell_of(base, key) {
                return Ok(self.member(base, cell));
            }
        }
        if let Value::Dict(node) = base
            && let Some(value) = self.named(node, name)
        {
            return Ok(value);
        }
        self.error("Failed to get-attribute from object: Failed to evaluate key")
    }

    fn element(&mut self, of: &Expr, key: &Expr) -> Eval {
        let base = self.eval(of)?;
        let key = self.eval(key)?;
        let found = match base {
            Value::Dict(node) => {
                let batch = &mut *self.batch;
                batch.trees.get(node, Key::of(key, &batch.text), &batch.text)
            }
            _ => self.cell_of(base, key).map(|cell| self.member(base, cell)),
        };
        match found {
            Some(value) => Ok(value),
            None => self.fail(Failure::Value("Failed to get-subscript from object", key)),
        }
    }

    fn slice(&mut self, parts: &(Expr, Option<Expr>, Option<Expr>)) -> Eval {
        let value = self.eval(&parts.0)?;
        let Value::String(span) = value else {
            return self.fail(Failure::Type(
                "Failed to evaluate string slicing operator: Left hand side must be string",
                value.type_name(),
            ));
        };
        let len = i64::from(span.len);
        let bound = |run: &mut Self, expr: &Option<Expr>, absent: i64| match expr {
            None => Ok(absent),
            Some(expr) => match run.eval(expr)? {
                Value::Integer(n) if n < 0 => Ok(n.saturating_add(len).max(0)),
                Value::Integer(n) => Ok(n.min(len)),
                other => run.fail(Failure::Type(
                    "Failed to evaluate string slicing operator: Index must be integer",
                    other.type_name(),
                )),
            },
        };
        let (start, end) = (bound(self, &parts.1, 0)?, bound(self, &parts.2, len)?);
        if start > end {
            return self.error(
                "Failed to evaluate string slicing operator: Start index must not be greater than end index",
            );
        }
        let at = span.start as usize + start as usize;
        Ok(Value::String(Span::new(at, (end - start) as usize)))
    }
}
