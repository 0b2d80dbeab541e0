//! The options of value-pairs() in a configuration: of map-value-pairs() and of the option `value-pairs(...)`
//! of destinations.

use crate::build::Build;
use conf_schema::{Group, Kind, OptionSpec as Opt, Preset, Settings, Switch, Word};
use conf_syntax::{Arg, ArgKind, Call};
use diag::{Diagnostic, Diagnostics, Span};
use filter::FilterEnv;
use template::value_pairs::{Cast, Rekey, Scopes, Spec, Step, ValuePairs};

const CAST: &[Word] =
    &[Word::new("auto", "Texts that look like numbers or truth values become what they look like.")];

pub static VALUE_PAIRS: Group = Group {
    name: "value-pairs",
    options: &[
        Opt::new(
            "scope",
            Kind::TextList,
            Preset::None,
            "Sets of names: `nv-pairs` (values without a dot in front), `dot-nv-pairs` (with one), `all-nv-pairs`, `sdata`, \
             `rfc3164`, `rfc5424`, `selected-macros`, `all-macros`, `everything`, `none`. Scopes of values make every parser before \
             them take out all it can find.",
        )
        .collects(),
        Opt::new(
            "key",
            Kind::Any,
            Preset::None,
            "Names, with `*` and `?`, that are meant too; `key(\".app.*\" rekey(shift(5)))` changes them. A name without `*` or `?` \
             costs least: then nothing else has to be parsed.",
        )
        .collects(),
        Opt::new(
            "exclude",
            Kind::TextList,
            Preset::None,
            "Names, with `*` and `?`, that are not meant. Of `key()` and `exclude()` the last that matches counts.",
        )
        .collects(),
        Opt::new(
            "pair",
            Kind::Pairs,
            Preset::None,
            "A name and a template, with a type hint if its value is no text: `pair(\"pid\" int(\"$PID\"))`.",
        )
        .collects(),
        Opt::new(
            "rekey",
            Kind::Any,
            Preset::None,
            "Changes of the names that match: `rekey(\".app.*\" shift(1) add-prefix(\"x.\"))`. There are `shift(characters)`, \
             `shift-levels(levels)`, `add-prefix(text)`, `replace-prefix(old new)`, `upper()`, `lower()`.",
        )
        .collects(),
        Opt::new(
            "cast",
            Kind::BoolOr(CAST),
            Preset::Described("`no`; `yes` before @version 4.0"),
            "With `yes` values are texts whatever their type, but for pairs with a type hint.",
        ),
        Opt::new("include-bytes", Kind::Bool, Preset::Bool(false), "Values of the types bytes and protobuf are meant too."),
        Opt::new("omit-empty-values", Kind::Bool, Preset::Bool(false), "Leave out values that are empty."),
    ],
};

/// As [`spec`], for a destination: compiled. `rekeys`: changes of names that it makes behind those that the
/// configuration asks for.
pub fn compile(
    settings: &Settings,
    env: &dyn FilterEnv,
    span: Span,
    rekeys: &[Rekey],
    diags: &mut Diagnostics,
) -> Option<ValuePairs> {
    let mut spec = spec(settings, &mut Build { env, diags, span })?;
    spec.rekeys.extend_from_slice(rekeys);
    match ValuePairs::compile(spec, env.template_options()) {
        Ok(pairs) => Some(pairs),
        Err(error) => {
            diags.push(Diagnostic::error("A0101", error.to_string(), span));
            None
        }
    }
}

/// What the options say, from settings read with [`VALUE_PAIRS`]; `None` when something is wrong.
pub fn spec(settings: &Settings, b: &mut Build<'_>) -> Option<Spec> {
    let mut spec = Spec {
        cast: settings.switch("cast").and_then(|cast| match cast {
            Switch::Yes => Some(Cast::Yes),
            Switch::No => Some(Cast::No),
            // `auto`: as @version says.
            Switch::Word(_) => None,
        }),
        include_bytes: settings.bool("include-bytes").unwrap_or(false),
        omit_empty_values: settings.bool("omit-empty-values").unwrap_or(false),
        ..Spec::default()
    };
    let mut good = true;
    for text in settings.list("scope") {
        for name in text.text.split(',').map(str::trim).filter(|n| !n.is_empty()) {
            match Scopes::named(name) {
                Some(scopes) => spec.scopes = spec.scopes.with(scopes),
                None => {
                    let near = diag::nearest(name, Scopes::NAMES.iter().map(|(n, ..)| *n));
                    let finding =
                        Diagnostic::error("A0102", format!("there is no scope `{name}`"), text.span);
                    b.diags.push(finding.suggest(near));
                    good = false;
                }
            }
        }
    }
    let mut patterns: Vec<(Span, String, bool)> =
        settings.list("exclude").iter().map(|text| (text.span, text.text.clone(), false)).collect();
    good &= globs(
        settings.args("key"),
        b,
        |glob, span| patterns.push((span, glob, true)),
        &mut spec.rekeys,
        true,
    );
    good &= globs(settings.args("rekey"), b, |_, _| {}, &mut spec.rekeys, false);
    // As they were written: the last that matches counts.
    patterns.sort_by_key(|(span, ..)| (span.file, span.start));
    spec.patterns = patterns.into_iter().map(|(_, glob, on)| (glob, on)).collect();
    for pair in settings.pairs("pair") {
        match b.template(&pair.value) {
            Some(template) => spec.pairs.push((pair.key.text.clone(), template)),
            None => good = false,
        }
    }
    good.then_some(spec)
}

/// Reads `"glob" change(...) ...`, once or several times; of a key the changes stand in `rekey(...)`.
fn globs(
    args: &[Arg],
    b: &mut Build<'_>,
    mut found: impl FnMut(String, Span),
    rekeys: &mut Vec<Rekey>,
    in_rekey: bool,
) -> bool {
    let mut good = true;
    let mut last: Option<String> = None;
    for arg in args {
        let call = match &arg.kind {
            ArgKind::Call(call) => Some(call),
            _ => None,
        };
        match (call, &last, arg.text()) {
            (Some(call), Some(glob), _) if in_rekey && call.is("rekey") => {
                let steps: Option<Vec<Step>> = call.args.iter().map(|arg| step(arg, b)).collect();
                good &= steps.is_some();
                rekeys.extend(steps.map(|steps| Rekey { glob: glob.clone(), steps }));
            }
            (_, Some(glob), text)
                if !in_rekey && (call.is_some() || matches!(text, Some("upper" | "lower"))) =>
            {
                match (step(arg, b), rekeys.last_mut().filter(|rekey| rekey.glob == *glob)) {
                    (Some(step), Some(rekey)) => rekey.steps.push(step),
                    _ => good = false,
                }
            }
            (None, _, Some(glob)) => {
                if !in_rekey {
                    rekeys.push(Rekey { glob: glob.to_owned(), steps: Vec::new() });
                }
                found(glob.to_owned(), arg.span);
                last = Some(glob.to_owned());
            }
            _ => {
                let help = match in_rekey {
                    true => "write key(\"glob\") or key(\"glob\" rekey(shift(1)))",
                    false => "write rekey(\"glob\" shift(1))",
                };
                b.wrong(format!("{} cannot stand here", arg.describe()), Some(arg.span), help);
                good = false;
            }
        }
    }
    good
}

fn step(arg: &Arg, b: &mut Build<'_>) -> Option<Step> {
    const HELP: &str = "there are shift(1), shift-levels(1), add-prefix(\"p\"), replace-prefix(\"old\" \"new\"), upper(), lower()";
    let text = |call: &Call, at: usize| call.args.get(at).and_then(Arg::text).map(str::to_owned);
    let made = match &arg.kind {
        ArgKind::Call(call) => {
            let count = || match call.args.as_slice() {
                [one] => one.int().and_then(|n| usize::try_from(n).ok()),
                _ => None,
            };
            match call.args.len() {
                1 if call.is("shift") => count().map(Step::Shift),
                1 if call.is("shift-levels") => count().map(Step::ShiftLevels),
                1 if call.is("add-prefix") => text(call, 0).map(Step::AddPrefix),
                2 if call.is("replace-prefix") || call.is("replace") => {
                    text(call, 0).zip(text(call, 1)).map(|(old, new)| Step::ReplacePrefix(old, new))
                }
                0 if call.is("upper") => Some(Step::Upper),
                0 if call.is("lower") => Some(Step::Lower),
                _ => None,
            }
        }
        _ => match arg.text() {
            Some("upper") => Some(Step::Upper),
            Some("lower") => Some(Step::Lower),
            _ => None,
        },
    };
    if made.is_none() {
        b.wrong(format!("{} is no change of a name", arg.describe()), Some(arg.span), HELP);
    }
    made
}
