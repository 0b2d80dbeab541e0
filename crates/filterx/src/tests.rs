//! The language against what AxoSyslog 4.27 gives, in expressions and how `repr()` shows their values.

mod arguments;
mod control;
mod deciding;
mod details;
mod examples;
mod grammar;
mod language;
mod models;
mod random;
mod scanners;

use crate::ast::Expr;
use crate::{Outcome, Setting, compile_text, grammar as syntax};
use diag::{Diagnostics, SourceMap, Span};
use filter::{FilterContext, FilterEnv, NamedFilters};
use record::{Batch, lookup};
use std::path::{Path, PathBuf};
use template::{NoScope, Scope, TemplateOptions, sample};

#[derive(Default)]
pub struct Env {
    options: TemplateOptions,
    filters: NamedFilters,
}

impl FilterEnv for Env {
    fn scope(&self) -> &dyn Scope {
        &NoScope
    }

    fn template_options(&self) -> &TemplateOptions {
        &self.options
    }

    fn named_filters(&self) -> &NamedFilters {
        &self.filters
    }

    /// Files of examples stand beside the function that they are of.
    fn data_file(&self, path: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("src/functions/protobuf").join(path)
    }
}

/// The findings of a block's text.
pub fn findings(text: &str) -> Vec<String> {
    compiled(text).err().unwrap_or_default()
}

fn compiled(text: &str) -> Result<crate::Block, Vec<String>> {
    compiled_as(text, false)
}

fn compiled_as(text: &str, is_counted: bool) -> Result<crate::Block, Vec<String>> {
    let mut sources = SourceMap::new();
    let file = sources.add_root("test.conf", text);
    let mut diags = Diagnostics::new();
    let env = Env::default();
    let setting = Setting { env: &env, sources: &sources, is_counted };
    let block = compile_text(text, Span::new(file, 0, text.len()), setting, &mut diags);
    block.ok_or_else(|| diags.iter().map(|d| format!("{} {}", d.code, d.message)).collect())
}

/// Runs blocks one after another on the manual's message.
pub fn run(texts: &[&str]) -> Result<(Batch, Outcome), String> {
    let mut batch = sample::with_values();
    let mut cx = FilterContext::new(template::Identity::new("loghost"));
    cx.begin_batch(sample::now());
    cx.render = sample::context();
    for text in texts {
        let block = compiled(text).map_err(|all| format!("config: {}", all.join("; ")))?;
        let judgement = block.judge(&mut batch, 0, &mut cx);
        match judgement.outcome {
            Outcome::Failed => {
                return Err(format!("error: {}", judgement.report.unwrap_or_default().message));
            }
            Outcome::Dropped => return Ok((batch, Outcome::Dropped)),
            Outcome::Passed => {}
        }
    }
    Ok((batch, Outcome::Passed))
}

/// The value of a message as text.
pub fn value(batch: &Batch, name: &str) -> Option<String> {
    let name = lookup(name)?;
    let value = batch.value(batch.records.first()?, name)?;
    Some(String::from_utf8_lossy(value.bytes).into_owned())
}

/// How `repr()` shows the last expression of a block.
pub fn shown(text: &str) -> String {
    let (statements, _) = syntax::parse(&format!("{text};"));
    let Some(Expr { at, .. }) = statements.last() else { return "nothing".to_owned() };
    let (before, last) = text.split_at(at.start as usize);
    match run(&[&format!("{before} $FILTERX_TEST = repr({last});")]) {
        Ok((batch, _)) => value(&batch, "FILTERX_TEST").unwrap_or_default(),
        Err(error) => error,
    }
}

pub fn check(text: &str, expected: &str) {
    assert_eq!(shown(text), expected, "{text}");
}
