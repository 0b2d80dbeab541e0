//! What holds for every destination: no option is read over, and none is asked for that the table does not declare.

use crate::REGISTRY;
use conf_schema::{Component, ReadContext, Settings, sample};
use conf_syntax::{LogItem, ParseOptions, Statement};
use diag::{Diagnostics, render_all};
use engine::driver::{BuildContext, BuildDestination};
use std::sync::Arc;

fn built(
    component: &'static Component,
    build: BuildDestination,
    value: &dyn Fn(&str) -> Option<String>,
) -> Settings {
    let text = format!("@version: 4.11\ndestination d {{ {}; }};\n", sample::call(component, value));
    let parsed =
        conf_syntax::parse_text("t", &text, &ParseOptions { read_files: false, ..ParseOptions::default() });
    let Some(Statement::Destination(object)) = parsed.config.items.first() else { panic!("{text}") };
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
        group: "d",
        index: 0,
    };
    assert!(build(&settings, &cx, &mut diags).is_some(), "{}\n{text}", render_all(&diags, &parsed.sources));
    settings
}

#[test]
fn every_option_of_every_destination_is_read() {
    for (component, build) in REGISTRY.destinations {
        let address = if component.name.ends_with('6') { "\"::1\"" } else { "127.0.0.1" };
        let value = |name: &str| match name {
            "host" | "localip" => Some(address.to_owned()),
            "ip-protocol" => Some("4".to_owned()),
            "mark-mode" => Some("periodical".to_owned()),
            "failover" => Some(format!(
                "servers({address}) failback(tcp-probe-interval(1) successful-probes-required(1))"
            )),
            _ => None,
        };
        let settings = built(component, *build, &value);
        assert_eq!(settings.unread(), Vec::<String>::new(), "{}", component.name);
        assert_eq!(settings.undeclared(), Vec::<String>::new(), "{}", component.name);
    }
}

#[test]
fn every_destination_of_the_catalogue_can_be_built() {
    let tables = crate::options::ALL.iter().filter(|c| c.context == conf_schema::Context::Destination);
    for table in tables {
        assert!(
            REGISTRY.destinations.iter().any(|(c, _)| std::ptr::eq(*c, *table)),
            "{} has no builder",
            table.name
        );
    }
}
