//! Calls that python blocks define. A block is run when a call is met that may be one of them, so a
//! configuration whose Python only works on messages is read without any.

use super::Reader;
use super::block::Generator;
use crate::context::Context;
use crate::options::{OldName, Written};
use crate::scripts::{Block, Scripts};
use diag::{Diagnostic, Span};

/// A block that says this may define calls wherever one can stand, under names of options too.
const DEFINES: &str = "config_generator";

/// The python blocks of a configuration, and what runs them.
#[derive(Default)]
pub struct Blocks {
    runner: Option<Box<dyn Scripts>>,
    /// Not yet run.
    waiting: Vec<(Block, Span)>,
}

impl Reader<'_> {
    /// A python block of the top level was read: its text, and where that stands.
    pub fn note_script(&mut self, text: &str, inner: Span, block: Span) {
        if self.options.scripts.is_some() {
            let place = self.sources.locate(inner);
            let text = text.to_owned();
            self.scripts.waiting.push((Block { file: place.file, line: place.line, text }, block));
        }
    }

    /// Runs the blocks that were read so far, when the call that begins with this word may be theirs.
    pub(super) fn run_scripts_for(&mut self, word: &str) {
        if self.scripts.waiting.is_empty() || !self.may_be_defined(word) {
            return;
        }
        let Some(mut runner) = self.scripts_runner() else { return };
        for (block, at) in std::mem::take(&mut self.scripts.waiting) {
            match runner.run(&block) {
                Ok(defined) => {
                    for (context, name) in defined {
                        self.add_generator(&context, &name, Generator::Script);
                    }
                }
                Err(trace) => {
                    let text = format!("the python block cannot be used: {}", trace.trim_end());
                    self.diags.push(Diagnostic::error("P0046", text, at));
                }
            }
        }
        self.scripts.runner = Some(runner);
    }

    fn may_be_defined(&mut self, word: &str) -> bool {
        let Some(context) = self.context.name() else { return false };
        let mark = self.mark();
        self.skip_blank();
        let is_call = self.peek() == Some(b'(');
        self.rewind(mark);
        if !is_call {
            return false;
        }
        if self.scripts.waiting.iter().any(|(block, _)| block.text.contains(DEFINES)) {
            return true;
        }
        let has_names_of_its_own = matches!(
            self.context,
            Context::Root | Context::Source | Context::Destination | Context::Parser | Context::Rewrite
        );
        if !has_names_of_its_own || self.generator(word).is_some() {
            return false;
        }
        let Some(runner) = self.scripts_runner() else { return false };
        let knows = runner.knows(context, word);
        self.scripts.runner = Some(runner);
        !knows
    }

    fn scripts_runner(&mut self) -> Option<Box<dyn Scripts>> {
        let made = || self.options.scripts.as_ref().map(|new| (new.0)());
        self.scripts.runner.take().or_else(made)
    }

    /// The text that somebody makes for a call, or None with the reason reported.
    pub(super) fn run_made(
        &mut self,
        generator: &Generator,
        word: &str,
        arguments: &[(String, String)],
        call: Span,
    ) -> Option<String> {
        match generator {
            // Its text is here already.
            Generator::Block(_) => None,
            Generator::Confgen { exec } => self.run_confgen(word, exec, arguments, call),
            Generator::Script => self.run_script(word, arguments, call),
            Generator::Old(old) => self.write_anew(*old, arguments, call),
        }
    }

    fn write_anew(&mut self, old: OldName, arguments: &[(String, String)], call: Span) -> Option<String> {
        let name = old.name;
        match (old.write)(arguments) {
            Ok(Written { text, instead }) => {
                self.diags.push(Diagnostic::warning(
                    "P0048",
                    format!("`{name}()` is an old name: {instead}"),
                    call,
                ));
                Some(text)
            }
            Err(why) => {
                self.diags.push(
                    Diagnostic::error("P0048", format!("`{name}()` cannot be written anew"), call).help(why),
                );
                None
            }
        }
    }

    fn run_script(&mut self, word: &str, arguments: &[(String, String)], call: Span) -> Option<String> {
        let context = self.context.name()?;
        let mut runner = self.scripts_runner()?;
        let made = runner.generate(context, word, arguments);
        self.scripts.runner = Some(runner);
        let reason = match made {
            Ok(text) if text.len() <= self.options.limits.expanded_bytes => return Some(text),
            Ok(_) => format!("its text is larger than {} bytes", self.options.limits.expanded_bytes),
            Err(trace) => trace,
        };
        let text = format!("the Python function of `{word}` failed: {}", reason.trim_end());
        self.diags.push(Diagnostic::error("P0046", text, call));
        None
    }
}
