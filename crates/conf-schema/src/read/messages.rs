//! What a wrong value is told, and what each kind takes, in words.

use conf_syntax::{Arg, ArgKind};
use diag::Diagnostic;

use super::values::Asked;
use crate::spec::{Kind, Word};

pub(super) fn wrong_type(asked: &Asked, arg: &Arg) -> Box<Diagnostic> {
    let text = format!("`{}` takes {}, not {}", asked.name, wanted(&asked.kind), arg.describe());
    let finding = Diagnostic::error("O0103", text, arg.span);
    let quoted = match &arg.kind {
        ArgKind::Str { text, .. } => Some(text.as_str()),
        _ => None,
    };
    Box::new(match (asked.kind, quoted, arg.text()) {
        (Kind::Bool, Some("yes" | "on" | "no" | "off" | "0" | "1"), _) => {
            finding.help("write it without quotes")
        }
        (Kind::Bool | Kind::BoolOr(_), _, Some(word)) if means(word, "true") => finding.help("write `yes`"),
        (Kind::Bool | Kind::BoolOr(_), _, Some(word)) if means(word, "false") => finding.help("write `no`"),
        (Kind::Int { .. } | Kind::Size { .. }, Some(t), _) if t.parse::<i64>().is_ok() => {
            finding.help("write it without quotes")
        }
        _ => finding,
    })
}

/// `yes` and `no` as other languages have it.
pub(super) fn means(word: &str, truth: &str) -> bool {
    word.eq_ignore_ascii_case(truth)
}

/// What a kind takes, for messages and the manual.
pub(crate) fn wanted(kind: &Kind) -> String {
    match *kind {
        Kind::Bool => "yes or no".into(),
        Kind::BoolOr(words) => format!("yes, no or {}", list_words(words)),
        Kind::Int { min, max: i64::MAX } => format!("a whole number of at least {min}"),
        Kind::Int { min, max } => format!("a whole number from {min} to {max}"),
        Kind::Size { .. } => "a size in bytes (as `64KiB`)".into(),
        Kind::Seconds { .. } => "a number of seconds".into(),
        Kind::Ratio => "a number from 0 to 1".into(),
        Kind::Text => "a text".into(),
        Kind::TextList => "texts".into(),
        Kind::Path => "a path".into(),
        Kind::Template => "a template".into(),
        Kind::Choice(words) => format!("one of {}", list_words(words)),
        Kind::Flags(_) => "flags".into(),
        Kind::Severity => "the name of a severity".into(),
        Kind::Facility => "the name or number of a facility".into(),
        Kind::Regexp => "a regular expression".into(),
        Kind::Zone => "a time zone (as `Europe/Budapest` or `+02:00`)".into(),
        Kind::Owner => "the name or number of a user".into(),
        Kind::Group => "the name or number of a group".into(),
        Kind::Perm => "an octal file mode (as `0640`)".into(),
        Kind::Encoding => "the name of a character encoding".into(),
        Kind::Port => "a port number or the name of a service".into(),
        Kind::Filter => "a filter expression".into(),
        Kind::Pairs => "pairs (`\"key\" => \"value\"`)".into(),
        Kind::Block(_) => "options".into(),
        Kind::Any => "values".into(),
    }
}

pub(super) fn list_words(words: &[Word]) -> String {
    let names: Vec<String> =
        words.iter().filter(|w| w.state.is_read()).map(|w| format!("`{}`", w.name)).collect();
    names.join(", ")
}

pub(super) fn out_of_range(asked: &Asked, arg: &Arg, min: i64, max: i64) -> Box<Diagnostic> {
    let text = match max {
        i64::MAX => format!("`{}()` must be at least {min}", asked.name),
        _ => format!("`{}()` must be from {min} to {max}", asked.name),
    };
    Box::new(Diagnostic::error("O0104", text, arg.span))
}
