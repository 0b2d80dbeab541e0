//! The program under the names of syslog-ng's tools takes what they take.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use testkit::penstock::{binary, root, run_as};
use testkit::{Lab, peers, skip};

/// The program, called as one of them.
fn called(lab: &Lab, name: &str) -> PathBuf {
    let path = lab.path(name);
    symlink(binary(), &path).expect("a link");
    path
}

/// The options that a help text lists, as in `-P, --program=<program>`: in all their spellings, with a value
/// where they want one.
fn listed(help: &str) -> Vec<Vec<String>> {
    let mut options = Vec::new();
    for line in help.lines().map(str::trim_start).filter(|line| line.starts_with('-')) {
        let spellings = line.split("  ").next().unwrap_or(line);
        // GLib's help does not show the value where nobody has named it.
        let unnamed = ["-f, --file", "-r, --rule-id", "-p, --sdata", "--fd-limit"];
        let takes_value = spellings.contains('=') || unnamed.contains(&spellings);
        for spelling in spellings.split(", ") {
            let name = spelling.split('=').next().unwrap_or(spelling);
            let value = match name {
                _ if !takes_value => "",
                "--process-mode" => "foreground",
                "--proxy-src-ip" | "--proxy-dst-ip" => "127.0.0.1",
                _ => "1",
            };
            options
                .push([name, value].into_iter().filter(|part| !part.is_empty()).map(str::to_owned).collect());
        }
    }
    options
}

/// What the real tool says of one of its commands.
fn help(tool: &Path, words: &[&str]) -> String {
    let outcome = run_as(tool, words);
    outcome.stdout + &outcome.stderr
}

#[test]
fn every_option_of_the_old_tools_is_taken() {
    let lab = Lab::new();
    let tools: [(&str, &[&str]); 5] = [
        ("pdbtool", &["match", "test", "merge", "dump", "dictionary", "patternize"]),
        ("dqtool", &["cat", "info"]),
        ("persist-tool", &["dump", "generate", "add"]),
        ("loggen", &[""]),
        ("syslog-ng", &[""]),
    ];
    let (mut tried, mut refused) = (0, Vec::new());
    for (name, commands) in tools {
        let Some(real) = peers::tool(name) else { return skip(peers::MISSING) };
        let ours = called(&lab, name);
        for command in commands {
            let words: Vec<&str> = [*command].into_iter().filter(|word| !word.is_empty()).collect();
            let mut text = help(&real, &[&words[..], &["--help"]].concat());
            text += &help(&real, &[&words[..], &["--help-all"]].concat());
            for option in listed(&text) {
                let option: Vec<&str> = option.iter().map(String::as_str).collect();
                let args = [&words[..], &option[..], &["--help"]].concat();
                let outcome = run_as(&ours, &args);
                tried += 1;
                if outcome.code != Some(0) {
                    refused.push(format!("{name} {args:?}: {}", outcome.stderr));
                }
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(tried > 150, "{tried} options");
}

#[test]
fn dqtool_prints_with_a_template() {
    let lab = Lab::new();
    let ours = called(&lab, "dqtool");
    let file = root().join("fuzz/seeds/queue_file/reliable.rqf");
    let file = file.to_str().expect("text");
    let args = ["cat", "-t", "$HOST|$PROGRAM[$PID]|$MSG|${.my.value}\\n", file];
    let printed = run_as(&ours, &args);
    assert_eq!(printed.code, Some(0), "{printed:?}");
    if let Some(real) = peers::tool("dqtool") {
        assert_eq!(printed.stdout, run_as(&real, &args).stdout);
    }
    assert!(printed.stdout.starts_with("h|a[65]|number 65|värde\n"), "{printed:?}");
    let wrong = run_as(&ours, &["cat", "-t", "$(nosuch)", file]);
    assert!(wrong.code == Some(1) && wrong.stderr.contains("nosuch"), "{wrong:?}");
    let own = run_as(&ours, &["cat", "-t", "$MSG", lab.dir().to_str().expect("text")]);
    assert!(own.code == Some(1) && own.stderr.contains("of our own"), "{own:?}");
}
