//! The library is whole, reads without a finding, and gives way to a user's own.

use super::{FILES, FOLDER};
use crate::configuration::Configuration;
use conf_syntax::{BlockDef, Statement};
use engine::compile::Existing;
use std::path::Path;
use template::Identity;

const HEAD: &str = "@version: 4.11\n@include \"scl.conf\"\n";

/// Reads a configuration that stands in a folder of its own, with other files beside it.
fn read(files: &[(&str, &str)], text: &str) -> Configuration {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text.replace("%folder%", &folder.path().display().to_string())).unwrap();
    }
    let path = folder.path().join("x.conf");
    std::fs::write(&path, text.replace("%folder%", &folder.path().display().to_string())).unwrap();
    Configuration::read(&path)
}

#[test]
fn every_file_of_the_folder_is_built_in() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scl");
    let mut on_disk: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|n| n.ends_with(".conf"))
        .collect();
    on_disk.sort();
    let mut built_in: Vec<String> =
        FILES.iter().map(|(name, _)| name.rsplit('/').next().unwrap().to_owned()).collect();
    built_in.sort();
    assert_eq!(on_disk, built_in);
}

#[test]
fn every_file_says_what_it_is_for() {
    for (name, text) in FILES {
        assert!(text.starts_with("# "), "{name}");
        assert!(text.lines().all(|line| line.len() < 400), "{name}: a line nobody reads to its end");
    }
}

#[test]
fn the_whole_library_is_read_without_a_finding() {
    let read = read(&[], HEAD);
    assert!(read.findings().iter().next().is_none(), "{}", read.report());
    assert!(read.config().blocks.len() > 30);
    let applications = read.config().items.iter().filter(|s| matches!(s, Statement::Application(_)));
    assert_eq!(applications.count(), 11);
    let files: Vec<String> = read.config().files.iter().map(|p| p.display().to_string()).collect();
    assert!(files.iter().all(|f| !f.starts_with(FOLDER)), "built-in files are none to watch: {files:?}");
}

/// A call of a block with a value for each argument that it needs.
fn call(block: &BlockDef) -> String {
    let value = |name: &str| match name {
        "tls" => "peer-verify(no)",
        "columns" => "\"x\"",
        "auth-secret" => "\"eA==\"",
        "hdfs-uri" => "\"hdfs://x:8020\"",
        "hdfs-file" => "\"/x\"",
        "auth" if block.name.text.starts_with("azure") => "tenant-id(x) app-id(x) app-secret(x)",
        _ => "x",
    };
    let needed = block.params.iter().filter(|(_, default)| default.is_none());
    let mut args: String = needed.map(|(name, _)| format!("{name}({}) ", value(name))).collect();
    // What the block that they stand on needs.
    if block.name.text.starts_with("azure-monitor-") {
        args.push_str("dce-uri(\"https://x\") dcr-id(x) auth(tenant-id(x) app-id(x) app-secret(x))");
    }
    if block.name.text == "kafka" {
        args.push_str("topic(x) kafka-bootstrap-servers(\"x:9092\")");
    }
    format!("{} {{ {}({args}); }};", block.context.text, block.name.text)
}

/// A log path with a block in it.
fn path_with(block: &BlockDef) -> String {
    let source = if block.context.text == "source" { "" } else { "source { network(port(5514)); };" };
    format!("log {{ {source} {} }};\n", call(block))
}

#[test]
fn every_block_of_the_library_compiles() {
    let whole = read(&[], HEAD);
    let blocks = &whole.config().blocks;
    let of = |context: &str| blocks.iter().filter(|b| b.context.text == context).count();
    assert!(of("parser") > 12 && of("source") > 15 && of("destination") > 8 && of("rewrite") > 5);
    // One by one, because several listen on one port.
    for block in blocks {
        let mut read = read(&[], &format!("{HEAD}{}", path_with(block)));
        let compiled = read.compile(&Identity::new("h"), &Existing::new()).is_some();
        assert!(compiled, "{}: {}", block.name.text, read.report());
    }
    let text = "source s { network(port(5514)); };\nlog { source(s); parser { app-parser(topic(syslog)); }; };\n\
                log { source(s); parser { app-parser(topic(syslog-raw)); }; };\n";
    let mut read = read(&[], &format!("{HEAD}{text}"));
    assert!(read.compile(&Identity::new("h"), &Existing::new()).is_some(), "{}", read.report());
}

/// Blocks that only others of the library use.
const INNER: [&str; 6] = [
    "arr-internal",
    "cisco-timestamp-parser",
    "cisco-triplet-parser",
    "credit-card-internal",
    "panos-columns",
    "windows-eventlog-event",
];

#[test]
fn the_page_of_the_library_names_every_block() {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scl.md")).unwrap();
    for block in &read(&[], HEAD).config().blocks {
        let name = block.name.text.as_str();
        let named =
            page.contains(&format!("`{name}(")) || INNER.contains(&name) || name.starts_with("credit-card-");
        assert!(named, "{name}() is not in docs/scl.md");
    }
}

/// Whether the library of a configuration has a block.
fn has(read: &Configuration, name: &str) -> bool {
    assert!(!read.has_errors(), "{}", read.report());
    read.config().blocks.iter().any(|block| block.name.text == name)
}

#[test]
fn a_copy_beside_the_configuration_is_used_as_it_is() {
    let own = "block parser mine() { kv-parser(); };\n";
    let read = read(&[("scl.conf", own)], HEAD);
    assert!(has(&read, "mine") && !has(&read, "cisco-parser"));
}

/// What stands in a folder of the library on the disk hides nothing that is built in, and goes before it.
#[test]
fn files_on_the_disk_and_built_in_ones_are_one_library() {
    let own = "block parser mine() { kv-parser(); };\nblock parser sudo-parser() { kv-parser(prefix(\"my.\")); };\n";
    let include = "@module appmodel\n@include 'scl/*/*.conf'\n";
    let files = [("scl.conf", include), ("scl/own/plugin.conf", own)];
    for files in [&files[..], &files[1..]] {
        let text = format!("{HEAD}log {{ source {{ internal(); }}; parser {{ sudo-parser(); }}; }};\n");
        let read = read(files, &text);
        assert!(has(&read, "mine") && has(&read, "cisco-parser"), "{}", files.len());
        let path = read.config().preprocessed.rsplit_once("log {").unwrap().1.to_owned();
        assert!(path.contains("my.") && !path.contains(".sudo."), "{path}");
    }
}

#[test]
fn what_a_distribution_left_in_etc_finds_the_built_in_files() {
    let read = read(&[("scl.conf", "@module appmodel\n@include 'scl/*/*.conf'\n")], HEAD);
    assert!(has(&read, "cisco-parser"));
}

/// Files of syslog-ng's library that a configuration names and that are gone with the package.
#[test]
fn single_files_of_the_other_library_are_stood_in_for() {
    for (file, block) in [
        ("`scl-root`/cisco/plugin.conf", "cisco-parser"),
        ("scl/apache/apache.conf", "apache-accesslog-parser"),
        ("scl/rewrite/cc-mask.conf", "credit-card-mask"),
        ("/usr/share/syslog-ng/include/scl/paloalto/panos.conf", "panos-parser"),
        ("/usr/share/syslog-ng/include/scl.conf", "sudo-parser"),
        ("%folder%/scl.conf", "sudo-parser"),
    ] {
        let read = read(&[], &format!("@version: 4.11\n@include \"{file}\"\n"));
        assert!(has(&read, block), "{file}");
        assert!(read.findings().iter().next().is_none(), "{file}: {}", read.report());
    }
    let unknown = read(&[], "@version: 4.11\n@include \"`scl-root`/nosuch/plugin.conf\"\n");
    assert!(unknown.report().contains("P0032"), "{}", unknown.report());
}

#[test]
fn the_terminal_nobody_logs_in_at() {
    let path = "log { source { internal(); }; destination { file(`tty10`); }; };\n";
    let root = "@version: 4.13\n@include \"`scl-root`/system/tty10.conf\"\n";
    for head in [HEAD, root] {
        let mut read = read(&[], &format!("{head}{path}"));
        assert!(read.compile(&Identity::new("h"), &Existing::new()).is_some(), "{}", read.report());
        assert!(read.config().preprocessed.contains("/dev/tty10"));
    }
    // The package's own file goes before it.
    let own = [("scl/system/tty10.conf", "@define tty10 \"/dev/ttyva\"\n")];
    let read = read(&own, &format!("{HEAD}{path}"));
    assert!(read.config().preprocessed.contains("/dev/ttyva"), "{}", read.config().preprocessed);
}

#[test]
fn scl_root_and_include_path_say_where_the_library_is() {
    let own = [("lib/scl.conf", "block parser mine() { kv-parser(); };\n"), ("lib/scl/empty.conf", "")];
    for define in ["@define scl-root \"%folder%/lib/scl\"", "@define include-path \"%folder%:%folder%/lib\""]
    {
        let read = read(&own, &format!("@version: 4.11\n{define}\n@include \"scl.conf\"\n"));
        assert!(has(&read, "mine") && !has(&read, "cisco-parser"), "{define}");
    }
}

#[test]
fn a_file_that_needs_a_module_we_do_not_have_is_left_out() {
    let needs = "@requires mod-lua\nblock destination gone() { lua(); };\n";
    let read = read(&[("scl.conf", "@include 'scl/*/*.conf'\n"), ("scl/j/plugin.conf", needs)], HEAD);
    assert!(!has(&read, "gone"));
    let asked = self::read(&[], "@version: 4.11\n@requires mod-lua \"install it\"\n");
    assert!(asked.report().contains("mod-lua"), "{}", asked.report());
    assert!(asked.has_errors());
}

#[test]
fn modules_of_what_is_done_here_are_there() {
    for module in ["mod-python use-virtualenv(no)", "python", "otel", "loki", "pubsub", "cloud_auth", "ebpf"]
    {
        let read = read(&[], &format!("@version: 4.11\n@module {module}\n"));
        assert!(!read.has_errors(), "{module}: {}", read.report());
    }
    let read = read(&[], "@version: 4.11\n@module mod-lua\n");
    assert!(read.report().contains("P0027"), "{}", read.report());
}

/// Refused by name: a component, an option or a word of an option that this version does not have; a module
/// that is required.
const REFUSALS: [&str; 4] = ["O0102", "O0110", "O0112", "P0027"];

/// Blocks of the distribution's library that are made of parts this version does not have.
const REFUSED: &[&str] = &["source pacct"];

/// The head of a configuration with the distribution's library.
fn theirs() -> Option<String> {
    let scl = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../target/peers/syslog-ng/usr/share/syslog-ng/include/scl");
    if !scl.is_dir() {
        eprintln!("skipped: no syslog-ng package unpacked");
        return None;
    }
    Some(format!("@version: 3.38\n@define scl-root \"{}\"\n@include \"scl.conf\"\n", scl.display()))
}

#[test]
fn blocks_of_the_distribution_compile_or_are_refused_by_name() {
    let Some(head) = theirs() else { return };
    let whole = read(&[], &head);
    assert!(!whole.has_errors(), "{}", whole.report());
    let mut refused = Vec::new();
    let built_in = |block: &&BlockDef| {
        let file = whole.parsed.sources.file(block.span.file);
        file.is_some_and(|file| file.name.starts_with(FOLDER))
    };
    for block in whole.config().blocks.iter().filter(|block| !built_in(block)) {
        let mut read = read(&[], &format!("{head}{}", path_with(block)));
        if read.compile(&Identity::new("h"), &Existing::new()).is_none() {
            let errors = read.findings().iter().filter(|d| d.severity == diag::Severity::Error);
            let name = &block.name.text;
            assert!(errors.into_iter().all(|d| REFUSALS.contains(&d.code)), "{name}: {}", read.report());
            refused.push(format!("{} {name}", block.context.text));
        }
    }
    assert_eq!(refused, REFUSED);
}

#[test]
fn blocks_take_what_those_of_the_distribution_take() {
    let Some(head) = theirs() else { return };
    let (theirs, ours) = (read(&[], &head), read(&[], HEAD));
    let mut compared = 0;
    for block in &theirs.config().blocks {
        let same = |b: &&BlockDef| b.context.text == block.context.text && b.name.norm() == block.name.norm();
        let Some(own) = ours.config().blocks.iter().find(same) else { continue };
        compared += 1;
        for (name, default) in &block.params {
            let known = own.params.iter().find(|(n, _)| n.replace('_', "-") == name.replace('_', "-"));
            let known = known.unwrap_or_else(|| panic!("{}: no {name}()", block.name.text));
            let given = known.1.is_some() || default.is_none() || name == "token";
            assert!(given, "{}: {name}() must be given", block.name.text);
        }
    }
    assert!(compared > 30, "{compared}");
}
