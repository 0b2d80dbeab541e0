//! The option `value-pairs()` of destinations: which values of a message go there.

use crate::Reading;
use conf_schema::{Group, Kind, OptionSpec as Opt, Preset};
use diag::Reported;
use filter::{FilterEnv, NamedFilters};
use parsers::value_pairs::{VALUE_PAIRS, compile};
use std::sync::Arc;
use template::value_pairs::{Rekey, Scopes, Spec, ValuePairs};
use template::{Scope, TemplateOptions};

/// Of destinations that send values whether it is given or not.
pub static PAIRS: Group = Group {
    name: "values",
    options: &[Opt::new(
        "value-pairs",
        Kind::Block(&[&VALUE_PAIRS]),
        Preset::Described("`scope(\"selected-macros\" \"nv-pairs\" \"sdata\")`"),
        "Which values of each message are sent, under which names and as which types.",
    )
    .sample("pair(\"name\" \"value\")")],
};

/// What a destination sends without it.
const USUAL: &[&str] = &["selected-macros", "nv-pairs", "sdata"];

/// Where templates of value-pairs() are compiled.
struct Env<'a> {
    scope: &'a dyn Scope,
    options: &'a TemplateOptions,
    named: NamedFilters,
}

impl FilterEnv for Env<'_> {
    fn scope(&self) -> &dyn Scope {
        self.scope
    }

    fn template_options(&self) -> &TemplateOptions {
        self.options
    }

    fn named_filters(&self) -> &NamedFilters {
        &self.named
    }
}

/// The block of this name, with further changes of names, where it is given.
pub fn read(name: &str, rekeys: &[Rekey], r: &mut Reading<'_>) -> Result<Option<Arc<ValuePairs>>, Reported> {
    let Some(settings) = r.s.block(name) else { return Ok(None) };
    let env = Env { scope: r.cx.scope, options: r.templates, named: NamedFilters::default() };
    compile(settings, &env, r.s.span(name).ok_or(Reported)?, rekeys, r.diags)
        .map(|pairs| Some(Arc::new(pairs)))
        .ok_or(Reported)
}

/// [`PAIRS`]: what is usual when it is not given.
pub fn read_or_usual(rekeys: &[Rekey], r: &mut Reading<'_>) -> Result<Arc<ValuePairs>, Reported> {
    if let Some(pairs) = read("value-pairs", rekeys, r)? {
        return Ok(pairs);
    }
    let named = USUAL.iter().filter_map(|name| Scopes::named(name));
    let scopes = named.fold(Scopes::default(), Scopes::with);
    let spec = Spec { scopes, rekeys: rekeys.to_vec(), ..Spec::default() };
    ValuePairs::compile(spec, r.templates).map(Arc::new).map_err(|_| Reported)
}
