//! `options { sandbox(yes); }`: what the configuration names works, everything else is refused and said.

use crate::messages::{HEAD, assert_complete, block, message};
use crate::take_over::take_over;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use testkit::{Collector, Lab, Penstock, Sender, skip, wait_until};

const CONFINED: &str = "The process has confined itself to what its configuration needs";
const IMPOSSIBLE: &str = "this kernel has no Landlock";

fn confined(sources: &str, destinations: &str, options: &str) -> String {
    format!(
        "{HEAD}options {{ sandbox(yes); {options} }};\nsource s {{ {sources} }};\ndestination d {{ {destinations} }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

/// Starts it confined; `None` where the kernel cannot.
#[track_caller]
fn start(lab: &Lab, config: &str) -> Option<Penstock> {
    let mut penstock = Penstock::configure(lab, config).arg("--log-level").arg("verbose").spawned();
    wait_until("the sandbox", || [CONFINED, IMPOSSIBLE].iter().any(|text| penstock.log().contains(text)));
    if penstock.log().contains(IMPOSSIBLE) {
        assert_eq!(penstock.wait_end().code(), Some(2), "sandbox(yes) without a sandbox does not start");
        skip("this kernel has no Landlock");
        return None;
    }
    penstock.wait_log("syslog-ng starting up");
    let mut penstock = penstock;
    wait_until("it to serve", || {
        assert!(penstock.process().ended().is_none(), "{}", penstock.log());
        testkit::ask(penstock.state(), "HEALTHCHECK").is_ok_and(|answer| answer.starts_with("OK"))
    });
    Some(penstock)
}

const TCP: &str = "network(ip(127.0.0.1) port(%tcp:in%));";

#[test]
fn files_in_files_out_network_and_disk_buffer_work() {
    let lab = Lab::new();
    let server = Collector::tcp(lab.port("server"));
    std::fs::create_dir(lab.path("in")).expect("a folder");
    std::fs::create_dir(lab.path("out")).expect("a folder");
    std::fs::write(lab.path("in/first.log"), block(1, 500)).expect("a file");
    let config = confined(
        &format!(
            "{TCP} wildcard-file(base-dir(\"%dir%/in\") filename-pattern(\"*.log\")); unix-dgram(\"%dir%/socket\");"
        ),
        "file(\"%dir%/out/${HOST}/all\" create-dirs(yes));\n\
         network(127.0.0.1 port(%port:server%) disk-buffer(capacity-bytes(10MiB) reliable(yes)));",
        "",
    );
    let Some(mut penstock) = start(&lab, &config) else { return };
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(block(0, 1000).as_bytes());
    // One that comes later, in a folder that is named.
    std::fs::write(lab.path("in/second.log"), block(2, 500)).expect("a file");
    Sender::unix_dgram(&lab.path("socket")).line(&message(3, 0));
    penstock.wait_settled(2001).assert_nothing_lost();
    assert_complete(
        &server.wait_lines(2001).into_iter().filter(|l| l.contains("connection 0")).collect::<Vec<_>>(),
        1,
        1000,
    );
    for (host, count) in [("host0", 1000), ("host1", 500), ("host2", 500)] {
        assert_eq!(lab.lines(&format!("out/{host}/all")).len(), count, "{host}");
    }
    let log = penstock.stop();
    assert!(!log.contains("refused a system call"), "{log}");
}

#[test]
fn the_kernel_says_that_every_thread_is_confined() {
    let lab = Lab::new();
    let Some(penstock) = start(&lab, &confined(TCP, "file(\"%dir%/out\");", "")) else { return };
    let tasks = std::fs::read_dir(format!("/proc/{}/task", penstock.id())).expect("its threads");
    let mut threads = 0;
    for task in tasks.flatten() {
        let Ok(status) = std::fs::read_to_string(task.path().join("status")) else { continue };
        let has =
            |line: &str| status.lines().any(|l| l.split_whitespace().collect::<Vec<_>>().join(" ") == line);
        assert!(has("Seccomp: 2") && has("NoNewPrivs: 1"), "{status}");
        threads += 1;
    }
    assert!(threads > 2, "{threads}");
    penstock.stop();
}

#[test]
fn a_link_out_of_the_folder_is_not_followed_out_of_the_sandbox() {
    let (lab, outside) = (Lab::new(), Lab::new());
    std::fs::create_dir(lab.path("out")).expect("a folder");
    symlink(outside.path("stolen"), lab.path("out/app0")).expect("a link");
    let destination = "file(\"%dir%/out/${PROGRAM}\" follow-symlinks(yes));";
    let Some(mut penstock) = start(&lab, &confined(TCP, destination, "")) else { return };
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line("<13>Nov 11 01:02:03 host app0: evil");
    penstock.wait_log("the sandbox does not allow to write");
    assert!(!outside.path("stolen").exists());
    // Without a sandbox it would have been: the test can fail.
    drop(penstock);
    let open = confined(TCP, destination, "").replace("sandbox(yes)", "sandbox(no)");
    let penstock = Penstock::start(&lab, &open);
    Sender::tcp(lab.port("in")).line("<13>Nov 11 01:02:03 host app0: evil");
    wait_until("what an open process does", || outside.path("stolen").exists());
    drop(penstock);
}

/// A program that tries to get out, and says whether it has.
fn script(lab: &Lab, name: &str, text: &str) -> String {
    let path = lab.path(name);
    std::fs::write(&path, format!("#!/bin/sh\n{text}\ncat > /dev/null\n")).expect("a script");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("a mode");
    path.display().to_string()
}

#[test]
fn a_source_that_fetches_reaches_its_server() {
    let lab = Lab::new();
    let Some(server) = testkit::s3::S3::start(&lab) else { return skip(testkit::s3::MISSING) };
    server.put(&[("a", b"value 0\n")]);
    let source = format!(
        "s3(url(\"http://127.0.0.1:{}\") bucket(\"logs\") access-key(\"access\") secret-key(\"secret\") flags(no-parse));",
        server.port()
    );
    let config = confined(&source, "file(\"%dir%/out\" template(\"$MSG\\n\"));", "");
    let Some(mut penstock) = start(&lab, &config) else { return };
    penstock.wait_settled(1);
    assert_eq!(lab.lines("out"), ["value 0"]);
}

#[test]
fn programs_get_no_further_than_the_sandbox() {
    let (lab, outside) = (Lab::new(), Lab::new());
    std::fs::write(outside.path("secret"), "s3cret").expect("a file");
    let own = Collector::tcp(outside.port("elsewhere"));
    let text = format!(
        "echo in > {dir}/reached\n\
         echo out > {out}/stolen\n\
         cat {out}/secret > {dir}/copied\n\
         python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}))' && echo > {dir}/connected\n\
         python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262); s.connect((\"127.0.0.1\", {port}))' \
         && echo > {dir}/connected\n\
         unshare --user true && echo > {dir}/unshared\n\
         echo > {dir}/done",
        dir = lab.dir().display(),
        out = outside.dir().display(),
        port = outside.port("elsewhere"),
    );
    let command = script(&lab, "escape", &text);
    let config = confined(TCP, &format!("program(\"{command}\");"), "sandbox-write(\"%dir%\");");
    let Some(mut penstock) = start(&lab, &config) else { return };
    Sender::tcp(lab.port("in")).line(&message(0, 0));
    wait_until("the program to have tried", || lab.path("done").exists());
    assert_eq!(lab.text("reached").trim(), "in");
    assert!(!outside.path("stolen").exists() && lab.text("copied").is_empty());
    assert!(!lab.path("connected").exists() && own.connections() == 0);
    assert!(!lab.path("unshared").exists());
    penstock.wait_log("The sandbox has refused a system call");
    let log = penstock.log();
    assert!(log.contains("call='unshare'") && log.contains("program='unshare'"), "{log}");
    penstock.stop();
}

#[test]
fn what_a_command_writes_to_is_named_by_the_configuration() {
    let lab = Lab::new();
    let config = confined(TCP, "program(\"exec cat >> %dir%/out\");", "");
    let Some(mut penstock) = start(&lab, &config) else { return };
    Sender::tcp(lab.port("in")).raw(block(0, 100).as_bytes());
    penstock.wait_settled(100).assert_nothing_lost();
    wait_until("all of it", || lab.lines("out").len() == 100);
    penstock.stop();
}

#[test]
fn python_works_and_gets_no_further() {
    if !has_python() {
        return skip("python3 is not installed");
    }
    let (lab, outside) = (Lab::new(), Lab::new());
    let text = format!(
        "{HEAD}options {{ sandbox(yes); }};\npython {{\nimport syslogng\nclass P(syslogng.LogParser):\n    def parse(self, msg):\n        try:\n            \
         open(\"{}\", \"w\").write(\"x\")\n            msg[\"r\"] = \"out\"\n        except PermissionError:\n            msg[\"r\"] = \"kept\"\n        \
         return True\n}};\nsource s {{ {TCP} }};\nparser p {{ python(class(\"P\")); }};\n\
         destination d {{ file(\"%dir%/out/all\" template(\"${{r}}\\n\")); }};\nlog {{ source(s); parser(p); destination(d); }};\n",
        outside.path("stolen").display().to_string().replace("/stolen", "/\" + \"stolen")
    );
    std::fs::create_dir(lab.path("out")).expect("a folder");
    let Some(mut penstock) = start(&lab, &text) else { return };
    Sender::tcp(lab.port("in")).line(&message(0, 0));
    penstock.wait_settled(1).assert_nothing_lost();
    assert_eq!(lab.lines("out/all"), ["kept"], "{}", penstock.log());
    assert!(!outside.path("stolen").exists());
    penstock.stop();
}

fn has_python() -> bool {
    std::process::Command::new("python3").arg("--version").output().is_ok()
}

#[test]
fn a_reload_within_the_sandbox_works_and_one_beyond_is_refused_until_a_take_over() {
    let (lab, other) = (Lab::new(), Lab::new());
    std::fs::create_dir(lab.path("out")).expect("a folder");
    let config = |path: &Path, more: &str| {
        confined(&format!("{TCP} {more}"), &format!("file(\"{}\");", path.display()), "")
    };
    let Some(mut penstock) = start(&lab, &config(&lab.path("out/first"), "")) else { return };
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line(&message(0, 0));
    penstock.wait_settled(1);
    penstock.reload_with(&lab, &config(&lab.path("out/second"), ""));
    sender.line(&message(0, 1));
    penstock.wait_settled(2);
    assert_eq!((lab.lines("out/first").len(), lab.lines("out/second").len()), (1, 1));

    let beyond = config(&other.path("third"), "");
    penstock.rewrite(&lab, &beyond);
    let answer = penstock.reload();
    assert!(answer.contains("does not allow to write") && answer.contains("--take-over"), "{answer}");
    let port = config(&lab.path("out/second"), "network(ip(127.0.0.1) port(%port:more%));");
    penstock.rewrite(&lab, &port);
    let answer = penstock.reload();
    assert!(answer.contains(&format!("to listen at port {}", lab.port("more"))), "{answer}");
    sender.line(&message(0, 2));
    penstock.wait_settled(3);
    assert_eq!(lab.lines("out/second").len(), 2);

    // The connection goes to a process that may write there.
    let mut penstock = take_over(&lab, penstock, &beyond);
    sender.line(&message(0, 3));
    wait_until("the new file", || other.lines("third").len() == 1);
    penstock.wait_log(CONFINED);
    penstock.stop();
}

#[test]
fn a_process_that_is_not_confined_does_not_become_so_by_a_reload() {
    let lab = Lab::new();
    let config = confined(TCP, "file(\"%dir%/out\");", "");
    let penstock = Penstock::start(&lab, &config.replace("sandbox(yes)", "sandbox(no)"));
    penstock.rewrite(&lab, &config);
    let answer = penstock.reload();
    assert!(answer.contains("sandbox(yes) holds from the start of a process on"), "{answer}");
    penstock.stop();
}

#[test]
fn the_command_line_says_it_where_the_configuration_does_not() {
    let (lab, outside) = (Lab::new(), Lab::new());
    let unsaid = |file: &Path| {
        let text = confined(TCP, &format!("file(\"{}\");", file.display()), "");
        text.replace("options { sandbox(yes);  };\n", "")
    };
    let config = unsaid(&lab.path("out"));
    assert!(!config.contains("sandbox"), "{config}");
    let start =
        |config: &str| Penstock::configure(&lab, config).free().arg("--sandbox").arg("if-possible").ready();
    let penstock = start(&config);
    if !penstock.log().contains(CONFINED) {
        penstock.stop();
        return skip("this kernel has no Landlock");
    }
    penstock.rewrite(&lab, &unsaid(&outside.path("out")));
    let answer = penstock.reload();
    assert!(answer.contains("does not allow to write") && answer.contains("--take-over"), "{answer}");
    penstock.stop();
    // What the configuration says comes first.
    let penstock = start(&config.replace("\nsource", "\noptions { sandbox(no); };\nsource"));
    assert!(penstock.log().matches(CONFINED).count() == 1, "{}", penstock.log());
    penstock.stop();
}

#[test]
fn what_fetches_connects_to_where_it_is_told_to() {
    for source in [
        "mqtt(address(\"tcp://127.0.0.1:%port:server%\") topic(\"a\"));",
        "google-pubsub(url(\"127.0.0.1:%port:server%\") project(\"p\") subscription(\"s\"));",
    ] {
        let lab = Lab::new();
        let server = Collector::tcp(lab.port("server"));
        let Some(penstock) = start(&lab, &confined(source, "file(\"%dir%/out\");", "")) else { return };
        wait_until("a connection", || server.connections() > 0);
        assert!(!penstock.log().contains("the sandbox does not allow"), "{}", penstock.log());
        penstock.stop();
    }
}

#[test]
fn the_root_folder_is_never_what_can_be_written() {
    let lab = Lab::new();
    let text = "program(\"cat > /penstock-%port:x%\" template(\"<a>/x </b>/y $MSG\\n\")); file(\"/$HOST-%port:x%\");";
    let Some(mut penstock) = start(&lab, &confined(TCP, text, "")) else { return };
    let log = penstock.log();
    assert!(log.contains("cannot allow to write what only the root folder holds"), "{log}");
    assert!(!log.contains("path='/', access='Write'"), "{log}");
    Sender::tcp(lab.port("in")).line("<13>Nov 11 01:02:03 host app: text");
    penstock.wait_log("the sandbox does not allow to write /");
    penstock.stop();
}

#[test]
fn ports_that_are_not_named_are_not_connected_to() {
    let lab = Lab::new();
    let server = Collector::tcp(lab.port("server"));
    let config = confined(TCP, "network(127.0.0.1 port(%port:server%));", "");
    let Some(mut penstock) = start(&lab, &config) else { return };
    Sender::tcp(lab.port("in")).line(&message(0, 0));
    assert_eq!(server.wait_lines(1).len(), 1);
    penstock.wait_settled(1).assert_nothing_lost();
    penstock.stop();
}

#[test]
fn a_database_in_a_file_and_the_key_of_a_sealed_log_can_be_written() {
    let lab = Lab::new();
    for folder in ["db", "keys", "out"] {
        std::fs::create_dir(lab.path(folder)).expect("a folder");
    }
    let key = |words: &[&str]| {
        let made = testkit::run_command(&[&["slogkey"], words].concat());
        assert_eq!(made.code, Some(0), "{made:?}");
    };
    let (master, host) =
        (lab.path("keys/master").display().to_string(), lab.path("keys/host").display().to_string());
    key(&["-m", &master]);
    key(&["-d", &master, "address", "number", &host]);
    let destinations = "sql(type(sqlite3) database(\"%dir%/db/log\") table(\"t\") columns(\"text\") values(\"$MSG\"));\n\
         file(\"%dir%/out/log\" template(\"$(slog -k %dir%/keys/host -m %dir%/keys/mac $MSG)\\n\"));";
    let Some(mut penstock) = start(&lab, &confined(TCP, destinations, "")) else { return };
    Sender::tcp(lab.port("in")).raw(block(0, 100).as_bytes());
    penstock.wait_settled(100).assert_nothing_lost();
    let log = penstock.stop();
    assert!(log.contains("connects='53'"), "a database in a file connects to nobody: {log}");
    assert_eq!(lab.lines("out/log").len(), 100);
    assert!(lab.path("keys/mac").exists());
}

#[test]
fn what_waits_where_no_destination_keeps_it_any_more_is_taken_along() {
    let (lab, elsewhere) = (Lab::new(), Lab::new());
    let config = |folder: &Path| {
        let queue = format!("disk-buffer(capacity-bytes(10MiB) reliable(yes) dir(\"{}\"))", folder.display());
        confined(TCP, &format!("network(127.0.0.1 port(%port:server%) {queue});"), "")
    };
    let Some(penstock) = start(&lab, &config(elsewhere.dir())) else { return };
    Sender::tcp(lab.port("in")).raw(block(0, 100).as_bytes());
    crate::durable::wait_on_disk(&penstock, 100);
    penstock.stop();
    let server = Collector::tcp(lab.port("server"));
    let Some(mut penstock) = start(&lab, &config(&lab.path("state"))) else { return };
    assert_complete(&server.wait_lines(100), 1, 100);
    penstock.wait_settled_input();
    penstock.stop();
}
