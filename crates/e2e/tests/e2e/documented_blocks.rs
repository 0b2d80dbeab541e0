//! Every configuration that the documentation shows is one the program takes: whole statements as they stand,
//! drivers and options in the statement they belong to, statements of FilterX in a block of it.

use std::path::Path;
use testkit::penstock::{binary, root, run_as};
use testkit::{Lab, Outcome};

/// Words that statements begin with.
const STATEMENTS: [&str; 14] = [
    "source",
    "destination",
    "log",
    "filter",
    "parser",
    "rewrite",
    "options",
    "template",
    "block",
    "python",
    "application",
    "transformation",
    "@include",
    "@define",
];
/// What a driver or an option alone may stand in.
const AROUND: [&str; 6] = ["source x", "destination x", "parser x", "rewrite x", "filter x", "options"];
/// Files and secrets that are not on this machine are no fault of the text.
const MACHINE: [&str; 2] = ["P0032", "P0047"];

struct Shown {
    /// `docs/udp.md:17`
    at: String,
    text: String,
}

/// The indented and the fenced parts of a page.
fn shown(path: &Path) -> Vec<Shown> {
    let text = std::fs::read_to_string(path).expect("a page");
    let name = path.strip_prefix(root()).unwrap_or(path).display().to_string();
    let (mut all, mut part, mut first, mut fenced) = (Vec::new(), String::new(), 0, false);
    for (number, line) in text.lines().chain([""]).enumerate() {
        let is_fence = line.starts_with("```");
        let inside = match (fenced, line.strip_prefix("    ")) {
            (true, _) if !is_fence => Some(line),
            (false, Some(line)) => Some(line),
            (false, None) if line.is_empty() && !part.is_empty() => Some(""),
            _ => None,
        };
        match inside {
            Some(line) => {
                first = if part.is_empty() { number + 1 } else { first };
                part.push_str(line);
                part.push('\n');
            }
            None if !part.is_empty() => {
                all.push(Shown { at: format!("{name}:{first}"), text: std::mem::take(&mut part) });
            }
            None => {}
        }
        fenced ^= is_fence;
    }
    if !part.is_empty() {
        all.push(Shown { at: format!("{name}:{first}"), text: part });
    }
    all
}

/// The part that is a configuration: up to the first command of a shell, without its `@version`.
fn configuration(text: &str) -> String {
    let lines = text.lines().take_while(|line| !line.starts_with("curl ") && !line.starts_with("penstock "));
    lines.filter(|line| !line.starts_with("@version")).map(|line| format!("{line}\n")).collect()
}

/// The first word that is no comment, and what follows it.
fn first_word(text: &str) -> (&str, &str) {
    let mut lines =
        text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    let line = lines.next().unwrap_or_default().trim_start();
    let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || "@-_".contains(c))).unwrap_or(line.len());
    line.split_at(end)
}

fn syntax(lab: &Lab, text: &str) -> Outcome {
    let link = lab.path("syslog-ng");
    if !link.exists() {
        std::os::unix::fs::symlink(binary(), &link).expect("a link");
    }
    let library = if text.contains("scl.conf") { "" } else { "@include \"scl.conf\"\n" };
    let path = lab.path("shown.conf");
    std::fs::write(&path, format!("@version: 4.26\n{library}{text}")).expect("it is written");
    run_as(&link, &["--syntax-only", "--cfgfile", &path.display().to_string()])
}

/// What is wrong with a configuration, beside what this machine does not have.
fn faults(outcome: &Outcome) -> Vec<&str> {
    let errors = outcome.stderr.lines().filter(|line| line.contains(": error["));
    errors
        .filter(|line| !MACHINE.iter().any(|code| line.contains(&format!("error[{code}]"))))
        .filter(|line| !line.contains("No such file or directory"))
        .collect()
}

#[test]
fn every_configuration_that_is_shown_is_taken() {
    let lab = Lab::new();
    let mut pages: Vec<_> =
        std::fs::read_dir(root().join("docs")).expect("the pages").flatten().map(|e| e.path()).collect();
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.push(root().join("README.md"));
    pages.sort();
    let (mut looked_at, mut wrong) = (0, String::new());
    for Shown { at, text } in pages.iter().flat_map(|page| shown(page)) {
        let text = configuration(&text);
        let (word, rest) = first_word(&text);
        // Of rsyslog, Vector or syslog-ng's command line, to compare with.
        let is_foreign = ["module(load", "action(type", "input(type", "template(name"]
            .iter()
            .any(|sign| text.contains(sign));
        // What stands for more, unless it is that of a block's parameters.
        if is_foreign || text.replace("...) {", "").contains("...") {
            continue;
        }
        if STATEMENTS.contains(&word) && (word.starts_with('@') || text.contains('{')) {
            let outcome = syntax(&lab, &text);
            let faults = faults(&outcome);
            wrong.extend(faults.iter().map(|fault| format!("{at}: {fault}\n")));
        } else if rest.starts_with('(') && !word.is_empty() {
            let fits = AROUND
                .iter()
                .any(|around| faults(&syntax(&lab, &format!("{around} {{ {text}\n}};\n"))).is_empty());
            if !fits {
                wrong.push_str(&format!("{at}: stands in no statement:\n{text}\n"));
            }
        } else if at.starts_with("docs/filterx.md") && text.contains(';') {
            let outcome = syntax(&lab, &format!("log {{ filterx {{\n{text}\n}}; }};\n"));
            wrong.extend(faults(&outcome).iter().map(|fault| format!("{at}: {fault}\n")));
        } else {
            continue;
        }
        looked_at += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(looked_at > 50, "{looked_at}");
}
