//! From a [`Spec`] to what is done per message: macros and named values are found once, here.

use super::names::{Layout, decide, renamed};
use super::{Cast, Scopes, Spec, ValuePairs};
use crate::macros::{self, Fact, Kind, MACROS};
use crate::{DATE_PREFIXES, NoScope, OnError, Template, TemplateError, TemplateOptions, glob};
use record::{Demand, NameId, Value, ValueType};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A pair whose name is known.
pub(super) struct Static {
    /// As it is given out.
    pub name: Box<str>,
    pub source: Source,
    /// The type a hint declares.
    pub hint: Option<ValueType>,
    pub when: When,
}

/// When a pair is there, omit-empty-values() aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Always,
    /// A value that key() names: when it is set.
    Set,
    /// A macro: when it prints anything.
    Filled,
}

pub(super) enum Source {
    /// Looked up in place.
    Value(NameId),
    /// The macro HOST, which names the sender of a chain of hosts.
    Host,
    /// The same for every message; whether it is meant is known too.
    Fixed { text: Box<[u8]>, kind: ValueType, is_meant: bool },
    /// The name of a facility or severity; the template prints it where it has none.
    Name(Fact, Arc<Template>),
    /// Printed.
    Template(Arc<Template>),
}

impl Static {
    fn of(name: &str, template: Arc<Template>, when: When) -> Static {
        let hint = template.hint;
        let source = match (template.single_name().filter(|n| !n.is_sdata()), template.literal()) {
            (Some(id), _) => Source::Value(id),
            (None, Some(text)) => {
                Source::Fixed { text: text.into(), kind: template.literal_type(), is_meant: true }
            }
            (None, None) => match template.single_fact() {
                Some(fact @ (Fact::Facility | Fact::Severity)) => Source::Name(fact, template),
                _ => Source::Template(template),
            },
        };
        Static { name: name.into(), source, hint, when }
    }

    pub fn reads(&self, demand: &mut Demand) {
        match &self.source {
            Source::Value(id) => demand.name(*id),
            Source::Host => demand.name(NameId::HOST),
            Source::Fixed { .. } => {}
            Source::Name(_, template) | Source::Template(template) => template.reads(demand),
        }
    }
}

const RFC3164: &[&str] = &["FACILITY", "PRIORITY", "HOST", "PROGRAM", "PID", "MESSAGE", "DATE"];
const SELECTED: &[&str] = &["TAGS", "SOURCEIP", "SEQNUM"];

/// What syslog-ng keeps as values of the message: no scope of macros has them.
const VALUES: &[&str] =
    &["FILE_NAME", "HOST_FROM", "MSGFORMAT", "MSGID", "PID", "PROGRAM", "SOURCE", "TRANSPORT"];

/// Second spellings that value-pairs do not know, as in syslog-ng.
const SPELLINGS: &[&str] = &["FULLHOST", "FULLHOST_FROM"];

/// Second spellings and what means nothing outside of a template.
const NO_MACROS: &[&str] = &["FULLHOST", "FULLHOST_FROM", "MSGONLY", "CONTEXT_ID", "_", "*"];

impl ValuePairs {
    pub(crate) fn with_layout(
        spec: Spec,
        layout: Layout,
        opts: &TemplateOptions,
    ) -> Result<ValuePairs, TemplateError> {
        static IDS: AtomicU64 = AtomicU64::new(0);
        // What prints the pairs escapes them its own way.
        let opts = &TemplateOptions { escape: false, ..opts.clone() };
        let has = |scopes| spec.scopes.has(scopes);
        let globs = spec.patterns.iter().any(|(glob, on)| *on && needs_walk(glob));
        let walks_sdata = has(Scopes::SDATA)
            || has(Scopes::DOT_NV)
            || spec.patterns.iter().any(|(glob, on)| *on && needs_walk(glob) && may_be_sdata(glob));
        let walks = globs || walks_sdata || has(Scopes::NV);
        let only_sdata = spec.patterns.iter().all(|(glob, on)| !on || !needs_walk(glob) || is_sdata(glob))
            && !has(Scopes::NV)
            && !has(Scopes::DOT_NV);
        let mut statics = Vec::new();
        // Of two pairs with one name the later counts.
        for (name, template) in spec.pairs.iter().rev() {
            let name = renamed(name, &spec.rekeys, layout);
            statics.push(Static::of(&name, Arc::clone(template), When::Always));
        }
        let cast = spec.cast.unwrap_or(if opts.version < (4, 0) { Cast::Yes } else { Cast::No });
        for (name, id) in macro_names(&spec, walks && !only_sdata)? {
            let text = format!("${{{name}}}");
            let mut made = match id {
                Some(id) => {
                    Static { name: "".into(), source: Source::Value(id), hint: None, when: When::Set }
                }
                // A value that is set to nothing is there where key() names it, not where it says `MSG`.
                None => {
                    let template = Arc::new(Template::compile(&text, opts, &NoScope)?);
                    let named = decide(&spec.patterns, &name) == Some(true);
                    let is_value = template.single_name().is_some_and(|id| record::name_of(id) == name);
                    let when = if named && is_value { When::Set } else { When::Filled };
                    match name.as_str() {
                        "HOST" => Static { name: "".into(), source: Source::Host, hint: None, when },
                        _ => Static::of("", template, when),
                    }
                }
            };
            made.name = renamed(&name, &spec.rekeys, layout).into();
            statics.push(made);
        }
        let mut pairs = ValuePairs {
            id: IDS.fetch_add(1, Ordering::Relaxed),
            scopes: spec.scopes,
            patterns: spec.patterns,
            rekeys: spec.rekeys,
            cast,
            omit_empty: spec.omit_empty_values,
            include_bytes: spec.include_bytes,
            statics: statics.into(),
            walks,
            walks_sdata,
            only_sdata,
            own_names: 0,
            layout,
            drop_wrong: matches!(layout, Layout::Json { .. }) && opts.on_error == OnError::DropProperty,
        };
        pairs.own_names = pairs.own_names();
        pairs.judge_fixed();
        Ok(pairs)
    }

    /// What a JSON object has as this text for every message.
    pub(super) fn fixed_text(&self, source: u32) -> Option<&[u8]> {
        match &self.statics.get(source as usize)?.source {
            Source::Fixed { text, kind: ValueType::String, .. } if self.is_json() => Some(text),
            _ => None,
        }
    }

    /// Decides whether values that are the same for every message are meant, and as which type.
    fn judge_fixed(&mut self) {
        let mut statics = std::mem::take(&mut self.statics);
        for pair in &mut statics {
            if let Source::Fixed { text, kind, is_meant } = &mut pair.source {
                let value = Value { bytes: text, kind: pair.hint.unwrap_or(*kind) };
                *is_meant = self.takes(value, pair.hint);
                *kind = pair.hint.unwrap_or(self.cast(Some(value)).kind);
            }
        }
        self.statics = statics;
    }
}

/// Whether a key() matches names that only a message knows. Names of STRUCTURED-DATA are compared while it is
/// read.
fn needs_walk(glob: &str) -> bool {
    glob::is_glob(glob) || is_sdata(glob)
}

fn is_sdata(glob: &str) -> bool {
    glob.starts_with(".SDATA.")
}

fn may_be_sdata(glob: &str) -> bool {
    let literal = glob.split(['*', '?']).next().unwrap_or_default();
    literal.starts_with(".SDATA.") || ".SDATA.".starts_with(literal)
}

/// Macros and, where values are not walked through anyway, the names that key() gives, with the id of those
/// that are no macros.
fn macro_names(spec: &Spec, walks: bool) -> Result<Vec<(String, Option<NameId>)>, TemplateError> {
    let scoped = |name: &str| {
        spec.scopes.has(Scopes::MACROS) && !VALUES.contains(&name)
            || spec.scopes.has(Scopes::RFC3164) && RFC3164.contains(&name)
            || spec.scopes.has(Scopes::SELECTED) && SELECTED.contains(&name)
            || spec.scopes.has(Scopes::RFC5424) && name == "MSGID"
    };
    let all = all_macros().into_iter();
    let meant = |name: &String| decide(&spec.patterns, name).unwrap_or_else(|| scoped(name));
    let mut names: Vec<(String, Option<NameId>)> = all.filter(meant).map(|name| (name, None)).collect();
    for (name, _) in spec.patterns.iter().filter(|(name, on)| *on && !needs_walk(name)) {
        if names.iter().any(|(n, _)| n == name) || decide(&spec.patterns, name) != Some(true) {
            continue;
        }
        if SPELLINGS.contains(&name.as_str()) {
            continue;
        }
        if macros::find(name).is_some() {
            names.push((name.clone(), None));
        } else if !walks {
            let id = record::intern(name).ok_or_else(|| {
                TemplateError::new(0, format!("no room for the name `{name}`: too many names are in use"))
            })?;
            names.push((name.clone(), Some(id)));
        }
    }
    Ok(names)
}

fn all_macros() -> Vec<String> {
    let known = MACROS.iter().filter(|m| !NO_MACROS.contains(&m.name));
    let mut names: Vec<String> = known.clone().map(|m| m.name.to_owned()).collect();
    for dated in known.filter(|m| matches!(m.kind, Kind::Date(_) | Kind::Stamp)) {
        names.extend(DATE_PREFIXES.iter().map(|(prefix, _)| format!("{prefix}{}", dated.name)));
    }
    names
}
