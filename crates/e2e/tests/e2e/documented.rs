//! Every `penstock` command that the documentation and the help texts name is one the program has: each is
//! given to the real command line with `--help` behind it, which does nothing and is refused where something
//! before it is unknown.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use testkit::penstock::{binary, root, run_as};
use testkit::{Lab, run_command};

/// The words behind `penstock` of every command in a text: in indented lines, behind a prompt, or between
/// backticks.
fn commands(text: &str, found: &mut BTreeSet<String>) {
    for line in text.lines() {
        let indented = line.starts_with("    ") || line.starts_with("  ");
        let command = line.trim_start().trim_start_matches("$ ").strip_prefix("penstock ");
        if indented && let Some(command) = command {
            found.insert(command.to_owned());
        }
        for quoted in line.split('`').skip(1).step_by(2) {
            found.extend(quoted.trim().strip_prefix("penstock ").map(str::to_owned));
        }
    }
}

/// The words of a command up to a comment, a pipe, another command, or what stands for more.
pub fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut begun) = (Vec::new(), String::new(), None, false);
    for c in command.chars() {
        match (c, quote) {
            ('\'' | '"', None) => (quote, begun) = (Some(c), true),
            (c, Some(q)) if c == q => quote = None,
            ('#' | '|' | '>' | '&' | ';', None) => break,
            (' ', None) => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (c, _) => {
                word.push(c);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    // Behind an option it stands for a value, elsewhere for more of the same.
    for at in 1..words.len() {
        if words[at] == "..." && words[at - 1].starts_with("--") {
            words[at] = "VALUE".to_owned();
        }
    }
    words.retain(|word| word != "..." && !word.starts_with('['));
    words
}

pub fn documentation() -> Vec<PathBuf> {
    let mut files = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    let mut folders = vec![root().join("docs"), root().join("examples"), root().join("packaging")];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files
}

fn is_prose(command: &str) -> bool {
    // The word behind the name is no command: a sentence that begins with it.
    let first = command.split_whitespace().next().unwrap_or_default();
    !first.starts_with('-')
        && ["and", "is", "does", "has", "refuses", "writes", "again"].contains(&first.trim_end_matches('.'))
}

#[test]
fn every_command_that_is_named_exists() {
    let mut found = BTreeSet::new();
    for file in documentation() {
        let text = std::fs::read(&file).unwrap();
        commands(&String::from_utf8_lossy(&text), &mut found);
    }
    // The help texts, of each command that the main one lists.
    let help = run_command(&["--help"]).stdout;
    commands(&help, &mut found);
    let listed = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    for name in
        listed.take_while(|line| line.starts_with("  ")).filter_map(|line| line.split_whitespace().next())
    {
        commands(&run_command(&[name, "--help"]).stdout, &mut found);
    }
    assert!(found.len() > 40, "{found:?}");
    let mut faults = String::new();
    for command in found.iter().filter(|command| !is_prose(command)) {
        let words = words(command);
        let args: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
        let outcome = run_command(&args);
        if outcome.code != Some(0) {
            faults.push_str(&format!("penstock {command}\n{}\n", outcome.stderr));
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

/// The names by which syslog-ng's programs are called, and those of sealed logs.
const NAMES: [&str; 9] = [
    "syslog-ng-ctl",
    "syslog-ng",
    "loggen",
    "pdbtool",
    "dqtool",
    "persist-tool",
    "slogkey",
    "slogencrypt",
    "slogverify",
];

/// On lines of their own, as `penstock ...` above.
#[test]
fn every_command_by_another_name_exists() {
    let lab = Lab::new();
    let (mut looked_at, mut faults) = (0, String::new());
    for file in documentation() {
        let text = std::fs::read(&file).unwrap();
        for line in String::from_utf8_lossy(&text).lines().filter(|line| line.starts_with("    ")) {
            let Some((name, rest)) = line.trim_start().trim_start_matches("$ ").split_once(' ') else {
                continue;
            };
            if !NAMES.contains(&name) {
                continue;
            }
            let link = lab.path(name);
            if !link.exists() {
                std::os::unix::fs::symlink(binary(), &link).expect("a link");
            }
            let words = words(rest);
            let args: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
            let outcome = run_as(&link, &args);
            if outcome.code != Some(0) {
                faults.push_str(&format!("{}: {name} {rest}\n{}\n", file.display(), outcome.stderr));
            }
            looked_at += 1;
        }
    }
    assert!(faults.is_empty(), "{faults}");
    assert!(looked_at > 8, "{looked_at}");
}

#[test]
fn the_program_brings_its_own_pcre2() {
    let program: &Path = binary();
    let bytes = std::fs::read(program).unwrap();
    let named = bytes.windows(b"libpcre2".len()).any(|window| window == b"libpcre2");
    assert!(!named, "{} needs the host's libpcre2", program.display());
}

/// Such a text is an element of HTML to whatever shows the page, and its reader does not see it.
#[test]
fn no_page_has_angle_brackets_outside_of_backticks() {
    let mut wrong = String::new();
    let pages = documentation().into_iter().filter(|path| path.extension().is_some_and(|end| end == "md"));
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        let mut fenced = false;
        for (number, line) in text.lines().enumerate() {
            fenced ^= line.starts_with("```");
            if fenced || line.starts_with("    ") {
                continue;
            }
            let begins = |part: &str| {
                let mut after = part.split('<').skip(1).map(|rest| rest.trim_start_matches('/'));
                after.any(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
            };
            if line.split('`').step_by(2).any(begins) {
                wrong.push_str(&format!("{}:{}: {line}\n", page.display(), number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
