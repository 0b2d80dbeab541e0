//! One pass over the text, values taken where they are read. Accepts what json-c accepts when it is not
//! strict: comments, commas before a closing bracket, single quotes, words in any case, NaN and Infinity;
//! what stands after the value is left alone.

mod array;
mod outlined;
mod scalar;

use super::text::{self, Str};
use super::{Json, Step};
use crate::found::Found;
use crate::learned::Learned;
use crate::marks::{Any, Marks};
use crate::tree::{Inside, Member};
use scalar::copy_scalar;

/// Objects and arrays in each other: json-c gives up at the 32nd.
const DEPTH_MAX: usize = 31;

pub enum Outcome {
    Failed,
    Object,
    /// The items became `$1`, `$2` ...
    Array,
}

#[derive(Default)]
pub struct Scratch {
    /// The name of the member that is read, where any name is.
    path: Vec<u8>,
    /// A key or item with its escapes resolved.
    string: Vec<u8>,
}

impl Scratch {
    pub fn begin(&mut self, prefix: &str) {
        self.path.clear();
        self.path.extend_from_slice(prefix.as_bytes());
    }
}

/// What becomes of a value.
#[derive(Clone, Copy)]
enum Take {
    /// A value of this name; of an object, its members.
    Member(Member),
    /// Goes into JSON again.
    Copy,
    /// Only its end is looked for, on the way to what is extracted: the number of steps that are done.
    Seek(u32),
    Nothing,
}

pub struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    strings: Marks<Any<2>>,
    depth: usize,
    json: &'a Json,
    found: &'a mut Found,
    learned: &'a mut Learned,
    scratch: &'a mut Scratch,
    /// Where the value that extract-prefix() means begins.
    target: Option<usize>,
}

impl<'a> Reader<'a> {
    pub fn new(
        text: &'a [u8],
        at: usize,
        json: &'a Json,
        found: &'a mut Found,
        learned: &'a mut Learned,
        scratch: &'a mut Scratch,
    ) -> Reader<'a> {
        Reader {
            text,
            at,
            strings: Marks::new(text::ENDS),
            depth: 0,
            json,
            found,
            learned,
            scratch,
            target: None,
        }
    }

    pub fn run(&mut self) -> Outcome {
        self.whole().unwrap_or(Outcome::Failed)
    }

    fn whole(&mut self) -> Option<Outcome> {
        self.blanks()?;
        let json = self.json;
        if !json.extract.is_empty() {
            if !matches!(self.peek(), Some(b'{' | b'[')) {
                return None;
            }
            // The whole has to be good before a part of it is.
            self.value(Take::Seek(0))?;
            self.at = self.target?;
        }
        match self.peek()? {
            b'{' => {
                self.value(Take::Member(Member { name: None, inside: json.tree.root() }))?;
                Some(Outcome::Object)
            }
            b'[' => {
                self.matches()?;
                Some(Outcome::Array)
            }
            _ => None,
        }
    }

    fn step(&self, done: u32) -> Option<&'a Step> {
        self.json.extract.get(done as usize)
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Goes past blanks and comments; `None` where a comment has no end.
    #[inline(always)]
    fn blanks(&mut self) -> Option<()> {
        match self.peek() {
            Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c | b'/') => self.more_blanks(),
            _ => Some(()),
        }
    }

    fn more_blanks(&mut self) -> Option<()> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c) => self.at += 1,
                Some(b'/') => self.comment()?,
                _ => return Some(()),
            }
        }
    }

    #[cold]
    fn comment(&mut self) -> Option<()> {
        let body = self.text.get(self.at + 2..)?;
        let len = match self.text.get(self.at + 1)? {
            b'*' => memchr::memmem::find(body, b"*/")? + 2,
            b'/' => memchr::memchr(b'\n', body).unwrap_or(body.len()),
            _ => return None,
        };
        self.at += 2 + len;
        Some(())
    }

    fn enter(&mut self) -> Option<()> {
        self.depth += 1;
        self.at += 1;
        (self.depth <= DEPTH_MAX).then_some(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
        self.at += 1;
    }

    /// Reads a value; `at` stands on its first byte, and after it behind it.
    #[inline(never)]
    fn value(&mut self, take: Take) -> Option<()> {
        if let Take::Seek(done) = take
            && self.step(done).is_none()
        {
            self.target = Some(self.at);
            return self.value(Take::Nothing);
        }
        let name = match take {
            Take::Member(member) => member.name,
            _ => None,
        };
        match self.peek()? {
            b'{' => self.object(take),
            b'[' => match (name, take) {
                (Some(name), _) => self.list(name),
                (None, Take::Member(_)) => self.array(Take::Nothing),
                _ => self.array(take),
            },
            quote @ (b'"' | b'\'') => {
                let string = self.string(quote)?;
                match (name, take) {
                    (Some(name), _) => self.keep_string(name, string),
                    (None, Take::Copy) => self.copy_string(string),
                    _ => {}
                }
                Some(())
            }
            _ => {
                let start = self.at;
                let word = self.scalar()?;
                let raw = self.text.get(start..self.at).unwrap_or_default();
                match (name, take) {
                    (Some(name), _) => self.keep_scalar(name, word, start),
                    (None, Take::Copy) => copy_scalar(word, raw, self.found.out()),
                    _ => {}
                }
                Some(())
            }
        }
    }

    #[inline(always)]
    fn string(&mut self, quote: u8) -> Option<Str> {
        let string = match quote {
            b'"' => text::scan(self.text, self.at + 1, &mut self.strings)?,
            _ => text::scan_single(self.text, self.at + 1)?,
        };
        self.at = string.end() + 1;
        Some(string)
    }

    #[inline(never)]
    fn object(&mut self, take: Take) -> Option<()> {
        self.enter()?;
        let copies = matches!(take, Take::Copy);
        let path = self.scratch.path.len();
        let tree = &self.json.tree;
        let node = match take {
            Take::Member(Member { inside: Inside::Node(node), .. }) => Some(node),
            _ => None,
        };
        if copies {
            self.found.out().push(b'{');
        }
        let mut first = true;
        loop {
            self.blanks()?;
            let quote = match self.peek()? {
                b'}' => break,
                quote @ (b'"' | b'\'') => quote,
                _ => return None,
            };
            let key = self.string(quote)?;
            self.blanks()?;
            if self.peek()? != b':' {
                return None;
            }
            self.at += 1;
            self.blanks()?;
            if copies {
                if !first {
                    self.found.out().push(b',');
                }
                self.copy_string(key);
                self.found.out().push(b':');
            }
            // Most members are not read.
            let inner = match node {
                Some(node) if !key.escaped => match tree.member(node, key.of(self.text)) {
                    None => Take::Nothing,
                    Some(member) if member.inside != Inside::All => Take::Member(member),
                    Some(_) => self.member(key, take),
                },
                _ => self.member(key, take),
            };
            match (self.peek(), inner) {
                // Most members are strings.
                (Some(b'"'), Take::Nothing) => {
                    self.string(b'"')?;
                }
                (Some(b'"'), Take::Member(Member { name: Some(name), .. })) => {
                    let string = self.string(b'"')?;
                    self.keep_string(name, string);
                }
                _ => self.value(inner)?,
            }
            self.scratch.path.truncate(path);
            first = false;
            self.blanks()?;
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => break,
                _ => return None,
            }
        }
        if copies {
            self.found.out().push(b'}');
        }
        self.leave();
        Some(())
    }

    /// What becomes of the member of an object.
    #[inline(never)]
    fn member(&mut self, key: Str, take: Take) -> Take {
        let (text, json) = (self.text, self.json);
        let mut raw = key.of(text);
        match take {
            Take::Nothing | Take::Copy => return take,
            Take::Member(Member { inside: Inside::Nothing, .. }) => return Take::Nothing,
            _ => {}
        }
        if key.escaped {
            self.scratch.string.clear();
            text::unescape(raw, &mut self.scratch.string);
            raw = &self.scratch.string;
        }
        match take {
            Take::Member(Member { inside: Inside::Node(node), .. }) => {
                json.tree.member(node, raw).map_or(Take::Nothing, |member| {
                    if member.inside == Inside::All {
                        self.scratch.path.extend_from_slice(raw);
                        self.scratch.path.push(json.delimiter);
                    }
                    Take::Member(member)
                })
            }
            Take::Member(_) => {
                self.scratch.path.extend_from_slice(raw);
                let name = match self.peek() {
                    Some(b'{') => None,
                    _ => self.learned.name("", &self.scratch.path),
                };
                self.scratch.path.push(json.delimiter);
                Take::Member(Member { name, inside: Inside::All })
            }
            Take::Seek(done) if matches!(json.extract.get(done as usize), Some(Step::Member(step)) if **step == *raw) =>
            {
                // Of two members with one name the later counts.
                self.target = None;
                Take::Seek(done + 1)
            }
            _ => Take::Nothing,
        }
    }
}
