//! `if` and `switch`.

use super::{Eval, Failure, Halt, Run, Signal};
use crate::program::{Branch, Chain, Label, Statement, Switch, Texts};
use value::{Span, Value};

impl Run<'_> {
    pub(crate) fn conditional(&mut self, branches: &[Branch], otherwise: Option<&[Statement]>) -> Eval {
        for branch in branches {
            if self.followed(branch.number, |run| run.holds(&branch.condition))? {
                return self.braces(&branch.body);
            }
        }
        match otherwise {
            Some(body) => self.braces(body),
            None => Ok(Value::Boolean(true)),
        }
    }

    /// As the conditions one by one: nothing is changed between them.
    pub(crate) fn chain(&mut self, chain: &Chain) -> Eval {
        let otherwise = chain.otherwise.as_deref();
        if self.is_followed {
            return self.conditional(&chain.branches, otherwise);
        }
        let value = self.variable(chain.variable)?;
        let Value::String(span) = value else { return self.conditional(&chain.branches, otherwise) };
        let found = self.decided_by(&chain.texts, span);
        match found.and_then(|number| chain.branches.get(number)) {
            Some(branch) => self.braces(&branch.body),
            None => self.conditional(&[], otherwise),
        }
    }

    /// What a text decides. One that is empty may stand nowhere.
    #[inline]
    fn decided_by(&self, texts: &Texts, span: Span) -> Option<usize> {
        match span.is_empty() {
            true => texts.get(b""),
            false => texts.at(&self.batch.text, span.start as usize, span.end()),
        }
    }

    /// Runs what stands in braces; `break` leaves them.
    fn braces(&mut self, body: &[Statement]) -> Eval {
        let result = self.body(body);
        self.left(result)
    }

    fn left(&mut self, result: Result<(), Halt>) -> Eval {
        match result {
            Err(Halt) if matches!(self.signal, Signal::Break) => {
                self.statement = None;
                Ok(Value::Boolean(true))
            }
            result => result.map(|()| Value::Boolean(true)),
        }
    }

    pub(crate) fn switch(&mut self, switch: &Switch) -> Eval {
        let value = self.eval(&switch.selector)?;
        let Some(case) = self.case(switch, value)? else { return Ok(Value::Boolean(true)) };
        for case in switch.cases.get(case..).unwrap_or_default() {
            let result = self.body(&case.body);
            if result.is_err() || !case.falls_through {
                return self.left(result);
            }
        }
        Ok(Value::Boolean(true))
    }

    /// The case where control goes on. As in AxoSyslog, texts come before all other labels.
    fn case(&mut self, switch: &Switch, value: Value) -> Result<Option<usize>, Halt> {
        if let Value::String(span) = value
            && let Some(case) = self.decided_by(&switch.texts, span)
        {
            return Ok(Some(case));
        }
        for (label, case) in &switch.labels {
            let fits = match label {
                Label::Value(label) => match self.eval(label) {
                    Ok(label) => self.is_same(label, value),
                    Err(Halt) if self.is_error() => false,
                    Err(Halt) => return Err(Halt),
                },
                Label::Range(low, high) => match self.both(low, high) {
                    Ok((low, high)) => self.is_in_range(value, low, high)?,
                    Err(Halt) if self.is_error() => false,
                    Err(Halt) => return Err(Halt),
                },
            };
            if fits {
                return Ok(Some(*case));
            }
        }
        Ok(switch.default)
    }

    /// From the lower bound on, below the upper.
    fn is_in_range(&mut self, value: Value, low: Value, high: Value) -> Result<bool, Halt> {
        use crate::ast::{By, Compare};
        if !matches!(value, Value::Integer(_) | Value::Double(_)) {
            return self.fail(Failure::Type(
                "Selector of a switch with ranges must be an integer or double",
                value.type_name(),
            ));
        }
        Ok(self.compare(Compare::GreaterEqual, By::Value, value, low)?
            && self.compare(Compare::Less, By::Value, value, high)?)
    }
}
