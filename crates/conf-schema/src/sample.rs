//! A call with every option of a component set, for tests: each must read without findings and be read by the
//! builder.

use crate::spec::{Component, Context, Kind, OptionSpec, Preset, State, Word};

/// What `value_of` gives for an option that the call is to do without.
pub const LEFT_OUT: &str = "\0";

/// `name(value option(value) ...)`; for the global options, the calls without a name around them. `value_of`
/// may give the text between the parentheses of an option (or of a positional), otherwise one is made from
/// its type.
pub fn call(component: &'static Component, value_of: &dyn Fn(&str) -> Option<String>) -> String {
    let table = component.table();
    let mut parts: Vec<String> = Vec::new();
    for p in table.positional {
        parts.push(value_of(p.name).unwrap_or_else(|| value(&p.kind, Preset::None)));
    }
    for option in table.options().filter(|o| o.state == State::Supported) {
        let inner = value_of(option.name).unwrap_or_else(|| sample(option, table.preset(option)));
        if inner != LEFT_OUT {
            parts.push(format!("{}({inner})", option.name));
        }
    }
    match component.context {
        Context::Options => parts.iter().map(|p| format!("{p}; ")).collect::<String>().trim_end().to_string(),
        _ => format!("{}({})", component.name, parts.join(" ")),
    }
}

/// A good value for an option, as it is written between the parentheses: what its table says, or what follows
/// from its type.
fn sample(option: &OptionSpec, preset: Preset) -> String {
    option.sample.map_or_else(|| value(&option.kind, preset), str::to_owned)
}

fn value(kind: &Kind, preset: Preset) -> String {
    match (*kind, preset) {
        (Kind::Bool, Preset::Bool(true)) => "no".into(),
        (Kind::Bool, _) => "yes".into(),
        (Kind::Int { .. } | Kind::Size { .. } | Kind::Port, Preset::Int(n)) if n > 0 => n.to_string(),
        (Kind::Int { min, .. }, _) => min.max(1).to_string(),
        (Kind::Size { min, .. }, _) => min.max(4096).to_string(),
        (Kind::Seconds { min, .. }, _) => min.max(1).to_string(),
        (Kind::Ratio, _) => "0.5".into(),
        (Kind::BoolOr(words) | Kind::Choice(words), _) => first_word(words),
        (Kind::Flags(words), _) => first_word(words),
        (Kind::Path, _) => "\"/tmp/sample\"".into(),
        (Kind::Severity, _) => "info".into(),
        (Kind::Facility, _) => "local0".into(),
        (Kind::Zone, _) => "\"+02:00\"".into(),
        (Kind::Owner | Kind::Group, _) => String::new(),
        (Kind::Perm, _) => "0640".into(),
        (Kind::Encoding, _) => "\"UTF-8\"".into(),
        (Kind::Port, _) => "5514".into(),
        (Kind::Pairs, _) => "\"key\" => \"value\"".into(),
        (Kind::Filter, _) => "host(\"a\")".into(),
        (Kind::Block(groups), _) => {
            let options = groups.iter().flat_map(|g| g.options).filter(|o| o.state == State::Supported);
            let one = |o: &OptionSpec| format!("{}({})", o.name, sample(o, o.preset));
            options.map(one).collect::<Vec<_>>().join(" ")
        }
        (Kind::Text | Kind::TextList | Kind::Template | Kind::Regexp | Kind::Any, _) => "\"sample\"".into(),
    }
}

fn first_word(words: &[Word]) -> String {
    words.iter().find(|w| w.state == State::Supported).map_or(String::new(), |w| w.name.to_string())
}
