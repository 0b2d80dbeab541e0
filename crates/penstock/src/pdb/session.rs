//! Messages through a database, as a log path would take them, printed the way pdbtool does.

use filter::FilterContext;
use parsers::Parse;
use patterndb::rules::{Captured, Scratch};
use patterndb::{Capture, Rules};
use record::{Batch, Context, NameId, Record, Span, Stamp, ValueType, name_of};
use std::fmt::Write;
use std::sync::Arc;
use stdio::CommandError;
use template::Identity;

pub struct Session {
    parser: Arc<dyn Parse>,
    /// The same rules, to show what matched what.
    pub rules: Rules,
    pub cx: FilterContext,
    pub warnings: Vec<String>,
    scratch: Scratch,
    batch: Batch,
}

/// Green, and back.
const COLOR: [&str; 2] = ["\x1b[01;32m", "\x1b[0m"];

impl Session {
    pub fn open(path: &std::path::Path) -> Result<Session, CommandError> {
        let (bytes, database) = super::database(path)?;
        let path = path.display().to_string();
        let (parser, warnings) = parsers::db::open(&path, &bytes).map_err(|errors| errors.join("\n"))?;
        Ok(Session {
            parser,
            rules: Rules::compile(database, "", &mut diag::Diagnostics::new()),
            cx: FilterContext::new(Identity::new("localhost")),
            warnings,
            scratch: Scratch::default(),
            batch: Batch::default(),
        })
    }

    /// An empty batch to put messages in.
    pub fn batch(&mut self) -> Batch {
        let mut batch = std::mem::take(&mut self.batch);
        batch.reset();
        batch.contexts.push(Arc::new(Context::local("", "localhost", "local+file")));
        batch.received = Stamp::now(0);
        batch
    }

    /// A batch with one message.
    pub fn message(&mut self, program: &str, message: &str) -> Batch {
        let mut batch = self.batch();
        let mut record = Record::new(Span::EMPTY);
        record.stamp = batch.received;
        record.program = batch.append(program.as_bytes());
        record.message = batch.append(message.as_bytes());
        batch.records.push(record);
        batch
    }

    /// Looks all messages up; the selection of what goes on, made messages among it.
    pub fn run(&mut self, batch: &mut Batch) -> Vec<u32> {
        let mut selection: Vec<u32> = (0..batch.records.len() as u32).collect();
        self.cx.begin_batch(batch.received);
        self.parser.parse(batch, &mut selection, &mut self.cx);
        selection
    }

    pub fn done(&mut self, batch: Batch) {
        self.batch = batch;
    }

    /// Pattern and message side by side.
    pub fn explain(&mut self, program: &[u8], message: &[u8], color: bool) -> String {
        let [on, off] = if color { COLOR } else { ["", ""] };
        let (mut pattern, mut matched) = (String::new(), String::new());
        match self.rules.find(program, message, &mut self.scratch) {
            Some(found) => {
                let captures = self.rules.captured(found, &self.scratch).filter(|(c, _)| !c.program);
                let mut at = 0;
                for (captured, capture) in captures {
                    let (before, all) = places(message, &mut at, capture);
                    let value = lossy(capture.value.of(message));
                    let Captured { name, parser, .. } = captured;
                    let _ = write!(pattern, "{before}{on}@{}:{name}={value}@{off}", parser.type_name);
                    let _ = write!(matched, "{before}{on}{all}{off}");
                }
                let rest = self.literal_end(found.rule, message, at);
                pattern.push_str(&rest);
                matched.push_str(&rest);
            }
            None => {
                let reached = self.reached(program, message);
                let (good, bad) = message.split_at(reached.min(message.len()));
                let _ = write!(pattern, "{on}{}{off}{}", lossy(good), lossy(bad));
                matched = lossy(good);
            }
        }
        format!("Pattern matching part:\n{pattern}\nMatching part:\n{matched}\nValues:\n")
    }

    /// A line for each literal and parser: number, length, what the node has, place and length of the value,
    /// type and name.
    pub fn explain_csv(&mut self, program: &[u8], message: &[u8]) -> String {
        let mut out =
            "PDBTOOL_HEADER=i:len:key;keylen:match_off;match_len:parser_type:parser_name\n".to_owned();
        let Some(found) = self.rules.find(program, message, &mut self.scratch) else { return out };
        let (mut at, mut lines) = (0, vec!["0:0:0:0::".to_owned()]);
        for (captured, capture) in self.rules.captured(found, &self.scratch).filter(|(c, _)| !c.program) {
            let begin = at;
            let (before, _) = places(message, &mut at, capture);
            if !before.is_empty() {
                lines.push(format!("{0}:{0}:0:0::", before.len()));
            }
            let len = at - begin - before.len();
            let offset = capture.value.start as usize - begin - before.len();
            let shift = capture.value.len as i64 - len as i64;
            lines.push(format!("{len}:0:{offset}:{shift}:{}:{}", captured.parser.type_name, captured.name));
        }
        let rest = self.literal_end(found.rule, message, at);
        if !rest.is_empty() {
            lines.push(format!("{0}:{0}:0:0::", rest.len()));
        }
        for (number, line) in lines.iter().enumerate() {
            let _ = writeln!(out, "PDBTOOL_DEBUG={number}:{line}");
        }
        out
    }

    /// What the pattern that matched has behind its last parser.
    fn literal_end(&self, rule: u32, message: &[u8], at: usize) -> String {
        use patterndb::pattern_text::{Piece, parse};
        let rest = message.get(at..).unwrap_or_default();
        let patterns = self.rules.rule(rule).map_or(&[][..], |r| &r.patterns);
        let ends = patterns.iter().filter_map(|p| match parse(&p.text).ok()?.pop()? {
            Piece::Literal(literal) => Some(literal),
            Piece::Parser(_) => None,
        });
        let longest = ends.filter(|end| rest.starts_with(end)).max_by_key(Vec::len);
        longest.map_or_else(String::new, |end| lossy(&end))
    }

    /// How far a message that nothing matches is like a pattern.
    fn reached(&mut self, program: &[u8], message: &[u8]) -> usize {
        struct Furthest(usize);
        impl patterndb::tree::Watch for Furthest {
            fn reached(&mut self, _: u32, at: usize) {
                self.0 = self.0.max(at);
            }
        }
        let Scratch { program: programs, message: messages } = &mut self.scratch;
        let mut furthest = Furthest(0);
        if let Some(tree) = self.rules.tree_for(program, programs) {
            tree.find_watched(message, messages, &mut furthest);
        }
        furthest.0
    }
}

/// The text before a capture, and what it consumed; `at` goes on behind it.
fn places(message: &[u8], at: &mut usize, capture: &Capture) -> (String, String) {
    // Quotes and brackets that are consumed but not kept stand before the value.
    let start = (*at).max(capture.value.start as usize);
    let before = message.get(*at..start).unwrap_or_default();
    let all = message.get(start..capture.end as usize).unwrap_or_default();
    *at = capture.end as usize;
    (lossy(before), lossy(all))
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// MESSAGE, PROGRAM and what the database has set, a line each, then the tags.
pub fn values(batch: &Batch, record: &Record) -> String {
    let mut out = String::new();
    for name in [NameId::MESSAGE, NameId::PROGRAM] {
        if let Some(value) = batch.value(record, name) {
            let _ = writeln!(out, "{}={}", name_of(name), lossy(value.bytes));
        }
    }
    let mut pairs: Vec<(NameId, String)> =
        batch.pairs(record).map(|(name, value)| (name, lossy(value.bytes))).collect();
    pairs.reverse();
    for (name, value) in pairs {
        let _ = writeln!(out, "{}={value}", batch.name_of(name));
    }
    let mut tags: Vec<&str> = batch.tags(record).into_iter().map(|tag| batch.tag_name(tag)).collect();
    tags.sort_unstable();
    if !tags.is_empty() {
        let _ = writeln!(out, "TAGS={}", tags.join(","));
    }
    out
}

/// The value of a name, `""` without one.
pub fn value(batch: &Batch, record: &Record, name: &str) -> String {
    let value = template::value_name(name).and_then(|name| batch.value(record, name));
    value.filter(|v| v.kind != ValueType::Null).map_or_else(String::new, |v| lossy(v.bytes))
}
