//! No template function prints more of its arguments than a small multiple of them, or it is given up. The
//! test goes over all functions there are, so a new one is covered.

use super::*;

/// Bytes printed for each byte of an argument.
const TIMES: usize = 16;
const LEAST: usize = 160 << 10;
const TEXT_BYTES: usize = 2 << 10;

/// These take one text once for each part of another.
const PRODUCTS: &[&str] = &["implode", "replace-delimiter", "map"];

const PIECES: &[&str] =
    &["a", ",", "\"", "\\", "\u{1}", "\n", "ü", "\u{fffd}", "a b,", "/", "'x',", "9", "%"];

fn message(text: &str) -> Batch {
    let mut batch = batch();
    batch.records[0].message = batch.append(text.as_bytes());
    for name in ["user", "k", ".SDATA.a.b"] {
        batch.set(0, intern(name).expect("room"), text.as_bytes(), ValueType::String);
    }
    batch
}

/// The function with the message as every argument, beside its options and what cannot be a macro.
fn calls(function: &FunctionInfo) -> Vec<String> {
    let name = function.name;
    let mut calls: Vec<String> = (0..5).map(|count| format!("$({name}{})", " $MSG".repeat(count))).collect();
    for fixed in ["yes", "a", "1", "','", "'%Y'", "'<$_$MSG>'", "name=$MSG", "--scope everything", "--key *"]
    {
        calls.extend((0..3).map(|count| format!("$({name} {fixed}{})", " $MSG".repeat(count))));
    }
    let words = function.example.0.trim_end_matches(')').split(' ').collect::<Vec<_>>();
    for at in 1..words.len() {
        let mut words = words.clone();
        words[at] = "$MSG";
        calls.push(format!("{})", words.join(" ")));
    }
    calls
}

#[test]
fn no_function_prints_much_more_than_it_is_given() {
    let mut tried = Vec::new();
    for piece in PIECES {
        let text = piece.repeat(TEXT_BYTES / piece.len());
        let batch = message(&text);
        for function in functions() {
            for call in calls(function) {
                let Ok(template) = Template::compile(&call, &TemplateOptions::default(), &scope()) else {
                    continue;
                };
                let mut cx = context();
                let mut out = b"before".to_vec();
                template.render(Msg { batch: &batch, record: &batch.records[0] }, &mut cx, &mut out);
                assert!(out.starts_with(b"before"));
                let copies = 1 + call.matches('$').count() + 4 * usize::from(call.contains("--"));
                let most = match PRODUCTS.contains(&function.name) {
                    true => RENDERED_BYTES_MAX,
                    false => TIMES * copies * text.len() + LEAST,
                };
                assert!(out.len() <= most, "{call} of {piece:?}...: {} bytes", out.len());
                if call.contains("$MSG") {
                    tried.push(function.name);
                }
            }
        }
    }
    // What takes no text of a message at all.
    let none = [
        "slog",
        "template",
        "tag",
        "tags-head",
        "uuid",
        "context-length",
        "format-gelf",
        "format-cim",
        "format-ewmm",
        // Runs processes: what it prints is bounded by what a process may answer.
        "python",
    ];
    for function in functions() {
        let covered = tried.contains(&function.name) || none.contains(&function.name);
        assert!(
            covered || function.arity.1 == 0 || calls(function).is_empty(),
            "$({}) was not tried",
            function.name
        );
    }
}

#[test]
fn what_would_be_too_large_is_given_up_and_its_neighbours_are_not() {
    let mut batch = message(&"a,".repeat(16 << 10));
    let (large, small) = (batch.records[0].message, batch.append(b"x"));
    let record = batch.records[0];
    for (origin, message) in [(1, small), (2, large), (3, small)] {
        let mut copy = record;
        (copy.origin, copy.message) = (origin, message);
        batch.records.push(copy);
    }
    for text in [
        "$(map '$MSG' $MSG)",
        "<$(implode $MSG $MSG)>",
        "$(replace-delimiter , $MSG $MSG)",
        "$(echo $(echo $(map '$MSG' $MSG)))",
        "$(map '$(map $MSG $MSG)' $MSG)",
        "$(format-json a=x b=\"$(map '$MSG' $MSG)\")",
    ] {
        let template = Template::compile(text, &TemplateOptions::default(), &scope()).expect("compiles");
        let (mut cx, mut out, mut ends) = (context(), Vec::new(), Vec::new());
        template.render_selection(&batch, &[0, 1, 2, 3], &mut cx, &mut out, &mut ends);
        assert_eq!(cx.oversized, [0, 2], "{text}");
        let [first, second, third, fourth] = ends[..] else { panic!("{ends:?}") };
        assert!(first == 0 && second > 0 && third == second && fourth == 2 * second, "{text}: {ends:?}");
        assert!(out.capacity() < RENDERED_BYTES_MAX, "{text}: {} bytes are kept", out.capacity());
        // The next batch begins anew.
        template.render_selection(&batch, &[1], &mut cx, &mut out, &mut ends);
        assert!(cx.oversized.is_empty());
    }
}

/// A condition that counts how often it was asked.
#[derive(Default)]
struct Counted(std::sync::atomic::AtomicUsize);

impl Condition for Counted {
    fn holds(&self, _msg: Msg<'_>, _cx: &mut RenderContext) -> bool {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        true
    }

    fn reads(&self, _demand: &mut record::Demand) {}
}

/// Knows only that condition.
struct CountedScope(Arc<Counted>);

impl Scope for CountedScope {
    fn condition(&self, _text: &str) -> Result<Arc<dyn Condition>, String> {
        Ok(Arc::clone(&self.0) as Arc<dyn Condition>)
    }
}

#[test]
fn items_of_a_text_that_is_given_up_are_not_gone_through() {
    const ITEMS: usize = 16 << 10;
    let counted = Arc::new(Counted::default());
    let scope = CountedScope(Arc::clone(&counted));
    let opts = TemplateOptions::default();
    let text = "$(map '$(if yes $MSG $MSG)' $MSG)";
    let template = Template::compile(text, &opts, &scope).expect("compiles");
    let batch = message(&"a,".repeat(ITEMS));
    let (mut cx, mut out) = (context(), Vec::new());
    template.render(Msg { batch: &batch, record: &batch.records[0] }, &mut cx, &mut out);
    assert!(out.is_empty() && cx.gave_up());
    let asked = counted.0.load(std::sync::atomic::Ordering::Relaxed);
    assert!(asked > 100 && asked < ITEMS / 2, "{asked} items");
}

#[test]
fn templates_in_templates_do_not_multiply_without_end() {
    let mut scope = scope();
    let names: Vec<&'static str> = (0..28).map(|n| &*format!("t{n}").leak()).collect();
    let opts = TemplateOptions::default();
    let first = Template::compile("$MSG$MSG", &opts, &NoScope).expect("compiles");
    scope.templates.insert(names[0], Arc::new(first));
    for pair in names.windows(2) {
        let text = format!("$(template {0})$(template {0})", pair[0]);
        let made = Template::compile(&text, &opts, &scope).expect("compiles");
        scope.templates.insert(pair[1], Arc::new(made));
    }
    let last = scope.templates[names[27]].clone();
    let batch = message(&"x".repeat(64 << 10));
    let mut out = Vec::new();
    let mut cx = context();
    last.render(Msg { batch: &batch, record: &batch.records[0] }, &mut cx, &mut out);
    assert!(out.is_empty() && cx.gave_up());
}
