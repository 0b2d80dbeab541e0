//! Trouble around the program: full disks, folders that cannot be written, ports in use. Said clearly,
//! counted, others go on.

use crate::messages::{HEAD, block, line, message, send, wait_waiting};
use std::process::Command;
use testkit::{Collector, Lab, Penstock, Sender, wait_until};

fn config(file: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination bad {{ file(\"{file}\"); }};\ndestination good {{ file(\"%dir%/out\"); }};\n\
         log {{ source(s); destination(bad); }};\nlog {{ source(s); destination(good); }};\n"
    )
}

/// A small tmpfs, unmounted when dropped.
struct Disk(std::path::PathBuf);

impl Disk {
    fn mount(lab: &Lab, kib: usize) -> Option<Disk> {
        let path = lab.path("disk");
        std::fs::create_dir(&path).unwrap();
        let size = format!("size={kib}k");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&path).status();
        mounted.is_ok_and(|status| status.success()).then_some(Disk(path))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_stops_its_file_only_and_goes_on_when_there_is_room() {
    let lab = Lab::new();
    let Some(disk) = Disk::mount(&lab, 64) else { return testkit::skip("cannot mount a small disk here") };
    let mut penstock = Penstock::start(&lab, &config("%dir%/disk/full"));
    std::fs::write(disk.0.join("ballast"), vec![0; 48 * 1024]).unwrap();
    const COUNT: usize = 2000;
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(block(0, COUNT).as_bytes());
    wait_until("the file on the good disk", || lab.lines("out").len() == COUNT);
    penstock.wait_log("No space left on device");
    penstock.ledger().assert_balanced();
    std::fs::remove_file(disk.0.join("ballast")).unwrap();
    // What waited is written once there is room; what fits in 64 KiB is all this disk can ever take.
    wait_until("more on the small disk", || {
        let ledger = penstock.ledger();
        let bad = ledger.destination("bad");
        bad.delivered > 300 && lab.lines("disk/full").len() > 300
    });
    let lines = lab.lines("disk/full");
    let whole = |n: usize| message(0, n).trim_start_matches("<13>").to_owned();
    assert!(
        lines.iter().take(300).enumerate().all(|(n, line)| *line == whole(n)),
        "a line is cut or missing"
    );
    penstock.ledger().assert_balanced();
}

#[test]
fn a_folder_that_is_missing_comes_later() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("%dir%/later/file"));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(block(0, 10).as_bytes());
    wait_until("the other file", || lab.lines("out").len() == 10);
    penstock.wait_log("later/file', error='No such file or directory");
    penstock.ledger().assert_balanced();
    std::fs::create_dir(lab.path("later")).unwrap();
    wait_until("the file that could not be opened", || lab.lines("later/file").len() == 10);
    penstock.wait_settled(10).assert_nothing_lost();
}

#[test]
fn a_folder_that_cannot_be_written_to_hurts_nobody_else() {
    let lab = Lab::new();
    let Some(disk) = Disk::mount(&lab, 64) else { return testkit::skip("cannot mount a small disk here") };
    // Permissions do not keep root out; this does.
    let remount = |how: &str| {
        assert!(Command::new("mount").args(["-o", how]).arg(&disk.0).status().unwrap().success());
    };
    remount("remount,ro");
    let mut penstock = Penstock::start(&lab, &config("%dir%/disk/file"));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(block(0, 10).as_bytes());
    wait_until("the other file", || lab.lines("out").len() == 10);
    penstock.wait_log("disk/file', error='Read-only file system");
    let ledger = penstock.ledger();
    ledger.assert_balanced();
    assert_eq!((ledger.destination("bad").delivered, ledger.destination("good").delivered), (0, 10));
    remount("remount,rw");
    wait_until("the file in the folder", || lab.lines("disk/file").len() == 10);
    penstock.wait_settled(10).assert_nothing_lost();
}

#[test]
fn a_file_that_is_a_folder_hurts_nobody_else_and_comes_later() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("folder")).unwrap();
    let mut penstock = Penstock::start(&lab, &config("%dir%/folder"));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(block(0, 10).as_bytes());
    wait_until("the other file", || lab.lines("out").len() == 10);
    penstock.wait_log("folder', error='Is a directory");
    penstock.ledger().assert_balanced();
    std::fs::remove_dir(lab.path("folder")).unwrap();
    wait_until("the file where the folder was", || lab.lines("folder").len() == 10);
    penstock.wait_settled(10).assert_nothing_lost();
}

/// A name that no message has a say in is nobody's fault who sends: what stands there may go away.
#[test]
fn what_stands_in_the_way_of_a_fixed_name_is_waited_for() {
    const COUNT: usize = 50;
    let put = |lab: &Lab, what: &str| match what {
        "folder" => std::fs::create_dir_all(lab.path("o/a/app.log")).unwrap(),
        "file" => std::fs::write(lab.path("o/a"), "").unwrap(),
        _ => std::os::unix::fs::symlink("a", lab.path("o/a")).unwrap(),
    };
    let clear = |lab: &Lab| match lab.path("o/a").symlink_metadata().unwrap().is_dir() {
        true => std::fs::remove_dir_all(lab.path("o/a")).unwrap(),
        false => std::fs::remove_file(lab.path("o/a")).unwrap(),
    };
    for (what, driver) in [
        ("folder", "file(\"%dir%/o/a/app.log\" create-dirs(yes))"),
        ("file", "file(\"%dir%/o/a/app.log\" create-dirs(yes))"),
        ("loop", "file(\"%dir%/o/a\")"),
        ("file", "file(\"%dir%/o/a/${LEVEL}.log\" create-dirs(yes))"),
        ("file", "file(\"%dir%/o/a/${LEVEL}.log\" create-dirs(yes) follow-symlinks(yes))"),
        (
            "folder",
            "file(\"%dir%/o/a/app.log\" create-dirs(yes) disk-buffer(reliable(yes) capacity-bytes(1MiB)))",
        ),
        ("folder", "logstore(\"%dir%/o/a/app.log\" create-dirs(yes))"),
    ] {
        let lab = Lab::new();
        std::fs::create_dir(lab.path("o")).unwrap();
        put(&lab, what);
        let config = format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
             destination d {{ {driver}; }};\nlog {{ source(s); destination(d); flags(flow-control); }};\n"
        );
        let mut penstock = Penstock::start(&lab, &config);
        send(&lab, 0, COUNT);
        penstock.wait_log("time_reopen='1'");
        wait_waiting(&mut penstock, COUNT).assert_balanced();
        clear(&lab);
        let ledger = penstock.wait_settled(COUNT as u64);
        ledger.assert_nothing_lost();
        assert_eq!(ledger.destination("d").delivered, COUNT as u64, "{what}, {driver}: {ledger}");
        penstock.stop();
    }
}

/// A destination that refuses all that comes is not well, though its queue is empty.
#[test]
fn a_name_that_messages_make_of_a_folder_is_refused() {
    let lab = Lab::new();
    std::fs::create_dir_all(lab.path("folder/notice")).unwrap();
    let mut penstock = Penstock::start(&lab, &config("%dir%/folder/${LEVEL}"));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(block(0, 100).as_bytes());
    penstock.wait_log("folder/notice', error='Is a directory");
    wait_until("the complaint", || {
        penstock.request("HEALTHCHECK").contains("destination bad#0 drops messages, refused")
    });
    penstock.ledger().assert_balanced();
    penstock.stop();
}

/// The half of a line that a full disk had room for is written anew by whoever goes on.
#[test]
fn a_line_begun_on_a_full_disk_is_there_once_after_a_stop_and_a_reload() {
    const COUNT: usize = 600;
    for how in ["stop", "reload"] {
        let lab = Lab::new();
        let Some(disk) = Disk::mount(&lab, 64) else {
            return testkit::skip("cannot mount a small disk here");
        };
        let config = config("%dir%/disk/full");
        let mut penstock = Penstock::start(&lab, &config);
        std::fs::write(disk.0.join("ballast"), vec![0; 48 * 1024]).unwrap();
        send(&lab, 0, COUNT);
        penstock.wait_log("No space left on device");
        wait_until("the file on the good disk", || lab.lines("out").len() == COUNT);
        assert!(!lab.text("disk/full").ends_with('\n'), "no line is begun");
        let changed = config.replace("disk/full\"", "disk/full\" time-reopen(2)");
        let mut penstock = match how {
            "stop" => {
                penstock.stop();
                assert!(lab.text("disk/full").ends_with('\n'), "half a line is left");
                std::fs::remove_file(disk.0.join("ballast")).unwrap();
                Penstock::start(&lab, &config)
            }
            _ => {
                penstock.reload_with(&lab, &changed);
                std::fs::remove_file(disk.0.join("ballast")).unwrap();
                penstock
            }
        };
        wait_until("all lines", || lab.lines("disk/full").len() >= COUNT);
        let expected: Vec<String> = (0..COUNT).map(|n| line(0, n)).collect();
        assert!(lab.lines("disk/full") == expected, "{how}: a line is cut, missing or there twice");
        penstock
            .wait_ledger(|ledger| (ledger.waiting() > 0).then(|| "some wait".to_owned()))
            .assert_balanced();
        penstock.stop();
    }
}

#[test]
fn a_port_in_use_is_said_and_the_program_does_not_start() {
    let lab = Lab::new();
    let _taken = Collector::tcp(lab.port("in"));
    let mut penstock = Penstock::configure(&lab, &config("%dir%/x").replace("tcp:in", "port:in")).spawned();
    let status = penstock.wait_end();
    assert_eq!(status.code(), Some(2), "{}", penstock.log());
    let log = penstock.log();
    assert!(log.contains("Address already in use"), "{log}");
    assert!(log.contains(&lab.port("in").to_string()), "{log}");
}

#[test]
fn a_log_file_that_shrinks_under_it_goes_on() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("%dir%/shrinks"));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(block(0, 100).as_bytes());
    penstock.wait_settled(100);
    std::fs::File::options().write(true).open(lab.path("shrinks")).unwrap().set_len(0).unwrap();
    sender.line(&message(0, 100));
    penstock.wait_settled(101).assert_nothing_lost();
    assert_eq!(lab.lines("shrinks").len(), 1);
}

#[test]
fn a_file_that_grows_large_is_rotated() {
    let lab = Lab::new();
    let config =
        config("%dir%/big\" logrotate(enable(yes) size(2000) rotations(3))").replace("(3))\");", "(3)));");
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    const COUNT: usize = 200;
    for number in 0..COUNT {
        sender.line(&message(0, number));
        // Now and then, so that there are many writes.
        if number % 10 == 9 {
            penstock.wait_settled(number as u64 + 1);
        }
    }
    penstock.wait_settled(COUNT as u64).assert_nothing_lost();
    penstock.stop();
    assert!(!lab.path("big.4").exists());
    let sizes = ["big.3", "big.2", "big.1"].map(|name| lab.text(name).len());
    assert!(sizes.iter().all(|size| *size >= 2000), "{sizes:?}");
    // The newest ones, whole and in order; the oldest are gone.
    let kept: Vec<String> =
        ["big.3", "big.2", "big.1", "big"].iter().flat_map(|name| lab.lines(name)).collect();
    let all = lab.lines("out");
    assert_eq!(all.len(), COUNT);
    assert!(kept.len() < COUNT && all.ends_with(&kept), "{kept:?}");
}

#[test]
fn a_link_follows_the_newest_file() {
    let lab = Lab::new();
    let file = "%dir%/logs/${HOST}.log\" create-dirs(yes) symlink-as(\"%dir%/newest";
    let mut penstock = Penstock::start(&lab, &config(file).replace("/newest\");", "/newest\"));"));
    let mut sender = Sender::tcp(lab.port("in"));
    for (count, host) in [(1, "h1"), (2, "h2")] {
        sender.line(&format!("<13>Nov 11 01:02:03 {host} a: text"));
        penstock.wait_settled(count);
        let target = std::fs::read_link(lab.path("newest")).unwrap();
        assert!(target.ends_with(format!("{host}.log")), "{}", target.display());
    }
}

#[test]
fn a_program_that_dies_is_started_again() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ program(\"head -n 1 >> %dir%/out; echo end >> %dir%/out\" template(\"$MSG\\n\")); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    );
    let penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    let mut number = 0;
    wait_until("three runs of the program", || {
        sender.line(&message(0, number));
        number += 1;
        lab.text("out").matches("end").count() >= 3
    });
    penstock.ledger().assert_balanced();
}

#[test]
fn repeated_messages_are_suppressed_when_asked() {
    let lab = Lab::new();
    let config = config("%dir%/s").replace("/s\");", "/s\" suppress(1000));");
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    for text in ["same", "same", "same", "other"] {
        sender.line(&format!("<13>Nov 11 01:02:03 h a[1]: {text}"));
    }
    sender.finish();
    penstock.wait_settled_input().assert_balanced();
    let note =
        format!(" h a[{}]: Last message 'same' repeated 2 times, suppressed by syslog-ng on ", penstock.id());
    penstock.stop();
    let lines = lab.lines("s");
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[1].contains(&note), "{lines:?}");
    assert_eq!(lab.lines("out").len(), 4);
}

#[test]
fn a_limit_of_file_sizes_is_said_and_hurts_nobody_else() {
    let lab = Lab::new();
    let text = config("%dir%/bad").replace("log { source(s); destination(good); };\n", "");
    let mut penstock = Penstock::configure(&lab, &text).ulimit("-f 64").ready();
    Sender::tcp(lab.port("in")).raw(block(0, 4000).as_bytes());
    penstock.wait_log("File too large");
    penstock.wait_ledger(|ledger| {
        let bad = ledger.destination("bad");
        (bad.received != 4000 || bad.waiting == 0).then(|| "all received, some of them waiting".to_owned())
    });
    penstock.stop();
}

#[test]
fn a_start_on_a_full_disk() {
    let lab = Lab::new();
    let Some(disk) = Disk::mount(&lab, 1024) else { return testkit::skip("cannot mount a small disk here") };
    let (state, ballast) = (disk.0.join("state"), disk.0.join("ballast"));
    // A full disk is a complaint otherwise, and the program never well.
    let text = config("%dir%/bad").replace("options {", "options { health(disk-full-in(0) disk-free(0));");
    let start = || Penstock::configure(&lab, &text).state(&state).ready();
    let identity = || std::fs::read_to_string(state.join("identity")).expect("identity");
    start().stop();
    let before = identity();
    // As many bytes as it takes, whatever was refused before.
    let mut file = std::fs::File::create(&ballast).expect("file");
    while std::io::Write::write(&mut file, &[0; 512]).is_ok_and(|n| n > 0) {}
    let mut penstock = start();
    penstock.wait_log("cannot be noted");
    send(&lab, 0, 100);
    penstock.wait_settled(100).assert_nothing_lost();
    drop(file);
    std::fs::remove_file(&ballast).expect("remove");
    wait_until("the number of the start", || identity() != before);
    penstock.stop();
    let (one, three) = (before.lines().last(), identity());
    assert_eq!((one, three.lines().last()), (Some("run-id 1"), Some("run-id 2")));
}

#[test]
fn a_queue_on_a_small_disk() {
    let lab = Lab::new();
    let Some(disk) = Disk::mount(&lab, 24 << 10) else {
        return testkit::skip("cannot mount a small disk here");
    };
    let text = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ network(127.0.0.1 port(%port:out%) time-reopen(1) disk-buffer(reliable(yes) capacity-bytes(20MiB) \
         dir(\"{}\"))); }};\nlog {{ source(s); destination(d); flags(flow-control); }};\n",
        disk.0.display()
    );
    let mut penstock = Penstock::start(&lab, &text);
    const COUNT: usize = 100_000;
    send(&lab, 0, COUNT);
    wait_waiting(&mut penstock, COUNT);
    let queues = crate::kept::queue(&lab, &["ls", "--json", "--dir", &disk.0.to_string_lossy()]);
    assert!(queues.contains("\"waiting_messages\":100000"), "{queues}");
    let collector = Collector::tcp(lab.port("out"));
    wait_waiting(&mut penstock, 0).assert_nothing_lost();
    wait_until("all of them", || collector.lines().len() == COUNT);
    penstock.stop();
}
