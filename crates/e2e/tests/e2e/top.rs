//! `penstock top`: one table for scripts, and the screen with real keys in tmux.

use crate::messages::{HEAD, send};
use std::process::Command;
use testkit::penstock::binary;
use testkit::{Lab, Penstock, run_command, skip, wait_until};

fn config() -> String {
    format!(
        "{HEAD}source s_net {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d_gone {{ network(127.0.0.1 port(%port:out%) log-fifo-size(10)); }};\n\
         destination d_file {{ file(\"%dir%/d\"); }};\n\
         log {{ source(s_net); destination(d_file); }};\nlog {{ source(s_net); destination(d_gone); }};\n"
    )
}

/// A program with 100 messages in a file, and 90 of them dropped at another destination.
fn started(lab: &Lab) -> Penstock {
    let mut penstock = Penstock::start(lab, &config());
    send(lab, 0, 100);
    penstock
        .wait_ledger(|ledger| (ledger.destination("d_gone").dropped != 90).then(|| "90 dropped".to_owned()));
    penstock
}

#[test]
fn a_table_for_scripts() {
    let lab = Lab::new();
    let penstock = started(&lab);
    let state = lab.path("state").display().to_string();
    let top = |args: &[&str]| {
        run_command(&[&["top", "--once", "--interval", "0.1", "--state-dir", &state], args].concat())
    };
    let outcome = top(&["--sort", "dropped", "--only", "d_"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert!(lines[0].contains("waiting") && lines[0].contains("dropped"), "{outcome:?}");
    let words: Vec<&str> = lines[1].split_whitespace().collect();
    assert_eq!(words[..6], ["destination", "d_gone#0", "0", "0", "0%", "10"], "{outcome:?}");
    assert!(words.contains(&"90"), "{outcome:?}");
    assert!(top(&[]).stdout.contains("source"));
    let said: serde_json::Value =
        serde_json::from_str(&top(&["--json", "--sort", "dropped", "--only", "d_"]).stdout).expect("JSON");
    let row = &said["rows"][0];
    assert_eq!(
        (&said["version"], &row["name"], &row["waiting"], &row["dropped_by_reason"]["queue-full"]),
        (&1.into(), &"d_gone#0".into(), &10.into(), &90.into()),
        "{said:#}"
    );
    // What was dropped before is not what is dropped from now on: that is said.
    let outcome = run_command(&["tap", "--dropped", "--timeout", "1", "--state-dir", &state]);
    assert!(outcome.code == Some(1) && outcome.stderr.contains("within 1 s; --past shows"), "{outcome:?}");
    // Without a terminal there is nothing to draw on; without a program nothing to say.
    let outcome = run_command(&["top", "--state-dir", &state]);
    assert!(outcome.code == Some(2) && outcome.stderr.contains("--once"), "{outcome:?}");
    penstock.stop();
    assert_eq!(top(&[]).code, Some(1));
}

struct Tmux(String);

impl Tmux {
    fn command(&self, args: &[&str]) -> String {
        let output = Command::new("tmux").args(["-L", &self.0]).args(args).output().expect("tmux");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn wait(&self, what: &str, holds: impl Fn(&str) -> bool) {
        wait_until(what, || holds(&self.command(&["capture-pane", "-p"])));
    }

    fn press(&self, keys: &[&str]) {
        self.command(&[&["send-keys"], keys].concat());
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.command(&["kill-server"]);
    }
}

#[test]
fn the_screen_obeys_its_keys() {
    if Command::new("tmux").arg("-V").output().is_err() {
        return skip("tmux is not there");
    }
    let lab = Lab::new();
    let penstock = started(&lab);
    let tmux = Tmux(format!("penstock-{}", lab.port("tmux")));
    let state = lab.path("state").display().to_string();
    let command =
        format!("'{}' top --interval 0.2 --state-dir '{state}'; echo ended with $?; cat", binary().display());
    tmux.command(&["-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "30", &command]);
    tmux.wait("the table", |text| {
        text.contains("d_gone#0") && text.contains("s_net#0") && text.contains("sorted by name")
    });
    // By drops: the one that drops is first.
    tmux.press(&["s", "s", "s"]);
    let first = |text: &str, name: &str| text.lines().nth(2).is_some_and(|line| line.contains(name));
    tmux.wait("sorted by drops", |text| text.contains("sorted by dropped") && first(text, "d_gone#0"));
    // Destinations only, then by name.
    tmux.press(&["Tab", "Tab", "Tab"]);
    tmux.wait("destinations", |text| text.contains("rows of destination") && !text.contains("s_net#0"));
    tmux.press(&["/", "f", "i", "l", "e", "Enter"]);
    tmux.wait("the filter", |text| text.contains("d_file#0") && !text.contains("d_gone#0"));
    tmux.press(&["/", "BSpace", "BSpace", "BSpace", "BSpace", "g", "o", "n", "e", "Enter"]);
    tmux.wait("the other", |text| text.contains("d_gone#0") && !text.contains("d_file#0"));
    // One level deeper, with the reason, and back.
    tmux.press(&["Enter"]);
    tmux.wait("all of it", |text| text.contains("queue-full  90") && text.contains("waiting    10"));
    tmux.press(&["Escape"]);
    tmux.wait("the table again", |text| text.contains("s sort"));
    // What processor time goes where, and back.
    tmux.press(&["c"]);
    tmux.wait("a profile", |text| text.contains("limited by") && text.contains("CPU of"));
    tmux.press(&["c"]);
    tmux.wait("the table once more", |text| text.contains("c CPU"));
    tmux.press(&["p"]);
    tmux.wait("the pause", |text| text.contains("paused"));
    tmux.press(&["q"]);
    tmux.wait("the end", |text| text.contains("ended with 0"));
    penstock.stop();
}

/// Long lines of help are broken between words, as wide as the terminal is.
#[test]
fn help_is_as_wide_as_the_terminal() {
    if Command::new("tmux").arg("-V").output().is_err() {
        return skip("tmux is not there");
    }
    let lab = Lab::new();
    let tmux = Tmux(format!("penstock-help-{}", lab.port("tmux")));
    let command = format!("'{}' explain --help; echo ended with $?; cat", binary().display());
    tmux.command(&["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "90", &command]);
    tmux.wait("the help", |text| text.contains("ended with 0"));
    let whole = run_command(&["explain", "--help"]).stdout;
    let known: std::collections::BTreeSet<&str> = whole.split_whitespace().collect();
    let shown = tmux.command(&["capture-pane", "-p"]);
    let (help, _) = shown.split_once("ended with 0").expect("its end");
    let cut: Vec<&str> = help.split_whitespace().filter(|word| !known.contains(word)).collect();
    assert!(cut.is_empty(), "{cut:?} {shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}
