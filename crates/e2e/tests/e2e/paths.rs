//! Paths as users write them: relative ones, and those of sockets that are longer than the kernel's
//! addresses.

use crate::messages::HEAD;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use testkit::{Lab, Penstock, run_command, wait_until};

fn append(path: &Path, text: &str) {
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).expect("open");
    file.write_all(text.as_bytes()).expect("write");
}

/// The program runs in the lab's folder.
#[test]
fn a_relative_file_is_found_when_it_appears_and_followed_when_it_is_renamed() {
    for (source, name, shown) in [
        ("file(\"in.log\");", "in.log", "in.log"),
        ("file(\"./in.log\");", "in.log", "./in.log"),
        ("file(\"deep/in.log\");", "deep/in.log", "deep/in.log"),
        ("wildcard-file(base-dir(\".\") filename-pattern(\"in.log\"));", "in.log", "./in.log"),
        (
            "wildcard-file(base-dir(\".\") filename-pattern(\"in.log\") monitor-method(poll));",
            "in.log",
            "./in.log",
        ),
        ("wildcard-file(base-dir(\"deep\") filename-pattern(\"*.log\"));", "deep/in.log", "deep/in.log"),
    ] {
        let lab = Lab::new();
        std::fs::create_dir(lab.path("deep")).unwrap();
        let config = format!(
            "{HEAD}source s {{ {source} }};\n\
             destination d {{ file(\"%dir%/out\" template(\"$FILE_NAME $MSG\\n\")); }};\n\
             log {{ source(s); destination(d); flags(flow-control); }};\n"
        );
        let mut penstock = Penstock::start(&lab, &config);
        let expected = |count: usize| (0..count).map(|n| format!("{shown} m{n}")).collect::<Vec<_>>();
        let line = |n: usize| format!("<13>Oct 11 22:14:15 h app: m{n}\n");
        append(&lab.path(name), &line(0));
        // What is added to a renamed file may come after the first lines of the new one.
        let found = || {
            let mut lines = lab.lines("out");
            lines.sort();
            lines
        };
        wait_until(source, || found() == expected(1));
        // Renamed with something unread in it, and another file in its place.
        append(&lab.path(name), &line(1));
        std::fs::rename(lab.path(name), lab.path(&format!("{name}.1"))).unwrap();
        append(&lab.path(&format!("{name}.1")), &line(2));
        append(&lab.path(name), &line(3));
        wait_until(source, || found() == expected(4));
        penstock.wait_settled(4);
        penstock.stop();
        // Renamed while nobody looks.
        append(&lab.path(name), &line(4));
        std::fs::rename(lab.path(name), lab.path(&format!("{name}.2"))).unwrap();
        append(&lab.path(name), &line(5));
        let mut penstock = Penstock::start(&lab, &config);
        wait_until(source, || lab.lines("out").len() >= 6);
        assert_eq!(found(), expected(6), "{source}");
        penstock.wait_settled(2);
        penstock.stop();
    }
}

#[test]
fn a_relative_pipe_is_read_and_written() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ pipe(\"in.pipe\"); }};\ndestination d {{ pipe(\"out.pipe\"); file(\"out\" template(\"$MSG\\n\")); }};\n\
         log {{ source(s); destination(d); }};\n"
    );
    let penstock = Penstock::start(&lab, &config);
    wait_until("the pipe", || lab.path("in.pipe").exists() && lab.path("out.pipe").exists());
    let mut pipe = std::fs::OpenOptions::new().write(true).custom_flags(0).open(lab.path("in.pipe")).unwrap();
    pipe.write_all(b"<13>Oct 11 22:14:15 h app: through pipes\n").unwrap();
    wait_until("the line", || lab.lines("out").iter().any(|line| line.ends_with("through pipes")));
    penstock.stop();
}

/// A folder whose path is longer than the address of a socket.
fn deep(lab: &Lab) -> std::path::PathBuf {
    let folder = lab.path(&"long".repeat(50)).join("folder".repeat(30));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn sockets_at_long_paths() {
    let lab = Lab::new();
    let folder = deep(&lab);
    let (log, stream, control) = (folder.join("log"), folder.join("stream"), folder.join("penstock.ctl"));
    let config = format!(
        "{HEAD}source s {{ unix-dgram(\"{}\"); unix-stream(\"{}\"); }};\n\
         source loop {{ example-msg-generator(num(1) freq(0.01) template(\"<13>generated\")); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"$MSG\\n\")); }};\n\
         destination to {{ unix-dgram(\"{}\"); unix-stream(\"{}\"); }};\n\
         log {{ source(s); destination(d); }};\nlog {{ source(loop); destination(to); }};\n",
        log.display(),
        stream.display(),
        log.display(),
        stream.display()
    );
    let mut penstock = Penstock::configure(&lab, &config).state(&folder).spawned();
    wait_until("the messages of both", || lab.lines("out").len() == 2);
    let ctl = |words: &[&str]| {
        let mut all = vec!["ctl"];
        all.extend(words);
        all.extend(["--control", control.to_str().unwrap()]);
        run_command(&all)
    };
    let health = ctl(&["healthcheck"]);
    assert_eq!(health.code, Some(0), "{}", health.stderr);
    let reload = ctl(&["reload"]);
    assert_eq!(reload.code, Some(0), "{}", reload.stderr);
    assert_eq!(ctl(&["stop"]).code, Some(0));
    assert!(penstock.wait_end().success());
    assert!(
        !control.exists() && !log.exists(),
        "{:?}",
        std::fs::read_dir(&folder).unwrap().collect::<Vec<_>>()
    );
}

#[test]
fn a_relative_control_socket_in_a_deep_folder() {
    let lab = Lab::new();
    let folder = deep(&lab);
    let config = format!(
        "{HEAD}source s {{ internal(); }};\ndestination d {{ file(\"%dir%/out\"); }};\nlog {{ source(s); destination(d); }};\n"
    );
    let (config, _) = lab.write_config("penstock.conf", &config);
    let binary = testkit::binary();
    let run = |words: &[&str]| {
        let mut command = std::process::Command::new(binary);
        command.args(words).current_dir(&folder);
        command
    };
    let config = config.to_str().unwrap();
    let mut running =
        run(&["run", "--config", config, "--state-dir", ".", "--control", "c.ctl"]).spawn().unwrap();
    let answers = || run(&["ctl", "healthcheck", "--control", "c.ctl"]).output().unwrap().status.success();
    wait_until("an answer", answers);
    assert!(run(&["ctl", "stop", "--control", "c.ctl"]).output().unwrap().status.success());
    assert!(running.wait().unwrap().success());
}
