//! The configuration library of the distribution's syslog-ng, and its default configuration, read without an
//! error.
//!
//! Runs when they are there: PENSTOCK_SCL_DIR, an installed package, or one unpacked into
//! target/peers/syslog-ng.

use std::path::{Path, PathBuf};

use conf_syntax::{LogItem, ParseOptions, Parsed, Statement, parse_file, parse_text};

/// The scl folder and the folder of the default configuration.
fn folders() -> Option<(PathBuf, Option<PathBuf>)> {
    if let Some(dir) = std::env::var_os("PENSTOCK_SCL_DIR") {
        return Some((PathBuf::from(dir), None));
    }
    let unpacked = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers/syslog-ng");
    [Path::new("/"), &unpacked].into_iter().find_map(|root| {
        let scl = root.join("usr/share/syslog-ng/include/scl");
        let etc = root.join("etc/syslog-ng");
        scl.is_dir().then(|| (scl, etc.join("syslog-ng.conf").is_file().then_some(etc)))
    })
}

fn options(scl: &Path, etc: Option<&Path>) -> ParseOptions {
    let mut options = ParseOptions { run_commands: true, ..ParseOptions::default() };
    options.include_path.extend(etc.map(Path::to_path_buf));
    options.include_path.extend(scl.parent().map(Path::to_path_buf));
    options.globals.insert("scl-root".into(), scl.display().to_string());
    options.globals.insert("module-install-dir".into(), "/usr/lib/syslog-ng".into());
    options
}

fn errors(parsed: &Parsed) -> String {
    diag::render_all(&parsed.diagnostics, &parsed.sources)
}

#[test]
fn the_default_configuration_is_read_whole() {
    let Some((scl, Some(etc))) = folders() else {
        eprintln!("skipped: no syslog-ng package unpacked");
        return;
    };
    let parsed = parse_file(&etc.join("syslog-ng.conf"), &options(&scl, Some(&etc)));
    assert!(!parsed.diagnostics.has_errors(), "{}", errors(&parsed));
    let count = |f: fn(&Statement) -> bool| parsed.config.items.iter().filter(|s| f(s)).count();
    assert!(count(|s| matches!(s, Statement::Destination(_))) > 15);
    assert!(count(|s| matches!(s, Statement::Log(_))) > 10);
    assert!(parsed.config.files.len() > 30, "{:?}", parsed.config.files);

    // What it is preprocessed into means the same.
    let again = parse_text("preprocessed", &parsed.config.preprocessed, &ParseOptions::default());
    assert!(!again.diagnostics.has_errors(), "{}", errors(&again));
    assert_eq!(again.config.items.len(), parsed.config.items.len());
}

#[test]
fn every_file_and_every_block_is_read_without_an_error() {
    let Some((scl, _)) = folders() else {
        eprintln!("skipped: no syslog-ng package unpacked");
        return;
    };
    let options = options(&scl, None);
    let head = "@version: 3.38\n@include 'scl/*/*.conf'\n@define java-module-dir /usr/share/java\n";
    let parsed = parse_text("all", head, &options);
    assert!(!parsed.diagnostics.has_errors(), "{}", errors(&parsed));
    assert!(parsed.config.blocks.len() > 40);
    assert!(parsed.config.items.iter().any(|s| matches!(s, Statement::Application(_))));

    let mut text = String::from(head);
    for (i, block) in parsed.config.blocks.iter().enumerate() {
        let mut args: String =
            block.params.iter().filter(|(_, d)| d.is_none()).map(|(n, _)| format!("{n}(\"x\") ")).collect();
        if block.name.text == "kafka" {
            // Hands all its arguments on to a block that has mandatory ones.
            args = "topic(x) kafka-bootstrap-servers(\"x:1\")".into();
        }
        let context = &block.context.text;
        text.push_str(&format!("{context} test{i} {{\n  {}({args});\n}};\n", block.name.text));
    }
    let parsed = parse_text("all", &text, &options);
    let said = errors(&parsed);
    assert!(!parsed.diagnostics.has_errors(), "{said}");
    assert!(!said.contains("P0013"), "an undefined backtick: {said}");
    let blocks: Vec<String> = parsed.config.blocks.iter().map(|b| b.name.norm()).collect();
    let mut expanded = 0;
    for item in &parsed.config.items {
        if let Statement::Source(o) | Statement::Destination(o) | Statement::Parser(o) = item {
            expanded += 1;
            assert!(!o.body.is_empty(), "{} is empty", o.name.text);
            for item in &o.body {
                if let LogItem::Call(c) = item {
                    let own = blocks.contains(&c.name.norm());
                    assert!(!own || c.name.text == "mbox", "{} was not expanded", c.name.text);
                }
            }
        }
    }
    assert!(expanded > 35, "{expanded}");
}
