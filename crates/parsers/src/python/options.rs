//! `options()` of what is written in Python: names with values of every type, as `init()` gets them.

use conf_schema::Settings;
use conf_syntax::{Arg, ArgKind, Call};
use diag::{Diagnostic, Diagnostics};
use python::marshal;

/// The options in the format of `marshal`: a list of (name, value). From @version 4.2 on values have types,
/// before it all are texts.
pub fn options(settings: &Settings, version: (u16, u16), diags: &mut Diagnostics) -> Option<Vec<u8>> {
    let mut made = Vec::new();
    let mut args = settings.args("options").iter();
    let (mut count, mut good) = (0, true);
    while let Some(arg) = args.next() {
        count += 1;
        let (name, value) = match &arg.kind {
            ArgKind::Pair(key, value) => (key.text().map(str::to_owned), Some(Argument::Arg(value))),
            ArgKind::Call(call) => (Some(call.name.text.clone()), Argument::of(call)),
            _ => (arg.text().map(str::to_owned), args.next().map(Argument::Arg)),
        };
        marshal::tuple(2, &mut made);
        let written = match (name, value) {
            (Some(name), Some(value)) => {
                marshal::text(&name.replace('-', "_"), &mut made);
                value.write(version >= (4, 2), &mut made)
            }
            _ => None,
        };
        if written.is_none() {
            good = false;
            let finding = Diagnostic::error("A0102", "options() takes names, each with a value", arg.span);
            diags.push(finding.help("as options(\"name\" => \"text\" \"count\" => 10 \"on\" => yes)"));
        }
    }
    let mut out = Vec::new();
    marshal::list(count, &mut out);
    out.extend_from_slice(&made);
    good.then_some(out)
}

enum Argument<'a> {
    Arg(&'a Arg),
    Many(&'a [Arg]),
}

impl<'a> Argument<'a> {
    /// `name(value)`
    fn of(call: &'a Call) -> Option<Argument<'a>> {
        match call.args.as_slice() {
            [one] => Some(Argument::Arg(one)),
            [] => None,
            many => Some(Argument::Many(many)),
        }
    }

    fn write(&self, typed: bool, out: &mut Vec<u8>) -> Option<()> {
        let arg = match self {
            Argument::Many(items) => return list(items, out),
            Argument::Arg(arg) => *arg,
        };
        match &arg.kind {
            ArgKind::Call(call) if call.name.text == "LogTemplate" => {
                let [text] = call.args.as_slice() else { return None };
                marshal::tuple(1, out);
                marshal::text(text.text()?, out);
            }
            ArgKind::Group(items) | ArgKind::Braces(items) | ArgKind::List(items) => return list(items, out),
            ArgKind::Int { value, .. } if typed => marshal::int(*value, out),
            ArgKind::Float { value, .. } if typed => marshal::float(*value, out),
            ArgKind::Ident(word) if typed => match word.as_str() {
                "yes" | "on" | "True" | "true" => marshal::boolean(true, out),
                "no" | "off" | "False" | "false" => marshal::boolean(false, out),
                word => marshal::text(word, out),
            },
            _ => marshal::text(arg.text()?, out),
        }
        Some(())
    }
}

fn list(items: &[Arg], out: &mut Vec<u8>) -> Option<()> {
    marshal::list(items.len(), out);
    items.iter().try_for_each(|item| {
        marshal::text(item.text()?, out);
        Some(())
    })
}
