//! What local users, peers and the service manager's secrets can and cannot do to the program and its
//! children.

use crate::messages::HEAD;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use testkit::{Lab, Penstock, Sender, wait_until};

fn to_file(file: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) max-connections(1000)); }};\n\
         destination d {{ file({file} template(\"$MSG\\n\")); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

/// One message each of these hosts.
fn send(lab: &Lab, hosts: &[&str]) {
    let mut sender = Sender::tcp(lab.port("in"));
    for host in hosts {
        sender.line(&format!("<13>Oct 11 22:14:15 {host} app: of {host}"));
    }
    sender.finish();
}

/// Below `logs`, which is a link itself, users have made links to a file and to a folder that are none of
/// their business.
fn with_links() -> Lab {
    let lab = Lab::new();
    for folder in ["real", "real/plain", "outside"] {
        std::fs::create_dir(lab.path(folder)).unwrap();
    }
    std::fs::write(lab.path("outside/file"), "").unwrap();
    symlink(lab.path("real"), lab.path("logs")).unwrap();
    symlink(lab.path("outside"), lab.path("real/folder")).unwrap();
    symlink(lab.path("outside/file"), lab.path("real/file.log")).unwrap();
    symlink(lab.path("outside/made"), lab.path("real/dangling.log")).unwrap();
    lab
}

#[test]
fn links_below_the_fixed_part_of_a_name_are_not_followed() {
    for (name, hosts, written) in [
        ("${HOST}.log", ["file", "dangling", "good"], "real/good.log"),
        ("${HOST}/m.log", ["folder", "folder", "plain"], "real/plain/m.log"),
        ("${HOST}/deep/m.log", ["folder", "folder", "new"], "real/new/deep/m.log"),
    ] {
        let lab = with_links();
        let config = to_file(&format!("\"%dir%/logs/{name}\" create-dirs(yes) dir-perm(0755)"));
        let mut penstock = Penstock::start(&lab, &config);
        send(&lab, &hosts);
        penstock.wait_log("A symbolic link stands in a file name");
        let ledger = penstock.wait_settled(3);
        assert_eq!(ledger.dropped_for("refused"), 2, "{name}");
        assert_eq!(lab.lines(written), [format!("of {}", hosts[2])]);
        assert_eq!(lab.text("outside/file"), "");
        assert_eq!(std::fs::read_dir(lab.path("outside")).unwrap().count(), 1, "nothing was made there");
        penstock.stop();
    }
}

#[test]
fn links_are_followed_where_the_configuration_says_so_or_named_them() {
    for (file, host, written) in [
        ("\"%dir%/logs/${HOST}.log\" follow-symlinks(yes)", "file", "outside/file"),
        ("\"%dir%/logs/${HOST}.log\" follow-symlinks(yes)", "dangling", "outside/made"),
        ("\"%dir%/logs/${HOST}/m.log\" follow-symlinks(yes)", "folder", "outside/m.log"),
        ("\"%dir%/logs/file.log\"", "any", "outside/file"),
        ("\"%dir%/logs/folder/${HOST}.log\"", "any", "outside/any.log"),
    ] {
        let lab = with_links();
        let mut penstock = Penstock::start(
            &lab,
            &to_file(file).replace("\nsource", "\noptions { sandbox-write(\"%dir%/outside\"); };\nsource"),
        );
        send(&lab, &[host]);
        penstock.wait_settled(1).assert_nothing_lost();
        assert_eq!(lab.lines(written), [format!("of {host}")], "{file}");
        penstock.stop();
    }
}

#[test]
fn children_get_the_listed_environment() {
    for (option, token) in
        [("", false), ("inherit-environment(yes)", true), ("inherit-environment(no)", false)]
    {
        let lab = Lab::new();
        let config = format!(
            "{HEAD}source s {{ program(\"env; echo the end; sleep 1000\" flags(no-parse) {option}); }};\n\
             destination d {{ file(\"%dir%/out\" template(\"$MSG\\n\")); program(\"env > %dir%/to; exec cat > /dev/null\" {option}); }};\n\
             log {{ source(s); destination(d); }};\n"
        );
        let started = Penstock::configure(&lab, &config).env("MY_TOKEN", "x").env("LC_TEST", "y");
        let penstock = started.env("CREDENTIALS_DIRECTORY", "/nowhere").ready();
        wait_until("the environments", || {
            lab.lines("out").iter().any(|line| line == "the end") && lab.text("to").contains("PWD=")
        });
        for name in ["out", "to"] {
            let has = |variable: &str| lab.lines(name).iter().any(|line| line.starts_with(variable));
            assert_eq!(has("MY_TOKEN="), token, "{option}");
            assert_eq!(has("LC_TEST="), option != "inherit-environment(no)", "{option}");
            assert!(!has("CREDENTIALS_DIRECTORY="), "{option}");
        }
        penstock.stop();
    }
}

#[test]
fn the_state_folder_is_closed_whatever_the_umask() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}options {{ keep-input(1MiB); dead-letters(yes); }};\n\
         source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\n\
         destination q {{ file(\"%dir%/queued\" disk-buffer(reliable(yes) capacity-bytes(1MiB) dir(\"%dir%/queues\"))); }};\n\
         log {{ source(s); destination(d); destination(q); }};\n"
    );
    let (config, _) = lab.write_config("penstock.conf", &config);
    let state = lab.path("fresh");
    let mut running = Command::new("/bin/sh")
        .args(["-c", "umask 0; exec \"$@\"", "sh"])
        .arg(testkit::binary())
        .arg("run")
        .args(["--config".as_ref(), config.as_os_str(), "--state-dir".as_ref(), state.as_os_str()])
        .spawn()
        .unwrap();
    wait_until("the control socket", || state.join("penstock.ctl").exists());
    let mode = |path: &std::path::Path| std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
    let mut sender = Sender::tcp(lab.port("in"));
    // What comes while the program is still starting is not kept.
    wait_until("what is kept", || {
        sender.line("<13>kept");
        state.join("keep-input").exists()
    });
    let (mut folders, mut files) = (vec![state, lab.path("queues")], 0);
    while let Some(folder) = folders.pop() {
        assert_eq!(mode(&folder), 0o750, "{}", folder.display());
        for path in std::fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                assert_eq!(mode(&path), 0o600, "{}", path.display());
                files += 1;
            }
        }
    }
    assert!(files > 4, "{files}");
    running.kill().unwrap();
    running.wait().unwrap();
}

#[test]
fn lines_of_churned_connections_are_limited() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &to_file("\"%dir%/out\""));
    for _ in 0..400 {
        Sender::tcp(lab.port("in")).finish();
    }
    penstock.wait_log("Messages suppressed; message='Syslog connection accepted'");
    penstock.wait_log("Messages suppressed; message='Syslog connection closed'");
    // 400 connections may take more than one window of ten seconds on a slow machine.
    let lines = penstock.log().lines().filter(|line| line.contains("Syslog connection accepted;")).count();
    assert!(lines < 400, "{lines}");
    penstock.stop();
}
