//! The file of `add-contextual-data()`: lines of `selector,name,value`.

use super::{Entry, Value};
use crate::build::Build;
use crate::csv::{Escape, Scanner, Take};
use diag::{Diagnostic, Span};
use record::Seed;
use record::ValueType;
use std::collections::HashMap;
use std::sync::Arc;
use template::TypeHint;

/// Larger files are refused.
const FILE_BYTES_MAX: usize = 256 << 20;
/// Faults of one file that are told.
const FAULTS_MAX: usize = 20;
/// Before this version of the configuration values are taken as they are.
const TEMPLATES_SINCE: (u16, u16) = (3, 21);

/// What to read.
pub struct Reading<'a> {
    pub path: &'a str,
    pub prefix: &'a str,
    pub at: Span,
    /// Selectors are kept in lower case.
    pub ignore_case: bool,
}

/// Rows by selector.
pub struct Database {
    index: HashMap<Box<[u8]>, u32, Seed>,
    /// Selectors in the order of the file.
    selectors: Vec<Box<str>>,
    groups: Vec<Box<[Entry]>>,
}

impl Database {
    pub fn read(reading: &Reading<'_>, b: &mut Build<'_>) -> Option<Database> {
        let path = reading.path;
        let file = match b.env.read_file(path) {
            Ok(file) if file.len() <= FILE_BYTES_MAX => file,
            Ok(_) => {
                return fault(b, reading.at, format!("`{path}` is larger than {} MiB", FILE_BYTES_MAX >> 20));
            }
            Err(error) => return fault(b, reading.at, format!("cannot read `{path}`: {error}")),
        };
        let Ok(text) = str::from_utf8(&file) else {
            return fault(b, reading.at, format!("`{path}` is not UTF-8"));
        };
        let scanner = Scanner::new(b",", Vec::new(), &[(b'"', b'"'), (b'\'', b'\'')], Escape::DoubleChar);
        let mut rows = Rows { reading, groups: Vec::new(), index: HashMap::with_hasher(Seed::random()) };
        let mut faults = 0;
        for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let row = columns(&scanner, line).and_then(|columns| rows.add(columns, b));
            if let Err(why) = row {
                faults += 1;
                let place = format!("{path}:{}", number + 1);
                b.diags.push(
                    Diagnostic::error("A0105", format!("{place}: {why}"), reading.at)
                        .help("a line is `selector,name,value`, each in quotes where it contains a comma"),
                );
                if faults >= FAULTS_MAX {
                    break;
                }
            }
        }
        let (selectors, groups) = rows.groups.into_iter().map(|(s, g)| (s, g.into_boxed_slice())).unzip();
        (faults == 0).then_some(Database { index: rows.index, selectors, groups })
    }

    /// The rows of a selector.
    #[inline]
    pub fn group(&self, selector: &[u8]) -> Option<u32> {
        self.index.get(selector).copied()
    }

    pub fn entries(&self, group: u32) -> &[Entry] {
        self.groups.get(group as usize).map_or(&[], |g| g)
    }

    pub fn selectors(&self) -> &[Box<str>] {
        &self.selectors
    }

    pub fn all(&self) -> impl Iterator<Item = &Entry> {
        self.groups.iter().flatten()
    }

    /// Only the rows that pass; groups keep their numbers.
    pub fn filtered(&self, keep: impl Fn(&Entry) -> bool) -> Database {
        let group = |g: &[Entry]| g.iter().filter(|e| keep(e)).cloned().collect();
        let groups = self.groups.iter().map(|g| group(g)).collect();
        Database { index: self.index.clone(), selectors: self.selectors.clone(), groups }
    }
}

fn fault<T>(b: &mut Build<'_>, at: Span, text: String) -> Option<T> {
    b.diags.error("A0105", text, at);
    None
}

/// The three columns of a line.
fn columns(scanner: &Scanner, line: &str) -> Result<[String; 3], String> {
    let text = line.as_bytes();
    let mut marks = scanner.marks();
    let mut columns: Vec<String> = Vec::with_capacity(3);
    let mut at = 0;
    while at < text.len() {
        let mut made = Vec::new();
        let mut take = Take { wanted: true, strip: false, marks: &mut marks, out: &mut made };
        let (field, next) = scanner.field(text, at, &mut take);
        let raw = if field.made { &made } else { text.get(field.start..field.end).unwrap_or_default() };
        let value = if field.quoted { raw } else { raw.trim_ascii() };
        columns.push(String::from_utf8_lossy(value).into_owned());
        at = next;
    }
    let count = columns.len();
    columns
        .try_into()
        .map_err(|_| format!("{count} column{} instead of 3", if count == 1 { "" } else { "s" }))
}

struct Rows<'a> {
    reading: &'a Reading<'a>,
    index: HashMap<Box<[u8]>, u32, Seed>,
    groups: Vec<(Box<str>, Vec<Entry>)>,
}

impl Rows<'_> {
    fn add(&mut self, [mut selector, name, value]: [String; 3], b: &Build<'_>) -> Result<(), String> {
        let full = format!("{}{name}", self.reading.prefix);
        let name = match template::value_name(&full) {
            _ if full.is_empty() => return Err("the name is empty".to_owned()),
            Some(name) => name,
            None => return Err(format!("`{full}` cannot be set")),
        };
        let value = value_of(&value, b)?;
        if self.reading.ignore_case {
            selector.make_ascii_lowercase();
        }
        let groups = &mut self.groups;
        let group = *self.index.entry(selector.as_bytes().into()).or_insert_with(|| {
            groups.push((selector.into(), Vec::new()));
            groups.len() as u32 - 1
        });
        if let Some((_, entries)) = groups.get_mut(group as usize) {
            entries.push(Entry { name, value });
        }
        Ok(())
    }
}

/// A value: a template, or one in a type as `int($PID)`.
fn value_of(text: &str, b: &Build<'_>) -> Result<Value, String> {
    let fixed = |text: &str, kind| Ok(Value::Fixed(text.as_bytes().into(), kind));
    if b.env.template_options().version < TEMPLATES_SINCE {
        return fixed(text, ValueType::String);
    }
    let word = |name: &&str| !name.is_empty() && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_');
    let typed = text.strip_suffix(')').and_then(|t| t.split_once('(')).filter(|(name, _)| word(name));
    let (hint, text) = match typed {
        None => (None, text),
        Some((name, inside)) => match TypeHint::named(name) {
            Some(hint) => (Some(hint), inside),
            None => return Err(format!("unknown type `{name}`")),
        },
    };
    // A value is never the name of a template statement.
    let options = b.env.template_options();
    let made = template::Template::compile(text, options, b.env.scope()).map_err(|e| e.to_string())?;
    let kind = hint.and_then(TypeHint::value_type).unwrap_or(ValueType::String);
    match made.literal() {
        Some(literal) => Ok(Value::Fixed(literal.into(), kind)),
        None => Ok(Value::Made(Arc::new(match hint {
            Some(hint) => made.with_hint(hint),
            None => made,
        }))),
    }
}
