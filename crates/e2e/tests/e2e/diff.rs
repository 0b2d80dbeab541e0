//! `penstock diff`: what another configuration means differently, and what it does differently with messages.

use crate::messages::HEAD;
use serde_json::Value;
use std::path::PathBuf;
use testkit::{Lab, Outcome, Penstock, Sender, run_command};

const OLD: &str = "@version: 4.11\n\
    source s { network(ip(127.0.0.1) port(1)); };\n\
    filter f_app { program(\"app\"); };\n\
    rewrite r_mask { subst(\"[0-9]\", \"N\", value(\"MESSAGE\"), flags(global)); };\n\
    destination d_app { file(\"/nowhere/app\" template(\"$MESSAGE\\n\")); };\n\
    destination d_all { file(\"/nowhere/all\" template(\"$PROGRAM $MESSAGE\\n\")); };\n\
    log { source(s); filter(f_app); destination(d_app); };\n\
    log { source(s); rewrite(r_mask); destination(d_all); };\n";

struct Files {
    lab: Lab,
}

impl Files {
    fn new() -> Files {
        Files { lab: Lab::new() }
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path: PathBuf = self.lab.path(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    fn diff(&self, new: &str, more: &[&str]) -> Outcome {
        let (old, new) = (self.write("old.conf", OLD), self.write("new.conf", new));
        run_command(&[&["diff", &old, &new], more].concat())
    }
}

#[test]
fn what_only_looks_different_is_no_difference() {
    let files = Files::new();
    files.write("parts.conf", "# filters\nfilter f_only_apps { program('app'); };\n");
    let new = OLD
        .replace("filter f_app { program(\"app\"); };\n", "@include \"parts.conf\"\n# moved\n")
        .replace("filter(f_app)", "filter(f_only_apps)")
        .replace("\"/nowhere/app\" template(\"$MESSAGE\\n\")", "\"/nowhere/app\" template('$MESSAGE\n')");
    let outcome = files.diff(&new, &[]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stdout.starts_with("no difference"), "{outcome:?}");
}

#[test]
fn what_is_different_is_said_with_both_places() {
    let files = Files::new();
    let new = OLD
        .replace("program(\"app\")", "program(\"app\") and not message(\"debug\")")
        .replace("rewrite(r_mask); ", "")
        .replace("/nowhere/app\"", "/nowhere/app\" perm(0640)");
    let outcome = files.diff(&new, &["--json"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let told: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(told["version"], 1);
    let list = told["differences"].as_array().expect("differences");
    let kinds: Vec<(&str, &str)> =
        list.iter().map(|d| (d["change"].as_str().unwrap(), d["what"].as_str().unwrap())).collect();
    assert_eq!(kinds.len(), 3, "{told:#}");
    assert_eq!(kinds[..2], [("changed", "perm"), ("changed", "filter")], "{told:#}");
    assert_eq!(kinds[2].0, "removed");
    assert_eq!(list[0]["new"]["text"], "0640");
    assert!(list[1]["new"]["at"].as_str().unwrap().ends_with("new.conf:7"), "{told:#}");
    let outcome = files.diff(&new, &[]);
    let rewrite = "- rewrite subst(\"[0-9]\" \"N\" flags(global) value(\"MESSAGE\"))";
    assert!(outcome.stdout.contains(rewrite), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("3 differences"), "{}", outcome.stdout);
}

#[test]
fn messages_show_what_would_come_out_differently() {
    let files = Files::new();
    let sample = files.write(
        "sample",
        "<13>Nov 11 01:02:03 h app: hello\n<13>Nov 11 01:02:03 h app: debug\n<13>Nov 11 01:02:03 h web: 42\n",
    );
    let new = OLD
        .replace("program(\"app\")", "program(\"app\") and not message(\"debug\") or program(\"web\")")
        .replace("rewrite(r_mask); ", "");
    let outcome = files.diff(&new, &["--sample", &sample, "--json"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let told: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let sampled = &told["sample"];
    assert_eq!((&sampled["messages"], &sampled["same"]), (&3.into(), &3.into()), "{told:#}");
    assert!(sampled["cpu_ns"]["new"].as_u64().is_some_and(|time| time > 0));
    let outcomes: Vec<(&str, &str, &str)> = sampled["outcomes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| {
            (o["class"].as_str().unwrap(), o["destination"].as_str().unwrap(), o["cause"].as_str().unwrap())
        })
        .collect();
    let path = |name: &str| files.lab.path(name).display().to_string();
    assert_eq!(outcomes.len(), 3, "{told:#}");
    let changed = format!("no longer done: rewrite r_mask ({}:4)", path("old.conf"));
    assert_eq!(outcomes[0], ("changed", "d_all#0", changed.as_str()));
    let no_longer = format!("ends now at filter f_app ({}:3)", path("new.conf"));
    assert_eq!(outcomes[1], ("no longer written", "d_app#0", no_longer.as_str()));
    let newly = format!("no longer ends at filter f_app ({}:3)", path("old.conf"));
    assert_eq!(outcomes[2], ("newly written", "d_app#0", newly.as_str()));
    let example = &sampled["outcomes"][0];
    assert_eq!(example["message"], "<13>Nov 11 01:02:03 h web: 42");
    assert_eq!(example["old"][0], "/nowhere/all: web NN");
    assert_eq!(example["new"][0], "/nowhere/all: web 42");
    assert!(!files.lab.path("nowhere").exists());
    let outcome = files.diff(OLD, &["--sample", &sample]);
    // Three messages say nothing about how fast a configuration is.
    assert!(outcome.stdout.contains("too little to compare"), "{outcome:?}");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stdout.contains("same                         5"), "{}", outcome.stdout);
}

#[test]
fn messages_of_the_running_program_are_tried() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"$MESSAGE\\n\")); }};\nlog {{ source(s); destination(d); }};\n"
    );
    let penstock = Penstock::start(&lab, &config);
    let filled = lab.fill(&config).0;
    let [old, new] = ["old.conf", "new.conf"].map(|name| lab.path(name).display().to_string());
    std::fs::write(&old, &filled).unwrap();
    std::fs::write(&new, filled.replace("$MESSAGE", "$PROGRAM $MESSAGE")).unwrap();
    let state = lab.path("state").display().to_string();
    let mut sender = Sender::tcp(lab.port("in"));
    let args = ["diff", &old, &new, "--live", "2", "--json", "--state-dir", &state];
    let outcome = std::thread::scope(|scope| {
        let asking = scope.spawn(|| run_command(&args));
        while !asking.is_finished() {
            sender.line("<13>Nov 11 01:02:03 h app: x");
            std::thread::park_timeout(std::time::Duration::from_millis(5));
        }
        asking.join().expect("the answer")
    });
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let told: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let outcomes = &told["sample"]["outcomes"];
    assert_eq!((&outcomes[0]["class"], &outcomes[0]["destination"]), (&"changed".into(), &"d#0".into()));
    assert_eq!(outcomes[0]["count"], told["sample"]["messages"]);
    assert!(outcomes[0]["new"][0].as_str().is_some_and(|text| text.ends_with(": app x")), "{told:#}");
    penstock.stop();
}

#[test]
fn wrong_usage_ends_with_two() {
    let files = Files::new();
    let old = files.write("old.conf", OLD);
    for args in [
        vec!["diff", &old],
        vec!["diff", &old, "/nowhere/x.conf"],
        vec!["diff", &old, &old, "--source", "s"],
        vec!["diff", &old, &old, "--sample", "/nowhere/sample"],
        vec!["diff", &old, &old, "--sample", &old, "--source", "s_nosuch"],
    ] {
        let outcome = run_command(&args);
        assert_eq!(outcome.code, Some(2), "{args:?} {outcome:?}");
        assert!(!outcome.stderr.is_empty());
    }
}

#[test]
fn a_reload_shows_first_what_it_changes() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"old $MESSAGE\\n\")); }};\n\
         log {{ source(s); destination(d); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    let control = lab.path("state").join("penstock.ctl").display().to_string();
    let ctl = |args: &[&str]| run_command(&[&["ctl", "--control", &control], args].concat());
    assert!(ctl(&["config", "--diff"]).stdout.starts_with("no difference"));
    penstock.rewrite(&lab, &config.replace("old $MESSAGE", "new $MESSAGE"));
    let outcome = ctl(&["reload", "--diff"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let (shown, done) = (outcome.stdout.find("~ template:"), outcome.stdout.find("Config reload successful"));
    assert!(shown.is_some() && shown < done, "{outcome:?}");
    Sender::tcp(lab.port("in")).line("<13>Nov 11 01:02:03 h p: x");
    penstock.wait_settled(1);
    assert_eq!(lab.lines("out"), ["new x"]);
    penstock.rewrite(&lab, "garbage");
    assert_eq!(ctl(&["reload", "--diff"]).code, Some(1));
    penstock.stop();
}
