//! `parse_xml()`, on the scanner of the parser xml().

use crate::compile::Arguments;
use crate::functions::strings::text_argument;
use crate::program::{Expr, Operation};
use crate::run::{Eval, Halt, Run};
use filter::new_asker;
use parsers::scanners::xml::{self, Next};
use value::{Key, Node, Span, Value};

/// Elements inside one another.
const DEPTH_MAX: usize = 256;
const EVENT_NAMESPACE: &[u8] = b"http://schemas.microsoft.com/win/2004/08/events/event";

struct Parse {
    text: Expr,
    windows: bool,
    asker: u64,
}

pub fn build(args: &mut Arguments<'_, '_>, windows: bool) -> Option<Expr> {
    let text = args.value(0)?;
    args.made(Parse { text, windows, asker: new_asker() })
}

/// An open element.
struct Open {
    /// Place of its name in the text.
    name: (usize, usize),
    dict: Option<Node>,
    text: Vec<u8>,
    /// The name of a datum of an event.
    datum: Option<Vec<u8>>,
}

struct Reader<'t, 'm> {
    text: &'t [u8],
    /// Where the text stands in the batch.
    start: usize,
    at: usize,
    windows: bool,
    open: &'m mut Vec<Open>,
    root: Node,
}

/// What stops a reader: the text is wrong, or something else is.
enum Stop {
    Wrong,
    Event(&'static str),
    Halt,
}

impl From<Halt> for Stop {
    fn from(_: Halt) -> Stop {
        Stop::Halt
    }
}

impl Operation for Parse {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let value = run.eval(&self.text)?;
        let span = text_argument(run, &[value], 0)?;
        let mut text = run.cx.work.text();
        text.extend_from_slice(run.batch.bytes(span));
        let root = run.new_dict()?;
        let mut open = run.cx.work.take_state(self.asker, Vec::<Open>::new);
        let start = span.start as usize;
        let mut reader = Reader { text: &text, start, at: 0, windows: self.windows, open: &mut open, root };
        let result = reader.whole(run);
        let at = reader.at;
        run.cx.work.keep_text(text);
        open.clear();
        run.cx.work.keep_state(self.asker, open);
        match result {
            Ok(()) => Ok(Value::Dict(root)),
            Err(Stop::Halt) => Err(Halt),
            Err(Stop::Event(text)) => run.error(text),
            Err(Stop::Wrong) => run.error_made(&format!("Failed to parse XML: not well-formed at byte {at}")),
        }
    }
}

/// Sets a key to a text, and keeps the text's buffer.
fn set(run: &mut Run<'_>, dict: Node, key: &[u8], value: Vec<u8>) -> Result<(), Halt> {
    let text = run.string(&value);
    run.cx.work.keep_text(value);
    run.set_text(dict, key, text?)
}

impl Reader<'_, '_> {
    fn whole(&mut self, run: &mut Run<'_>) -> Result<(), Stop> {
        let mut any = false;
        loop {
            if self.open.is_empty() {
                self.at = xml::blanks(self.text, self.at);
                match self.text.get(self.at) {
                    Some(b'<') => {}
                    None if any => return Ok(()),
                    _ => return Err(Stop::Wrong),
                }
            } else {
                self.character_data()?;
            }
            any = true;
            match self.text.get(self.at + 1).ok_or(Stop::Wrong)? {
                b'/' => self.close(run)?,
                b'!' | b'?' => self.at = xml::passed_over(self.text, self.at).ok_or(Stop::Wrong)?,
                _ => self.element(run)?,
            }
        }
    }

    /// Text up to the next tag.
    fn character_data(&mut self) -> Result<(), Stop> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let len = memchr::memchr(b'<', rest).ok_or(Stop::Wrong)?;
        let raw = rest.get(..len).unwrap_or_default();
        let mut at = self.at;
        while let Some(hit) = self.text.get(at..self.at + len).and_then(|t| memchr::memchr(b'&', t)) {
            at = xml::reference_end(self.text, at + hit).ok_or(Stop::Wrong)?;
        }
        self.at += len;
        if let Some(element) = self.open.last_mut() {
            let raw = raw.trim_ascii();
            if !raw.is_empty() {
                xml::resolve(raw, false, &mut element.text);
            }
        }
        Ok(())
    }

    fn name(&self, place: (usize, usize)) -> Value {
        Value::String(Span::new(self.start + place.0, place.1 - place.0))
    }

    fn bytes(&self, place: (usize, usize)) -> &[u8] {
        self.text.get(place.0..place.1).unwrap_or_default()
    }

    fn element(&mut self, run: &mut Run<'_>) -> Result<(), Stop> {
        if self.open.len() >= DEPTH_MAX {
            return Err(Stop::Wrong);
        }
        let start = self.at + 1;
        let end = xml::name(self.text, start).ok_or(Stop::Wrong)?;
        let text = run.cx.work.text();
        let mut element = Open { name: (start, end), dict: None, text, datum: None };
        let is = |depth: usize, name: &[u8]| self.open.get(depth).is_some_and(|e| self.bytes(e.name) == name);
        let in_data = self.windows && self.open.len() == 2 && is(0, b"Event") && is(1, b"EventData");
        let is_datum = in_data && self.bytes(element.name) == b"Data";
        let is_root = self.windows && self.open.is_empty();
        if is_root && self.bytes(element.name) != b"Event" {
            return Err(Stop::Event("Failed to parse XML: the outermost element is not Event"));
        }
        let mut named_space = false;
        let mut at = end;
        let empty = loop {
            match xml::next(self.text, at).ok_or(Stop::Wrong)? {
                Next::Attribute(attribute, next) => {
                    at = next;
                    let mut value = run.cx.work.text();
                    xml::resolve(self.bytes(attribute.value), true, &mut value);
                    let name = self.bytes(attribute.name);
                    named_space |= is_root && name == b"xmlns" && value == EVENT_NAMESPACE;
                    if is_datum && name == b"Name" {
                        element.datum = Some(value);
                        continue;
                    }
                    let is_qualifier =
                        self.windows && name == b"Qualifiers" && self.bytes(element.name) == b"EventID";
                    if let (true, Some(parent)) = (is_qualifier, self.open.len().checked_sub(1)) {
                        let dict = self.dict_of(run, parent)?;
                        set(run, dict, b"EventIDQualifiers", value)?;
                        continue;
                    }
                    let dict = match element.dict {
                        Some(dict) => dict,
                        None => *element.dict.insert(run.new_dict()?),
                    };
                    let mut key = run.cx.work.text();
                    key.push(b'@');
                    key.extend_from_slice(name);
                    let result = set(run, dict, &key, value);
                    run.cx.work.keep_text(key);
                    result?;
                }
                Next::End(empty, next) => {
                    at = next.ok_or(Stop::Wrong)?;
                    break empty;
                }
            }
        };
        if is_root && !named_space {
            return Err(Stop::Event("Failed to parse XML: the namespace of Event is missing"));
        }
        self.at = at;
        self.open.push(element);
        if empty { self.done(run) } else { Ok(()) }
    }

    fn close(&mut self, run: &mut Run<'_>) -> Result<(), Stop> {
        let start = self.at + 2;
        let end = xml::name(self.text, start).ok_or(Stop::Wrong)?;
        let same = self.open.last().is_some_and(|e| self.bytes(e.name) == self.bytes((start, end)));
        let behind = xml::blanks(self.text, end);
        if !same || self.text.get(behind) != Some(&b'>') {
            return Err(Stop::Wrong);
        }
        self.at = behind + 1;
        self.done(run)
    }

    /// The innermost element is complete: it becomes a value of the one around it.
    fn done(&mut self, run: &mut Run<'_>) -> Result<(), Stop> {
        let Some(element) = self.open.pop() else { return Err(Stop::Wrong) };
        let text = run.string(&element.text)?;
        let is_empty = element.text.is_empty();
        run.cx.work.keep_text(element.text);
        let value = match element.dict {
            None => text,
            Some(dict) => {
                if !is_empty {
                    run.set_text(dict, b"#text", text)?;
                }
                Value::Dict(dict)
            }
        };
        let parent = match self.open.len().checked_sub(1) {
            Some(parent) => self.dict_of(run, parent)?,
            None => self.root,
        };
        if let Some(name) = element.datum {
            let batch = &mut *run.batch;
            let data = match batch.trees.get(parent, Key::Text(b"Data"), &batch.text) {
                Some(Value::Dict(data)) => data,
                _ => {
                    let data = run.new_dict()?;
                    run.set_text(parent, b"Data", Value::Dict(data))?;
                    data
                }
            };
            let result = run.set_text(data, &name, value);
            run.cx.work.keep_text(name);
            return Ok(result?);
        }
        self.insert(run, parent, self.name(element.name), value)?;
        Ok(())
    }

    /// The dict of an open element, made where it has none yet.
    fn dict_of(&mut self, run: &mut Run<'_>, at: usize) -> Result<Node, Halt> {
        if let Some(dict) = self.open.get(at).and_then(|element| element.dict) {
            return Ok(dict);
        }
        let dict = run.new_dict()?;
        if let Some(element) = self.open.get_mut(at) {
            element.dict = Some(dict);
        }
        Ok(dict)
    }

    /// Elements that are repeated become a list.
    fn insert(&self, run: &mut Run<'_>, dict: Node, key: Value, value: Value) -> Result<(), Halt> {
        let batch = &mut *run.batch;
        match batch.trees.get(dict, Key::of(key, &batch.text), &batch.text) {
            None => run.set_key(dict, key, value),
            Some(Value::List(list)) => match run.trees().push(list, value) {
                Ok(()) => Ok(()),
                Err(_) => run.full(),
            },
            Some(first) => {
                let list = run.list(&[first, value])?;
                run.set_key(dict, key, list)
            }
        }
    }
}
