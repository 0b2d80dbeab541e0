//! From `name(args)` to the compiled operation: one entry in the table, one function here.

mod arguments;

use crate::group::{Group, ITEM, With, with_item};
use crate::header::{Header, Part};
use crate::op::{Op, Tag};
use crate::rewrite::Rewrite;
use crate::set::Set;
use crate::subst::Subst;
use crate::time::{Change, ZoneChange};
use arguments::{Arguments, CODES};
use conf_syntax::Call;
use diag::{Diagnostic, Diagnostics, nearest};
use filter::{FilterEnv, Subject, note_matches, template_of, wrong_pattern};
use pattern::{Kind, Pattern, PatternOptions};
use record::{NameId, intern, tag_id};

/// A rewrite operation for the reference manual.
#[derive(Clone, Copy, Debug)]
pub struct OperationInfo {
    pub name: &'static str,
    pub arguments: &'static str,
    pub help: &'static str,
    /// Texts before the options: fewest and most.
    texts: (usize, usize),
    options: &'static [&'static str],
    compile: fn(&mut Arguments<'_>) -> Option<Op>,
}

const fn operation_of(
    name: &'static str,
    arguments: &'static str,
    help: &'static str,
    texts: (usize, usize),
    options: &'static [&'static str],
    compile: fn(&mut Arguments<'_>) -> Option<Op>,
) -> OperationInfo {
    OperationInfo { name, arguments, help, texts, options, compile }
}

/// Options that change what the template of `set()` prints.
const TEMPLATE: [&str; 6] =
    ["ts-format", "frac-digits", "time-zone", "send-time-zone", "local-time-zone", "template-escape"];

/// Every rewrite operation.
pub const OPERATIONS: &[OperationInfo] = &[
    operation_of(
        "set",
        "\"T\" value(\"NAME\")",
        "sets a value, MESSAGE if none is named; a type hint gives it a type",
        (1, 1),
        &["value", TEMPLATE[0], TEMPLATE[1], TEMPLATE[2], TEMPLATE[3], TEMPLATE[4], TEMPLATE[5]],
        set,
    ),
    operation_of(
        "unset",
        "value(\"NAME\")",
        "removes a value, MESSAGE if none is named",
        (0, 0),
        &["value"],
        unset,
    ),
    operation_of(
        "subst",
        "\"pattern\" \"T\" value(\"NAME\") type(pcre|string) flags(...)",
        "replaces the first match, or with flags(global) every match; $0, $1 ... and named groups can be used in T",
        (2, 2),
        &["value", "type", "flags"],
        subst,
    ),
    operation_of("set-tag", "\"T\"", "sets a tag", (1, 1), &[], |a| tag(a, true)),
    operation_of("clear-tag", "\"T\"", "takes a tag away", (1, 1), &[], |a| tag(a, false)),
    operation_of(
        "groupset",
        "\"T\" values(\"glob\", ...)",
        "sets every value there is whose name fits; $_ in T is the value as it was",
        (1, 1),
        &["values"],
        groupset,
    ),
    operation_of(
        "groupunset",
        "values(\"glob\", ...)",
        "removes every value whose name fits",
        (0, 0),
        &["values"],
        |a| {
            let globs = a.globs()?;
            Some(Op::Group(Box::new(Group::new(globs, None))))
        },
    ),
    operation_of(
        "rename",
        "\"from\" \"to\"",
        "gives a value another name; it keeps its type",
        (2, 2),
        &[],
        rename,
    ),
    operation_of("set-matches", "\"T\"", "sets $1, $2 ... to the items of a list", (1, 1), &[], |a| {
        note_matches(NameId::MATCH_MAX as usize);
        Some(Op::SetMatches(Box::new(a.template(0)?)))
    }),
    operation_of("unset-matches", "", "removes $0, $1 ...", (0, 0), &[], |_| Some(Op::UnsetMatches)),
    operation_of(
        "set-pri",
        "\"T\"",
        "sets facility and severity as one number, 0 to 1023",
        (1, 1),
        &[],
        |a| header(a, Part::Pri),
    ),
    operation_of(
        "set-severity",
        "\"T\"",
        "sets the severity: a name, its usual short forms, or 0 to 7",
        (1, 1),
        &[],
        |a| header(a, Part::Severity),
    ),
    operation_of("set-facility", "\"T\"", "sets the facility: a name or 0 to 127", (1, 1), &[], |a| {
        header(a, Part::Facility)
    }),
    operation_of(
        "set-time-zone",
        "\"zone\"",
        "shows the message's time in another zone",
        (1, 1),
        &["time-stamp"],
        |a| zone(a, Change::Convert),
    ),
    operation_of(
        "fix-time-zone",
        "\"zone\"",
        "reads the message's time as one of another zone",
        (1, 1),
        &["time-stamp"],
        |a| zone(a, Change::Fix),
    ),
    operation_of(
        "guess-time-zone",
        "",
        "reads the message's time as one of the zone that fits the time of receipt best",
        (0, 0),
        &["time-stamp"],
        |a| zone(a, Change::Guess),
    ),
];

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
    a.own_time_stamp()?;
    if change == Change::Guess {
        return ZoneChange::new(change, None).map(|z| Op::Zone(Box::new(z)));
    }
    let (text, at) = a.text(0)?;
    let template = a.template(0)?;
    let zone = ZoneChange::new(change, Some(template));
    if zone.is_none() {
        let finding = Diagnostic::error("R0107", format!("there is no time zone `{text}`"), at);
        a.diags.push(finding.help("write a name like Europe/Budapest or an offset like +02:00"));
    }
    zone.map(|z| Op::Zone(Box::new(z)))
}
