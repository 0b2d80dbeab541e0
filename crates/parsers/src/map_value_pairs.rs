//! `map-value-pairs()`: values of a message under new names, with new types.

use crate::build::Build;
use crate::found::Found;
use crate::learned::Learned;
use crate::parse::{Parse, Writes};
use crate::value_pairs::{VALUE_PAIRS, spec};
use conf_schema::{Component, Context, Cost, Settings};
use diag::Diagnostic;
use filter::{FilterContext, new_asker};
use record::{Batch, Demand, Span, ValueType};
use std::ops::Range;
use std::sync::Arc;
use template::Msg;
use template::value_pairs::ValuePairs;

pub static MAP_VALUE_PAIRS: Component = Component {
    context: Context::Parser,
    name: "map-value-pairs",
    aliases: &[],
    positional: &[],
    groups: &[&VALUE_PAIRS],
    own: &[],
    presets: &[],
    not_yet: &[],
    summary: "Sets values from others: those that its options choose, under the names they give them. What there was before stays. \
              Every message matches.",
    example: "map-value-pairs(key(\".app.*\" rekey(shift(5))) pair(\"pid\" int(\"$PID\")))",
    cost: Some(Cost::example(
        "Every value that is named is made and copied, whether something reads it or not: narrow patterns in `key()` cost least.",
    )),
};

struct MapValuePairs {
    pairs: Arc<ValuePairs>,
    asker: u64,
}

/// What a worker keeps.
#[derive(Default)]
struct Memory {
    found: Found,
    learned: Learned,
    /// Names and values of one message, as they are printed.
    texts: Vec<u8>,
    pairs: Vec<(Range<usize>, Range<usize>, ValueType)>,
}

pub fn build(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    let spec = spec(settings, b)?;
    let known = spec.pairs.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    for name in known {
        b.name(&name, settings.span("pair").unwrap_or(b.span))?;
    }
    match ValuePairs::compile(spec, b.env.template_options()) {
        Ok(pairs) => Some(Arc::new(MapValuePairs { pairs: Arc::new(pairs), asker: new_asker() })),
        Err(error) => {
            b.diags.push(Diagnostic::error("A0101", error.to_string(), b.span));
            None
        }
    }
}

impl Parse for MapValuePairs {
    fn parse(&self, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
        let mut memory = cx.work.take_state(self.asker, Memory::default);
        let Memory { found, learned, texts, pairs } = &mut *memory;
        for index in selection.iter().map(|i| *i as usize) {
            let Some(record) = batch.records.get(index) else { continue };
            found.clear();
            texts.clear();
            self.pairs.each(Msg { batch, record }, &mut cx.render, |name, kind, bytes| {
                let (start, name_end) = (texts.len(), texts.len() + name.len());
                texts.extend_from_slice(name.as_bytes());
                texts.extend_from_slice(bytes);
                pairs.push((start..name_end, name_end..texts.len(), kind));
            });
            learned.of(batch, |_, learned| {
                for (name, value, kind) in pairs.drain(..) {
                    if let Some(name) = learned.name("", texts.get(name).unwrap_or_default()) {
                        found.text(name, texts.get(value).unwrap_or_default(), kind);
                    }
                }
            });
            found.store(batch, index, Span::EMPTY);
        }
        cx.work.keep_state(self.asker, memory);
    }

    fn reads(&self, demand: &mut Demand) {
        self.pairs.reads(demand);
    }

    fn writes(&self) -> Writes {
        match self.pairs.known_names() {
            Some(names) => Writes::names(names.into_iter().filter_map(record::intern).collect()),
            None => Writes::prefix(""),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{batch, check_codes, context, parser, values};
    use record::ValueType;

    fn check(text: &str, expected: &str) {
        let mut batch = batch(&[b"hello"]);
        for (name, value) in [(".mvp.a", "1"), (".mvp.b", "")] {
            batch.set(0, record::intern(name).expect("room"), value.as_bytes(), ValueType::Int);
        }
        let mut selection = vec![0];
        parser(text).parse(&mut batch, &mut selection, &mut context());
        let made: Vec<String> =
            values(&batch, 0).split('|').filter(|v| !v.starts_with(".mvp")).map(str::to_owned).collect();
        assert_eq!((made.join("|").as_str(), selection), (expected, vec![0]), "{text}");
    }

    #[test]
    fn pairs_become_values() {
        check(
            "map-value-pairs(pair(\"x\" \"<$MSG>\") pair(\"y\" int(\"5\")) pair(z => \"$PID\"))",
            "x=<hello>|y=int:5|z=null:",
        );
        check("map-value-pairs(key(\".mvp.*\" rekey(shift(5) add-prefix(\"n.\"))))", "n.a=int:1|n.b=int:");
        check(
            "map-value-pairs(key(\".mvp.*\") exclude(\"*.b\") rekey(\".mvp.*\" shift-levels(2)))",
            "a=int:1",
        );
        check(
            "map-value-pairs(exclude(\"*.b\") key(\".mvp.*\" rekey(replace-prefix(\".mvp.\" \"r\") upper())))",
            "RA=int:1|RB=int:",
        );
        check("map-value-pairs(key(\".mvp.*\" rekey(shift(5))) omit-empty-values(yes) cast(yes))", "a=1");
        check(
            "map-value-pairs(key(\".mvp.a\" rekey(shift(5))) key(\".mvp.b\") pair(\"c\" \"7\") cast(auto))",
            "a=int:1|c=7",
        );
        check(
            "map-value-pairs(scope(rfc3164) key(\"PRIO*\" rekey(add-prefix(\"new.\"))) exclude(\"F*\", \"D*\") exclude(\"M*\"))",
            "new.PRIORITY=notice",
        );
    }

    #[test]
    fn findings() {
        check_codes("map-value-pairs(scope(nv-pears))", &["A0102"]);
        check_codes("map-value-pairs(key(shift(1)))", &["A0102"]);
        check_codes("map-value-pairs(key(\"a\" rekey(turn(1))))", &["A0102"]);
        check_codes("map-value-pairs(rekey(\"a\" shift(\"x\")))", &["A0102"]);
        check_codes("map-value-pairs(pair(\"DATE\" \"x\"))", &["A0106"]);
        check_codes("map-value-pairs(pair(\"a\" \"${x\"))", &["A0101"]);
    }
}
