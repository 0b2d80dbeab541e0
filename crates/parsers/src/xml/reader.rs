//! One pass over the text, values taken where they are read. Accepts what GLib's parser does: several
//! outermost elements, no CDATA, no entities but the predefined ones, names compared byte by byte.

use super::tag::{self, Attribute, Next};
use super::{Rules, Xml, entity};
use crate::found::Found;
use crate::learned::Learned;
use crate::marks::{Any, Marks};
use crate::tree::{Inside, Member};
use pattern::Cache;
use record::{NameId, ValueType};

/// Elements in each other; more is taken for a fault.
const DEPTH_MAX: usize = 256;

const NOTHING: Member = Member { name: None, inside: Inside::Nothing };

#[derive(Default)]
pub struct Scratch {
    open: Vec<Element>,
    /// The name of the innermost open element, where any name is.
    path: Vec<u8>,
    /// Texts of open elements that had to be put together, each behind the one of the element around it.
    text: Vec<u8>,
    /// `_` and the name of an attribute; `Data.` and the name of a datum.
    key: Vec<u8>,
}

/// An open element.
struct Element {
    /// Its name in the text.
    name: (u32, u32),
    /// Length of the path without it.
    path: u32,
    member: Member,
    text: Text,
    stage: Stage,
}

#[derive(Clone, Copy)]
enum Text {
    None,
    Part(u32, u32),
    /// From here on in [`Scratch::text`].
    Made(u32),
}

/// How far the path is that of an event's data.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Other,
    Event,
    Data,
}

pub struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    marks: Marks<Any<3>>,
    rules: &'a Rules,
    xml: &'a Xml,
    found: &'a mut Found,
    learned: &'a mut Learned,
    scratch: &'a mut Scratch,
}

impl<'a> Reader<'a> {
    pub fn new(
        text: &'a [u8],
        xml: &'a Xml,
        found: &'a mut Found,
        learned: &'a mut Learned,
        scratch: &'a mut Scratch,
    ) -> Reader<'a> {
        scratch.open.clear();
        scratch.path.clear();
        scratch.text.clear();
        Reader {
            text,
            at: 0,
            marks: Marks::new(Any(*b"<&\r")),
            rules: &xml.rules,
            xml,
            found,
            learned,
            scratch,
        }
    }

    /// Whether the text is good to its end; what was found before a fault is found.
    pub fn run(&mut self, cache: &mut Cache) -> bool {
        std::str::from_utf8(self.text).is_ok() && self.whole(cache).is_some()
    }

    fn whole(&mut self, cache: &mut Cache) -> Option<()> {
        let mut any = false;
        loop {
            if self.scratch.open.is_empty() {
                self.at = tag::blanks(self.text, self.at);
                match self.text.get(self.at) {
                    Some(b'<') => {}
                    Some(_) => return None,
                    None => return any.then_some(()),
                }
            } else {
                self.character_data()?;
            }
            any = true;
            match self.text.get(self.at + 1)? {
                b'/' => self.close()?,
                b'!' | b'?' => self.at = tag::passed_over(self.text, self.at)?,
                _ => self.open(cache)?,
            }
        }
    }

    /// Text to the next `<`.
    #[inline(always)]
    fn character_data(&mut self) -> Option<()> {
        let start = self.at;
        let mut escaped = false;
        let mut at = start;
        loop {
            at = self.marks.next(self.text, at);
            match self.text.get(at)? {
                b'<' => break,
                b'&' => at = entity::end(self.text, at)?,
                _ => at += 1,
            }
            escaped = true;
        }
        self.at = at;
        if at > start && self.scratch.open.last().is_some_and(|e| is_kept(e.member)) {
            self.add_text(start, at, escaped);
        }
        Some(())
    }

    fn add_text(&mut self, mut start: usize, mut end: usize, escaped: bool) {
        let Scratch { open, text: made, .. } = &mut *self.scratch;
        let Some(element) = open.last_mut() else { return };
        if self.rules.strip && !escaped {
            (start, end) = stripped(self.text, start, end);
        }
        let raw = self.text.get(start..end).unwrap_or_default();
        if raw.is_empty() {
            return;
        }
        match element.text {
            Text::None if !escaped => {
                element.text = Text::Part(start as u32, end as u32);
                return;
            }
            Text::None => element.text = Text::Made(made.len() as u32),
            Text::Part(from, to) => {
                element.text = Text::Made(made.len() as u32);
                made.extend_from_slice(self.text.get(from as usize..to as usize).unwrap_or_default());
            }
            Text::Made(_) => {}
        }
        if !escaped {
            return made.extend_from_slice(raw);
        }
        let mark = made.len();
        entity::resolve(raw, false, made);
        if self.rules.strip {
            let (start, end) = stripped(made, mark, made.len());
            made.truncate(end);
            made.drain(mark..start);
        }
    }

    #[inline(always)]
    fn open(&mut self, cache: &mut Cache) -> Option<()> {
        let start = self.at + 1;
        let end = tag::name(self.text, start)?;
        let (depth, path) = (self.scratch.open.len(), self.scratch.path.len());
        if depth >= DEPTH_MAX {
            return None;
        }
        let (around, stage) = match self.scratch.open.last() {
            Some(element) => (element.member.inside, element.stage),
            None => (self.xml.tree.root(), Stage::Other),
        };
        let name = self.text.get(start..end)?;
        let mut element = Element {
            name: (start as u32, end as u32),
            path: path as u32,
            member: NOTHING,
            text: Text::None,
            stage: Stage::Other,
        };
        if self.rules.windows {
            element.stage = match (stage, name) {
                (Stage::Other, b"Event") if depth == 0 => Stage::Event,
                (Stage::Event, b"EventData") => Stage::Data,
                _ => Stage::Other,
            };
        }
        self.at = end;
        let excluded = !self.rules.exclude.is_empty() && self.rules.excludes(name, cache);
        if around == Inside::Nothing || excluded {
            return self.skip_attributes(element);
        }
        if stage == Stage::Data && name == b"Data" && self.datum()? {
            let key = std::mem::take(&mut self.scratch.key);
            element.member = self.member(around, &key, depth);
            self.scratch.key = key;
            return self.skip_attributes(element);
        }
        element.member = self.member(around, name, depth);
        match element.member.inside {
            Inside::Nothing => self.skip_attributes(element),
            _ => self.attributes(element),
        }
    }

    /// What is read of the element or attribute `key` of an element; its name joins the path where any is.
    #[inline(always)]
    fn member(&mut self, around: Inside, key: &[u8], depth: usize) -> Member {
        match around {
            Inside::Nothing => NOTHING,
            Inside::Node(node) => self.xml.tree.member(node, key).unwrap_or(NOTHING),
            Inside::All => {
                match depth {
                    0 => self.scratch.path.extend_from_slice(self.rules.prefix.as_bytes()),
                    _ => self.scratch.path.push(b'.'),
                }
                self.scratch.path.extend_from_slice(key);
                Member { name: None, inside: Inside::All }
            }
        }
    }

    /// The rest of a start tag of which nothing is read.
    #[inline(always)]
    fn skip_attributes(&mut self, element: Element) -> Option<()> {
        loop {
            match tag::next(self.text, self.at)? {
                Next::Attribute(_, next) => self.at = next,
                Next::End(empty, next) => return self.begun(element, empty, next),
            }
        }
    }

    fn attributes(&mut self, element: Element) -> Option<()> {
        let mark = self.found.mark();
        let (inside, depth) = (element.member.inside, self.scratch.open.len() + 1);
        loop {
            match tag::next(self.text, self.at) {
                Some(Next::Attribute(attribute, next)) => {
                    self.attribute(inside, depth, attribute);
                    self.at = next;
                }
                Some(Next::End(empty, next)) => return self.begun(element, empty, next),
                None => {
                    self.found.cut(mark);
                    return None;
                }
            }
        }
    }

    fn attribute(&mut self, inside: Inside, depth: usize, attribute: Attribute) {
        let mut key = std::mem::take(&mut self.scratch.key);
        key.clear();
        key.push(b'_');
        key.extend_from_slice(self.text.get(attribute.name.0..attribute.name.1).unwrap_or_default());
        let path = self.scratch.path.len();
        let member = self.member(inside, &key, depth);
        if let Some(name) = self.name(member) {
            let (start, end) = attribute.value;
            match attribute.escaped {
                false => self.keep(name, start, end),
                true => {
                    let mut made = std::mem::take(&mut self.scratch.text);
                    let mark = made.len();
                    let raw = self.text.get(start..end).unwrap_or_default();
                    entity::resolve(raw, true, &mut made);
                    self.keep_made(name, made.get(mark..).unwrap_or_default());
                    made.truncate(mark);
                    self.scratch.text = made;
                }
            }
        }
        self.scratch.path.truncate(path);
        self.scratch.key = key;
    }

    /// Whether a `<Data>` has a `Name`: it goes behind `Data.` into the scratch. `at` stays behind the tag's.
    fn datum(&mut self) -> Option<bool> {
        let mut at = self.at;
        loop {
            match tag::next(self.text, at)? {
                Next::Attribute(attribute, next) => {
                    let text = |(start, end): (usize, usize)| self.text.get(start..end).unwrap_or_default();
                    let value = text(attribute.value);
                    if text(attribute.name) == b"Name" && !value.is_empty() {
                        let key = &mut self.scratch.key;
                        key.clear();
                        key.extend_from_slice(b"Data.");
                        entity::resolve(value, true, key);
                        return Some(true);
                    }
                    at = next;
                }
                Next::End(..) => return Some(false),
            }
        }
    }

    /// After a start tag.
    #[inline(always)]
    fn begun(&mut self, element: Element, empty: bool, next: Option<usize>) -> Option<()> {
        self.at = next?;
        match empty {
            true => self.scratch.path.truncate(element.path as usize),
            false => self.scratch.open.push(element),
        }
        Some(())
    }

    #[inline(always)]
    fn close(&mut self) -> Option<()> {
        let element = self.scratch.open.last()?;
        let (start, end) = (element.name.0 as usize, element.name.1 as usize);
        let from = self.at + 2;
        let to = from + (end - start);
        if self.text.get(from..to)? != self.text.get(start..end)? {
            return None;
        }
        self.at = match self.text.get(to)? {
            b'>' => to + 1,
            _ => {
                let at = tag::blanks(self.text, to);
                self.text.get(at).filter(|b| **b == b'>')?;
                at + 1
            }
        };
        let element = self.scratch.open.pop()?;
        if !matches!(element.text, Text::None) {
            self.value(&element);
        }
        self.scratch.path.truncate(element.path as usize);
        Some(())
    }

    fn value(&mut self, element: &Element) {
        let name = self.name(element.member);
        match (element.text, name) {
            (Text::Part(start, end), Some(name)) => self.keep(name, start as usize, end as usize),
            (Text::Made(mark), name) => {
                let mut made = std::mem::take(&mut self.scratch.text);
                let text = made.get(mark as usize..).unwrap_or_default();
                if let Some(name) = name.filter(|_| !text.is_empty()) {
                    self.keep_made(name, text);
                }
                made.truncate(mark as usize);
                self.scratch.text = made;
            }
            _ => {}
        }
    }

    fn name(&mut self, member: Member) -> Option<NameId> {
        match member.inside {
            Inside::All => self.learned.name("", &self.scratch.path),
            _ => member.name,
        }
    }

    fn keep(&mut self, name: NameId, start: usize, end: usize) {
        let raw = self.text.get(start..end).unwrap_or_default();
        match self.rules.lists && !tag::is_plain_item(raw) {
            true => self.keep_made(name, raw),
            false => self.found.part(name, start, end, ValueType::String),
        }
    }

    fn keep_made(&mut self, name: NameId, text: &[u8]) {
        if !self.rules.lists {
            return self.found.text(name, text, ValueType::String);
        }
        let mark = self.found.begin();
        template::list::push(text, &mut true, self.found.out());
        self.found.finish(name, mark, ValueType::String);
    }
}

fn is_kept(member: Member) -> bool {
    member.name.is_some() || member.inside == Inside::All
}

fn stripped(text: &[u8], start: usize, end: usize) -> (usize, usize) {
    let raw = text.get(start..end).unwrap_or_default();
    let front = raw.trim_ascii_start();
    let start = end - front.len();
    (start, start + front.trim_ascii_end().len())
}
