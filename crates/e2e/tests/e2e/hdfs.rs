//! `hdfs()` with Hadoop's own namenode and datanode, read back by WebHDFS: where there is none, these are
//! skipped.

use crate::answered::{Peer, assert_in_order, collector_killed, config, feed, reloaded_under_load, text};
use testkit::hdfs::{Hdfs, MISSING};
use testkit::kerberos::{self, Kerberos, REALM};
use testkit::{Lab, Penstock, Sender, skip, wait_until};

const DISK: &str = "disk-buffer(reliable(yes) capacity-bytes(100MiB))";

fn destination(cluster: &Hdfs, options: &str) -> String {
    let port = cluster.port();
    config(&format!(
        "hdfs(hdfs-uri(\"hdfs://127.0.0.1:{port}\") hdfs-file(\"/logs/$PROGRAM.log\") template(\"$MSG\\n\") time-reopen(1) {options})"
    ))
}

impl Peer for Hdfs {
    fn kill(&mut self) {
        Hdfs::kill(self);
    }

    fn run(&mut self) {
        Hdfs::run(self);
    }

    fn texts(&self) -> Vec<String> {
        self.lines("/logs")
    }
}

#[test]
fn files_have_all_messages_byte_for_byte_and_each_start_makes_one() {
    let lab = Lab::new();
    let Some(cluster) = Hdfs::start(&lab) else { return skip(MISSING) };
    let config = destination(
        &cluster,
        "hdfs-append-enabled(false) hdfs-archive-dir(\"/done\") client-lib-dir(\"/x\")",
    );
    let mut penstock = Penstock::start(&lab, &config);
    feed(lab.port("in"), 0, 10_000);
    penstock.wait_settled(10_000).assert_nothing_lost();
    let expected: String = (0..10_000).map(|n| text(n) + "\n").collect();
    assert_eq!(cluster.files("/logs"), ["/logs/app.log"]);
    assert!(cluster.bytes("/logs/app.log") == expected.as_bytes());
    let log = penstock.stop();
    assert!(log.contains("client-lib-dir"), "{log}");
    // At the end files are closed, and in the archive.
    assert!(cluster.bytes("/done/app.log") == expected.as_bytes());
    assert_eq!(cluster.files("/logs").len(), 0);
    for round in 1..3 {
        let mut penstock = Penstock::start(&lab, &config);
        feed(lab.port("in"), 0, 10);
        penstock.wait_settled(10).assert_nothing_lost();
        penstock.stop();
        assert_eq!(cluster.files("/done").len(), round + 1);
    }
    assert_eq!(cluster.files("/done"), ["/done/app.log", "/done/app.log.1", "/done/app.log.2"]);
}

#[test]
fn appending_goes_on_in_the_file_that_is_there() {
    let lab = Lab::new();
    let Some(cluster) = Hdfs::start(&lab) else { return skip(MISSING) };
    let config = destination(&cluster, "hdfs-append-enabled(true)");
    for round in 0..3 {
        let mut penstock = Penstock::start(&lab, &config);
        feed(lab.port("in"), round * 1000, round * 1000 + 1000);
        penstock.wait_settled(1000).assert_nothing_lost();
        // The second one leaves the file open behind it.
        match round {
            1 => {
                penstock.signal(testkit::Signal::KILL);
                penstock.wait_end();
            }
            _ => drop(penstock.stop()),
        }
    }
    assert_eq!(cluster.files("/logs"), ["/logs/app.log"]);
    assert_in_order(&cluster.texts(), 3000);
}

#[test]
fn a_cluster_that_dies_gets_each_message_once() {
    let lab = Lab::new();
    let Some(mut cluster) = Hdfs::start(&lab) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &destination(&cluster, "hdfs-append-enabled(yes)"));
    let port = lab.port("in");
    let feeding = std::thread::spawn(move || feed(port, 0, 20_000));
    wait_until("some of it", || penstock.ledger().destination("k").delivered > 0);
    cluster.kill();
    cluster.run();
    feeding.join().expect("sent");
    penstock.wait_settled(20_000).assert_nothing_lost();
    assert_in_order(&readable(&cluster, 20_000), 20_000);
}

/// The whole lines of all files, once so many can be read: a datanode that has come back says what it has in
/// its own time. The end of a file that was cut off may be half a line, which stands whole in the next one.
#[track_caller]
fn readable(cluster: &Hdfs, count: usize) -> Vec<String> {
    let mut lines = Vec::new();
    wait_until("all to be readable", || {
        lines.clear();
        for number in 0..cluster.files("/logs").len() {
            let path =
                if number == 0 { "/logs/app.log".to_owned() } else { format!("/logs/app.log.{number}") };
            let bytes = cluster.bytes(&path);
            let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            lines.extend(String::from_utf8_lossy(&bytes[..whole]).lines().map(str::to_owned));
        }
        lines.len() >= count
    });
    lines
}

#[test]
fn a_collector_that_is_killed_loses_nothing() {
    let lab = Lab::new();
    let Some(cluster) = Hdfs::start(&lab) else { return skip(MISSING) };
    let config = destination(&cluster, &format!("hdfs-append-enabled(yes) {DISK}"));
    collector_killed(&lab, &config, &cluster);
}

#[test]
fn a_reload_keeps_the_file() {
    let lab = Lab::new();
    let Some(cluster) = Hdfs::start(&lab) else { return skip(MISSING) };
    reloaded_under_load(&lab, &destination(&cluster, ""), &cluster);
    assert_eq!(cluster.files("/logs"), ["/logs/app.log"]);
}

#[test]
fn names_of_messages_make_files_and_those_that_cannot_be_cost_their_messages() {
    let lab = Lab::new();
    let Some(cluster) = Hdfs::start(&lab) else { return skip(MISSING) };
    let options = "time-reap(1) hdfs-archive-dir(\"/done\") hdfs-max-filename-length(20)";
    let text = destination(&cluster, options).replace("/logs/$PROGRAM.log", "/logs//$HOST/$PROGRAM");
    let mut penstock = Penstock::start(&lab, &text);
    let mut sender = Sender::tcp(lab.port("in"));
    let long = "p".repeat(300);
    let messages = [
        ("one", "app", "a"),
        ("::1", "app", "b"),
        ("..", "app", "c"),
        ("one", long.as_str(), "d"),
        ("one", "app", "e"),
    ];
    for (host, program, text) in messages {
        sender.raw(format!("<13>Nov 11 01:02:03 {host} {program}: {text}\n").as_bytes());
    }
    sender.finish();
    let ledger = penstock.wait_ledger(|ledger| {
        (ledger.received() < 5 || ledger.waiting() > 0).then(|| "5 messages dealt with".to_owned())
    });
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1), "{ledger}");
    ledger.assert_balanced();
    // Idle files are closed, and their names alone stand in the archive.
    let cut = "p".repeat(20);
    let expected = [("/done/app", "a\ne\n", "b\n"), ("/done/app.1", "b\n", "a\ne\n")];
    wait_until("three files in the archive", || cluster.files("/done").len() == 3);
    assert_eq!(cluster.files("/done"), ["/done/app", "/done/app.1", &format!("/done/{cut}")]);
    for (path, one, other) in expected {
        let found = cluster.bytes(path);
        assert!(found == one.as_bytes() || found == other.as_bytes(), "{path}");
    }
    assert_eq!(cluster.bytes(&format!("/done/{cut}")), b"d\n");
    assert!(cluster.files("/logs").is_empty());
}

#[test]
fn a_missing_right_holds_everything() {
    let lab = Lab::new();
    let Some(cluster) = Hdfs::start(&lab) else { return skip(MISSING) };
    cluster.make_folder("/logs");
    let text = destination(&cluster, "");
    let mut penstock = Penstock::configure(&lab, &text).env("HADOOP_USER_NAME", "nobody").ready();
    feed(lab.port("in"), 0, 100);
    penstock.wait_log("Permission denied: user=nobody");
    wait_until("them to wait", || penstock.ledger().destination("k").waiting == 100);
    assert_eq!(penstock.ledger().dropped(), 0);
    penstock.reload_with(&lab, &text.replace("/logs/", "/tmp/"));
    assert!(cluster.files("/logs").is_empty());
}

#[test]
fn properties_of_hadoop_name_the_cluster() {
    let lab = Lab::new();
    let Some(cluster) = Hdfs::start(&lab) else { return skip(MISSING) };
    let site = |pairs: &[(&str, &str)]| {
        let body: String = pairs
            .iter()
            .map(|(name, value)| format!("<property><name>{name}</name><value>{value}</value></property>"))
            .collect();
        format!("<?xml version=\"1.0\"?>\n<configuration>{body}</configuration>\n")
    };
    std::fs::write(lab.path("core.xml"), site(&[("the.host", "127.0.0.1")])).expect("a file");
    let port = cluster.port();
    let address = format!("${{the.host}}:{port}");
    // The first namenode is away.
    let namenodes = [
        ("dfs.ha.namenodes.logs", "a,b"),
        ("dfs.namenode.rpc-address.logs.a", "127.0.0.1:1"),
        ("dfs.namenode.rpc-address.logs.b", address.as_str()),
    ];
    std::fs::write(lab.path("hdfs.xml"), site(&namenodes)).expect("a file");
    let text = destination(&cluster, "hdfs-resources(\"%dir%/core.xml;%dir%/hdfs.xml\")")
        .replace(&format!("hdfs://127.0.0.1:{port}"), "hdfs://logs");
    let mut penstock = Penstock::start(&lab, &text);
    feed(lab.port("in"), 0, 100);
    penstock.wait_settled(100).assert_nothing_lost();
    assert_in_order(&cluster.texts(), 100);
}

/// The namenode by GSSAPI, datanodes with tokens of blocks and encrypted.
#[test]
fn kerberos() {
    let lab = Lab::new();
    let Some(realm) = Kerberos::start(&lab, "10m") else { return skip(kerberos::MISSING) };
    let Some(cluster) = Hdfs::secured(&lab, &realm) else { return skip(MISSING) };
    cluster.ask("folder /logs");
    let keys = realm.add("penstock");
    let text_for = |principal: &str| {
        let (port, resources, keys) = (cluster.port(), cluster.resources(), keys.display());
        config(&format!(
            "hdfs(hdfs-uri(\"hdfs://localhost:{port}\") hdfs-resources(\"{}\") hdfs-file(\"/logs/app.log\") \
             template(\"$MSG\\n\") time-reopen(1) kerberos-principal(\"{principal}@{REALM}\") \
             kerberos-keytab-file(\"{keys}\"))",
            resources.display()
        ))
    };
    // Nobody of that name: held, said, nothing dropped.
    let settings = realm.settings().display().to_string();
    let mut penstock = Penstock::configure(&lab, &text_for("nobody")).env("KRB5_CONFIG", &settings).ready();
    feed(lab.port("in"), 0, 100);
    penstock.wait_log("Destination takes nothing until something is done about it");
    let ledger = penstock.ledger();
    assert_eq!((ledger.waiting(), ledger.dropped()), (100, 0));
    penstock.reload_with(&lab, &text_for("penstock"));
    penstock.wait_settled(100).assert_nothing_lost();
    penstock.stop();
    let expected: String = (0..100).map(|n| text(n) + "\n").collect();
    assert!(cluster.ask("read /logs/app.log") == expected);
}
