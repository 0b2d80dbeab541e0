//! Blocks of FilterX and messages for them.

use diag::{Diagnostics, SourceMap, Span};
use filter::{FilterContext, FilterEnv, NamedFilters};
use filterx::Block;
use record::{Batch, Context, Record, Stamp, lookup};
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

/// `None` where the text is refused.
pub fn compiled(text: &str) -> Option<Block> {
    let mut sources = SourceMap::new();
    let file = sources.add_root("fuzz.conf", text);
    let env = Env::default();
    let setting = filterx::Setting { env: &env, sources: &sources, is_counted: false };
    let mut diags = Diagnostics::new();
    filterx::compile_text(text, Span::new(file, 0, text.len()), setting, &mut diags)
}

/// Runs a block on messages of this text: which of them go on, and what `$D` of the first is then.
pub fn run(block: &Block, message: &[u8]) -> (Vec<u32>, Option<Vec<u8>>) {
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
    let made = lookup("D").and_then(|name| Some(batch.value(batch.records.first()?, name)?.bytes.to_vec()));
    (selection, made)
}
