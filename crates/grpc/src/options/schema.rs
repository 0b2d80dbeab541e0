//! `schema()` of destinations with columns: `"name" TYPE => "template"` each.

use conf_syntax::{Arg, ArgKind, Name};
use diag::Span;

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
pub fn columns(args: &[Arg]) -> Result<Vec<Written<'_>>, Span> {
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
