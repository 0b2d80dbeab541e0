//! Every table: complete, without doubles, its example good, its manual page up to date.

use std::collections::BTreeSet;
use std::path::PathBuf;

use conf_schema::{
    Component, Context, Kind, OptionSpec, ReadContext, Settings, State, Table, manual, read, read_options,
    sample,
};
use conf_syntax::{Call, LogItem, ParseOptions, Parsed, Statement};
use diag::{Diagnostics, render_all};

use crate::registry::CATALOGUE;

fn parse(component: &Component, call: &str) -> Parsed {
    let body = match component.context {
        Context::Source => format!("source s {{ {call}; }};"),
        Context::Destination => format!("destination d {{ {call}; }};"),
        Context::Parser => format!("parser p {{ {call}; }};"),
        Context::Rewrite => format!("rewrite r {{ {call}; }};"),
        Context::LogPath => format!("log {{ {call}; }};"),
        Context::Options if call.starts_with("options") => call.to_string(),
        Context::Options => format!("options {{ {call} }};"),
    };
    let options = ParseOptions { read_files: false, ..ParseOptions::default() };
    conf_syntax::parse_text("test.conf", &format!("@version: 4.11\n{body}\n"), &options)
}

fn calls(parsed: &Parsed) -> Vec<&Call> {
    let mut calls = Vec::new();
    for item in &parsed.config.items {
        let body = match item {
            Statement::Source(o)
            | Statement::Destination(o)
            | Statement::Parser(o)
            | Statement::Rewrite(o) => &o.body,
            Statement::Log(l) => &l.items,
            Statement::Options(o) => {
                calls.extend(&o.options);
                continue;
            }
            _ => continue,
        };
        calls.extend(body.iter().filter_map(|i| match i {
            LogItem::Call(c) | LogItem::Parallelize(c) => Some(c),
            _ => None,
        }));
    }
    calls
}

/// The settings and everything that was found.
fn read_text(component: &'static Component, call: &str) -> (Option<Settings>, String) {
    let parsed = parse(component, call);
    let mut diags = Diagnostics::new();
    let cx = ReadContext { sources: &parsed.sources, globals: None };
    let settings = match calls(&parsed).as_slice() {
        all if component.context == Context::Options => {
            Some(read_options(all.iter().copied(), component, &cx, &mut diags))
        }
        [call] => Some(read(call, component, &cx, &mut diags)),
        _ => None,
    };
    diags.extend(parsed.diagnostics.clone());
    (settings, render_all(&diags, &parsed.sources))
}

fn each_option(table: &Table, visit: &mut dyn FnMut(&'static OptionSpec)) {
    for option in table.options() {
        visit(option);
        if let Kind::Block(groups) = option.kind {
            each_option(&Table::block(option.name, groups), visit);
        }
    }
}

#[test]
fn every_option_has_help_and_no_name_stands_twice() {
    for component in CATALOGUE.components {
        let mut names = BTreeSet::new();
        let table = component.table();
        for option in table.options() {
            for name in option.names().chain(option.old_names.iter().copied()) {
                assert!(names.insert(name), "{}: `{name}` stands twice", component.name);
                assert!(!name.contains('_'), "{}: `{name}` is spelled with `-`", component.name);
            }
        }
        for (name, _) in component.not_yet {
            assert!(names.insert(name), "{}: `{name}` stands twice", component.name);
        }
        for (name, _) in component.presets {
            assert!(table.option(name).is_some(), "{}: preset of unknown `{name}`", component.name);
        }
        each_option(&table, &mut |option| {
            if option.state == State::Supported {
                assert!(
                    option.help.ends_with(['.', '?']) || option.help.ends_with(")`."),
                    "{}: help",
                    option.name
                );
            }
            for word in option.kind.words().iter().filter(|w| w.state.is_read()) {
                assert!(word.help.len() > 3, "{}({}): help", option.name, word.name);
                for other in word.undoes {
                    assert!(option.kind.words().iter().any(|w| w.name == *other), "{other}");
                }
            }
        });
        assert!(component.summary.ends_with('.'), "{}: summary", component.name);
    }
}

#[test]
fn presets_are_words_the_option_knows_and_globals_that_exist() {
    use conf_schema::Preset;
    let globals = super::OPTIONS.table();
    for component in CATALOGUE.components {
        let table = component.table();
        for option in table.options() {
            match table.preset(option) {
                Preset::Global(name) => {
                    let global =
                        globals.option(name).unwrap_or_else(|| panic!("{}: no global {name}", option.name));
                    let same = std::mem::discriminant(&global.kind) == std::mem::discriminant(&option.kind);
                    assert!(same, "{} and global {name} differ in type", option.name);
                }
                Preset::Text(word) if !option.kind.words().is_empty() => {
                    assert!(option.kind.words().iter().any(|w| w.name == word), "{}: {word}", option.name);
                }
                _ => {}
            }
        }
    }
}

#[test]
fn every_example_reads_without_findings() {
    for component in CATALOGUE.components {
        let (settings, found) = read_text(component, component.example);
        assert!(settings.is_some(), "{}: the example is one call", component.name);
        assert_eq!(found, "", "{}: {}", component.name, component.example);
    }
}

#[test]
fn every_option_reads_with_a_good_value() {
    for component in CATALOGUE.components {
        let text = sample::call(component, &|_| None);
        let (settings, found) = read_text(component, &text);
        assert_eq!(found, "", "{text}");
        let settings = settings.unwrap_or_else(|| panic!("{text}"));
        for option in component.table().options().filter(|o| o.state == State::Supported) {
            assert!(settings.is_set(option.name), "{}: {} of {text}", component.name, option.name);
        }
    }
}

#[test]
fn every_parser_stands_in_the_list() {
    for (component, _) in parsers::ALL {
        assert!(CATALOGUE.components.iter().any(|c| std::ptr::eq(*c, *component)), "{}", component.name);
    }
}

#[test]
fn nothing_is_both_there_and_not_available() {
    let mut seen = BTreeSet::new();
    for missing in CATALOGUE.unavailable {
        assert!(CATALOGUE.find(missing.context, missing.name).is_none(), "{}", missing.name);
        assert!(seen.insert((missing.context, missing.name)), "{} stands twice", missing.name);
    }
}

#[test]
fn the_distribution_s_options_read_with_warnings_only() {
    let text = "options { chain_hostnames(off); flush_lines(0); use_dns(no); use_fqdn(no); dns_cache(no);\
                owner(\"root\"); group(\"adm\"); perm(0640); stats_freq(0); bad_hostname(\"^gconfd$\"); };";
    let (settings, found) = read_text(&super::OPTIONS, text);
    let settings = settings.unwrap();
    assert!(!found.contains("error[") && !found.contains("warning["), "{found}");
    assert_eq!(settings.perm("perm"), Some(conf_schema::Change::Set(0o640)));
    assert_eq!(settings.owner("group"), Some(conf_schema::Change::Set("adm")));
    assert_eq!(settings.text("bad-hostname"), Some("^gconfd$"));
}

#[test]
fn forms_of_distributions_read_without_findings() {
    for (context, call) in [
        (Context::Destination, "pipe(\"/dev/tty10\" owner(-1) group(-1) perm(-1))"),
        (Context::Destination, "file(\"/var/log/news/news.crit\" owner(news) group(news))"),
        (
            Context::Destination,
            "file(\"/var/log/$HOST/x\" owner(\"root\") group(\"adm\") perm(0640) dir_perm(0750))",
        ),
        (Context::Destination, "udp(\"10.10.10.10\" port(514))"),
        (Context::Destination, "usertty(\"root\")"),
        (Context::Destination, "program(\"/usr/bin/logger\" template(t_plain) flush_lines(1))"),
        (Context::Source, "unix-dgram(\"/var/lib/named/dev/log\")"),
        (Context::Source, "udp(ip(\"0.0.0.0\") port(514))"),
        (Context::Source, "network(ip(0.0.0.0) transport(\"UDP\") port(514) flags(no-parse, validate_utf8))"),
        (
            Context::Source,
            "syslog(transport(tcp) port(\"601\") so_rcvbuf(10MiB) max-connections(5000) log_iw_size(500000))",
        ),
        (Context::Source, "internal()"),
    ] {
        let name = call.split('(').next().unwrap_or_default();
        let component = CATALOGUE.find(context, name).unwrap_or_else(|| panic!("{name}"));
        let (settings, found) = read_text(component, call);
        assert!(settings.is_some(), "{call}");
        assert_eq!(found, "", "{call}");
    }
}

/// `UPDATE_DOCS=1` rewrites the pages instead.
#[test]
fn the_manual_is_up_to_date() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/manual");
    let files = manual::files(&CATALOGUE, &super::elements::pages());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        for (name, text) in &files {
            std::fs::write(folder.join(name), text).unwrap();
        }
    }
    for (name, text) in &files {
        let checked_in = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(
            checked_in == *text,
            "docs/manual/{name} is out of date: UPDATE_DOCS=1 cargo test -p drivers"
        );
    }
    let names: BTreeSet<String> = files.into_iter().map(|(name, _)| name).collect();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(names.contains(&name), "docs/manual/{name} belongs to no component: remove it");
    }
}

mod limits;
