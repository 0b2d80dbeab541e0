//! Fuzzes FilterX: any text compiles or is refused, and what compiles runs on any message without a
//! panic. A zero byte parts the block from the message.
#![no_main]

use diag::{Diagnostics, SourceMap, Span};
use filter::{FilterContext, FilterEnv, NamedFilters};
use record::{Batch, Context, Record, Stamp};
use std::sync::Arc;
use template::{Identity, NoScope, Scope, TemplateOptions};

#[derive(Default)]
struct Env {
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
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let mut parts = input.splitn(2, |b| *b == 0);
    let text = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let message = parts.next().unwrap_or_default();
    let mut sources = SourceMap::new();
    let file = sources.add_root("fuzz.conf", text.as_str());
    let env = Env::default();
    let setting = filterx::Setting { env: &env, sources: &sources };
    let mut diags = Diagnostics::new();
    let at = Span::new(file, 0, text.len());
    let Some(block) = filterx::compile_text(&text, at, setting, &mut diags) else { return };
    let context = Arc::new(Context::local("s_fuzz", "here", "local+file"));
    let mut batch = Batch::new(Vec::new(), context, Stamp::default());
    for _ in 0..2 {
        let span = batch.append(message);
        let mut record = Record::new(span);
        record.message = span.set();
        batch.records.push(record);
    }
    let mut cx = FilterContext::new(Identity::new("here"));
    let (mut selection, mut dropped) = (vec![0, 1], Vec::new());
    block.run(&mut batch, &mut selection, &mut cx, &mut dropped);
    assert!(selection.len() + dropped.len() <= 2);
});
