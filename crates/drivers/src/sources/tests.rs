//! What holds for every source: no option is read over, and none is asked for that the table does not declare.

use crate::REGISTRY;
use conf_schema::{Component, ReadContext, Settings, sample};
use conf_syntax::{LogItem, ParseOptions, Statement};
use diag::{Diagnostics, render_all};
use engine::driver::{BuildContext, BuildSource};
use std::sync::Arc;

fn built(
    component: &'static Component,
    build: BuildSource,
    value: &dyn Fn(&str) -> Option<String>,
) -> Settings {
    let text = format!("@version: 4.11\nsource s {{ {}; }};\n", sample::call(component, value));
    let parsed =
        conf_syntax::parse_text("t", &text, &ParseOptions { read_files: false, ..ParseOptions::default() });
    let Some(Statement::Source(object)) = parsed.config.items.first() else { panic!("{text}") };
    let Some(LogItem::Call(call)) = object.body.first() else { panic!("{text}") };
    let mut diags = Diagnostics::new();
    let read = ReadContext { sources: &parsed.sources, globals: None };
    let globals = Arc::new(conf_schema::read_options([], REGISTRY.options, &read, &mut diags));
    let read = ReadContext { sources: &parsed.sources, globals: Some(Arc::clone(&globals)) };
    let settings = conf_schema::read(call, component, &read, &mut diags);
    let identity = template::Identity::new("test");
    let cx = BuildContext {
        sources: &parsed.sources,
        scope: &template::NoScope,
        version: (4, 11),
        globals: &globals,
        identity: &identity,
        group: "s",
        index: 0,
    };
    assert!(build(&settings, &cx, &mut diags).is_some(), "{}\n{text}", render_all(&diags, &parsed.sources));
    settings
}

#[test]
fn every_option_of_every_source_is_read() {
    for (component, build) in REGISTRY.sources {
        let address = if component.name.ends_with('6') { "\"::1\"" } else { "127.0.0.1" };
        // Some options mean something only with others: each variant leaves out what another one reads.
        let mut unread: Option<Vec<String>> = None;
        for transport in ["tcp", "udp"] {
            let value = |name: &str| match name {
                "ip" => Some(address.to_owned()),
                "ip-protocol" => Some("4".to_owned()),
                "transport" => Some(transport.to_owned()),
                "keep-alive" => Some("yes".to_owned()),
                _ => None,
            };
            let now = built(component, *build, &value).unread();
            unread = Some(match unread {
                None => now,
                Some(before) => before.into_iter().filter(|name| now.contains(name)).collect(),
            });
        }
        assert_eq!(unread.unwrap_or_default(), Vec::<String>::new(), "{}", component.name);
    }
}

#[test]
fn every_source_of_the_catalogue_can_be_built() {
    let tables = crate::options::ALL.iter().filter(|c| c.context == conf_schema::Context::Source);
    for table in tables {
        assert!(
            REGISTRY.sources.iter().any(|(c, _)| std::ptr::eq(*c, *table)),
            "{} has no builder",
            table.name
        );
    }
}
