//! What compiles the calls of filter functions: one function for each entry of the table.

use crate::blank::Blank;
use crate::called::Called;
use crate::compile::named;
use crate::env::FilterEnv;
use crate::list::InList;
use crate::matcher::Matcher;
use crate::matches::group_names;
use crate::netmask::Net;
use crate::node::Node;
use crate::options::{MatcherOptions, template_of, unknown_option, value_of, wrong_pattern};
use crate::pri::PriTable;
use crate::rate::RateLimit;
use crate::subject::Subject;
use conf_syntax::{Arg, ArgKind, Call};
use diag::{Diagnostic, Diagnostics, Span, nearest};
use pattern::{Kind, Pattern, PatternOptions};
use record::{pri, tag_id};
use std::sync::Arc;

const CODES: MatcherOptions = MatcherOptions::FILTER;

fn wrong(message: impl Into<String>, at: Span, diags: &mut Diagnostics) {
    diags.error("F0103", message, at);
}

pub(super) fn facility(call: &Call, _: &dyn FilterEnv, diags: &mut Diagnostics) -> Option<Node> {
    let set = numbers(call, 127, &|name| pri::facility(name), &pri::FACILITIES, diags)?;
    Some(Node::Pri(PriTable::of(|p| set[usize::from(p >> 3) & 127])))
}

pub(super) fn level(call: &Call, _: &dyn FilterEnv, diags: &mut Diagnostics) -> Option<Node> {
    let set = numbers(call, 7, &|name| pri::severity(name), &pri::SEVERITIES, diags)?;
    Some(Node::Pri(PriTable::of(|p| set[usize::from(p & 7)])))
}

/// The numbers that names, ranges and numbers stand for.
fn numbers(
    call: &Call,
    max: u8,
    number_of: &dyn Fn(&str) -> Option<u8>,
    names: &[&'static str],
    diags: &mut Diagnostics,
) -> Option<[bool; 128]> {
    let mut set = [false; 128];
    let mut good = !call.args.is_empty();
    if !good {
        wrong(format!("{}() needs a name", call.name.text), call.span, diags);
    }
    let mut one = |arg: &Arg| {
        let found = match &arg.kind {
            ArgKind::Int { value, .. } => u8::try_from(*value).ok().filter(|n| *n <= max),
            _ => arg.text().and_then(number_of),
        };
        if found.is_none() {
            let text = arg.text().unwrap_or(arg.describe());
            let what = if max == 7 { "severity" } else { "facility" };
            let finding = Diagnostic::error("F0106", format!("unknown {what} `{text}`"), arg.span);
            diags.push(match nearest(text, names.iter().copied()) {
                Some(near) => finding.suggest(Some(near)),
                None => finding.help(format!("there are {}, or a number up to {max}", names.join(", "))),
            });
        }
        found
    };
    for arg in &call.args {
        let range = match &arg.kind {
            ArgKind::Range(from, to) => (one(from), one(to)),
            _ => {
                let number = one(arg);
                (number, number)
            }
        };
        match range {
            (Some(a), Some(b)) => (a.min(b)..=a.max(b)).for_each(|n| set[usize::from(n)] = true),
            _ => good = false,
        }
    }
    good.then_some(set)
}

/// What the arguments of a matcher say.
struct Arguments<'a> {
    pattern: &'a str,
    at: Span,
    options: PatternOptions,
    value: Option<&'a Call>,
    template: Option<&'a Call>,
}

fn arguments<'a>(
    call: &'a Call,
    with_value: bool,
    kind: Kind,
    diags: &mut Diagnostics,
) -> Option<Arguments<'a>> {
    let mut options = PatternOptions { kind, ..PatternOptions::default() };
    let (mut pattern, mut value, mut template) = (None, None, None);
    let mut good = true;
    let known: &[&str] =
        if with_value { &["value", "template", "type", "flags"] } else { &["type", "flags"] };
    for arg in &call.args {
        if let ArgKind::Call(option) = &arg.kind
            && let Some(right) = CODES.read(option, &mut options, diags)
        {
            good &= right;
            continue;
        }
        match &arg.kind {
            ArgKind::Call(option) if with_value && option.is("value") => value = Some(option),
            ArgKind::Call(option) if with_value && option.is("template") => template = Some(option),
            ArgKind::Call(_) => {
                unknown_option(&call.name.text, arg, known, &CODES, diags);
                good = false;
            }
            _ if pattern.is_none() && arg.text().is_some() => pattern = arg.text().map(|t| (t, arg.span)),
            _ => {
                wrong(format!("{}() takes one pattern", call.name.text), arg.span, diags);
                good = false;
            }
        }
    }
    let Some((pattern, at)) = pattern else {
        wrong(format!("{}() needs a pattern", call.name.text), call.span, diags);
        return None;
    };
    good.then_some(Arguments { pattern, at, options, value, template })
}

fn matcher(arguments: Arguments<'_>, subject: Subject, diags: &mut Diagnostics) -> Option<Node> {
    let options = arguments.options;
    if let Some(flag) = options.misplaced_flag() {
        diags.warning("F0113", format!("flag `{flag}` does nothing with this type of pattern"), arguments.at);
    }
    match Pattern::compile(arguments.pattern, &options) {
        Err(e) => {
            diags.push(wrong_pattern("F0110", &e, arguments.pattern, arguments.at));
            None
        }
        Ok(pattern) => {
            let store = match options.store_matches {
                false => None,
                true => Some(group_names(&pattern).or_else(|| {
                    diags.error("F0116", "too many names of values", arguments.at);
                    None
                })?),
            };
            Some(Node::Match(Arc::new(Matcher::new(subject, Arc::new(pattern), store))))
        }
    }
}

pub(super) fn on_field(
    call: &Call,
    subject: Subject,
    _: &dyn FilterEnv,
    diags: &mut Diagnostics,
) -> Option<Node> {
    let kind = if call.is("source") { Kind::String } else { Kind::Pcre };
    matcher(arguments(call, false, kind, diags)?, subject, diags)
}

pub(super) fn on_value(call: &Call, env: &dyn FilterEnv, diags: &mut Diagnostics) -> Option<Node> {
    let arguments = arguments(call, true, Kind::Pcre, diags)?;
    let subject = match (arguments.value, arguments.template) {
        (Some(_), Some(template)) => {
            wrong("match() takes value() or template(), not both", template.span, diags);
            return None;
        }
        (Some(value), None) => subject_of_name(CODES.single_text(value, diags)?, value.span, env, diags)?,
        (None, Some(template)) => {
            let text = CODES.single_text(template, diags)?;
            Subject::of(template_of(text, template.span, env, &CODES, diags)?)
        }
        (None, None) => {
            let text = "match() without value() or template() looks at `PROGRAM[PID]: MESSAGE`";
            let help = "write match(\"...\" value(\"MESSAGE\")) or message(\"...\")";
            diags.push(Diagnostic::warning("F0112", text, call.span).help(help));
            Subject::Legacy
        }
    };
    matcher(arguments, subject, diags)
}

fn subject_of_name(name: &str, at: Span, env: &dyn FilterEnv, diags: &mut Diagnostics) -> Option<Subject> {
    let name = value_of(name, at, &CODES, diags)?;
    // The value as it is stored, as in syslog-ng; the macro takes a chain of hosts apart.
    if name == "HOST" {
        return Some(Subject::Host);
    }
    Some(Subject::of(template_of(&format!("${{{name}}}"), at, env, &CODES, diags)?))
}

pub(super) fn filter(call: &Call, env: &dyn FilterEnv, diags: &mut Diagnostics) -> Option<Node> {
    let name = CODES.single_text(call, diags)?;
    let filter = named(name, call.span, env, diags)?;
    Some(Node::Filter(Arc::new(Called { name: name.into(), filter, tally: env.tally(name) })))
}

pub(super) fn netmask(
    call: &Call,
    read: fn(&str) -> Option<Net>,
    what: &str,
    diags: &mut Diagnostics,
) -> Option<Node> {
    let text = CODES.single_text(call, diags)?;
    if let Some(net) = read(text) {
        return Some(Node::Net(net));
    }
    // As in syslog-ng, which takes it and finds nobody in it.
    let message = format!("`{text}` is not a network: no sender is in it");
    diags.push(
        Diagnostic::warning("F0107", message, call.span).help(format!("{}() takes {what}", call.name.text)),
    );
    Some(Node::Always(false))
}

pub(super) fn tags(call: &Call, _: &dyn FilterEnv, diags: &mut Diagnostics) -> Option<Node> {
    let (mut word, mut more) = (0, Vec::new());
    for arg in &call.args {
        let Some(name) = arg.text() else {
            wrong(format!("tags() takes names, not {}", arg.describe()), arg.span, diags);
            return None;
        };
        match tag_id(name) {
            None => {
                diags.error("F0116", "too many tags", arg.span);
                return None;
            }
            Some(tag) if tag.0 < u64::BITS => word |= 1 << tag.0,
            Some(tag) => more.push(tag),
        }
    }
    if call.args.is_empty() {
        wrong("tags() needs the name of a tag", call.span, diags);
        return None;
    }
    Some(Node::Tags { word, more })
}

pub(super) fn in_list(call: &Call, env: &dyn FilterEnv, diags: &mut Diagnostics) -> Option<Node> {
    let mut texts = Vec::new();
    for arg in &call.args {
        match &arg.kind {
            ArgKind::Call(option) if option.is("value") => {
                texts.push((CODES.single_text(option, diags)?, option.span))
            }
            ArgKind::Call(_) => {
                unknown_option("in-list", arg, &["value"], &CODES, diags);
                return None;
            }
            _ => texts.extend(arg.text().map(|t| (t, arg.span))),
        }
    }
    let [(path, path_at), (name, name_at)] = texts[..] else {
        wrong("in-list() takes the name of a file and value(\"NAME\")", call.span, diags);
        return None;
    };
    let subject = subject_of_name(name, name_at, env, diags)?;
    match env.read_file(path) {
        Ok(file) => Some(Node::InList(Arc::new(InList::new(subject, &file)))),
        Err(e) => {
            let finding = Diagnostic::error("F0108", format!("cannot read `{path}`: {e}"), path_at);
            diags.push(finding.help("make the file, a value a line, or correct the path"));
            None
        }
    }
}

pub(super) fn blank(call: &Call, env: &dyn FilterEnv, diags: &mut Diagnostics) -> Option<Node> {
    let name = value_of(CODES.single_text(call, diags)?, call.span, &CODES, diags)?;
    let template = template_of(&format!("${{{name}}}"), call.span, env, &CODES, diags)?;
    Some(Node::Blank(Arc::new(Blank::new(name, template))))
}

pub(super) fn rate_limit(call: &Call, env: &dyn FilterEnv, diags: &mut Diagnostics) -> Option<Node> {
    if call.is("throttle") {
        let finding = Diagnostic::warning("F0117", "throttle() is called rate-limit() now", call.name.span);
        diags.push(finding.help("write rate-limit(...) with the same options"));
    }
    let (mut key, mut rate) = (None, None);
    for arg in &call.args {
        match &arg.kind {
            ArgKind::Call(option) if option.is("key") || option.is("template") => {
                let text = CODES.single_text(option, diags)?;
                key = Some(template_of(text, option.span, env, &CODES, diags)?);
            }
            ArgKind::Call(option) if option.is("rate") || option.is("thread-local-rate") => {
                let number = match option.args.as_slice() {
                    [n] => n.int().and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0),
                    _ => None,
                };
                rate = number.map(|n| (n, option.is("thread-local-rate")));
            }
            _ => {
                unknown_option(&call.name.text, arg, &["key", "rate", "thread-local-rate"], &CODES, diags);
                return None;
            }
        }
    }
    let Some((rate, by_worker)) = rate else {
        diags.error(
            "F0109",
            "rate-limit() needs rate(n) with a whole number of messages a second, 1 or more",
            call.span,
        );
        return None;
    };
    Some(Node::Rate(Arc::new(RateLimit::new(key, rate, by_worker))))
}
