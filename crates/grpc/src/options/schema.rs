//! `schema()` of destinations with columns: `"name" TYPE => "template"` each; or a file of protobuf.

use crate::bigquery::{Column, read_proto_file};
use conf_schema::{Kind, OptionSpec as Opt, Preset};
use conf_syntax::{Arg, ArgKind, Name};
use diag::{Reported, Span};
use driver_options::Reading;
use driver_options::templates::type_hint;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use template::Template;

pub const FILE: Opt = Opt::new(
    "protobuf-schema",
    Kind::Any,
    Preset::None,
    "In the place of schema(): a file of protobuf's language whose first message has the columns, and a template for each of its fields, in \
     the order of their numbers: `protobuf-schema(\"/etc/penstock/row.proto\" => \"$HOST\", \"$MSG\")`.",
)
.sample("");

/// The file that is named.
pub fn file(args: &[Arg]) -> Option<PathBuf> {
    args.iter().find_map(|arg| match &arg.kind {
        ArgKind::Pair(path, _) => path.text().map(PathBuf::from),
        _ => None,
    })
}

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

/// The file, and the first template behind the arrow; the others follow.
pub fn of_file(r: &mut Reading<'_>, args: &[Arg]) -> Result<Columns<Column>, Reported> {
    let help = "write `protobuf-schema(\"/path/to/file.proto\" => \"$HOST\", \"$MSG\")`";
    let at = args.first().map(|arg| arg.span);
    let Some(ArgKind::Pair(path, first)) = args.first().map(|arg| &arg.kind) else {
        return r.wrong_at(at, "protobuf-schema() names no file", help);
    };
    let columns = match read_proto_file(Path::new(path.text().unwrap_or_default())) {
        Ok(columns) => columns,
        Err(why) => return r.wrong_at(Some(path.span), why, help),
    };
    let mut templates = Vec::new();
    for arg in std::iter::once(&**first).chain(args.iter().skip(1)) {
        let Some(text) = arg.text() else {
            return r.wrong_at(Some(arg.span), "this is no template", help);
        };
        templates.push(r.compile(text, arg.span)?);
    }
    if templates.len() != columns.len() {
        let text =
            format!("the message has {} fields, and there are {} templates", columns.len(), templates.len());
        return r.wrong_at(at, text, "a template for each field");
    }
    Ok((columns, templates))
}
