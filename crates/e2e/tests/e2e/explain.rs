//! `penstock explain`: single messages step by step, live and in a configuration that is only tried.

use crate::messages::HEAD;
use serde_json::Value;
use std::time::Duration;
use testkit::{Collector, Lab, Outcome, Penstock, Sender, run_command};

fn config() -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         filter f_app {{ program(\"app\") and not host(\"bad\"); }};\n\
         parser p_kv {{ kv-parser(prefix(\".kv.\")); }};\n\
         destination d_app {{ file(\"%dir%/app\"); }};\n\
         destination d_root {{ network(127.0.0.1 port(%port:out%)); }};\n\
         destination d_rest {{ file(\"%dir%/rest-${{HOST}}\" template(\"$PROGRAM ${{.kv.user}}\\n\")); }};\n\
         log {{ source(s); filter(f_app); destination(d_app); }};\n\
         log {{ source(s); parser(p_kv);\n\
         if (\"${{.kv.user}}\" eq \"root\") {{ destination(d_root); }}\n\
         elif (host(\"bad\")) {{ filter {{ program(\"never\"); }}; destination(d_app); }}\n\
         else {{ destination(d_rest); }}; }};\n"
    )
}

fn explain(lab: &Lab, args: &[&str]) -> Outcome {
    explain_in(&lab.path("state").display().to_string(), args)
}

fn explain_in(state: &str, args: &[&str]) -> Outcome {
    run_command(&[&["explain", "--state-dir", state], args].concat())
}

/// Asks in a thread of its own and sends until there is an answer.
pub fn ask_and_send(lab: &Lab, args: &[&str], lines: &[&str]) -> Outcome {
    let mut sender = Sender::tcp(lab.port("in"));
    let state = lab.path("state").display().to_string();
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| explain_in(&state, args));
        let mut pause = Duration::from_millis(5);
        while !asking.is_finished() {
            lines.iter().for_each(|line| sender.line(line));
            std::thread::park_timeout(pause);
            // A server that is slow on a busy machine catches up.
            pause = (pause * 11 / 10).min(Duration::from_millis(500));
        }
        asking.join().expect("the question")
    })
}

/// The lines between the one that begins so and the next that is not indented.
fn section<'t>(text: &'t str, begin: &str) -> Vec<&'t str> {
    let from = text.lines().skip_while(|line| !line.starts_with(begin));
    let mut lines = from.peekable();
    let first = lines.next();
    first.into_iter().chain(lines.take_while(|line| line.starts_with(' '))).collect()
}

const ROOT: &str = "<13>Nov 11 01:02:03 web su: user=root door=open";
const BAD: &str = "<13>Nov 11 01:02:03 bad app: user=me";

#[test]
fn the_next_message_that_fits_is_told_step_by_step() {
    let lab = Lab::new();
    let collector = Collector::tcp(lab.port("out"));
    let penstock = Penstock::start(&lab, &config());
    let outcome = ask_and_send(
        &lab,
        &["--next", "program(\"su\") and not filter(f_app)", "--timeout", "60"],
        &[BAD, ROOT],
    );
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let text = &outcome.stdout;
    assert!(text.starts_with("message at source s#0 (network"), "{text}");
    assert!(text.contains(&format!("{} bytes: {ROOT}", ROOT.len())), "{text}");
    let first = section(text, "log path").join("\n");
    assert!(first.contains("stopped here") && first.contains("filter f_app"), "{first}");
    assert!(first.contains("value \"su\", pattern \"app\"  does not hold"), "{first}");
    assert!(first.contains("not reached: destination d_app#0"), "{first}");
    assert!(text.contains(".kv.user = \"root\""), "{text}");
    assert!(text.contains("\"${.kv.user}\" eq \"root\"  with ${.kv.user} = \"root\"  holds"), "{text}");
    assert!(text.contains("delivered"), "{text}");
    assert!(text.trim_end().ends_with("outcome: d_root#0"), "{text}");
    assert!(collector.wait_lines(1)[0].contains("door=open"));
    penstock.ledger().assert_balanced();
    penstock.stop();
}

#[test]
fn the_next_message_that_nobody_gets() {
    let lab = Lab::new();
    let _collector = Collector::tcp(lab.port("out"));
    let penstock = Penstock::start(&lab, &config());
    let outcome =
        ask_and_send(&lab, &["--dropped", "--json", "--count", "2", "--timeout", "60"], &[ROOT, BAD]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let told: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(told["version"], 1);
    let messages = told["messages"].as_array().expect("messages");
    assert_eq!(messages.len(), 2);
    for message in messages {
        assert_eq!(message["received"]["text"], BAD);
        assert_eq!(message["destinations"].as_array().map(Vec::len), Some(0));
        let verdicts: Vec<&str> =
            message["steps"].as_array().unwrap().iter().filter_map(|step| step["verdict"].as_str()).collect();
        assert_eq!(verdicts, ["passed", "stopped", "stopped"], "{message:#}");
    }
    penstock.stop();
}

#[test]
fn a_destination_that_does_not_get_on_is_told_to_wait() {
    let lab = Lab::new();
    let penstock = Penstock::start(&lab, &config());
    let outcome = ask_and_send(&lab, &["--next", "program(su)", "--timeout", "60"], &[ROOT]);
    // Also before it has waited for so long that the ledger says it.
    assert!(outcome.stdout.contains("waits: ") && outcome.stdout.contains("because "), "{outcome:?}");
    penstock.stop();
}

#[test]
fn questions_that_cannot_be_answered_say_why() {
    let lab = Lab::new();
    let penstock = Penstock::start(&lab, &config());
    for (args, part) in [
        (vec!["--next", "progam(x)"], "program"),
        (vec!["--next", "filter(f_nosuch)"], "f_nosuch"),
        (vec!["--source", "s_nosuch"], "there are s#0"),
        (vec!["--timeout", "1"], "no message that fits came within 1 s"),
    ] {
        let outcome = explain(&lab, &args);
        assert_eq!(outcome.code, Some(1), "{args:?} {outcome:?}");
        assert!(outcome.stderr.contains(part), "{args:?} {outcome:?}");
    }
    assert!(explain(&lab, &["--line", "x"]).stderr.contains("--config"));
    assert_eq!(explain(&lab, &["--config", "x.conf"]).code, Some(2));
    penstock.stop();
    assert!(explain(&lab, &[]).stderr.contains("Does the program run?"));
}

#[test]
fn a_configuration_is_tried_without_running_it() {
    let lab = Lab::new();
    let path = lab.path("tried.conf");
    std::fs::write(&path, lab.fill(&config()).0).unwrap();
    let path = path.display().to_string();
    let outcome = run_command(&["explain", "--config", &path, "--from", "10.1.2.3", "--line", ROOT]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stdout.contains("from 10.1.2.3"), "{outcome:?}");
    assert!(outcome.stdout.trim_end().ends_with("outcome: d_root#0"), "{outcome:?}");
    // What a file would get, and which one.
    let line = "<13>Nov 11 01:02:03 web x: user=me";
    let outcome = run_command(&["explain", "--config", &path, "--line", line, "--json"]);
    let told: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(told["messages"][0]["destinations"][0], "d_rest#0");
    assert!(outcome.stdout.contains("x me\\n"), "{}", outcome.stdout);
    assert!(!lab.path("app").exists() && !lab.path("rest-web").exists(), "nothing is written");

    let lines = lab.path("lines");
    std::fs::write(&lines, format!("{ROOT}\n{BAD}\n")).unwrap();
    let lines = lines.display().to_string();
    let outcome = run_command(&["explain", "--config", &path, "--input", &lines]);
    assert_eq!(outcome.stdout.matches("message at source").count(), 2, "{outcome:?}");
    assert!(outcome.stdout.contains("outcome: no destination gets it"), "{outcome:?}");
    let outcome = run_command(&["explain", "--config", &path, "--line", "x", "--source", "s_nosuch"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("there are s#0"), "{outcome:?}");
}

#[test]
fn a_destination_of_several_paths_stands_below_the_one_that_delivers() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         filter f_no {{ program(\"never\"); }};\n\
         destination d {{ file(\"%dir%/d\"); }};\n\
         destination d_part {{ channel {{ filter(f_no); destination {{ file(\"%dir%/part\"); }}; }}; }};\n\
         log first {{ source(s); filter(f_no); destination(d); }};\n\
         log second {{ source(s); destination(d_part); destination(d); }};\n"
    );
    let outcome = tried(&lab, &config, &["--line", ROOT]);
    let first = section(&outcome.stdout, "log path first");
    assert!(first.iter().any(|line| line.contains("not reached: destination d#0")), "{outcome:?}");
    assert!(!first.iter().any(|line| line.contains("bytes for file")), "{outcome:?}");
    let second = section(&outcome.stdout, "log path second");
    assert!(second.iter().any(|line| line.contains("bytes for file")), "{outcome:?}");
    assert!(!second.iter().any(|line| line.contains("not reached: destination d#0")), "{outcome:?}");
}

fn tried(lab: &Lab, config: &str, args: &[&str]) -> Outcome {
    let path = lab.path("tried.conf");
    std::fs::write(&path, lab.fill(config).0).unwrap();
    run_command(&[&["explain", "--config", &path.display().to_string()], args].concat())
}

#[test]
fn what_is_suspicious_about_a_message_is_said() {
    let lab = Lab::new();
    for (line, part) in [
        ("<13>date=2026-11-23 time=10:00:00 devname=fw", "PROGRAM is \"date=2026-11-23\""),
        ("55 <13>Nov 23 10:00:00 web app: x", "it begins with the count of its bytes"),
        ("Nov 23 10:00:00 web app: x", "it has no priority"),
        ("<13>2099-01-01T00:00:00Z web app: x", "in the future"),
        ("<13>2001-01-01T00:00:00Z web app: x", "days ago"),
        ("<13>1 2026-01-01T00:00:00Z web app - - - x", "it is of RFC 5424"),
        ("GET / HTTP/1.1", "it is a request of HTTP"),
    ] {
        let outcome = tried(&lab, &config(), &["--line", line]);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        let doubts: Vec<&str> = outcome.stdout.lines().filter(|line| line.contains("suspicious: ")).collect();
        assert!(doubts.iter().any(|doubt| doubt.contains(part)), "{line}: {}", outcome.stdout);
    }
    let now = run_command(&[
        "explain",
        "--config",
        &lab.path("tried.conf").display().to_string(),
        "--line",
        "<13>web app: x",
    ]);
    assert!(!now.stdout.contains("suspicious"), "{now:?}");
}

#[test]
fn a_message_that_was_made_says_of_which_ones() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         parser p {{ grouping-by(key(\"$PROGRAM\") timeout(10) trigger(message(\"end\")) \
         aggregate(value(\"MESSAGE\" \"all of $PROGRAM\")) inject-mode(aggregate-only)); }};\n\
         destination d {{ file(\"%dir%/d\"); }};\nlog {{ source(s); parser(p); destination(d); }};\n"
    );
    let lines = lab.path("lines");
    std::fs::write(
        &lines,
        "<13>Nov 11 01:02:03 h a: first\n<13>Nov 11 01:02:03 h b: other\n<13>Nov 11 01:02:03 h a: end\n",
    )
    .unwrap();
    let lines = lines.display().to_string();
    let text = tried(&lab, &config, &["--input", &lines]).stdout;
    let made = text.split("\n\n").find(|part| part.contains("all of a")).expect("a made message");
    assert!(made.contains("made of 2 messages:\n"), "{text}");
    assert!(made.contains("    <13>Nov 11 01:02:03 h a: first\n") && made.contains(": end\n"), "{made}");
    assert!(!made.contains("other") && made.trim_end().ends_with("outcome: d#0"), "{made}");
    let told: Value =
        serde_json::from_str(&tried(&lab, &config, &["--input", &lines, "--json"]).stdout).unwrap();
    let made = &told["messages"][3];
    assert_eq!(made["time"], Value::Null);
    let of: Vec<&Value> =
        made["values"].as_array().unwrap().iter().filter(|e| e["event"] == "made of").collect();
    assert_eq!(of[0]["messages"][1]["text"], "<13>Nov 11 01:02:03 h a: end");
}

#[test]
fn a_line_of_an_output_is_explained_backwards() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         filter f_auth {{ facility(auth) and program(\"sshd\"); }};\n\
         destination d_auth {{ file(\"%dir%/auth-$HOST\"); }};\n\
         destination d_short {{ file(\"%dir%/short\" template(\"$MSG\\n\")); }};\n\
         log {{ source(s); filter(f_auth); destination(d_auth); }};\n\
         log {{ source(s); filter {{ message(\"disk\"); }}; destination(d_short); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line("<38>Nov 11 01:02:03 web sshd[7]: hello");
    sender.line("<13>Nov 11 01:02:03 web kernel: disk full");
    penstock.wait_settled(2);
    penstock.stop();
    let place = |name: &str, line: usize| format!("{}:{line}", lab.path(name).display());
    let outcome = tried(&lab, &config, &["--file", &place("auth-web", 1)]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(
        outcome.stdout.contains("this message gives it") && outcome.stdout.contains("<32> was the first"),
        "{outcome:?}"
    );
    assert!(
        outcome.stdout.contains("filter f_auth") && outcome.stdout.trim_end().ends_with("d_auth#0"),
        "{outcome:?}"
    );
    // The template of the other leaves too much out: only who writes there is known.
    let outcome = tried(&lab, &config, &["--file", &place("short", 1)]);
    assert!(
        outcome.stdout.contains("destination d_short#0") && outcome.stdout.contains("log path"),
        "{outcome:?}"
    );
    assert!(!outcome.stdout.contains("d_auth"), "{outcome:?}");
    for (file, part) in [
        (place("short", 9), "has no line 9"),
        (place("nowhere", 1), "cannot read"),
        ("/etc/hostname:1".to_owned(), "no destination of this configuration writes to"),
    ] {
        let outcome = tried(&lab, &config, &["--file", &file]);
        assert!(outcome.code == Some(1) && outcome.stderr.contains(part), "{outcome:?}");
    }
    let outcome = tried(&lab, &config, &["--file", "short"]);
    assert!(outcome.code == Some(2) && outcome.stderr.contains("a path, a colon"), "{outcome:?}");
    // The same file by other names: through a symbolic link, and seen from its folder.
    let link = lab.path("link");
    std::os::unix::fs::symlink(lab.path("auth-web"), &link).expect("a link");
    let outcome = tried(&lab, &config, &["--file", &format!("{}:1", link.display())]);
    assert!(outcome.code == Some(0) && outcome.stdout.contains("d_auth#0"), "{outcome:?}");
    let own = std::env::current_dir().expect("a folder");
    let up: String = own.ancestors().skip(1).map(|_| "../").collect();
    let seen = format!("{up}{}:1", lab.path("auth-web").strip_prefix("/").expect("a path").display());
    let outcome = tried(&lab, &config, &["--file", &seen]);
    assert!(outcome.code == Some(0) && outcome.stdout.contains("d_auth#0"), "{outcome:?}");
}

/// A line that is a message made here may come out of a received one of the same text: that is said.
#[test]
fn backwards_says_where_a_line_may_have_been_made_here() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         parser p {{ grouping-by(key(\"$PROGRAM\") aggregate(value(\"MESSAGE\" \"x\")) timeout(10)); }};\n\
         destination d {{ file(\"%dir%/d\"); }};\nlog {{ source(s); parser(p); destination(d); }};\n"
    );
    std::fs::write(lab.path("d"), "Nov 11 01:02:03 web a: x\n").expect("a file");
    let outcome = tried(&lab, &config, &["--file", &format!("{}:1", lab.path("d").display())]);
    assert!(outcome.code == Some(0), "{outcome:?}");
    let said = "unless it is one that was made here and not received, by parser p";
    assert!(outcome.stdout.contains("gives it") && outcome.stdout.contains(said), "{outcome:?}");
}

/// What is compared stands beside what it is compared with.
#[test]
fn conditions_say_what_they_ask_for() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         filter f {{ facility(auth, local0..local3) or level(err..emerg) or tags(\"web\") or \"$PID\" > \"100\" \
                    or \"${{.json.level}}\" eq \"error\" or netmask(10.0.0.0/8); }};\n\
         destination d {{ file(\"%dir%/d\"); }};\nlog {{ source(s); filter(f); destination(d); }};\n"
    );
    let outcome = tried(&lab, &config, &["--line", "<13>Nov 11 01:02:03 web a[10]: x"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    for said in [
        "facility(): facility \"user\", severity \"notice\", asks for \"auth, local0..local3\"  does not hold",
        "level(): facility \"user\", severity \"notice\", asks for \"err..emerg\"  does not hold",
        "asks for \"web\"  does not hold",
        "\"$PID\" > \"100\"  with $PID = \"10\", compared as texts  does not hold",
        "\"${.json.level}\" eq \"error\"  with ${.json.level} = \"\"  does not hold",
        "netmask(): address \"local\", asks for \"10.0.0.0/8\"  does not hold",
    ] {
        assert!(outcome.stdout.contains(said), "{said}\n{}", outcome.stdout);
    }
}

/// What a full queue refuses did not get there, and is told as that.
#[test]
fn a_message_that_a_destination_drops_is_told_to_be_dropped() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d_full {{ network(127.0.0.1 port(%port:out%) log-fifo-size(10)); }};\n\
         destination d_all {{ file(\"%dir%/all\"); }};\n\
         log {{ source(s); destination(d_full); destination(d_all); }};\n"
    );
    let penstock = Penstock::start(&lab, &config);
    let outcome = ask_and_send(&lab, &["--dropped", "queue-full", "--json", "--timeout", "60"], &[ROOT]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let answer: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let message = &answer["messages"][0];
    assert_eq!(message["destinations"], serde_json::json!(["d_all#0"]), "{answer}");
    assert!(outcome.stdout.contains("\"reason\": \"queue-full\""), "{answer}");
    let wrong = explain(&lab, &["--dropped", "kernel"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("lost before it is read"), "{wrong:?}");
    drop(penstock);
}

/// The running program says which configuration it is.
#[test]
fn a_line_of_an_output_is_found_without_naming_the_configuration() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d_all {{ file(\"%dir%/all\"); }};\nlog {{ source(s); destination(d_all); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    Sender::tcp(lab.port("in")).line(ROOT);
    penstock.wait_ledger(|ledger| (ledger.destination("d_all").delivered != 1).then(|| "1".to_owned()));
    let line = format!("{}:1", lab.path("all").display());
    let outcome = explain(&lab, &["--file", &line]);
    assert!(outcome.code == Some(0) && outcome.stdout.contains("d_all#0"), "{outcome:?}");
    drop(penstock);
}

/// Of a thousand log paths, those count that the message took.
#[test]
fn many_paths_that_stop_a_message_are_counted() {
    let lab = Lab::new();
    let mut config = format!("{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n");
    for at in 0..60 {
        config.push_str(&format!(
            "filter f{at} {{ program(\"^a{at}$\"); }};\ndestination d{at} {{ file(\"%dir%/{at}\"); }};\n\
             log {{ source(s); filter(f{at}); destination(d{at}); }};\n"
        ));
    }
    let outcome = tried(&lab, &config, &["--line", "<13>Nov 11 01:02:03 web a50: x"]);
    assert_eq!(outcome.stdout.matches("log path").count(), 21, "{outcome:?}");
    assert!(
        outcome.stdout.contains("\nand 39 more that stopped it: --json has all of them\n"),
        "{outcome:?}"
    );
    assert!(outcome.stdout.trim_end().ends_with("outcome: d50#0"), "{outcome:?}");
    let outcome = tried(&lab, &config, &["--json", "--line", "<13>Nov 11 01:02:03 web a50: x"]);
    assert_eq!(outcome.stdout.matches("\"kind\": \"log\"").count(), 60);
}
