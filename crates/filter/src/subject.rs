//! The text a matcher looks at: a field of the record, a value, or what a template prints.

use crate::context::Workspace;
use record::{Batch, Demand, NameId, Record, Span};
use std::sync::Arc;
use template::{Msg, RenderContext, Template};

/// Where a matcher's text comes from.
pub enum Subject {
    Host,
    Program,
    Message,
    Pid,
    Value(NameId),
    Template(Arc<Template>),
    /// `PROGRAM[PID]: MESSAGE`, for `match()` without `value()`.
    Legacy,
}

impl Subject {
    /// The template's value in place where it is one value and nothing else.
    pub fn of(template: Template) -> Subject {
        match template.single_name() {
            Some(name) if !name.is_sdata() => Subject::of_name(name),
            _ => Subject::Template(Arc::new(template)),
        }
    }

    pub fn of_name(name: NameId) -> Subject {
        match name {
            NameId::HOST => Subject::Host,
            NameId::PROGRAM => Subject::Program,
            NameId::MESSAGE => Subject::Message,
            NameId::PID => Subject::Pid,
            name => Subject::Value(name),
        }
    }

    /// The value it is.
    pub fn name(&self) -> Option<NameId> {
        Some(match self {
            Subject::Host => NameId::HOST,
            Subject::Program => NameId::PROGRAM,
            Subject::Message => NameId::MESSAGE,
            Subject::Pid => NameId::PID,
            Subject::Value(name) => *name,
            Subject::Template(_) | Subject::Legacy => return None,
        })
    }

    /// The span of a subject that is a field.
    #[inline]
    pub fn field(&self, record: &Record) -> Option<Span> {
        match self {
            Subject::Host => Some(record.host),
            Subject::Program => Some(record.program),
            Subject::Message => Some(record.message),
            Subject::Pid => Some(record.pid),
            _ => None,
        }
    }

    /// Values of few bytes that come again and again.
    pub fn repeats(&self) -> bool {
        matches!(self, Subject::Host | Subject::Program | Subject::Value(NameId::SOURCE))
    }

    /// The text for a message; `buffer` holds it when it has to be made.
    #[inline]
    pub fn text<'a>(&self, msg: Msg<'a>, render: &mut RenderContext, buffer: &'a mut Vec<u8>) -> &'a [u8] {
        if let Some(span) = self.field(msg.record) {
            return msg.batch.bytes(span);
        }
        self.made(msg, render, buffer)
    }

    #[inline(never)]
    fn made<'a>(&self, msg: Msg<'a>, render: &mut RenderContext, buffer: &'a mut Vec<u8>) -> &'a [u8] {
        match self {
            Subject::Value(name) => msg.batch.value(msg.record, *name).map(|v| v.bytes).unwrap_or_default(),
            Subject::Template(template) => {
                template.render(msg, render, buffer);
                buffer
            }
            _ => {
                legacy(msg, buffer);
                buffer
            }
        }
    }

    /// Calls `f` with the text.
    #[inline]
    pub(crate) fn with<R>(
        &self,
        msg: Msg<'_>,
        work: &mut Workspace,
        render: &mut RenderContext,
        f: impl FnOnce(&[u8], &mut Workspace) -> R,
    ) -> R {
        if let Some(span) = self.field(msg.record) {
            return f(msg.batch.bytes(span), work);
        }
        if let Subject::Value(name) = self {
            return f(msg.batch.value(msg.record, *name).map(|v| v.bytes).unwrap_or_default(), work);
        }
        let mut buffer = work.text();
        let result = f(self.made(msg, render, &mut buffer), work);
        work.keep_text(buffer);
        result
    }

    pub fn reads(&self, demand: &mut Demand) {
        if let Some(name) = self.name() {
            return demand.name(name);
        }
        match self {
            Subject::Template(template) => template.reads(demand),
            Subject::Legacy => {
                [NameId::PROGRAM, NameId::PID, NameId::MESSAGE].into_iter().for_each(|n| demand.name(n));
            }
            _ => {}
        }
    }
}

fn legacy(msg: Msg<'_>, out: &mut Vec<u8>) {
    let Msg { batch, record } = msg;
    if !record.program.is_empty() {
        out.extend_from_slice(batch.bytes(record.program));
        if !record.pid.is_empty() {
            out.push(b'[');
            out.extend_from_slice(batch.bytes(record.pid));
            out.push(b']');
        }
        out.extend_from_slice(b": ");
    }
    out.extend_from_slice(batch.bytes(record.message));
}

/// The place of bytes in the batch's text, when they lie there.
pub fn span_in(batch: &Batch, bytes: &[u8]) -> Option<Span> {
    let start = (bytes.as_ptr() as usize).checked_sub(batch.text.as_ptr() as usize)?;
    (start + bytes.len() <= batch.text.len()).then(|| Span::new(start, bytes.len()))
}
