//! The examples of the manual: filter functions, operators, and the template functions, whose conditions are
//! filters.

use crate::testing::World;
use crate::{
    Example, FUNCTIONS, Filter, FilterContext, FilterEnv, NamedFilters, OPERATORS, compile_condition,
};
use conf_syntax::FilterExpr;
use diag::{Diagnostics, SourceMap};
use std::sync::Arc;
use template::{Condition, Msg, NoScope, Scope, Template, TemplateOptions, functions, sample};

/// What the pages of the manual say there is: a filter, a template, a list.
struct Manual(World);

fn manual() -> Manual {
    let mut world = World::new("filter f_auth { facility(auth); };", (4, 11));
    world.files.insert("/etc/penstock/users.list".to_owned(), b"admin\nroot\n".to_vec());
    Manual(world)
}

impl Scope for Manual {
    fn template(&self, name: &str) -> Option<Arc<Template>> {
        let text = "program=$PROGRAM";
        let made = Template::compile(text, &TemplateOptions::default(), &NoScope).expect("a template");
        (name == "t_program").then(|| Arc::new(made))
    }

    fn condition(&self, text: &str) -> Result<Arc<dyn Condition>, String> {
        compile_condition(text, self)
    }
}

impl FilterEnv for Manual {
    fn scope(&self) -> &dyn Scope {
        self
    }
    fn template_options(&self) -> &TemplateOptions {
        self.0.template_options()
    }
    fn filter(&self, name: &str) -> Option<&FilterExpr> {
        self.0.filter_statement(name)
    }
    fn named_filters(&self) -> &NamedFilters {
        self.0.named_filters()
    }
    fn read_file(&self, path: &str) -> std::io::Result<Vec<u8>> {
        self.0.read_file(path)
    }
}

fn holds(text: &str) -> bool {
    let mut diags = Diagnostics::new();
    let expr = conf_syntax::parse_filter_text(text, None, &mut SourceMap::new(), &mut diags);
    let expr = expr.unwrap_or_else(|| panic!("{text}: {diags:?}"));
    let filter = Filter::compile(&expr, &manual(), &mut diags);
    let filter = filter.unwrap_or_else(|| panic!("{text}: {diags:?}"));
    assert_eq!(diags.iter().count(), 0, "{text}: {diags:?}");
    let mut cx = FilterContext::new(template::Identity::new("loghost"));
    cx.begin_batch(sample::now());
    filter.matches(&mut sample::with_values(), 0, &mut cx)
}

fn check(name: &str, example: Example) {
    let Example { holds: yes, fails: no } = example;
    assert!(yes.contains(name) && no.contains(name), "{name}");
    assert!(holds(yes), "{name}: {yes}");
    assert!(!holds(no), "{name}: {no}");
}

#[test]
fn every_filter_function_does_what_the_manual_says() {
    for function in FUNCTIONS {
        check(function.name, function.example);
        assert!(!function.help.is_empty() && !function.cost.note.is_empty(), "{}", function.name);
    }
}

#[test]
fn every_operator_does_what_the_manual_says() {
    for operator in OPERATORS {
        check(operator.name, operator.example);
        assert!(!operator.help.is_empty() && !operator.usage.is_empty(), "{}", operator.name);
    }
}

#[test]
fn every_template_function_does_what_the_manual_says() {
    let manual = manual();
    for function in functions() {
        let (example, result) = function.example;
        assert!(!function.help.is_empty() && !function.cost.note.is_empty(), "{}", function.name);
        let template = Template::compile(example, manual.template_options(), &manual);
        // An entry takes a key, and is never the same twice: the end-to-end tests open what they seal. Those
        // of Python run processes.
        if matches!(function.name, "slog" | "python") {
            assert!(template.is_err_and(|e| e.message.contains("cannot be used here")));
            continue;
        }
        let template = template.unwrap_or_else(|e| panic!("{example}: {e}"));
        let batch = sample::batch();
        let mut out = Vec::new();
        template.render(Msg { batch: &batch, record: &batch.records[0] }, &mut sample::context(), &mut out);
        assert_eq!(String::from_utf8_lossy(&out), result, "{example}");
        assert!(example.contains(&format!("$({}", function.name)), "{example}");
    }
}
