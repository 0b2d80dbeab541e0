//! From `name(args)` to the compiled operation: one function for each entry of the table.

mod arguments;
mod table;

use crate::group::{Group, ITEM, With, with_item};
use crate::header::{Header, Part};
use crate::op::{Op, Tag};
use crate::rewrite::Rewrite;
use crate::set::Set;
use crate::subst::Subst;
use crate::time::{Change, ZoneChange};
use arguments::{Arguments, CODES};
pub use table::{Example, OPERATIONS, OperationInfo};

use conf_syntax::Call;
use diag::{Diagnostic, Diagnostics, nearest};
use filter::{FilterEnv, Subject, template_of, wrong_pattern};
use pattern::{Kind, Pattern, PatternOptions};
use record::{intern, tag_id};

pub fn operation(call: &Call, env: &dyn FilterEnv, diags: &mut Diagnostics) -> Option<Rewrite> {
    let name = call.name.norm();
    let Some(info) = OPERATIONS.iter().find(|o| o.name == name) else {
        let text = format!("unknown rewrite operation `{}`", call.name.text);
        let near = nearest(&call.name.text, OPERATIONS.iter().map(|o| o.name));
        diags.push(Diagnostic::error("R0101", text, call.name.span).suggest(near));
        return None;
    };
    let mut arguments = Arguments::read(call, info.texts, info.options, env, diags)?;
    let op = (info.compile)(&mut arguments);
    let condition = arguments.condition();
    match (op, condition) {
        (Some(op), Ok(condition)) => Some(Rewrite::new(op, condition)),
        _ => None,
    }
}

fn set(a: &mut Arguments<'_>) -> Option<Op> {
    let name = a.target();
    let hint = a.type_hint();
    let template = a.template(0);
    let version = a.env.template_options().version;
    Some(Op::Set(Set::new(name?, template?, hint, version)))
}

fn unset(a: &mut Arguments<'_>) -> Option<Op> {
    Some(Op::Unset(a.target()?))
}

fn subst(a: &mut Arguments<'_>) -> Option<Op> {
    let mut options = PatternOptions { captures: true, ..PatternOptions::default() };
    let right = a.matcher(&mut options);
    let name = a.target();
    let with = a.template(1);
    let (text, at) = a.text(0)?;
    right?;
    if options.kind == Kind::Glob {
        a.diags.error("R0105", "subst() cannot use type(glob)", at);
        return None;
    }
    if let Some(flag) = options.misplaced_flag() {
        a.diags.warning("R0113", format!("flag `{flag}` does nothing with this type of pattern"), at);
    }
    let pattern = match Pattern::compile(text, &options) {
        Ok(pattern) => pattern,
        Err(e) => {
            a.diags.push(wrong_pattern("R0105", &e, text, at));
            return None;
        }
    };
    let name = name?;
    let subject = match name.is_sdata() {
        false => Subject::of_name(name),
        true => {
            let text = format!("${{{}}}", record::name_of(name));
            Subject::of(template_of(&text, at, a.env, &CODES, a.diags)?)
        }
    };
    let subst = Subst::new(name, pattern, subject, with?);
    if subst.is_none() {
        a.full(at);
    }
    subst.map(|s| Op::Subst(Box::new(s)))
}

fn tag(a: &mut Arguments<'_>, on: bool) -> Option<Op> {
    let (_, at) = a.text(0)?;
    let template = a.template(0)?;
    let literal = template.literal().map(|name| String::from_utf8_lossy(name).into_owned());
    let tag = match literal {
        None => Tag::Made(Box::new(template)),
        Some(name) if name.is_empty() => {
            a.diags.error("R0103", "a tag needs a name", at);
            return None;
        }
        Some(name) => match tag_id(&name) {
            Some(tag) => Tag::Known(tag),
            None => {
                a.full(at);
                return None;
            }
        },
    };
    Some(Op::Tag { tag, on })
}

fn groupset(a: &mut Arguments<'_>) -> Option<Op> {
    let globs = a.globs();
    let (text, at) = a.text(0)?;
    let template = template_of(&with_item(text), at, a.env, &CODES, a.diags);
    let template = template.map(|template| match a.type_hint() {
        Some(hint) => template.with_hint(hint),
        None => template,
    });
    let Some(item) = intern(ITEM) else {
        a.full(at);
        return None;
    };
    Some(Op::Group(Box::new(Group::new(globs?, Some(With::new(template?, item))))))
}

fn rename(a: &mut Arguments<'_>) -> Option<Op> {
    let (from, to) = (a.name(0), a.name(1));
    Some(Op::Rename { from: from?, to: to? })
}

fn header(a: &mut Arguments<'_>, part: Part) -> Option<Op> {
    let (text, at) = a.text(0)?;
    let template = a.template(0)?;
    let header = Header::new(part, template);
    if header.does_nothing() {
        let what = match part {
            Part::Pri => "a number from 0 to 1023",
            Part::Severity => "a severity: a name or a number from 0 to 7",
            Part::Facility => "a facility: a name or a number from 0 to 127",
        };
        a.diags.warning("R0108", format!("`{text}` is not {what}: messages stay as they are"), at);
    }
    Some(Op::Header(header))
}

fn zone(a: &mut Arguments<'_>, change: Change) -> Option<Op> {
    let which = a.time_stamp()?;
    if change == Change::Guess {
        return ZoneChange::new(change, None, which).map(|z| Op::Zone(Box::new(z)));
    }
    let (text, at) = a.text(0)?;
    let template = a.template(0)?;
    let zone = ZoneChange::new(change, Some(template), which);
    if zone.is_none() {
        let finding = Diagnostic::error("R0107", format!("there is no time zone `{text}`"), at);
        a.diags.push(finding.help("write a name like Europe/Budapest or an offset like +02:00"));
    }
    zone.map(|z| Op::Zone(Box::new(z)))
}
