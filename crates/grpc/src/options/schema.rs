//! `schema()` of destinations with columns: `"name" TYPE => "template"` each.

use conf_syntax::{Arg, ArgKind, Name};
use diag::{Reported, Span};
use driver_options::Reading;
use driver_options::templates::type_hint;
use std::sync::Arc;
use template::Template;

/// A column as it is written.
pub struct Written<'a> {
    pub name: &'a str,
    pub at: Span,
    /// What stands between the name and the arrow.
    pub kind: Option<(&'a str, Span)>,
    pub template: &'a str,
    pub template_at: Span,
    /// The type of the template, `int64("$N")`.
    pub hint: Option<&'a Name>,
}

/// The columns in their order; where something is none, its place.
fn columns(args: &[Arg]) -> Result<Vec<Written<'_>>, Span> {
    let mut columns = Vec::new();
    let mut name: Option<&Arg> = None;
    for arg in args {
        let ArgKind::Pair(left, value) = &arg.kind else {
            if name.replace(arg).is_some() {
                return Err(arg.span);
            }
            continue;
        };
        // With a type before the arrow, the name stands before it.
        let (named, kind) = match name.take() {
            Some(name) => (name, Some((left.text().unwrap_or_default(), left.span))),
            None => (&**left, None),
        };
        let (hint, template) = match &value.kind {
            ArgKind::Call(call) if call.args.len() == 1 => {
                (Some(&call.name), call.args.first().and_then(Arg::text))
            }
            _ => (None, value.text()),
        };
        let (Some(name), Some(template)) = (named.text(), template) else { return Err(arg.span) };
        columns.push(Written { name, at: named.span, kind, template, template_at: value.span, hint });
    }
    name.map_or(Ok(columns), |arg| Err(arg.span))
}

/// What is wrong with a column.
pub struct Wrong {
    pub at: Span,
    pub text: String,
    pub help: &'static str,
}

/// Columns, and the templates of their values.
pub type Columns<C> = (Vec<C>, Vec<Arc<Template>>);

/// Reads what `args` say. `column` tells what a written column comes to.
pub fn read<C>(
    args: &[Arg],
    r: &mut Reading<'_>,
    column: impl Fn(&Written<'_>) -> Result<C, Wrong>,
) -> Result<Columns<C>, Reported> {
    let written = match columns(args) {
        Ok(written) if written.is_empty() => return none(r),
        Ok(written) => written,
        Err(at) => {
            let help = "write `schema(\"name\" TYPE => \"template\")`";
            return r.wrong_at(Some(at), "this is no column", help);
        }
    };
    let (mut made, mut templates) = (Vec::new(), Vec::new());
    for written in &written {
        match column(written) {
            Ok(column) => made.push(column),
            Err(wrong) => return r.wrong_at(Some(wrong.at), wrong.text, wrong.help),
        }
        if let Some(hint) = written.hint {
            type_hint(hint, r.diags)?;
        }
        templates.push(r.compile(written.template, written.template_at)?);
    }
    Ok((made, templates))
}

/// There are no columns, and that is an error.
pub fn none<T>(r: &mut Reading<'_>) -> Result<T, Reported> {
    let text = format!("{}() does not say which columns there are", r.s.component());
    r.wrong_at(None, text, "write `schema(\"message\" STRING => \"$MSG\")`")
}
