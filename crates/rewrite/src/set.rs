//! `set()`: a value from a template.

use crate::op::{assign, assign_span, span_of};
use filter::FilterContext;
use record::{Batch, NameId, Span, Stamp, ValueType};
use template::{Msg, Template, TypeHint};

pub struct Set {
    pub name: NameId,
    source: Source,
}

enum Source {
    /// Put into the batch once, for all messages.
    Literal {
        text: Box<[u8]>,
        kind: ValueType,
    },
    /// Another value as it is; `kind` is the type it gets, else it keeps its own.
    Copy {
        from: NameId,
        kind: Option<ValueType>,
    },
    Template(Box<Template>),
    /// One that prints the same for all messages that came together: put into the batch once for those.
    Common(Box<Template>),
}

impl Set {
    pub fn new(name: NameId, template: Template, hint: Option<TypeHint>, version: (u16, u16)) -> Set {
        let declared = hint.and_then(TypeHint::value_type);
        let keeps = version >= (4, 0) || hint == Some(TypeHint::Auto);
        let source = if let Some(text) = template.literal() {
            Source::Literal { text: text.into(), kind: declared.unwrap_or(template.literal_type()) }
        } else if let Some(from) = template.single_name().filter(|n| !n.is_sdata()) {
            Source::Copy { from, kind: declared.or((!keeps).then_some(ValueType::String)) }
        } else {
            let template = Box::new(match hint {
                Some(hint) => template.with_hint(hint),
                None => template,
            });
            if template.is_common() { Source::Common(template) } else { Source::Template(template) }
        };
        Set { name, source }
    }

    pub fn apply(&self, batch: &mut Batch, selection: &[u32], cx: &mut FilterContext) {
        match &self.source {
            Source::Literal { text, kind } => {
                let span = if selection.is_empty() { Span::EMPTY } else { batch.append(text) };
                for index in selection {
                    assign_span(batch, *index as usize, self.name, span, *kind);
                }
            }
            Source::Copy { from, kind } => {
                // Macros of a configuration often give a value itself. A field brings others with it.
                let is_field = (NameId::HOST.0..=NameId::FILE_NAME.0).contains(&self.name.0);
                let is_itself = *from == self.name && !is_field;
                for index in selection.iter().map(|index| *index as usize) {
                    let found = span_of(batch, index, *from);
                    if is_itself && found.is_some_and(|(_, own)| kind.unwrap_or(own) == own) {
                        continue;
                    }
                    // From @version 4.0 on a copy of what is not set is null.
                    let (span, own) = found.unwrap_or((Span::EMPTY, ValueType::Null));
                    assign_span(batch, index, self.name, span, kind.unwrap_or(own));
                }
            }
            Source::Template(template) => {
                let mut out = cx.work.text();
                for index in selection {
                    let Some(record) = batch.records.get(*index as usize) else { continue };
                    out.clear();
                    let kind = template.render_typed(Msg { batch, record }, &mut cx.render, &mut out);
                    // The value stays what it was.
                    if cx.render.gave_up() {
                        continue;
                    }
                    assign(batch, *index as usize, self.name, &out, kind);
                }
                cx.work.keep_text(out);
            }
            Source::Common(template) => self.set_common(template, batch, selection, cx),
        }
    }

    fn set_common(&self, template: &Template, batch: &mut Batch, selection: &[u32], cx: &mut FilterContext) {
        let mut made: Option<(u16, Stamp, Span, ValueType)> = None;
        let mut out = cx.work.text();
        for index in selection {
            let Some(record) = batch.records.get(*index as usize) else { continue };
            let (context, received) = (record.context, batch.received_at(record));
            let (span, kind) = match made {
                Some((of, at, span, kind)) if of == context && at == received => (span, kind),
                _ => {
                    out.clear();
                    let kind = template.render_typed(Msg { batch, record }, &mut cx.render, &mut out);
                    if cx.render.gave_up() {
                        continue;
                    }
                    let span = batch.append(&out);
                    made = Some((context, received, span, kind));
                    (span, kind)
                }
            };
            assign_span(batch, *index as usize, self.name, span, kind);
        }
        cx.work.keep_text(out);
    }

    pub fn reads(&self, demand: &mut record::Demand) {
        match &self.source {
            Source::Literal { .. } => {}
            Source::Copy { from, .. } => demand.name(*from),
            Source::Template(template) | Source::Common(template) => template.reads(demand),
        }
    }
}
