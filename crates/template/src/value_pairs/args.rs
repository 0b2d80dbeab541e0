//! value-pairs() as the arguments of a function: `--scope nv-pairs --key .app.* --rekey .app.* --shift 5
//! n=int($PID) HOST`.

use super::{Cast, Rekey, Scopes, Spec, Step};
use crate::compile::Compiler;
use crate::syntax::Text;
use crate::{TemplateError, TypeHint};
use std::sync::Arc;

/// What was read: the pairs, and the options of the function itself with their values.
pub(crate) struct Read {
    pub spec: Spec,
    pub own: Vec<(&'static str, Text)>,
}

/// Long names, short ones, and whether a value follows.
const OPTIONS: &[(&str, &str, bool)] = &[
    ("--scope", "-s", true),
    ("--exclude", "-x", true),
    ("--key", "-k", true),
    ("--rekey", "-r", true),
    ("--pair", "-p", true),
    ("--shift", "-S", true),
    ("--shift-levels", "-L", true),
    ("--add-prefix", "-A", true),
    ("--replace-prefix", "-R", true),
    ("--upper", "--upper", false),
    ("--lower", "--lower", false),
    ("--subkeys", "--subkeys", true),
    ("--cast", "-c", false),
    ("--no-cast", "--no-cast", false),
    ("--auto-cast", "--auto-cast", false),
    ("--omit-empty-values", "--omit-empty-values", false),
    ("--include-bytes", "--include-bytes", false),
];

/// Reads the words; `own` are further options, with whether a value follows.
pub(crate) fn read(
    words: &[Text],
    own: &[(&'static str, bool)],
    compiler: &Compiler<'_>,
) -> Result<Read, TemplateError> {
    let compiler = &compiler.unescaped();
    let mut reader = Reader { compiler, spec: Spec::default(), last: None, place: None, own: Vec::new() };
    let mut words = words.iter();
    let mut options = true;
    while let Some(word) = words.next() {
        let text = word.lossy();
        if !options || !text.starts_with('-') || text.len() < 2 {
            reader.plain(word, &text)?;
            continue;
        }
        if text == "--" {
            options = false;
            continue;
        }
        let (name, inline) = match text.split_once('=').filter(|_| text.starts_with("--")) {
            Some((name, _)) => (name, Some(word.slice(name.len() + 1, word.bytes.len()))),
            None => (text.as_str(), None),
        };
        let known = OPTIONS.iter().find(|(long, short, _)| *long == name || *short == name);
        let known = known.map(|(long, _, value)| (*long, *value));
        let Some((name, takes_value)) = known.or_else(|| own.iter().find(|(n, _)| *n == name).copied())
        else {
            let all = OPTIONS.iter().map(|(long, ..)| *long).chain(own.iter().map(|(n, _)| *n));
            let error = TemplateError::new(word.offset(0), format!("value-pairs have no option `{name}`"));
            return Err(match diag::nearest(name, all) {
                Some(near) => error.help(format!("did you mean {near}?")),
                None => error,
            });
        };
        let value = match (takes_value, inline) {
            (true, Some(value)) => value,
            (true, None) => words.next().cloned().ok_or_else(|| {
                TemplateError::new(word.offset(0), format!("the option `{name}` needs a value"))
            })?,
            (false, _) => Text::default(),
        };
        reader.option(name, value, word)?;
    }
    Ok(Read { spec: reader.spec, own: reader.own })
}

struct Reader<'a> {
    compiler: &'a Compiler<'a>,
    spec: Spec,
    /// The glob that changes of names belong to: that of the last key or rekey.
    last: Option<String>,
    /// The place of its rekey, if it has any.
    place: Option<usize>,
    own: Vec<(&'static str, Text)>,
}

impl Reader<'_> {
    fn option(&mut self, name: &'static str, value: Text, word: &Text) -> Result<(), TemplateError> {
        let text = value.lossy();
        match name {
            "--scope" => {
                for scope in text.split(',').map(str::trim).filter(|s| !s.is_empty()) {
                    self.spec.scopes = self.spec.scopes.with(scope_named(scope, value.offset(0))?);
                }
            }
            "--exclude" => {
                self.spec.patterns.extend(text.split(',').map(|glob| (glob.to_owned(), false)));
            }
            "--key" => self.key(text),
            "--rekey" => self.change(text),
            "--pair" => self.pair(&value, &text)?,
            "--shift" => self.step(Step::Shift(number(&value)?), word)?,
            "--shift-levels" => self.step(Step::ShiftLevels(number(&value)?), word)?,
            "--add-prefix" => self.step(Step::AddPrefix(text), word)?,
            "--replace-prefix" => {
                let Some((from, to)) = text.split_once('=') else {
                    return Err(TemplateError::new(value.offset(0), "--replace-prefix takes OLD=NEW"));
                };
                self.step(Step::ReplacePrefix(from.to_owned(), to.to_owned()), word)?;
            }
            "--upper" => self.step(Step::Upper, word)?,
            "--lower" => self.step(Step::Lower, word)?,
            "--subkeys" => {
                let glob = format!("{text}*");
                self.spec.patterns.push((glob.clone(), true));
                let steps = vec![Step::Shift(text.chars().count())];
                self.spec.rekeys.push(Rekey { glob, steps });
            }
            "--cast" => self.spec.cast = Some(Cast::Yes),
            "--no-cast" => self.spec.cast = Some(Cast::No),
            // As @version says; nothing is guessed, as in syslog-ng.
            "--auto-cast" => self.spec.cast = None,
            "--omit-empty-values" => self.spec.omit_empty_values = true,
            "--include-bytes" => self.spec.include_bytes = true,
            own => self.own.push((own, value)),
        }
        Ok(())
    }

    /// A glob of names, or several with commas between them. Changes that follow belong to the text as it is
    /// written, as in syslog-ng: one with commas in it changes nothing.
    fn key(&mut self, text: String) {
        self.spec.patterns.extend(text.split(',').map(|glob| (glob.to_owned(), true)));
        self.change(text);
    }

    /// Changes of names that follow belong to this glob.
    fn change(&mut self, glob: String) {
        (self.last, self.place) = (Some(glob), None);
    }

    /// A change of names, of the last key or rekey.
    fn step(&mut self, step: Step, word: &Text) -> Result<(), TemplateError> {
        let Some(glob) = &self.last else {
            let text = format!("`{}` stands without a name before it", word.lossy());
            return Err(TemplateError::new(word.offset(0), text));
        };
        let rekeys = &mut self.spec.rekeys;
        let place = *self.place.get_or_insert_with(|| {
            rekeys.push(Rekey { glob: glob.clone(), steps: Vec::new() });
            rekeys.len() - 1
        });
        if let Some(rekey) = rekeys.get_mut(place) {
            rekey.steps.push(step);
        }
        Ok(())
    }

    /// `NAME=TEMPLATE`, or the name of a value.
    fn plain(&mut self, word: &Text, text: &str) -> Result<(), TemplateError> {
        if word.bytes.contains(&b'=') {
            return self.pair(word, text);
        }
        self.key(text.to_owned());
        Ok(())
    }

    fn pair(&mut self, word: &Text, text: &str) -> Result<(), TemplateError> {
        let equals = word.bytes.iter().position(|b| *b == b'=');
        let (Some(equals), Some((name, template))) = (equals, text.split_once('=')) else {
            return Err(TemplateError::new(word.offset(0), format!("`{text}` is no NAME=TEMPLATE")));
        };
        let (hint, inside) = TypeHint::split(template);
        let unknown = template.split_once('(').filter(|(word, _)| {
            template.ends_with(')') && !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric())
        });
        let body = word.slice(equals + 1, word.bytes.len());
        let template = match (hint, unknown) {
            (Some(hint), _) => {
                let open = body.bytes.len() - inside.len().min(body.bytes.len()) - 1;
                self.compiler.compile(&body.slice(open, body.bytes.len() - 1))?.with_hint(hint)
            }
            (None, Some((kind, _))) => {
                let known = TypeHint::NAMES.iter().map(|(name, _)| *name);
                let error = TemplateError::new(body.offset(0), format!("unknown type `{kind}`"));
                return Err(match diag::nearest(kind, known) {
                    Some(near) => error.help(format!("did you mean {near}?")),
                    None => error,
                });
            }
            (None, None) => self.compiler.compile(&body)?,
        };
        self.spec.pairs.push((name.to_owned(), Arc::new(template)));
        Ok(())
    }
}

fn scope_named(name: &str, offset: usize) -> Result<Scopes, TemplateError> {
    Scopes::named(name).ok_or_else(|| {
        let error = TemplateError::new(offset, format!("unknown scope `{name}`"));
        match diag::nearest(name, Scopes::NAMES.iter().map(|(n, ..)| *n)) {
            Some(near) => error.help(format!("did you mean {near}?")),
            None => error,
        }
    })
}

fn number(value: &Text) -> Result<usize, TemplateError> {
    let text = value.lossy();
    let count = text.parse().ok();
    count.ok_or_else(|| TemplateError::new(value.offset(0), format!("`{text}` is no count")))
}
