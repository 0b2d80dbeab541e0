//! Golden cases: every `tests/golden/conf-syntax/NAME.conf` gives the findings and the tree in
//! `NAME.expected`.
//!
//! `UPDATE_GOLDEN=1 cargo test -p conf-syntax --test golden` rewrites them; the difference is reviewed as
//! text.

mod golden {
    pub mod dump;
}

use std::path::{Path, PathBuf};

use conf_syntax::{ParseOptions, parse_file};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/conf-syntax")
}

fn run(conf: &Path) -> String {
    let dir = folder();
    let mut options = ParseOptions { run_commands: true, env: None, ..ParseOptions::default() };
    options.include_path.push(dir.clone());
    options.globals.insert("predefined".into(), "pre".into());
    options.modules = Some(["json-plugin", "basicfuncs"].map(String::from).into());
    options.limits.nesting = 12;
    options.limits.include_depth = 8;
    let parsed = parse_file(conf, &options);
    let mut out = diag::render_verbose(&parsed.diagnostics, &parsed.sources);
    out.push_str("---\n");
    golden::dump::statements(&mut out, &parsed.config.items);
    // The folder is not the same everywhere.
    out.replace(&format!("{}/", dir.display()), "")
}

#[test]
fn cases_give_what_is_expected_and_show_every_code() {
    let mut cases: Vec<PathBuf> = std::fs::read_dir(folder())
        .expect("the golden folder is there")
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "conf"))
        .collect();
    cases.sort();
    assert!(cases.len() >= 10, "the golden cases are gone");
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let (mut wrong, mut shown) = (String::new(), String::new());
    for conf in cases {
        let expected_path = conf.with_extension("expected");
        let got = run(&conf);
        shown.push_str(&got);
        if update {
            std::fs::write(&expected_path, &got).expect("the golden folder can be written");
            continue;
        }
        let expected = std::fs::read_to_string(&expected_path).unwrap_or_default();
        if expected != got {
            wrong.push_str(&format!("== {}: expected\n{expected}\n== got\n{got}\n", conf.display()));
        }
    }
    assert!(wrong.is_empty(), "{wrong}\nUPDATE_GOLDEN=1 rewrites the cases");
    let missing: Vec<&str> =
        // Secrets are read by the program and old names are its own: its tests show P0047 and P0048.
        diag::CODES.iter().map(|(c, ..)| *c).filter(|c| !["P0047", "P0048"].contains(c) && !shown.contains(&format!("[{c}]:"))).collect();
    assert!(missing.is_empty(), "no golden case shows {missing:?}");
}
