//! Turns a call of the configuration into [`Settings`] by the component's table, reporting everything that is
//! wrong.

mod messages;
mod values;

pub(crate) use messages::wanted;

use std::sync::Arc;

use conf_syntax::{Arg, ArgKind, Call, same_keyword};
use diag::{Diagnostic, Diagnostics, Origin, SourceMap, Span, nearest};

use crate::settings::Settings;
use crate::spec::{Component, Kind, OptionSpec, Positional, State, Table};
use crate::value::Value;

/// What reading a call needs to know from outside.
#[derive(Clone, Debug)]
pub struct ReadContext<'a> {
    /// The texts of the configuration: tells what stands in the expansion of a block.
    pub sources: &'a SourceMap,
    /// The global options, from which components inherit; None while those are read themselves.
    pub globals: Option<Arc<Settings>>,
}

/// Reads one call. Options with errors are left unset; whether there were any is in `diags`.
pub fn read(
    call: &Call,
    component: &'static Component,
    cx: &ReadContext,
    diags: &mut Diagnostics,
) -> Settings {
    read_call(call, component.table(), cx, diags)
}

/// Reads calls that stand on their own, such as those of `options { }`: later ones win.
pub fn read_options<'c>(
    calls: impl IntoIterator<Item = &'c Call>,
    component: &'static Component,
    cx: &ReadContext,
    diags: &mut Diagnostics,
) -> Settings {
    let mut reader = Reader::new(component.table(), None, cx, diags);
    reader.repeats_are_fine = true;
    for call in calls {
        reader.option(call);
    }
    reader.settings
}

fn read_call(call: &Call, table: Table, cx: &ReadContext, diags: &mut Diagnostics) -> Settings {
    let mut reader = Reader::new(table, Some(call.span), cx, diags);
    let mut place = 0;
    for arg in &call.args {
        match &arg.kind {
            ArgKind::Call(option) if !reader.is_positional(option, place) => reader.option(option),
            _ => {
                reader.positional(arg, place);
                place += 1;
            }
        }
    }
    reader.missing(call);
    reader.settings
}

struct Reader<'a> {
    table: Table,
    settings: Settings,
    cx: &'a ReadContext<'a>,
    diags: &'a mut Diagnostics,
    /// Several `options { }` are merged: giving an option again is how that is done.
    repeats_are_fine: bool,
    /// The name of an option stood alone.
    bare_option: bool,
}

impl<'a> Reader<'a> {
    fn new(
        table: Table,
        span: Option<Span>,
        cx: &'a ReadContext<'a>,
        diags: &'a mut Diagnostics,
    ) -> Reader<'a> {
        let settings = Settings::empty(table, span, cx.globals.clone());
        Reader { table, settings, cx, diags, repeats_are_fine: false, bare_option: false }
    }

    /// A typed template (`int("$X")`) in a place where a template stands is not an option.
    fn is_positional(&self, call: &Call, place: usize) -> bool {
        let typed = self.table.positional.get(place).is_some_and(|p| matches!(p.kind, Kind::Template));
        typed && values::typed_template(call).is_some() && self.find(&call.name.text).is_none()
    }

    fn positional(&mut self, arg: &Arg, place: usize) {
        let Some(spec) = self.spec_at(place) else {
            if std::mem::take(&mut self.bare_option) {
                // The value of an option without its brackets, which were reported.
                return;
            }
            let text =
                format!("`{}()` takes no {}", self.table.label, unexpected(arg, self.table.positional));
            let mut finding = Diagnostic::error("O0109", text, arg.span);
            if let ArgKind::Ident(word) = &arg.kind {
                let (name, value) = word.split_once('=').unwrap_or((word, "..."));
                if let Some(option) = self.find(name) {
                    self.bare_option = !word.contains('=');
                    finding = finding.help(format!("the option is written `{}({value})`", option.name));
                }
            }
            self.diags.push(finding);
            return;
        };
        let args = std::slice::from_ref(arg);
        let asked = values::Asked { name: spec.name, kind: spec.kind, args, span: arg.span, call: None };
        let value = values::read_value(&asked, self.cx, self.diags);
        match (value, self.settings.entry_mut(spec.name)) {
            (Some(Value::List(more)), Some(entry)) => append(spec.kind, &mut entry.value, Value::List(more)),
            (Some(value), _) => self.settings.insert(spec.name, value, arg.span),
            (None, _) => {}
        }
    }

    /// The last positional takes all further values when it is a list.
    fn spec_at(&self, place: usize) -> Option<&'static Positional> {
        let all = self.table.positional;
        all.get(place).or_else(|| all.last().filter(|p| matches!(p.kind, Kind::TextList)))
    }

    fn missing(&mut self, call: &Call) {
        for (place, spec) in self.table.positional.iter().enumerate().filter(|(_, p)| p.required) {
            let given = call.values().count() > place;
            if !given && !self.settings.is_set(spec.name) {
                let text = format!("`{}()` needs {}", self.table.label, spec.help);
                let help = format!("write it first, as `{}(\"...\" ...)`", self.table.label);
                self.diags.push(Diagnostic::error("O0108", text, call.span).help(help));
            }
        }
    }

    /// The option of this name in any spelling.
    fn find(&self, name: &str) -> Option<&'static OptionSpec> {
        let spelled =
            |o: &&OptionSpec| o.names().chain(o.old_names.iter().copied()).any(|n| same_keyword(n, name));
        self.table.options().find(spelled)
    }

    fn option(&mut self, call: &Call) {
        let name = call.name.text.as_str();
        if let Some((known, remedy)) = self.table.not_yet.iter().find(|(n, _)| same_keyword(n, name)) {
            return self.refuse(call, known, remedy);
        }
        let number = matches!(call.args.as_slice(), [only] if only.int().is_some());
        let found = match self.find(name) {
            Some(spec) if number => spec.number_means.and_then(|other| self.find(other)).or(Some(spec)),
            found => found,
        };
        let Some(spec) = found else { return self.unknown(call) };
        match spec.state {
            // A block hands its empty default on: it asks for nothing.
            State::NotYet(_) if call.args.is_empty() => return,
            State::NotYet(remedy) => return self.refuse(call, spec.name, remedy),
            State::NoEffect(why) => {
                let text = format!("`{}()` has no effect", spec.name);
                self.diags.push(Diagnostic::remark("O0113", text, call.name.span).note(why));
                return;
            }
            State::Obsolete(instead) => self.obsolete(call, spec.name, instead),
            State::Supported => {}
        }
        if let Some(old) = spec.old_names.iter().find(|n| same_keyword(n, name)) {
            self.obsolete(call, old, &format!("write `{}(...)`", spec.name));
        }
        let asked = values::Asked {
            name: spec.name,
            kind: spec.kind,
            args: &call.args,
            span: call.span,
            call: Some(call),
        };
        let Some(value) = values::read_value(&asked, self.cx, self.diags) else { return };
        self.store(spec, value, call);
    }

    fn store(&mut self, spec: &'static OptionSpec, value: Value, call: &Call) {
        let collects = spec.collects || matches!(spec.kind, Kind::Flags(_));
        if let Some(before) = self.settings.entry_mut(spec.name) {
            if collects {
                append(spec.kind, &mut before.value, value);
                return;
            }
            // Blocks of the library override by repeating: `network(port(514) `__VARARGS__`)`.
            let expanded = self.cx.sources.file(call.span.file).is_some_and(is_expansion);
            if !expanded && !self.repeats_are_fine {
                let first = before.span;
                let text = format!("`{}()` is given twice: this one counts", spec.name);
                self.diags
                    .push(Diagnostic::warning("O0106", text, call.span).label(first, "given here before"));
            }
        }
        self.settings.insert(spec.name, value, call.span);
    }

    fn obsolete(&mut self, call: &Call, name: &str, instead: &str) {
        let text = format!("`{name}()` is obsolete");
        self.diags.push(Diagnostic::warning("O0107", text, call.name.span).help(instead));
    }

    fn refuse(&mut self, call: &Call, name: &str, remedy: &str) {
        let text =
            format!("`{name}()` of `{}()` is not available in this version of penstock", self.table.label);
        self.diags.push(Diagnostic::error("O0102", text, call.name.span).help(remedy));
    }

    fn unknown(&mut self, call: &Call) {
        let name = &call.name.text;
        let known = self.table.options().flat_map(|o| o.names());
        let known = known.chain(self.table.not_yet.iter().map(|(n, _)| *n));
        let text = match self.table.label {
            "options" => format!("unknown global option `{name}()`"),
            label => format!("`{label}()` has no option `{name}()`"),
        };
        self.diags.push(Diagnostic::error("O0101", text, call.name.span).suggest(nearest(name, known)));
    }
}

/// Adds a later value to one that collects.
fn append(kind: Kind, before: &mut Value, later: Value) {
    match (before, later) {
        (Value::List(all), Value::List(more)) => all.extend(more),
        (Value::Pairs(all), Value::Pairs(more)) => all.extend(more),
        (Value::Args(all), Value::Args(more)) => all.extend(more),
        (Value::Block(all), Value::Block(more)) => all.extend(more),
        (Value::Flags(all), Value::Flags(more)) => {
            for word in kind.words().iter().filter(|w| more.contains(&w.name)) {
                values::add_flag(all, word);
            }
        }
        (before, later) => *before = later,
    }
}

fn is_expansion(file: &diag::SourceFile) -> bool {
    matches!(file.origin, Origin::Expanded { .. })
}

fn unexpected(arg: &Arg, positional: &[Positional]) -> String {
    match (&arg.kind, positional.len()) {
        (ArgKind::Semicolon, _) => "`;` between its options".to_string(),
        (_, 0) => format!("values without a name: {} stands here", arg.describe()),
        (_, 1) => "second value without a name".to_string(),
        (_, n) => format!("more than {n} values without a name"),
    }
}

#[cfg(test)]
mod tests;
