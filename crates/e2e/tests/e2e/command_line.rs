//! The commands: check, version, ledger, the names syslog-ng and syslog-ng-ctl.

use crate::messages::{HEAD, block, send};
use std::path::PathBuf;
use testkit::penstock::{binary, root, run_as};
use testkit::{Lab, Penstock, Sender, run_command, wait_until};

fn config() -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\nfilter f {{ message(\"[02468] of\"); }};\n\
         log {{ source(s); filter(f); destination(d); flags(flow-control); }};\n"
    )
}

fn check(lab: &Lab, config: &str, args: &[&str]) -> testkit::Outcome {
    let (path, _) = lab.write_config("checked.conf", config);
    run_command(&[&["check"], args, &[path.to_str().unwrap()]].concat())
}

#[test]
fn check_says_what_a_right_configuration_has() {
    let lab = Lab::new();
    let outcome = check(&lab, &config(), &[]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert_eq!(
        (outcome.stdout.as_str(), outcome.stderr.as_str()),
        ("ok: 1 source, 1 destination, 1 log path\n", "")
    );
}

#[test]
fn check_takes_several_files_folders_and_standard_input() {
    let lab = Lab::new();
    let folder = lab.path("conf.d");
    std::fs::create_dir(&folder).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), lab.fill(text).0).unwrap();
    write("a.conf", &config());
    write("b.conf", &config().replace("port(", "prot("));
    write("c.txt", "no configuration");
    let folder = folder.display().to_string();
    let outcome = run_command(&["check", &folder]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(
        outcome.stdout.contains("a.conf: ok: 1 source") && !outcome.stdout.contains("b.conf"),
        "{outcome:?}"
    );
    assert!(outcome.stderr.contains("b.conf:3:") && !outcome.stderr.contains("c.txt"), "{outcome:?}");
    let outcome = run_command(&["check", "--json", &folder]);
    let told: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(
        (&told["files"][0]["errors"], &told["files"][1]["errors"]),
        (&0.into(), &1.into()),
        "{told:#}"
    );
    // The fix is a change of the text.
    let fix = &told["files"][1]["diagnostics"][0]["fix"];
    assert_eq!((&fix["old"], &fix["new"]), (&"prot".into(), &"port".into()), "{told:#}");
    assert_eq!(fix["place"]["line"], 3);
    let outcome = run_with_input(&["check", "-"], &lab.fill(&config()).0);
    assert_eq!((outcome.0, outcome.1.as_str()), (Some(0), "ok: 1 source, 1 destination, 1 log path\n"));
    let outcome = run_with_input(&["check", "-"], "@version: 4.11\nlog { source(s_none); };\n");
    assert!(outcome.0 == Some(1) && outcome.2.contains("<standard input>:2:"), "{outcome:?}");
}

/// Exit code, standard output and standard error.
fn run_with_input(args: &[&str], input: &str) -> (Option<i32>, String, String) {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut command = Command::new(binary());
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program");
    child.stdin.take().expect("its input").write_all(input.as_bytes()).expect("room");
    let output = child.wait_with_output().expect("its end");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn colours_are_where_they_are_wanted() {
    let lab = Lab::new();
    let wrong = config().replace("port(", "prot(");
    let plain = check(&lab, &wrong, &[]);
    assert!(!plain.stderr.contains('\u{1b}'), "{plain:?}");
    let painted = check(&lab, &wrong, &["--color", "always"]);
    assert!(painted.stderr.contains("\u{1b}[1;31m"), "{painted:?}");
}

#[test]
fn a_file_of_another_kind_is_one_line() {
    let lab = Lab::new();
    let path = lab.path("other.conf");
    let utf16: Vec<u8> = "\u{feff}@version: 4.11\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let elf = std::fs::read(binary()).unwrap();
    for (bytes, part) in
        [(&utf16[..], "text in UTF-16"), (&[0x1f, 0x8b, 8, 0], "gzip"), (&elf[..4096], "a program (ELF)")]
    {
        std::fs::write(&path, bytes).unwrap();
        let outcome = run_command(&["check", path.to_str().unwrap()]);
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        assert!(outcome.stderr.contains(part) && outcome.stderr.lines().count() == 3, "{outcome:?}");
    }
}

#[test]
fn wrong_usage_ends_with_two() {
    for command in ["ctl", "pdb", "queue", "state", "logstore", "dqtool", "slogkey", "python", "ledger"] {
        for wrong in [&[command, "--no-such"][..], &[command, "no-such-thing", "--nor-this"]] {
            let outcome = run_command(wrong);
            assert!(outcome.code == Some(2) && !outcome.stderr.is_empty(), "{wrong:?}: {outcome:?}");
        }
    }
    for args in [
        &["nosuch"][..],
        &["check"],
        &["check", "--nosuch"],
        &["explain", "--count", "x"],
        &["tap"],
        &["top", "--sort", "x"],
    ] {
        let outcome = run_command(args);
        assert!(outcome.code == Some(2) && !outcome.stderr.is_empty(), "{args:?}: {outcome:?}");
    }
    assert_eq!(run_command(&["--help"]).code, Some(0));
}

#[test]
fn check_reports_all_errors_at_once_with_place_and_remedy() {
    let lab = Lab::new();
    let wrong = config()
        .replace("port(", "prot(")
        .replace("destination(d)", "destination(missing)")
        .replace("filter f { message(", "filter f { mesage(");
    let outcome = check(&lab, &wrong, &[]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let text = outcome.stdout + &outcome.stderr;
    for part in [
        "prot",
        "port",
        "missing",
        "mesage",
        "message",
        "checked.conf:3:",
        "checked.conf:5:",
        "checked.conf:6:",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

/// A filter whose expression is wrong is there all the same: one error, not one for each reference to it.
#[test]
fn a_wrong_filter_is_not_said_to_be_missing() {
    let lab = Lab::new();
    let config = "@version: 4.11\nsource s { internal(); };\nfilter f_num { PID > 100; };\n\
                  filter f_ref { filter(f_num); };\nlog { source(s); filter(f_ref); };\n";
    let outcome = check(&lab, config, &[]);
    let said = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(outcome.code == Some(1) && !said.contains("there is no filter"), "{outcome:?}");
}

#[test]
fn check_as_json() {
    let lab = Lab::new();
    let outcome = check(&lab, &config().replace("port(", "prot("), &["--json"]);
    assert_eq!(outcome.code, Some(1));
    let json: serde_json::Value =
        serde_json::from_str(&outcome.stdout).unwrap_or_else(|e| panic!("{e}: {outcome:?}"));
    let text = json.to_string();
    assert!(text.contains("\"line\":3") && text.contains("prot"), "{text}");
}

#[test]
fn check_opens_no_sockets_and_writes_no_files() {
    let lab = Lab::new();
    let _taken = testkit::Collector::tcp(lab.port("in"));
    let outcome = check(&lab, &config(), &[]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(!lab.path("out").exists());
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    let lab = Lab::new();
    let outcome = check(&lab, &config().replace("file(\"%dir%/out\")", "hdfs(hdfs-uri(\"x\"))"), &[]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!((outcome.stdout + &outcome.stderr).contains("hdfs"));
}

#[test]
fn examples_are_right() {
    for entry in std::fs::read_dir(root().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let outcome = run_command(&["check", path.to_str().unwrap()]);
        assert_eq!(outcome.code, Some(0), "{}: {}{}", path.display(), outcome.stdout, outcome.stderr);
    }
}

#[test]
fn run_with_a_wrong_configuration_says_all_and_ends_with_one() {
    let lab = Lab::new();
    let mut penstock =
        Penstock::configure(&lab, "@version: 4.11\nlog { source(nobody); destination(nothing); };\n")
            .spawned();
    assert_eq!(penstock.wait_end().code(), Some(1));
    let log = penstock.log();
    assert!(log.contains("nobody") && log.contains("nothing"), "{log}");
}

#[test]
fn the_ledger_command_adds_up() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config());
    send(&lab, 0, 100);
    let ledger = penstock.wait_settled(100);
    assert_eq!(ledger.destination("d").delivered, 50, "{ledger}");
    assert_eq!(ledger.paths.iter().map(|path| path.filtered).sum::<u64>(), 50, "{ledger}");
    let state = lab.path("state");
    let outcome = run_command(&["ledger", "--state-dir", state.to_str().unwrap()]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stdout.contains("100") && outcome.stdout.contains("50"), "{}", outcome.stdout);
    penstock.stop();
    let outcome = run_command(&["ledger", "--state-dir", state.to_str().unwrap()]);
    assert_eq!(outcome.code, Some(2), "nobody answers: {outcome:?}");
}

/// The binary under another name.
pub fn link(lab: &Lab, name: &str) -> PathBuf {
    let path = lab.path(name);
    std::os::unix::fs::symlink(binary(), &path).unwrap();
    path
}

#[test]
fn called_as_syslog_ng() {
    let lab = Lab::new();
    let program = link(&lab, "syslog-ng");
    let version = run_as(&program, &["-V"]);
    assert_eq!(version.code, Some(0));
    assert!(
        version.stdout.contains("Config version:") && version.stdout.contains("Installer-Version:"),
        "{version:?}"
    );
    let (path, _) = lab.write_config("good.conf", &config());
    let good = run_as(&program, &["--syntax-only", "--no-caps", "-F", "-f", path.to_str().unwrap()]);
    assert_eq!(good.code, Some(0), "{good:?}");
    let (path, _) = lab.write_config("bad.conf", "@version: 4.11\nsource s {\n");
    let bad = run_as(&program, &["-s", "-f", path.to_str().unwrap()]);
    assert_eq!(bad.code, Some(1), "{bad:?}");
}

#[test]
fn called_as_syslog_ng_it_runs_and_obeys_syslog_ng_ctl() {
    let lab = Lab::new();
    let (daemon, ctl) = (link(&lab, "syslog-ng"), link(&lab, "syslog-ng-ctl"));
    let (path, opens) = lab.write_config("ng.conf", &config());
    let mut command = std::process::Command::new(daemon);
    command.args(["-F", "--no-caps", "-e", "-f"]).arg(path).arg("-R").arg(lab.path("ng.persist"));
    command.arg("-p").arg(lab.path("ng.pid")).arg("-c").arg(lab.path("ng.ctl"));
    let mut process = testkit::process::Process::spawn("syslog-ng", command, None, &lab.path("ng.log"));
    process.wait_for(|| opens.iter().find(|open| !open.is_open()).map(|open| format!("{open:?}")));
    let control = lab.path("ng.ctl").display().to_string();
    process.wait_for(|| (!lab.path("ng.ctl").exists()).then(|| "the control socket".to_owned()));
    send(&lab, 0, 10);
    wait_until("the counters", || {
        let stats = run_as(&ctl, &["stats", "-c", &control]);
        stats.stdout.starts_with("SourceName;SourceId;SourceInstance;State;Type;Number")
            && stats.stdout.lines().any(|l| l.starts_with("destination;d;;a;processed;5"))
    });
    let prometheus = run_as(&ctl, &["stats", "prometheus", "-c", &control]);
    assert!(prometheus.stdout.contains("syslogng_"), "{prometheus:?}");
    let query = run_as(&ctl, &["query", "get", "destination.d.*", "-c", &control]);
    assert!(query.stdout.contains("destination.d.processed=5"), "{query:?}");
    assert_eq!(run_as(&ctl, &["healthcheck", "-c", &control]).code, Some(0));
    assert_eq!(run_as(&ctl, &["reload", "-c", &control]).code, Some(0));
    let pid = std::fs::read_to_string(lab.path("ng.pid")).unwrap();
    assert_eq!(pid.trim(), process.id().to_string());
    assert_eq!(run_as(&ctl, &["stop", "-c", &control]).code, Some(0));
    assert!(process.wait_end().success());
    assert_eq!(lab.lines("out").len(), 5);
}

#[test]
fn loggen_sends_and_verifies() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) max-connections(20)); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\nlog {{ source(s); destination(d); flags(flow-control); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    let port = lab.port("in").to_string();
    let outcome = run_command(&[
        "loggen",
        "--inet",
        "--stamp",
        "--stream",
        "--active-connections",
        "5",
        "--rate",
        "100000",
        "--number",
        "1000",
        "--interval",
        "30",
        "127.0.0.1",
        &port,
    ]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let ledger = penstock.wait_settled_input();
    ledger.assert_nothing_lost();
    assert!(ledger.received() >= 1000, "{ledger}");
    penstock.stop();
    let out = lab.path("out");
    let verified = run_command(&["loggen", "verify", out.to_str().unwrap()]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

#[test]
fn what_is_preprocessed_means_the_same() {
    let lab = Lab::new();
    let text = format!(
        "@version: 4.11\n@define name \"out\"\n@include \"{}\"\nblock destination to(file()) {{\n    file(\"`file`\");\n}};\n\
         source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ to(file(\"%dir%/`name`\")); }};\nlog {{ source(s); destination(d); flags(flow-control); }};\n",
        root().join("tests/golden/lang/include.d/options.inc").display()
    );
    let (config, _) = lab.write_config("before.conf", &text);
    let program = link(&lab, "syslog-ng");
    let (before, after) = (config.to_str().unwrap(), lab.path("after.conf").display().to_string());
    let made = run_as(&program, &["--preprocess-into", &after, "-f", before]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let flat = lab.text("after.conf");
    assert!(!flat.contains("@include") && flat.contains("keep-hostname(yes)"), "{flat}");
    assert!(flat.starts_with("@version: 4.11\n"), "{flat}");
    // `-` is standard output, not a file of that name.
    let printed = run_as(&program, &["--preprocess-into=-", "-f", before]);
    assert_eq!((printed.code, printed.stdout.as_str()), (Some(0), flat.as_str()));
    assert!(!std::path::Path::new("-").exists());
    let penstock = Penstock::start(&lab, &flat);
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(block(0, 2).as_bytes());
    wait_until("both lines", || lab.lines("out").len() == 2);
    penstock.stop();
}
