//! `xml()` and `windows-eventlog-xml-parser()`: elements and attributes of an XML text as values, nested ones
//! joined with dots.

mod build;
pub(crate) mod entity;
mod reader;
pub(crate) mod tag;

pub use build::{WINDOWS_EVENTLOG_XML_PARSER, XML, build, build_windows};

use crate::found::{Found, Joiner};
use crate::input::Input;
use crate::learned::Learned;
use crate::parse::{Parse, Writes};
use crate::tree::{Inside, Tree};
use filter::FilterContext;
use pattern::{Cache, Pattern};
use reader::{Reader, Scratch};
use record::{Batch, Demand, ValueType};
use std::sync::Arc;

#[derive(Clone)]
struct Xml {
    input: Input,
    rules: Arc<Rules>,
    tree: Tree,
    asker: u64,
}

struct Rules {
    /// What stands before the name of the outermost element: the prefix and a dot.
    prefix: Box<str>,
    /// Elements that are passed over with all they contain.
    exclude: Vec<Pattern>,
    strip: bool,
    /// A value is written as an item of a list; from the second element of its path on it is one.
    lists: bool,
    drop_invalid: bool,
    /// `<Data Name='X'>` is read as `Data.X`.
    windows: bool,
}

impl Rules {
    fn excludes(&self, tag: &[u8], cache: &mut Cache) -> bool {
        self.exclude.iter().any(|glob| glob.is_match(tag, cache))
    }
}

/// What a worker keeps.
#[derive(Default)]
struct Memory {
    found: Found,
    joiner: Joiner,
    learned: Learned,
    scratch: Scratch,
}

impl Xml {
    fn reads_nothing(&self) -> bool {
        !self.rules.drop_invalid && self.tree.root() != Inside::All && self.tree.is_empty()
    }
}

impl Parse for Xml {
    fn parse(&self, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
        if self.reads_nothing() {
            return;
        }
        let mut memory = cx.work.take_state(self.asker, Memory::default);
        selection.retain(|index| {
            let index = *index as usize;
            let Some(span) = self.input.span(batch, index, cx) else { return false };
            let Memory { found, joiner, learned, scratch } = &mut *memory;
            found.clear();
            let good = learned.of(batch, |batch, learned| {
                Reader::new(batch.bytes(span), self, found, learned, scratch).run(&mut cx.work.patterns)
            });
            if !good && self.rules.drop_invalid {
                return false;
            }
            // What was read before the fault stays, as with syslog-ng.
            let text = batch.bytes(span);
            match self.rules.lists {
                true => joiner.join(found, text, b",", ValueType::List),
                false => joiner.join(found, text, b"", ValueType::String),
            }
            found.store(batch, index, span);
            true
        });
        cx.work.keep_state(self.asker, memory);
    }

    fn reads(&self, demand: &mut Demand) {
        self.input.reads(demand);
    }

    fn writes(&self) -> Writes {
        Writes::prefix(&self.rules.prefix)
    }

    fn narrowed(&self, demand: &Demand) -> Option<Arc<dyn Parse>> {
        let tree = Tree::new(&self.rules.prefix, b'.', demand)?;
        Some(Arc::new(Xml { tree, ..self.clone() }))
    }
}

#[cfg(test)]
mod tests;
