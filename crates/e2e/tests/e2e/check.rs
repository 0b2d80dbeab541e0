//! Golden cases of `penstock check`: `tests/golden/check/NAME.conf` and what is said about it in
//! `NAME.expected`. Those whose name begins with `explain` are checked with `--explain`.
//!
//! `UPDATE_GOLDEN=1` writes what is said; review it as text.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use testkit::penstock::{binary, root};
use testkit::{Lab, run_command};

/// What the command says, the folder's name replaced, with its exit code at the end.
fn check(folder: &Path, name: &str) -> String {
    let mut command = Command::new(binary());
    command.arg("check").args(name.starts_with("explain").then_some("--explain"));
    command.arg(name).current_dir(folder).env("GOLDEN_DIR", folder).stdin(Stdio::null());
    let output = command.output().expect("the binary runs");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).replace(&folder.display().to_string(), "%golden%");
    format!("{text}exit code {}\n", output.status.code().unwrap_or(-1))
}

#[test]
fn findings() {
    let folder = root().join("tests/golden/check");
    let update = std::env::var("UPDATE_GOLDEN").is_ok_and(|v| v == "1");
    let mut configs: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    configs.retain(|path| path.extension().is_some_and(|e| e == "conf"));
    configs.sort();
    assert!(!configs.is_empty());
    let mut faults = String::new();
    for config in configs {
        let name = config.file_name().unwrap().to_str().unwrap();
        let said = check(&folder, name);
        let expected = config.with_extension("expected");
        if update {
            std::fs::write(&expected, &said).unwrap();
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != said {
            faults.push_str(&format!("=== {name}, now:\n{said}"));
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

/// Relative data files are beside the configuration, wherever the program is started, and the message says
/// where they were looked for.
#[test]
fn data_files_are_beside_the_configuration() {
    let lab = Lab::new();
    let text = "@version: 4.11\nsource s { internal(); };\n\
                parser p { add-contextual-data(selector(\"$HOST\") database(\"data/hosts.csv\")); };\n\
                log { source(s); filter { in-list(\"names.list\" value(\"HOST\")); }; parser(p); destination { file(\"%dir%/out\"); }; };\n";
    let (config, _) = lab.write_config("data.conf", text);
    let config = config.to_str().expect("a path").to_owned();
    let missing = run_command(&["check", &config]);
    assert_eq!(missing.code, Some(1), "{missing:?}");
    let here = std::env::current_dir().expect("a folder");
    for name in ["data/hosts.csv", "names.list"] {
        let places = format!("looked for {} and {}", lab.path(name).display(), here.join(name).display());
        let said = format!("{}{}", missing.stdout, missing.stderr);
        assert!(said.contains(&places), "{places}: {said}");
    }
    std::fs::create_dir(lab.path("data")).expect("made");
    std::fs::write(lab.path("data/hosts.csv"), "h,place,here\n").expect("written");
    std::fs::write(lab.path("names.list"), "h\n").expect("written");
    let found = run_command(&["check", &config]);
    assert_eq!(found.code, Some(0), "{found:?}");
}
