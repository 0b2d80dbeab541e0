//! `python()`: a class of the user's own parses the message, in a process beside the program.

mod options;

use crate::build::Build;
use crate::parse::{Parse, Writes};
use conf_schema::{Component, Context, Cost, Group, Kind, OptionSpec as Opt, Preset, Settings};
use diag::Diagnostic;
use filter::{Fatal, FilterContext, new_asker};
pub use options::options;
use python::marshal::{Item, Malformed, Reader};
use python::{Fault, Identity, Instance, Messages, Names};
use record::{Batch, Demand};
use std::sync::Arc;
use template::python::{Known, Values, note, taken};
use template::{Msg, TemplateOptions};

/// Which class, and what it gets: of every component that is one of Python.
pub static CLASS: Group = Group {
    name: "class",
    options: &[
        Opt::new("class", Kind::Text, Preset::None, "The class: `module.Class`, or `Class` of a `python { }` block.")
            .sample("\"MyClass\""),
        Opt::new(
            "options",
            Kind::Any,
            Preset::None,
            "What `init(self, options)` gets, a dict: `options(\"name\" => \"text\" \"other\" 10 \"list\" => [\"a\", \"b\"])`. Values are \
             texts, numbers, `yes`, `no`, `True`, `False`, lists of texts in brackets, and `LogTemplate(\"${HOST}\")`. `-` in a \
             name becomes `_`.",
        )
        .sample("\"name\" => \"text\" \"count\" => 3"),
        Opt::new(
            "loaders",
            Kind::TextList,
            Preset::None,
            "Modules that are imported before the class is looked for.",
        )
        .sample("\"json\"")
        .alias(&["imports"]),
    ],
};

pub static PYTHON: Component = Component {
    context: Context::Parser,
    name: "python",
    aliases: &[],
    positional: &[],
    groups: &[&CLASS],
    own: &[Opt::new(
        "mark-errors-as-critical",
        Kind::Bool,
        Preset::Bool(true),
        "With `no`, a message that makes the class raise goes on as it was; with `yes` it does not match.",
    )],
    presets: &[],
    not_yet: &[],
    summary: "A parser of your own in Python: a class with a method `parse(self, msg)` that reads and sets values and returns True, or \
              False when the message is not for it. It runs in processes beside the program, one for each worker, so on all \
              cores; a class that raises, ends its process or never comes back costs the message that made it, no other. See \
              docs/python.md.",
    example: "python(class(\"MyParser\") options(\"prefix\" => \".my.\"))",
    cost: Some(Cost::elsewhere(
        "Batches go to a Python process and back. Of a message go the values that the class has asked for before; one that it asks for \
         for the first time costs a question for the whole batch. What is upstream makes all values, as nobody knows which the class reads.",
    )),
};

struct Python {
    instance: Arc<Instance>,
    options: TemplateOptions,
    /// A message of which the class raises goes on.
    lenient: bool,
    asker: u64,
}

pub fn build(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    let options = options(settings, b.env.template_options().version, b.diags);
    let loaders = settings.list("loaders").iter().map(|text| text.text.clone()).collect();
    let lenient = !settings.bool("mark-errors-as-critical").unwrap_or(true);
    let Some(class) = settings.text("class") else {
        b.wrong("python() needs class()", None, "as class(\"module.Class\")");
        return None;
    };
    let place = format!("{:?}", b.span);
    let kind = python::Kind::Parser;
    let identity = Identity { kind, class: class.to_owned(), options: options?, loaders, place, flags: None };
    let loaded = b.env.scope().python().and_then(|pool| pool.load(identity).map_err(|f| f.to_string()));
    match loaded {
        Ok(instance) => {
            let options = b.env.template_options().clone();
            Some(Arc::new(Python { instance, options, lenient, asker: new_asker() }))
        }
        Err(trace) => {
            let at = settings.span("class").unwrap_or(b.span);
            let text = format!("the class `{class}` cannot be used: {}", trace.trim_end());
            b.diags.push(Diagnostic::error("A0108", text, at).help(
                "modules are looked for in `python/` beside the configuration, /etc/syslog-ng/python, /etc/syslog-ng/pylib and PYTHONPATH",
            ));
            None
        }
    }
}

/// What a worker keeps.
struct Memory {
    values: Values,
    names: Known,
    /// What is wrong with the last message that failed by itself.
    said: Option<String>,
}

impl Python {
    fn memory(&self, cx: &mut FilterContext) -> Box<Memory> {
        let make = || Memory { values: Values::new(&self.options), names: Known::default(), said: None };
        cx.work.take_state(self.asker, make)
    }
}

/// The messages of a selection, on their way to the class and back.
struct Passing<'a> {
    batch: &'a mut Batch,
    selection: &'a [u32],
    good: Vec<bool>,
    lenient: bool,
    instance: &'a Instance,
    /// Messages for which the class raised.
    raised: u64,
    memory: &'a mut Memory,
    cx: &'a mut FilterContext,
}

impl Passing<'_> {
    fn set(&mut self, index: usize, name: &[u8], answer: &mut Reader<'_>) -> Result<(), Malformed> {
        let name = self.memory.names.id(self.batch, name);
        taken(answer, |bytes, kind| {
            if let Some(name) = name {
                self.batch.set(index, name, bytes, kind);
            }
        })
    }
}

impl Messages for Passing<'_> {
    fn count(&self) -> usize {
        self.selection.len()
    }

    #[inline]
    fn row(&mut self, at: usize, names: &Arc<Names>, out: &mut Vec<u8>) {
        let index = self.selection.get(at).copied().unwrap_or_default() as usize;
        if let Some(record) = self.batch.records.get(index) {
            self.memory.values.row(Msg { batch: self.batch, record }, names, &mut self.cx.render, out);
        }
    }

    fn value(&mut self, at: usize, name: &str, out: &mut Vec<u8>) {
        let index = self.selection.get(at).copied().unwrap_or_default() as usize;
        if let Some(record) = self.batch.records.get(index) {
            self.memory.values.value(Msg { batch: self.batch, record }, name, &mut self.cx.render, out);
        }
    }

    fn lost(&mut self, at: usize, fault: &Fault) {
        self.memory.said = Some(fault.to_string());
        // While none can be started, it is no message's fault.
        let is_its_fault = !matches!(fault, Fault::CannotStart(_) | Fault::Refused(_));
        if let Some(index) = self.selection.get(at).filter(|_| is_its_fault) {
            let reason = format!("python({}): {fault}", self.instance.class());
            self.cx.work.fatal.push(Fatal { index: *index, reason });
        }
    }

    /// True, what it has set, or False; where it raised None, or the words of it.
    fn answer(&mut self, at: usize, answer: &mut Reader<'_>) -> Result<(), Malformed> {
        let index = self.selection.get(at).copied().unwrap_or_default() as usize;
        let good = match answer.item()? {
            Item::Bool(good) => good,
            Item::None => {
                self.raised += 1;
                self.lenient
            }
            Item::Text(why) => {
                self.raised += 1;
                self.memory.said = Some(String::from_utf8_lossy(why).into_owned());
                self.lenient
            }
            Item::Dict => {
                loop {
                    match answer.item()? {
                        Item::End => break,
                        Item::Text(name) => self.set(index, name, answer)?,
                        Item::Int(what) => {
                            note(self.batch, index, what, answer)?;
                        }
                        _ => return Err(Malformed),
                    }
                }
                true
            }
            _ => return Err(Malformed),
        };
        if let Some(place) = self.good.get_mut(at) {
            *place = good;
        }
        Ok(())
    }
}

impl Parse for Python {
    fn parse(&self, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
        let mut memory = self.memory(cx);
        memory.said = None;
        let good = vec![false; selection.len()];
        let (lenient, instance, memory_of) = (self.lenient, &*self.instance, &mut memory);
        let mut passing =
            Passing { batch, selection, good, lenient, instance, raised: 0, memory: memory_of, cx };
        self.instance.run(&mut passing);
        if passing.raised > 0 {
            self.instance.note_raised(passing.raised);
        }
        let mut good = passing.good.into_iter();
        selection.retain(|_| good.next().unwrap_or(false));
        cx.work.keep_state(self.asker, memory);
        crate::say_left_out(batch);
    }

    fn said(&self, cx: &mut FilterContext) -> Option<String> {
        let mut memory = self.memory(cx);
        let said = memory.said.take();
        cx.work.keep_state(self.asker, memory);
        said
    }

    /// Nobody knows what a class reads.
    fn reads(&self, demand: &mut Demand) {
        template::python::reads(demand);
    }

    fn writes(&self) -> Writes {
        Writes { stamp: true, pri: true, ..Writes::prefix("") }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_codes};

    #[test]
    fn values_of_all_types_go_there_and_come_back() {
        check(
            "python(class(\"MyParser\") options(\"prefix\" => \"t.\"))",
            "hello",
            "t.len=int:5|t.text=HELLO",
        );
    }

    #[test]
    fn what_is_not_there_is_said_with_the_traceback() {
        check_codes("python(class(\"NoSuchClass\"))", &["A0108"]);
        check_codes("python(class(\"no_such_module.Class\"))", &["A0108"]);
        check_codes("python()", &["A0102"]);
    }
}
