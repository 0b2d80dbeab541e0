//! Reads the value of one option by its kind.

use std::time::Duration;

use conf_syntax::{Arg, ArgKind, Call, Name, same_keyword};
use diag::{Diagnostic, Diagnostics, Span, nearest};

use super::messages::{list_words, means, out_of_range, wanted, wrong_type};
use super::{ReadContext, read_call};
use crate::spec::{Kind, State, Table, Word};
use crate::value::{Change, Pair, Switch, TemplateText, Text, Value};

/// File modes: permissions, set-id and sticky bits.
const MODE_MAX: i64 = 0o7777;
/// syslog-ng's facilities are 7 bits wide.
const FACILITY_MAX: i64 = 127;

/// An option (or positional) and what was written for it.
pub(super) struct Asked<'a> {
    pub name: &'static str,
    pub kind: Kind,
    pub args: &'a [Arg],
    /// The whole option.
    pub span: Span,
    /// None for a positional.
    pub call: Option<&'a Call>,
}

/// The value, or None after at least one finding.
pub(super) fn read_value(asked: &Asked, cx: &ReadContext, diags: &mut Diagnostics) -> Option<Value> {
    match asked.kind {
        Kind::TextList => texts(asked, diags).map(Value::List),
        Kind::Flags(words) => flags(asked, words, diags).map(Value::Flags),
        Kind::Pairs => pairs(asked, diags).map(Value::Pairs),
        Kind::Any => Some(Value::Args(asked.args.to_vec())),
        Kind::Filter => asked.call.and_then(|call| call.filter_expr(diags)).map(Value::Filter),
        Kind::Block(groups) => {
            let table = Table::block(asked.name, groups);
            asked.call.map(|call| Value::Block(vec![read_call(call, table, cx, diags)]))
        }
        Kind::Owner | Kind::Group if leaves(asked.args) => Some(Value::Owner(Change::Keep)),
        Kind::Perm if leaves(asked.args) => Some(Value::Perm(Change::Keep)),
        _ => {
            let arg = single(asked, diags)?;
            match scalar(asked, arg, diags) {
                Ok(value) => Some(value),
                Err(finding) => {
                    diags.push(*finding);
                    None
                }
            }
        }
    }
}

/// `perm()`, and the old form `perm(-1)` that stands in configurations of distributions.
fn leaves(args: &[Arg]) -> bool {
    args.is_empty() || matches!(args, [one] if one.int() == Some(-1))
}

fn single<'a>(asked: &Asked<'a>, diags: &mut Diagnostics) -> Option<&'a Arg> {
    let mut args = asked.args.iter();
    match (args.next(), args.next()) {
        (Some(arg), None) => Some(arg),
        (None, _) => {
            let text = format!("`{}()` needs {}", asked.name, wanted(&asked.kind));
            diags.error("O0108", text, asked.span);
            None
        }
        (Some(_), Some(second)) => {
            let text = format!("`{}()` takes one value: {}", asked.name, wanted(&asked.kind));
            let finding = Diagnostic::error("O0109", text, second.span);
            diags.push(match (&asked.kind, &second.kind) {
                (Kind::Text | Kind::Template | Kind::Path | Kind::Regexp, _) => {
                    finding.help("put a text with blanks in it between quotes")
                }
                _ => finding,
            });
            None
        }
    }
}

type Scalar = Result<Value, Box<Diagnostic>>;

fn scalar(asked: &Asked, arg: &Arg, diags: &mut Diagnostics) -> Scalar {
    let wrong = || wrong_type(asked, arg);
    let text = || arg.text().ok_or_else(wrong);
    match asked.kind {
        Kind::Bool => arg.yes_no().map(Value::Bool).ok_or_else(wrong),
        Kind::BoolOr(words) => match (arg.yes_no(), arg.text()) {
            (Some(true), _) => Ok(Value::Switch(Switch::Yes)),
            (Some(false), _) => Ok(Value::Switch(Switch::No)),
            (None, Some(text)) if means(text, "true") || means(text, "false") => Err(wrong()),
            (None, Some(_)) => word(asked, arg, words, diags).map(|w| Value::Switch(Switch::Word(w.name))),
            (None, None) => Err(wrong()),
        },
        Kind::Choice(words) => word(asked, arg, words, diags).map(|w| Value::Choice(w.name)),
        Kind::Int { min, max } => whole(asked, arg, min, max).map(Value::Int),
        Kind::Size { min, max } => {
            let bound = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
            whole(asked, arg, bound(min), bound(max)).map(|n| Value::Size(n.unsigned_abs()))
        }
        Kind::Seconds { min, max } => seconds(asked, arg, min, max).map(Value::Seconds),
        Kind::Ratio => match number(asked, arg)? {
            ratio if (0.0..=1.0).contains(&ratio) => Ok(Value::Ratio(ratio)),
            _ => Err(out_of_range(asked, arg, 0, 1)),
        },
        Kind::Text | Kind::Path | Kind::Regexp => {
            text().map(|t| Value::Text(Text { text: t.to_string(), span: arg.span }))
        }
        Kind::Template => template(arg).map(Value::Template).ok_or_else(wrong),
        Kind::Severity => {
            named(asked, arg, text()?, record::pri::severity, &record::pri::SEVERITIES).map(Value::Number)
        }
        Kind::Facility => match arg.int() {
            Some(_) => whole(asked, arg, 0, FACILITY_MAX).map(|n| Value::Number(n.unsigned_abs() as u8)),
            None => {
                named(asked, arg, text()?, record::pri::facility, &record::pri::FACILITIES).map(Value::Number)
            }
        },
        Kind::Zone => zone(asked, arg, text()?),
        Kind::Owner | Kind::Group => text().map(|t| Value::Owner(Change::Set(t.to_string()))),
        Kind::Perm => mode(asked, arg, diags).map(|m| Value::Perm(Change::Set(m))),
        Kind::Encoding => encoding(asked, arg, text()?),
        Kind::Port => port(asked, arg),
        Kind::TextList | Kind::Flags(_) | Kind::Pairs | Kind::Any | Kind::Filter | Kind::Block(_) => {
            Err(wrong())
        }
    }
}

fn word(
    asked: &Asked,
    arg: &Arg,
    words: &'static [Word],
    diags: &mut Diagnostics,
) -> Result<&'static Word, Box<Diagnostic>> {
    let name = match &arg.kind {
        ArgKind::Call(call) => call.name.text.as_str(),
        _ => arg.text().ok_or_else(|| wrong_type(asked, arg))?,
    };
    let lower = name.to_ascii_lowercase();
    let spelled =
        |w: &&Word| same_keyword(w.name, &lower) || w.aliases.iter().any(|a| same_keyword(a, &lower));
    let Some(word) = words.iter().find(spelled) else {
        let near = nearest(
            name,
            words.iter().flat_map(|w| std::iter::once(w.name).chain(w.aliases.iter().copied())),
        );
        let text = format!("`{}()` does not know `{name}`", asked.name);
        let finding =
            Diagnostic::error("O0105", text, arg.span).note(format!("known: {}", list_words(words)));
        return Err(Box::new(finding.suggest(near)));
    };
    match word.state {
        State::NotYet(remedy) => {
            let text =
                format!("`{}({})` is not available in this version of penstock", asked.name, word.name);
            Err(Box::new(Diagnostic::error("O0110", text, arg.span).help(remedy)))
        }
        _ if matches!(arg.kind, ArgKind::Call(_)) => Err(wrong_type(asked, arg)),
        State::NoEffect(why) => {
            let text = format!("`{}({})` has no effect", asked.name, word.name);
            diags.push(Diagnostic::remark("O0113", text, arg.span).note(why));
            Ok(word)
        }
        State::Obsolete(instead) => {
            let text = format!("`{}({})` is obsolete", asked.name, word.name);
            diags.push(Diagnostic::warning("O0107", text, arg.span).help(instead));
            Ok(word)
        }
        State::Supported => Ok(word),
    }
}

fn flags(asked: &Asked, words: &'static [Word], diags: &mut Diagnostics) -> Option<Vec<&'static str>> {
    let mut set = Vec::new();
    let mut good = true;
    for arg in asked.args {
        match word(asked, arg, words, diags) {
            Ok(word) => add_flag(&mut set, word),
            Err(finding) => {
                diags.push(*finding);
                good = false;
            }
        }
    }
    good.then_some(set)
}

/// A later flag undoes its opposites.
pub(super) fn add_flag(set: &mut Vec<&'static str>, word: &'static Word) {
    set.retain(|name| !word.undoes.contains(name) && *name != word.name);
    set.push(word.name);
}

fn whole(asked: &Asked, arg: &Arg, min: i64, max: i64) -> Result<i64, Box<Diagnostic>> {
    let value = arg.int().ok_or_else(|| wrong_type(asked, arg))?;
    if (min..=max).contains(&value) { Ok(value) } else { Err(out_of_range(asked, arg, min, max)) }
}

/// Whole or decimal.
fn number(asked: &Asked, arg: &Arg) -> Result<f64, Box<Diagnostic>> {
    match arg.kind {
        ArgKind::Int { value, .. } => Ok(value as f64),
        ArgKind::Float { value, .. } => Ok(value),
        _ => Err(wrong_type(asked, arg)),
    }
}

fn seconds(asked: &Asked, arg: &Arg, min: u32, max: u32) -> Result<Duration, Box<Diagnostic>> {
    let value = number(asked, arg)?;
    if value < f64::from(min) || value > f64::from(max) {
        return Err(out_of_range(asked, arg, i64::from(min), i64::from(max)));
    }
    Duration::try_from_secs_f64(value).map_err(|_| out_of_range(asked, arg, i64::from(min), i64::from(max)))
}

fn texts(asked: &Asked, diags: &mut Diagnostics) -> Option<Vec<Text>> {
    let mut list = Vec::new();
    let mut good = true;
    let written = asked.args.iter().flat_map(|arg| match &arg.kind {
        ArgKind::List(items) => items.as_slice(),
        _ => std::slice::from_ref(arg),
    });
    for arg in written {
        match arg.text() {
            Some(text) => list.push(Text { text: text.to_string(), span: arg.span }),
            None => {
                diags.push(*wrong_type(asked, arg));
                good = false;
            }
        }
    }
    good.then_some(list)
}

fn pairs(asked: &Asked, diags: &mut Diagnostics) -> Option<Vec<Pair>> {
    let mut list = Vec::new();
    let mut good = true;
    // `value("name" "template")`
    if let [key, value] = asked.args
        && matches!(key.kind, ArgKind::Str { .. } | ArgKind::Ident(_))
        && let Some((text, value)) = key.text().zip(template(value))
    {
        let key = Text { text: text.to_string(), span: key.span };
        return Some(vec![Pair { key, value }]);
    }
    for arg in asked.args {
        let pair = match &arg.kind {
            ArgKind::Pair(key, value) => key.text().zip(template(value)).map(|(k, v)| (k, key.span, v)),
            ArgKind::Call(call) => match call.args.as_slice() {
                [value] => template(value).map(|v| (call.name.text.as_str(), call.name.span, v)),
                _ => None,
            },
            _ => None,
        };
        match pair {
            Some((key, span, value)) => list.push(Pair { key: Text { text: key.to_string(), span }, value }),
            None => {
                diags.push(*wrong_type(asked, arg));
                good = false;
            }
        }
    }
    good.then_some(list)
}

/// `"text"`, `word`, `type("text")`, or a number, which has the type that it looks like.
fn template(arg: &Arg) -> Option<TemplateText> {
    if let ArgKind::Call(call) = &arg.kind {
        return typed_template(call);
    }
    let type_hint = arg.number_type().map(|name| Name { text: name.to_owned(), span: arg.span });
    arg.text().map(|t| TemplateText { type_hint, text: t.to_string(), span: arg.span })
}

pub(super) fn typed_template(call: &Call) -> Option<TemplateText> {
    let [value] = call.args.as_slice() else { return None };
    let text = value.text()?.to_string();
    Some(TemplateText { type_hint: Some(call.name.clone()), text, span: value.span })
}

fn named(
    asked: &Asked,
    arg: &Arg,
    text: &str,
    find: fn(&str) -> Option<u8>,
    names: &'static [&'static str],
) -> Result<u8, Box<Diagnostic>> {
    find(text).ok_or_else(|| {
        let finding =
            Diagnostic::error("O0105", format!("`{}()` does not know `{text}`", asked.name), arg.span);
        Box::new(finding.suggest(nearest(text, names.iter().copied())))
    })
}

fn zone(asked: &Asked, arg: &Arg, text: &str) -> Scalar {
    record::Zone::named(text).map(Value::Zone).ok_or_else(|| {
        let finding =
            Diagnostic::error("O0105", format!("`{}()`: unknown time zone `{text}`", asked.name), arg.span);
        Box::new(
            finding.help(
                "write a name of the time zone database, as `Europe/Budapest`, or an offset, as `+02:00`",
            ),
        )
    })
}

fn encoding(asked: &Asked, arg: &Arg, text: &str) -> Scalar {
    // iconv takes a suffix such as //IGNORE; wrong bytes never stop a message here, so it says nothing new.
    let label = text.split("//").next().unwrap_or(text);
    crate::Encoding::named(label).map(Value::Encoding).ok_or_else(|| {
        let text = format!("`{}()`: unknown character encoding `{text}`", asked.name);
        Box::new(
            Diagnostic::error("O0105", text, arg.span)
                .help("as `UTF-8`, `ISO-8859-1`, `GBK`, `UTF-16LE`, `CP850`"),
        )
    })
}

fn mode(asked: &Asked, arg: &Arg, diags: &mut Diagnostics) -> Result<u32, Box<Diagnostic>> {
    let (value, written) = match &arg.kind {
        ArgKind::Int { text, .. }
            if text.starts_with('0')
                && text.bytes().all(|b| b.is_ascii_digit())
                && text.contains(['8', '9']) =>
        {
            return Err(wrong_type(asked, arg));
        }
        ArgKind::Int { value, text } => (*value, text.as_str()),
        _ => {
            let text = arg.text().ok_or_else(|| wrong_type(asked, arg))?;
            (i64::from_str_radix(text, 8).map_err(|_| wrong_type(asked, arg))?, "0")
        }
    };
    if !(0..=MODE_MAX).contains(&value) {
        let text = format!("`{}()` must be an octal mode up to 07777", asked.name);
        return Err(Box::new(Diagnostic::error("O0104", text, arg.span)));
    }
    if !written.starts_with('0') {
        let text =
            format!("`{}({written})` is read as a decimal number and means mode {value:#06o}", asked.name);
        let text = text.replace("0o", "0");
        diags.push(
            Diagnostic::warning("O0114", text, arg.span).help(format!("write `{}(0{written})`", asked.name)),
        );
    }
    Ok(value.unsigned_abs() as u32)
}

fn port(asked: &Asked, arg: &Arg) -> Scalar {
    let max = i64::from(u16::MAX);
    let number = match &arg.kind {
        ArgKind::Int { value, .. } => *value,
        _ => match arg.text().ok_or_else(|| wrong_type(asked, arg))? {
            "" => return Err(wrong_type(asked, arg)),
            text => match text.parse::<i64>() {
                Ok(number) => number,
                Err(_) => return Ok(Value::PortService(text.to_string())),
            },
        },
    };
    match u16::try_from(number) {
        Ok(number) => Ok(Value::PortNumber(number)),
        Err(_) => Err(out_of_range(asked, arg, 0, max)),
    }
}
