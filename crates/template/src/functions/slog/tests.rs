use crate::{NoScope, Scope, Template, TemplateOptions, sample, seal};
use slog::{Key, Position, Verifier, create_key, read_mac};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

fn first() -> Position {
    Position::of_key(Key::random().expect("random numbers"))
}

/// A folder with a key file, gone with the test.
struct Keys(PathBuf);

impl Keys {
    fn new(name: &str, first: &Position) -> Keys {
        let folder = std::env::temp_dir().join(format!("penstock-slog-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        create_key(&folder.join("host.key"), first).expect("written");
        Keys(folder)
    }

    fn call(&self, rest: &str) -> String {
        format!("$(slog -k {0}/host.key --mac-file={0}/mac.dat {rest})", self.0.display())
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[derive(Default)]
struct Named(HashMap<&'static str, Arc<Template>>);

impl Scope for Named {
    fn template(&self, name: &str) -> Option<Arc<Template>> {
        self.0.get(name).cloned()
    }

    fn function(&self, name: &str) -> Option<Arc<Template>> {
        self.0.get(name).cloned()
    }
}

fn sealing() -> TemplateOptions {
    TemplateOptions { may_seal: true, ..TemplateOptions::default() }
}

fn error(text: &str, options: &TemplateOptions, scope: &dyn Scope) -> (String, String) {
    let error = Template::compile(text, options, scope).expect_err(text);
    (error.message, error.help.unwrap_or_default())
}

#[test]
fn messages_are_sealed_in_the_order_in_which_they_leave() {
    let first = first();
    let keys = Keys::new("order", &first);
    let template = Template::compile(&(keys.call("$PROGRAM:$MSG") + "\n"), &sealing(), &NoScope);
    let template = template.expect("compiles");
    assert_eq!(template.chains().len(), 1);
    let (batch, mut cx) = (sample::batch(), sample::context());
    let (mut early, mut late, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    template.render_selection(&batch, &[0], &mut cx, &mut late, &mut ends);
    template.render_selection(&batch, &[0], &mut cx, &mut early, &mut Vec::new());
    seal(&mut early, &ends);
    seal(&mut late, &ends);
    assert!(early.starts_with(b"AAAAAAAAAAA=:") && late.starts_with(b"AQAAAAAAAAA=:"));
    let mut verifier = Verifier::whole(&first, read_mac(&keys.0.join("mac.dat")).expect("a MAC"));
    for line in [early, late] {
        let mut text = Vec::new();
        verifier.line(line.trim_ascii_end(), &mut text);
        assert_eq!(String::from_utf8_lossy(&text), "app:hello world");
    }
    assert!(verifier.finish().is_clean());
}

#[test]
fn only_where_entries_stay_whole() {
    let keys = Keys::new("where", &first());
    let entry = keys.call("$MSG");
    let named = Arc::new(Template::compile(&entry, &sealing(), &NoScope).expect("compiles"));
    let scope = Named(HashMap::from([("t", Arc::clone(&named)), ("f", named)]));
    let no = TemplateOptions::default();
    for text in [entry.as_str(), "$(template t)", "$(f)", "<$(template t)>"] {
        assert!(error(text, &no, &scope).0.contains("$(slog) cannot be used here"), "{text}");
        let made = Template::compile(text, &sealing(), &scope).expect(text);
        assert_eq!(made.chains().len(), 1, "{text}");
    }
    for text in [
        format!("$(uppercase {entry})"),
        format!("$(if yes {entry} x)"),
        format!("$(format-json a={entry})"),
        "$(echo $(template t))".to_owned(),
        "$(base64-encode $(f))".to_owned(),
        format!("{entry}@1"),
        keys.call(&entry),
    ] {
        let (message, _) = error(&text, &sealing(), &scope);
        assert!(
            message.contains("$(slog) cannot be used here") || message.contains("filter expressions"),
            "{text}: {message}"
        );
    }
    // By name it is the same.
    assert!(Template::named_or_text("t", &no, &scope).is_err());
    assert!(Template::named_or_text("t", &sealing(), &scope).is_ok());
}

#[test]
fn what_is_wrong_is_said_with_its_remedy() {
    let keys = Keys::new("wrong", &first());
    let wrong = |text: &str, message: &str, help: &str| {
        let found = error(text, &sealing(), &NoScope);
        assert!(found.0.contains(message) && found.1.contains(help), "{text}: {found:?}");
    };
    wrong("$(slog $MSG)", "needs --key-file", "usage:");
    wrong("$(slog -k /k $MSG)", "needs --mac-file", "usage:");
    wrong("$(slog -k '' -m /m $MSG)", "needs --key-file", "usage:");
    wrong("$(slog -k /no/such/host.key -m /m $MSG)", "/no/such/host.key: No such file", "slogkey -d");
    wrong(&keys.call("$MSG $PID"), "takes 1 arguments, not 2", "usage:");
    wrong(&keys.call(""), "takes 1 arguments, not 0", "usage:");
    std::fs::write(keys.0.join("host.key"), "rubbish").expect("written");
    wrong(&keys.call("$MSG"), "is not a key file", "slogkey -c");
}
