//! Prints what each macro, template function, filter and rewrite operation costs, by its example in the
//! manual: `cargo run --release -p rewrite --example element_cost [PART OF A NAME]`.

use conf_syntax::{FilterExpr, LogItem, ParseOptions, Statement};
use diag::{Diagnostics, SourceMap};
use filter::{Filter, FilterContext, FilterEnv, NamedFilters};
use record::Batch;
use rewrite::Rewrite;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use template::{Condition, MACROS, NoScope, Scope, Template, TemplateOptions, functions, sample};

const MESSAGES: u32 = 256;
const ROUNDS: usize = 200;

struct World {
    filter: Option<FilterExpr>,
    named: NamedFilters,
    options: TemplateOptions,
}

impl Scope for World {
    fn template(&self, _: &str) -> Option<Arc<Template>> {
        Template::compile("program=$PROGRAM", &self.options, &NoScope).ok().map(Arc::new)
    }
    fn condition(&self, text: &str) -> Result<Arc<dyn Condition>, String> {
        filter::compile_condition(text, self)
    }
}

impl FilterEnv for World {
    fn scope(&self) -> &dyn Scope {
        self
    }
    fn template_options(&self) -> &TemplateOptions {
        &self.options
    }
    fn filter(&self, _: &str) -> Option<&FilterExpr> {
        self.filter.as_ref()
    }
    fn named_filters(&self) -> &NamedFilters {
        &self.named
    }
    fn read_file(&self, _: &str) -> std::io::Result<Vec<u8>> {
        Ok(b"admin\nroot\n".to_vec())
    }
}

fn main() {
    let world = World {
        filter: expr("facility(auth)"),
        named: NamedFilters::default(),
        options: TemplateOptions::default(),
    };
    for entry in MACROS {
        template(&world, &format!("${{{}}}", entry.name));
    }
    for function in functions() {
        template(&world, function.example.0);
    }
    let examples = filter::FUNCTIONS.iter().map(|f| f.example);
    for example in examples.chain(filter::OPERATORS.iter().map(|o| o.example)) {
        filters(&world, example.holds);
        filters(&world, example.fails);
    }
    for operation in rewrite::OPERATIONS {
        operations(&world, operation.example.operation);
    }
}

fn wanted(text: &str) -> bool {
    std::env::args().nth(1).is_none_or(|part| text.contains(&part))
}

fn template(world: &World, text: &str) {
    let Ok(template) = Template::compile(text, &world.options, world) else { return };
    let selection: Vec<u32> = (0..MESSAGES).collect();
    let (batch, mut cx) = (batch(), sample::context());
    let (mut out, mut ends) = (Vec::new(), Vec::new());
    measure(text, |_| {
        out.clear();
        ends.clear();
        template.render_selection(&batch, &selection, &mut cx, &mut out, &mut ends);
        black_box(&out);
    });
}

fn expr(text: &str) -> Option<FilterExpr> {
    conf_syntax::parse_filter_text(text, None, &mut SourceMap::new(), &mut Diagnostics::new())
}

fn filters(world: &World, text: &str) {
    let Some(filter) = expr(text).and_then(|e| Filter::compile(&e, world, &mut Diagnostics::new())) else {
        return;
    };
    let (mut cx, mut selection) = (context(), Vec::new());
    measure(text, |batch| {
        selection.clear();
        selection.extend(0..MESSAGES);
        filter.select(batch, &mut selection, &mut cx);
        black_box(&selection);
    });
}

fn operations(world: &World, text: &str) {
    let parsed = conf_syntax::parse_text("t", &format!("rewrite r {{ {text}; }};"), &ParseOptions::default());
    let items = parsed.config.items.iter().flat_map(|item| match item {
        Statement::Rewrite(object) => object.body.as_slice(),
        _ => &[],
    });
    let calls = items.filter_map(|item| if let LogItem::Call(call) = item { Some(call) } else { None });
    let list: Vec<Rewrite> =
        calls.filter_map(|call| Rewrite::compile(call, world, &mut Diagnostics::new())).collect();
    let (mut cx, selection) = (context(), (0..MESSAGES).collect::<Vec<u32>>());
    measure(text, |batch| {
        list.iter().for_each(|rewrite| rewrite.apply(batch, &selection, &mut cx));
        black_box(&batch.records);
    });
}

fn context() -> FilterContext {
    let mut cx = FilterContext::new(template::Identity::new("loghost"));
    cx.begin_batch(sample::now());
    cx
}

fn batch() -> Batch {
    let mut batch = sample::with_values();
    let Some(first) = batch.records.first().copied() else { return batch };
    batch.records.resize(MESSAGES as usize, first);
    batch
}

/// The least of several rounds, each with messages of its own.
fn measure(text: &str, mut run: impl FnMut(&mut Batch)) {
    if !wanted(text) {
        return;
    }
    let best = (0..ROUNDS)
        .map(|_| {
            let mut batch = batch();
            let start = Instant::now();
            run(&mut batch);
            start.elapsed().as_secs_f64() * 1e9 / f64::from(MESSAGES)
        })
        .fold(f64::INFINITY, f64::min);
    println!("{best:8.1} ns  {text}");
}
