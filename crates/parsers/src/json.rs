//! `json-parser()`: the members of a JSON object as values, nested ones joined with dots.

mod number;
mod reader;
mod text;

use crate::build::Build;
use crate::found::Found;
use crate::input::Input;
use crate::learned::Learned;
use crate::options::{PARSER, PREFIX};
use crate::parse::{Parse, Writes};
use crate::tree::Tree;
use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use filter::{FilterContext, clear_matches, new_asker};
use reader::{Outcome, Reader};
use record::{Batch, Demand, NameId};
use std::sync::Arc;
use wire::json::Outline;

pub static JSON_PARSER: Component = Component {
    context: Context::Parser,
    name: "json-parser",
    aliases: &[],
    positional: &[],
    groups: &[&PARSER],
    own: &[
        PREFIX,
        Opt::new(
            "marker",
            Kind::Text,
            Preset::None,
            "The text has to begin with this; blanks after it are passed over.",
        ),
        Opt::new(
            "extract-prefix",
            Kind::Text,
            Preset::None,
            "Only this part is taken: `a.b[0]` is the first item of the member `b` of the member `a`.",
        ),
        Opt::new(
            "key-delimiter",
            Kind::Text,
            Preset::Text("."),
            "The character between the names of nested members.",
        ),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Takes the members of a JSON object out of a text; of an array at the top, the items become `$1`, `$2` ... A text \
              that is no JSON does not match. Members that nothing reads are passed over.",
    example: "json-parser(prefix(\".json.\") marker(\"@cee:\"))",
    cost: Some(Cost::bench(
        "One pass over the text; members that nothing reads are passed over, but the whole object is checked.",
        "json",
    )),
};

/// One step of `extract-prefix()`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Member(Box<[u8]>),
    Item(usize),
}

#[derive(Clone)]
struct Json {
    input: Input,
    prefix: Box<str>,
    delimiter: u8,
    marker: Box<[u8]>,
    extract: Arc<[Step]>,
    tree: Tree,
    asker: u64,
}

/// What a worker keeps.
#[derive(Default)]
struct Memory {
    found: Found,
    learned: Learned,
    scratch: reader::Scratch,
    outline: Outline,
}

pub fn build(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    let input = b.input(settings);
    let delimiter = match settings.text("key-delimiter").unwrap_or(".").as_bytes() {
        [one] => Some(*one),
        _ => {
            b.wrong(
                "key-delimiter() takes one character",
                settings.span("key-delimiter"),
                "as key-delimiter(\"~\")",
            );
            None
        }
    };
    let extract = match settings.text("extract-prefix") {
        None => Some(Vec::new()),
        Some(text) => {
            let steps = steps(text);
            if steps.is_none() {
                let help = "as extract-prefix(\"a.b[0]\")";
                b.wrong(format!("`{text}` is no path of members"), settings.span("extract-prefix"), help);
            }
            steps
        }
    };
    let marker = settings.text("marker").unwrap_or_default().as_bytes().into();
    let prefix = settings.text("prefix").unwrap_or_default().into();
    let (delimiter, extract) = (delimiter?, extract?.into());
    Some(Arc::new(Json {
        input: input?,
        prefix,
        delimiter,
        marker,
        extract,
        tree: Tree::All,
        asker: new_asker(),
    }))
}

fn steps(text: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    for part in text.split('.') {
        let (name, mut items) = part.split_at(part.find('[').unwrap_or(part.len()));
        if !name.is_empty() {
            steps.push(Step::Member(name.as_bytes().into()));
        } else if items.is_empty() {
            return None;
        }
        while !items.is_empty() {
            let (number, rest) = items.strip_prefix('[')?.split_once(']')?;
            steps.push(Step::Item(number.parse().ok()?));
            items = rest;
        }
    }
    Some(steps)
}

impl Json {
    #[inline]
    fn read(
        &self,
        text: &[u8],
        found: &mut Found,
        learned: &mut Learned,
        (scratch, outline): (&mut reader::Scratch, &mut Outline),
    ) -> Outcome {
        let Some(rest) = text.strip_prefix(&*self.marker) else { return Outcome::Failed };
        let start = text.len() - rest.len();
        if self.extract.is_empty() {
            scratch.begin(&self.prefix);
            if Reader::new(text, start, self, found, learned, scratch).by_outline(outline).is_some() {
                return Outcome::Object;
            }
            found.clear();
        }
        scratch.begin(&self.prefix);
        Reader::new(text, start, self, found, learned, scratch).run()
    }
}

impl Parse for Json {
    fn parse(&self, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
        let mut memory = cx.work.take_state(self.asker, Memory::default);
        selection.retain(|index| {
            let index = *index as usize;
            let Some(span) = self.input.span(batch, index, cx) else { return false };
            memory.found.clear();
            let Memory { learned, found, scratch, outline } = &mut *memory;
            let outcome = learned.of(batch, |batch, learned| {
                self.read(batch.bytes(span), found, learned, (&mut *scratch, &mut *outline))
            });
            match outcome {
                Outcome::Failed => return false,
                Outcome::Object => {}
                Outcome::Array => clear_matches(batch, index, 0..=NameId::MATCH_MAX),
            }
            memory.found.store(batch, index, span);
            true
        });
        cx.work.keep_state(self.asker, memory);
    }

    fn reads(&self, demand: &mut Demand) {
        self.input.reads(demand);
    }

    fn writes(&self) -> Writes {
        Writes { names: (0..=NameId::MATCH_MAX).map(NameId).collect(), ..Writes::prefix(&self.prefix) }
    }

    fn narrowed(&self, demand: &Demand) -> Option<Arc<dyn Parse>> {
        let tree = Tree::new(&self.prefix, self.delimiter, demand)?;
        Some(Arc::new(Json { tree, ..self.clone() }))
    }
}

#[cfg(test)]
mod tests;
