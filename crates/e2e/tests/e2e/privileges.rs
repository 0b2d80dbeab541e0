//! Which capabilities the program and its children have once it runs, as the kernel sees them: by user,
//! configuration and option.

use crate::messages::HEAD;
use std::os::unix::fs::{PermissionsExt, chown};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use testkit::{Lab, Penstock, Sender, wait_until};

const CHOWN: u64 = 1;
const DAC_OVERRIDE: u64 = 1 << 1;
const DAC_READ_SEARCH: u64 = 1 << 2;
const FOWNER: u64 = 1 << 3;
const KILL: u64 = 1 << 5;
const SETGID: u64 = 1 << 6;
const SETUID: u64 = 1 << 7;
const NET_BIND_SERVICE: u64 = 1 << 10;
const NET_BROADCAST: u64 = 1 << 11;
const NET_ADMIN: u64 = 1 << 12;
const NET_RAW: u64 = 1 << 13;
const SYSLOG: u64 = 1 << 34;
/// What root's syslog-ng keeps.
const ROOT: u64 =
    CHOWN | DAC_OVERRIDE | DAC_READ_SEARCH | FOWNER | NET_BIND_SERVICE | NET_BROADCAST | NET_RAW | SYSLOG;

const NOBODY: u32 = 65534;

/// A lab whose folder is the user's, as the folders of a log collector are.
fn lab_of_nobody() -> Lab {
    let lab = Lab::new();
    chown(lab.dir(), Some(NOBODY), Some(NOBODY)).expect("a folder can be given away");
    lab
}

/// A value of `/proc/PID/status`, in hexadecimal as the sets are.
fn field(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    u64::from_str_radix(line.expect(name).trim(), 16).expect(name)
}

/// Holds of every thread: these capabilities and no others, none that a child could get, and no way to get
/// more.
#[track_caller]
fn assert_kept(penstock: &Penstock, kept: u64, what: &str) {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", penstock.id())).expect("its threads");
    let mut threads = 0;
    for task in tasks.flatten() {
        // A thread may end meanwhile: the one that has opened the log of messages on disk, say.
        let Ok(status) = std::fs::read_to_string(task.path().join("status")) else { continue };
        assert_status(&status, kept, &format!("{what}\n{status}\n{}", penstock.log()));
        threads += 1;
    }
    assert!(threads > 2, "{threads}");
}

#[track_caller]
fn assert_status(status: &str, kept: u64, what: &str) {
    for (set, expected) in
        [("CapPrm", kept), ("CapEff", kept), ("CapInh", 0), ("CapAmb", 0), ("NoNewPrivs", 1)]
    {
        assert_eq!(field(status, set), expected, "{set} {what}");
    }
    // What root could get by starting a program: nothing else either.
    assert_eq!(field(status, "CapBnd") & !kept, 0, "{what}");
}

fn relay(source: &str, destination: &str) -> String {
    format!(
        "{HEAD}source s {{ {source} }};\ndestination d {{ {destination} }};\nlog {{ source(s); destination(d); }};\n"
    )
}

const SOURCE: &str = "network(ip(127.0.0.1) port(%tcp:in%));";
const DESTINATION: &str = "file(\"%dir%/out\");";

/// A port that only the privileged can listen at: each call gets another one. Each test program begins at
/// another one, so they seldom meet.
fn low_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let first = std::process::id() % 424;
    let step = || NEXT.fetch_add(1, Ordering::Relaxed);
    let mut ports = (0..424).map(|_| 600 + ((first * 7 + step()) % 424) as u16);
    ports.find(|port| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok()).expect("a free port")
}

#[test]
fn another_user_keeps_what_the_configuration_needs() {
    let low = format!("network(ip(127.0.0.1) port({}));", low_port());
    let low_udp = format!("network(ip(127.0.0.1) port({}) transport(udp));", low_port());
    let cases: &[(&str, &str, u64)] = &[
        (SOURCE, DESTINATION, 0),
        (SOURCE, "file(\"%dir%/a/${HOST}/b\" create-dirs(yes) perm(0640) dir-perm(0750));", 0),
        (SOURCE, "file(\"%dir%/out\" owner(nobody) group(-2));", 0),
        (&low, DESTINATION, NET_BIND_SERVICE),
        (&low_udp, DESTINATION, NET_BIND_SERVICE),
        (SOURCE, "network(127.0.0.1 port(9) transport(udp) spoof-source(yes));", NET_RAW),
        (SOURCE, "file(\"%dir%/out\" owner(root));", CHOWN | FOWNER | DAC_OVERRIDE),
        (SOURCE, "file(\"%dir%/out\"); }; options { group(root);", CHOWN | FOWNER | DAC_OVERRIDE),
        (SOURCE, "file(\"%dir%/roots/out\");", DAC_OVERRIDE),
        (SOURCE, "file(\"%dir%/roots/${HOST}\");", DAC_OVERRIDE),
        (SOURCE, "file(\"%dir%/others\" perm(0666));", FOWNER),
        ("file(\"%dir%/secret\");", DESTINATION, DAC_READ_SEARCH),
        ("wildcard-file(base-dir(\"%dir%/roots\") filename-pattern(\"*\"));", DESTINATION, DAC_READ_SEARCH),
        ("unix-dgram(\"%dir%/log\");", DESTINATION, 0),
        ("unix-dgram(\"%dir%/roots/log\");", DESTINATION, DAC_OVERRIDE),
        ("internal();", "program(\"exec cat > /dev/null\");", 0),
    ];
    for (source, destination, kept) in cases {
        let lab = lab_of_nobody();
        std::fs::create_dir(lab.path("roots")).expect("a folder");
        for (file, mode) in [("secret", 0o600), ("others", 0o666), ("roots/file", 0o640)] {
            std::fs::write(lab.path(file), "").expect("a file");
            std::fs::set_permissions(lab.path(file), PermissionsExt::from_mode(mode)).expect("a mode");
        }
        // An unused one needs nothing.
        let config = relay(source, destination) + "source unused { network(ip(127.0.0.1) port(1)); };\n";
        let penstock = Penstock::configure(&lab, &config).arg("--user").arg("nobody").ready();
        assert_kept(&penstock, *kept, &format!("{source} {destination}"));
        penstock.stop();
    }
}

#[test]
fn another_user_does_its_work_with_what_is_kept() {
    let lab = lab_of_nobody();
    std::fs::create_dir(lab.path("roots")).expect("a folder");
    std::fs::write(lab.path("secret"), "<13>Oct 11 22:14:15 host app: from a file\n").expect("a file");
    std::fs::set_permissions(lab.path("secret"), PermissionsExt::from_mode(0o600)).expect("a mode");
    let port = low_port();
    let config = relay(
        &format!("network(ip(127.0.0.1) port({port})); file(\"%dir%/secret\");"),
        "file(\"%dir%/roots/${PROGRAM}\" owner(root) group(root) perm(0600) template(\"$MSG\\n\"));",
    );
    let pid_file = lab.path("roots/pid").display().to_string();
    let started = Penstock::configure(&lab, &config).arg("-u").arg("nobody").arg("--pid-file").arg(&pid_file);
    let mut penstock = started.ready();
    let mut sender = Sender::tcp(port);
    sender.line("<13>Oct 11 22:14:15 host net: from a socket");
    penstock.wait_settled(2).assert_nothing_lost();
    assert_eq!(lab.lines("roots/net"), ["from a socket"]);
    assert_eq!(lab.lines("roots/app"), ["from a file"]);
    assert_eq!(lab.text("roots/pid").trim(), penstock.id().to_string());
    let meta = std::fs::metadata(lab.path("roots/net")).expect("the file");
    assert_eq!((std::os::unix::fs::MetadataExt::uid(&meta), meta.permissions().mode() & 0o777), (0, 0o600));
    penstock.stop();
}

#[test]
fn a_pid_file_where_the_user_may_not_write_costs_no_capability() {
    let lab = lab_of_nobody();
    std::fs::create_dir(lab.path("roots")).expect("a folder");
    let pid_file = lab.path("roots/pid").display().to_string();
    let started = Penstock::configure(&lab, &relay(SOURCE, DESTINATION)).arg("-u").arg("nobody");
    let penstock = started.arg("--pid-file").arg(&pid_file).ready();
    assert_kept(&penstock, 0, "");
    assert_eq!(lab.text("roots/pid").trim(), penstock.id().to_string());
    penstock.stop();
    assert_eq!(lab.text("roots/pid"), "", "nobody is told a number that is another program's later");
}

/// What a child says of itself.
fn child(lab: &Lab) -> String {
    wait_until("the child's word", || lab.text("child").contains("NoNewPrivs:"));
    lab.text("child")
}

const TELLS: &str =
    "program(\"grep -E 'Cap|NoNewPrivs' /proc/self/status > %dir%/child; exec cat > /dev/null\");";

#[test]
fn children_get_no_more() {
    let lab = lab_of_nobody();
    let config = relay(&format!("network(ip(127.0.0.1) port({}));", low_port()), TELLS);
    let penstock = Penstock::configure(&lab, &config).arg("-u").arg("nobody").ready();
    assert_kept(&penstock, NET_BIND_SERVICE, "");
    let said = child(&lab);
    assert_eq!(
        (field(&said, "CapPrm"), field(&said, "CapEff"), field(&said, "NoNewPrivs")),
        (0, 0, 1),
        "{said}"
    );
    penstock.stop();

    let lab = Lab::new();
    let penstock = Penstock::start(&lab, &relay(SOURCE, TELLS));
    let kept = ROOT | SETUID | SETGID | KILL;
    assert_kept(&penstock, kept, "");
    let said = child(&lab);
    assert_eq!((field(&said, "CapEff") & !kept, field(&said, "NoNewPrivs")), (0, 1), "{said}");
    penstock.stop();
}

#[test]
fn root_keeps_a_list_and_reads_and_writes_everybodys_files() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("theirs")).expect("a folder");
    std::fs::write(lab.path("theirs/in"), "<13>Oct 11 22:14:15 host app: text\n").expect("a file");
    for (name, mode) in [("theirs/in", 0o600), ("theirs", 0o700)] {
        std::fs::set_permissions(lab.path(name), PermissionsExt::from_mode(mode)).expect("a mode");
        chown(lab.path(name), Some(NOBODY), Some(NOBODY)).expect("an owner");
    }
    let config = relay(
        "file(\"%dir%/theirs/in\");",
        "file(\"%dir%/theirs/out\" owner(nobody) template(\"$MSG\\n\"));",
    );
    let mut penstock = Penstock::start(&lab, &config);
    assert_kept(&penstock, ROOT, "");
    penstock.wait_settled(1).assert_nothing_lost();
    assert_eq!(lab.lines("theirs/out"), ["text"]);
    // A reload can do what a start could.
    let source = format!("network(ip(127.0.0.1) port({}));", low_port());
    penstock.reload_with(&lab, &relay(&source, "file(\"%dir%/theirs/other\" owner(nobody));"));
    penstock.stop();
    let lab = Lab::new();
    let penstock =
        Penstock::start(&lab, &relay("network(ip(127.0.0.1) port(%udp:in%) transport(udp));", DESTINATION));
    assert_kept(&penstock, ROOT | NET_ADMIN, "large receive buffers");
    penstock.stop();
}

#[test]
fn options_say_what_is_kept() {
    for (user, caps, kept) in [
        ("nobody", "cap_net_bind_service,cap_chown=p cap_syslog=ep", NET_BIND_SERVICE | CHOWN | SYSLOG),
        ("root", "cap_kill+ep", KILL),
        ("nobody", "", 0),
        ("root", "=", 0),
        ("nobody", "all=p all-p cap_net_raw+p", NET_RAW),
    ] {
        let lab = lab_of_nobody();
        std::fs::write(lab.path("out"), "").expect("a file");
        std::fs::set_permissions(lab.path("out"), PermissionsExt::from_mode(0o666)).expect("a mode");
        let started = Penstock::configure(&lab, &relay(SOURCE, DESTINATION)).arg("-u").arg(user);
        // Without capabilities, root too writes its own folders only.
        let state = Lab::new();
        if user == "nobody" {
            chown(state.dir(), Some(NOBODY), Some(NOBODY)).expect("an owner");
        }
        let penstock = started.state(state.dir()).arg("--caps").arg(caps).ready();
        assert_kept(&penstock, kept, caps);
        penstock.stop();
    }
    let lab = lab_of_nobody();
    let penstock = Penstock::configure(&lab, &relay(SOURCE, DESTINATION))
        .arg("-u")
        .arg("nobody")
        .arg("--no-caps")
        .free()
        .ready();
    let status = std::fs::read_to_string(format!("/proc/{}/status", penstock.id())).expect("its status");
    assert_eq!((field(&status, "CapPrm"), field(&status, "NoNewPrivs")), (0, 0), "{status}");
    penstock.stop();
    let lab = Lab::new();
    let own = std::fs::read_to_string("/proc/self/status").expect("the test's own");
    let penstock = Penstock::configure(&lab, &relay(SOURCE, DESTINATION)).arg("--no-caps").free().ready();
    let status = std::fs::read_to_string(format!("/proc/{}/status", penstock.id())).expect("its status");
    for set in ["CapPrm", "CapEff", "CapBnd", "NoNewPrivs"] {
        assert_eq!(field(&status, set), field(&own, set), "{set}");
    }
    penstock.stop();
}

#[test]
fn what_cannot_be_kept_is_refused() {
    for (caps, text) in [
        ("cap_net_bind_service=eip", "cannot be inheritable"),
        ("cap_everything=ep", "there is no capability `cap_everything`"),
        ("cap_chown", "is not of the form"),
    ] {
        let lab = Lab::new();
        let mut penstock =
            Penstock::configure(&lab, &relay(SOURCE, DESTINATION)).arg("--caps").arg(caps).spawned();
        assert_eq!(penstock.wait_end().code(), Some(2), "{caps}");
        assert!(penstock.log().contains(text), "{caps}: {}", penstock.log());
    }
    // Nothing is kept that is not there.
    let lab = lab_of_nobody();
    let mut penstock = Penstock::configure(&lab, &relay(SOURCE, DESTINATION))
        .under(&["setpriv", "--bounding-set=-net_raw", "--"])
        .arg("--caps")
        .arg("cap_net_raw=ep")
        .spawned();
    assert_eq!(penstock.wait_end().code(), Some(2));
    assert!(penstock.log().contains("does not have cap_net_raw"), "{}", penstock.log());
}

#[test]
fn a_reload_that_needs_what_was_given_up_fails_with_the_remedy() {
    let lab = lab_of_nobody();
    std::fs::create_dir(lab.path("roots")).expect("a folder");
    let config = relay(SOURCE, DESTINATION);
    let mut penstock = Penstock::configure(&lab, &config).arg("-u").arg("nobody").ready();
    let low = format!("network(ip(127.0.0.1) port({}));", low_port());
    for (source, destination, text) in [
        (low.as_str(), DESTINATION, "cap_net_bind_service"),
        (SOURCE, "file(\"%dir%/roots/out\");", "cap_dac_override"),
        (SOURCE, "file(\"%dir%/out\" owner(root));", "cap_chown"),
        (SOURCE, "network(127.0.0.1 port(9) transport(udp) spoof-source(yes));", "cap_net_raw"),
    ] {
        penstock.rewrite(&lab, &relay(source, destination));
        let answer = penstock.reload();
        assert!(answer.contains(text) && answer.contains("--caps") && answer.starts_with("FAIL"), "{answer}");
    }
    // What needs nothing is taken, a file that was closed to the user meanwhile or not.
    std::fs::write(lab.path("out"), "").expect("a file");
    chown(lab.path("out"), Some(0), Some(0)).expect("an owner");
    std::fs::set_permissions(lab.path("out"), PermissionsExt::from_mode(0o600)).expect("a mode");
    penstock.reload_with(&lab, &config.replace("source(s);", "source(s); filter { level(info..emerg) };"));
    assert_kept(&penstock, 0, "after the reload");
    penstock.stop();

    let lab = lab_of_nobody();
    let started = Penstock::configure(&lab, &config).arg("-u").arg("nobody");
    let mut penstock = started.arg("--caps").arg("cap_net_bind_service=p").ready();
    penstock.reload_with(&lab, &relay(&low, DESTINATION));
    assert_kept(&penstock, NET_BIND_SERVICE, "--caps");
    penstock.stop();
}

#[test]
fn a_take_over_keeps_to_it() {
    let lab = lab_of_nobody();
    let port = low_port();
    let config =
        relay(&format!("network(ip(127.0.0.1) port({port}));"), "file(\"%dir%/out\" template(\"$MSG\\n\"));");
    let start = || Penstock::configure(&lab, &config).arg("--user").arg("nobody");
    let mut first = start().ready();
    let mut sender = Sender::tcp(port);
    sender.line("<13>Oct 11 22:14:15 host app: one");
    first.wait_settled(1);
    let second = start().arg("--take-over").ready();
    assert!(first.wait_end().success());
    sender.line("<13>Oct 11 22:14:15 host app: two");
    wait_until("both", || lab.lines("out") == ["one", "two"]);
    assert_kept(&second, NET_BIND_SERVICE, "after a take-over");
    second.stop();
}

/// The other name takes the same options.
#[test]
fn syslog_ng_has_them_too() {
    let lab = Lab::new();
    let (config, _) = lab.write_config("x.conf", &relay("internal();", DESTINATION));
    let path = |name: &str| lab.path(name).display().to_string();
    let program = lab.path("syslog-ng");
    std::os::unix::fs::symlink(testkit::binary(), &program).expect("a link");
    let ends_with = |more: &[&str]| {
        let mut command = Command::new(&program);
        command.args(["-F", "--check-startup", "-f"]).arg(&config);
        command.args(["-R", &path("persist"), "-c", &path("ctl"), "-p", &path("pid")]).args(more);
        command.output().expect("it starts").status.code()
    };
    assert_eq!(ends_with(&["--caps", "cap_syslog=ep cap_dac_override=p"]), Some(0));
    assert_eq!(ends_with(&["--no-caps", "-u", "root"]), Some(0));
    assert_eq!(ends_with(&["--caps", "cap_syslog=epi"]), Some(2));
    // The list is left alone altogether.
    assert_eq!(ends_with(&["--no-caps", "--caps", "cap_syslog=epi"]), Some(0));
}

#[test]
fn check_says_which_statement_needs_which_capability_and_why() {
    let lab = lab_of_nobody();
    std::fs::write(lab.path("secret"), "").expect("a file");
    std::fs::set_permissions(lab.path("secret"), PermissionsExt::from_mode(0o000)).expect("a mode");
    chown(lab.path("secret"), Some(NOBODY), None).expect("it is given away");
    let port = low_port();
    let config = format!(
        "{HEAD}source s {{\n    network(ip(127.0.0.1) port({port}) transport(udp));\n    file(\"%dir%/secret\");\n}};\n\
         destination d {{ network(127.0.0.1 port(9) transport(udp) spoof-source(yes)); program(\"cat\"); }};\nlog {{ source(s); destination(d); }};\n"
    );
    let path = lab.write_config("low.conf", &config).0.display().to_string();
    let said = testkit::run_command(&["check", "--verbose", &path]).stdout;
    for (line, place) in [
        (format!("network() needs CAP_NET_BIND_SERVICE: port {port}"), "low.conf:4 "),
        ("network() does more with CAP_NET_ADMIN: receive buffers".to_owned(), "low.conf:4 "),
        ("file() needs CAP_DAC_READ_SEARCH: ".to_owned(), "low.conf:5 "),
        ("network() needs CAP_NET_RAW: spoof-source()".to_owned(), "low.conf:7 "),
        ("program() does more with CAP_KILL,CAP_SETGID,CAP_SETUID".to_owned(), "low.conf:7 "),
    ] {
        let found = said.lines().any(|text| text.contains(&line) && text.contains(place));
        assert!(found, "{place}{line} is missing in\n{said}");
    }
    let plain = testkit::run_command(&["check", &path]).stdout;
    assert!(plain.contains("CAP_NET_RAW") && !plain.contains("does more"), "{plain}");
    let json = testkit::run_command(&["check", "--json", &path]).stdout;
    assert!(json.contains("\"capabilities\"") && json.contains("CAP_NET_BIND_SERVICE"), "{json}");
}
