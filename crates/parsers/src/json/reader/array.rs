//! Arrays: as a value, as JSON again, or at the top, where the items become matches.

use super::super::text;
use super::{Reader, Step, Take};
use crate::tree::{Inside, Member};
use record::{NameId, ValueType};

impl Reader<'_> {
    #[inline(never)]
    pub(super) fn array(&mut self, take: Take) -> Option<()> {
        self.enter()?;
        let copies = matches!(take, Take::Copy);
        if copies {
            self.found.out().push(b'[');
        }
        let mut index = 0;
        loop {
            self.blanks()?;
            if self.peek()? == b']' {
                break;
            }
            if copies && index > 0 {
                self.found.out().push(b',');
            }
            let inner = match take {
                Take::Copy => Take::Copy,
                Take::Seek(done) if self.step(done) == Some(&Step::Item(index)) => Take::Seek(done + 1),
                _ => Take::Nothing,
            };
            self.value(inner)?;
            index += 1;
            if !self.next_item()? {
                break;
            }
        }
        if copies {
            self.found.out().push(b']');
        }
        self.leave();
        Some(())
    }

    /// After an item: whether another may come. `at` stands on it, or on the bracket.
    fn next_item(&mut self) -> Option<bool> {
        self.blanks()?;
        match self.peek()? {
            b',' => {
                self.at += 1;
                Some(true)
            }
            b']' => Some(false),
            _ => None,
        }
    }

    /// An array as a value: a list where all its items are texts; otherwise JSON, in which they keep their
    /// types.
    #[inline(never)]
    pub(super) fn list(&mut self, name: NameId) -> Option<()> {
        let start = self.at;
        let mark = self.found.begin();
        if self.list_of_texts()? {
            self.found.finish(name, mark, ValueType::List);
            return Some(());
        }
        self.found.out().truncate(mark);
        self.at = start;
        self.array(Take::Copy)?;
        self.found.finish(name, mark, ValueType::Json);
        Some(())
    }

    /// False where an item is no text; then `at` stands anywhere.
    fn list_of_texts(&mut self) -> Option<bool> {
        self.enter()?;
        let mut first = true;
        loop {
            self.blanks()?;
            match self.peek()? {
                b']' => break,
                quote @ (b'"' | b'\'') => {
                    let string = self.string(quote)?;
                    let raw = string.of(self.text);
                    self.scratch.string.clear();
                    text::unescape(raw, &mut self.scratch.string);
                }
                _ => {
                    self.depth -= 1;
                    return Some(false);
                }
            }
            template::list::push(&self.scratch.string, &mut first, self.found.out());
            if !self.next_item()? {
                break;
            }
        }
        self.leave();
        Some(true)
    }

    /// An array at the top: its items become matches.
    pub(super) fn matches(&mut self) -> Option<()> {
        self.enter()?;
        let mut number = 0u32;
        loop {
            self.blanks()?;
            if self.peek()? == b']' {
                break;
            }
            number = (number + 1).min(NameId::MATCH_MAX + 1);
            let name = NameId(number);
            match self.peek()? {
                _ if number > NameId::MATCH_MAX || !self.json.tree.item(name) => self.value(Take::Nothing)?,
                b'{' | b'[' => {
                    let mark = self.found.begin();
                    self.value(Take::Copy)?;
                    self.found.finish(name, mark, ValueType::Json);
                }
                _ => self.value(Take::Member(Member { name: Some(name), inside: Inside::Nothing }))?,
            }
            if !self.next_item()? {
                break;
            }
        }
        self.leave();
        Some(())
    }
}
