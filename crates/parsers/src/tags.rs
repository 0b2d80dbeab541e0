//! `tags-parser()`: a list of words becomes tags.

use crate::build::Build;
use crate::csv::{Escape, Scanner, Take};
use crate::input::Input;
use crate::options::PARSER;
use crate::parse::{Parse, Writes};
use conf_schema::{Component, Context, Cost, Settings};
use filter::FilterContext;
use record::{Batch, Demand};
use std::sync::Arc;

pub static TAGS_PARSER: Component = Component {
    context: Context::Parser,
    name: "tags-parser",
    aliases: &[],
    positional: &[],
    groups: &[&PARSER],
    own: &[],
    presets: &[],
    not_yet: &[],
    summary: "Sets the tags that a text lists, separated by commas and in quotes where they contain one. Every text matches.",
    example: "tags-parser(template(\"${.json.tags}\"))",
    cost: Some(Cost::example("One pass over the list; a worker knows the words it has seen as tags.")),
};

#[derive(Clone)]
struct Tags {
    input: Input,
    scanner: Arc<Scanner>,
}

pub fn build(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    let input = b.input(settings)?;
    let scanner = Scanner::new(b",", Vec::new(), &[(b'"', b'"'), (b'\'', b'\'')], Escape::Sequences);
    Some(Arc::new(Tags { input, scanner: Arc::new(scanner) }))
}

impl Parse for Tags {
    fn parse(&self, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
        let mut made = cx.work.text();
        let mut text = cx.work.text();
        for index in selection.iter().map(|i| *i as usize) {
            let Some(span) = self.input.span(batch, index, cx) else { continue };
            text.clear();
            text.extend_from_slice(batch.bytes(span));
            let mut marks = self.scanner.marks();
            let mut at = 0;
            while at < text.len() {
                made.clear();
                let mut take = Take { wanted: true, strip: false, marks: &mut marks, out: &mut made };
                let (field, next) = self.scanner.field(&text, at, &mut take);
                at = next;
                let name =
                    if field.made { &made } else { text.get(field.start..field.end).unwrap_or_default() };
                if let Some(tag) = batch.tag(name) {
                    batch.set_tag(index, tag);
                }
            }
        }
        cx.work.keep_text(made);
        cx.work.keep_text(text);
    }

    fn reads(&self, demand: &mut Demand) {
        self.input.reads(demand);
    }

    fn writes(&self) -> Writes {
        Writes { tags: true, ..Writes::default() }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{batch, context, parser};

    #[test]
    fn lists_of_words() {
        for (input, expected) in [
            ("t1", "t1"),
            ("t1,t2,\"t 3, x\"", "t1|t2|t 3, x"),
            ("t1,,t2,", "t1|t2"),
            (" t4 , t5", " t4 | t5"),
            ("'it\\'s'", "it's"),
            ("", ""),
        ] {
            let mut batch = batch(&[input.as_bytes()]);
            let mut selection = vec![0];
            parser("tags-parser()").parse(&mut batch, &mut selection, &mut context());
            let mut tags: Vec<&str> =
                batch.tags(&batch.records[0]).into_iter().map(|tag| batch.tag_name(tag)).collect();
            let mut expected: Vec<&str> = expected.split('|').filter(|t| !t.is_empty()).collect();
            tags.sort_unstable();
            expected.sort_unstable();
            assert_eq!((tags, selection), (expected, vec![0]), "{input}");
        }
    }
}
