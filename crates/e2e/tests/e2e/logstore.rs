//! `logstore()` and `penstock logstore`: what is written is read, by names of PE's tools too; kills, changed
//! bits, time stamps.

use crate::messages::{HEAD, message};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use testkit::penstock::{binary, run_command};
use testkit::{Lab, Outcome, Penstock, Sender, Signal, skip, wait_until};

const NO_OPENSSL: &str = "openssl is not installed";

fn config(options: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ logstore(\"%dir%/out.lgs\" template(\"$MSG\\n\") {options}); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

fn feed(lab: &Lab, from: usize, to: usize) {
    let mut sender = Sender::tcp(lab.port("in"));
    let block: String = (from..to).map(|n| message(0, n) + "\n").collect();
    sender.raw(block.as_bytes());
    sender.finish();
}

fn text(n: usize) -> String {
    format!("message number {n} of connection 0")
}

fn tool(lab: &Lab, words: &[&str]) -> Outcome {
    let paths: Vec<String> = words
        .iter()
        .map(
            |word| if word.contains('.') { lab.path(word).display().to_string() } else { (*word).to_owned() },
        )
        .collect();
    let words: Vec<&str> = std::iter::once("logstore").chain(paths.iter().map(String::as_str)).collect();
    run_command(&words)
}

#[track_caller]
fn assert_messages(found: &str, count: usize) {
    let lines: Vec<&str> = found.lines().collect();
    for (n, line) in lines.iter().enumerate() {
        assert_eq!(*line, text(n), "line {n}");
    }
    assert_eq!(lines.len(), count);
}

fn openssl(lab: &Lab, line: &str) -> bool {
    let output = Command::new("openssl").args(line.split(' ')).current_dir(lab.dir()).output();
    output.is_ok_and(|output| output.status.success())
}

const READER: &str =
    "req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=reader -keyout reader.key -out reader.pem";

#[test]
fn what_is_written_is_read_and_a_changed_byte_is_found() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("compress(5) journal-block-size(64KiB)"));
    feed(&lab, 0, 5000);
    penstock.wait_settled(5000).assert_nothing_lost();
    // The journal becomes a chunk in time.
    wait_until("all of it in the store", || tool(&lab, &["cat", "out.lgs"]).stdout.lines().count() == 5000);
    penstock.stop();
    assert!(!lab.path("out.lgs.jor").exists());
    let cat = tool(&lab, &["cat", "out.lgs"]);
    assert_eq!((cat.code, cat.stderr.as_str()), (Some(0), ""));
    assert_messages(&cat.stdout, 5000);
    assert_eq!(tool(&lab, &["cat", "--seek", "4999", "out.lgs"]).stdout.lines().count(), 2);
    let tail = tool(&lab, &["tail", "-n", "3", "out.lgs"]).stdout;
    assert_eq!(tail.lines().collect::<Vec<_>>(), [text(4997), text(4998), text(4999)]);
    let inspected = tool(&lab, &["inspect", "out.lgs"]).stdout;
    assert!(inspected.lines().count() > 3 && inspected.contains("compressed"), "{inspected}");
    let good = tool(&lab, &["validate", "out.lgs"]);
    assert_eq!(good.code, Some(0), "{good:?}");
    // By the names of PE's tools.
    let called = |name: &str| {
        let link = lab.path(name);
        std::os::unix::fs::symlink(binary(), &link).expect("a link");
        link
    };
    let logcat = Command::new(called("logcat")).arg(lab.path("out.lgs")).output().expect("run");
    assert_eq!(String::from_utf8_lossy(&logcat.stdout), cat.stdout);
    let lgstool = Command::new(called("lgstool")).arg("validate").arg(lab.path("out.lgs")).output();
    assert!(lgstool.expect("run").status.success());
    let mut bytes = std::fs::read(lab.path("out.lgs")).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    std::fs::write(lab.path("out.lgs"), bytes).expect("written");
    let bad = tool(&lab, &["validate", "out.lgs"]);
    assert_eq!(bad.code, Some(1));
    assert!(bad.stdout.contains("NOT as it was written"), "{bad:?}");
}

#[test]
fn a_store_that_is_encrypted_is_read_with_the_private_key_alone() {
    let lab = Lab::new();
    if !openssl(&lab, READER) {
        return skip(NO_OPENSSL);
    }
    let mut penstock = Penstock::start(&lab, &config("encrypt-certificate(\"%dir%/reader.pem\")"));
    feed(&lab, 0, 300);
    penstock.wait_settled(300).assert_nothing_lost();
    // Killed with all of it in the journal, which nobody can read either.
    penstock.signal(Signal::KILL);
    penstock.wait_end();
    for name in ["out.lgs", "out.lgs.jor"] {
        let bytes = std::fs::read(lab.path(name)).expect("read");
        assert!(!bytes.windows(14).any(|part| part == b"message number"), "{name}");
    }
    let recovered = tool(&lab, &["recover", "out.lgs"]);
    assert!(recovered.stdout.contains("300 messages out of the journal"), "{recovered:?}");
    let mut penstock = Penstock::start(&lab, &config("encrypt-certificate(\"%dir%/reader.pem\")"));
    feed(&lab, 300, 600);
    penstock.wait_settled(300).assert_nothing_lost();
    penstock.stop();
    let blind = tool(&lab, &["cat", "out.lgs"]);
    assert_eq!((blind.code, blind.stdout.as_str()), (Some(1), ""));
    assert!(blind.stderr.contains("give the private key"), "{blind:?}");
    assert_messages(&tool(&lab, &["cat", "--key", "reader.key", "out.lgs"]).stdout, 600);
    assert_eq!(tool(&lab, &["validate", "--key", "reader.key", "out.lgs"]).code, Some(0));
    assert_eq!(tool(&lab, &["validate", "out.lgs"]).code, Some(0));
    // Without the certificate nobody writes on, and nothing is lost.
    let mut penstock = Penstock::start(&lab, &config(""));
    feed(&lab, 0, 5);
    penstock.wait_log("A log store cannot be written");
    wait_until("them to wait", || penstock.ledger().waiting() == 5);
    penstock.stop();
}

#[test]
fn kills_lose_and_double_nothing() {
    let lab = Lab::new();
    const KILLS: usize = 8;
    let mut sent = 0;
    for _ in 0..KILLS {
        let mut penstock = Penstock::start(&lab, &config("journal-block-size(16KiB) chunk-time(1)"));
        feed(&lab, sent, sent + 700);
        sent += 700;
        // What the ledger calls delivered is there after the kill.
        penstock.wait_settled(700).assert_nothing_lost();
        penstock.signal(Signal::KILL);
        penstock.wait_end();
    }
    let penstock = Penstock::start(&lab, &config(""));
    feed(&lab, sent, sent + 1);
    wait_until("it to be there", || lab.path("out.lgs.jor").exists());
    penstock.stop();
    assert_messages(&tool(&lab, &["cat", "out.lgs"]).stdout, sent + 1);
    assert_eq!(tool(&lab, &["validate", "out.lgs"]).code, Some(0));
}

#[test]
fn a_store_that_is_rotated_is_begun_anew() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config(""));
    feed(&lab, 0, 100);
    penstock.wait_settled(100).assert_nothing_lost();
    std::fs::rename(lab.path("out.lgs"), lab.path("old.lgs")).expect("moved");
    penstock.signal(Signal::USR1);
    wait_until("the old one to be complete", || {
        tool(&lab, &["cat", "old.lgs"]).stdout.lines().count() == 100
    });
    feed(&lab, 100, 150);
    penstock.wait_settled(150).assert_nothing_lost();
    penstock.stop();
    assert_messages(&tool(&lab, &["cat", "old.lgs"]).stdout, 100);
    assert_eq!(tool(&lab, &["cat", "out.lgs"]).stdout.lines().count(), 50);
    assert_eq!(tool(&lab, &["validate", "old.lgs", "out.lgs"]).code, Some(0));
}

/// A small authority: `openssl ts` behind a socket.
fn authority(lab: &Lab) -> Option<u16> {
    let extension = "extendedKeyUsage=critical,timeStamping\n";
    std::fs::write(lab.path("tsa.ext"), extension).expect("written");
    let config = "[tsa]\ndefault_tsa=t\n[t]\nserial=tsa.serial\nsigner_digest=sha256\ndefault_policy=1.2.3.4.1\n\
                  digests=sha1,sha256\naccuracy=secs:1\nordering=no\ntsa_name=no\ness_cert_id_chain=no\n";
    std::fs::write(lab.path("tsa.conf"), config).expect("written");
    std::fs::write(lab.path("tsa.serial"), "01\n").expect("written");
    let made = openssl(
        lab,
        "req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=authority -keyout ca.key -out ca.pem",
    ) && openssl(lab, "req -newkey rsa:2048 -nodes -subj /CN=stamps -keyout tsa.key -out tsa.csr")
        && openssl(
            lab,
            "x509 -req -in tsa.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile tsa.ext -out tsa.pem",
        );
    if !made {
        return None;
    }
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let folder = lab.dir().to_owned();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut bytes = Vec::new();
            let mut part = [0; 4096];
            let body = loop {
                let n = stream.read(&mut part).unwrap_or(0);
                bytes.extend_from_slice(&part[..n]);
                let head = String::from_utf8_lossy(&bytes).into_owned();
                let length = head
                    .lines()
                    .find_map(|line| line.strip_prefix("Content-Length: ")?.parse::<usize>().ok());
                if let (Some(end), Some(length)) = (bytes.windows(4).position(|p| p == b"\r\n\r\n"), length)
                    && bytes.len() >= end + 4 + length
                {
                    break bytes[end + 4..].to_vec();
                }
                assert!(n > 0, "a whole request");
            };
            let answer = stamped(&folder, &body);
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", answer.len());
            let _ = stream.write_all(&[head.as_bytes(), &answer].concat());
        }
    });
    Some(port)
}

fn stamped(folder: &Path, request: &[u8]) -> Vec<u8> {
    std::fs::write(folder.join("query.tsq"), request).expect("written");
    let line = "ts -reply -config tsa.conf -section t -queryfile query.tsq -signer tsa.pem -inkey tsa.key -out answer.tsr";
    let output = Command::new("openssl").args(line.split(' ')).current_dir(folder).output().expect("openssl");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(folder.join("answer.tsr")).expect("read")
}

#[test]
fn chunks_are_stamped_by_an_authority() {
    let lab = Lab::new();
    let Some(port) = authority(&lab) else { return skip(NO_OPENSSL) };
    let options = format!("timestamp-url(\"http://127.0.0.1:{port}/tsr\") timestamp-freq(1) chunk-time(1)");
    let mut penstock = Penstock::start(&lab, &config(&options));
    feed(&lab, 0, 100);
    penstock.wait_settled(100).assert_nothing_lost();
    let validate = |ca: &str| {
        let (ca, store) = (lab.path(ca).display().to_string(), lab.path("out.lgs").display().to_string());
        run_command(&["logstore", "validate", "--require-ts", "-P", "1.2.3.4.1", "--ca-file", &ca, &store])
    };
    wait_until("its time stamp", || {
        let found = validate("ca.pem");
        found.code == Some(0) && !found.stdout.contains(" 0 time stamps")
    });
    penstock.stop();
    // Another authority of the same name.
    assert!(openssl(
        &lab,
        "req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=authority -keyout x.key -out other.pem"
    ));
    let other = validate("other.pem");
    assert_eq!(other.code, Some(1));
    assert!(other.stderr.contains("not one that is trusted"), "{other:?}");
    assert!(tool(&lab, &["inspect", "out.lgs"]).stdout.contains("time stamp of chunk 0"));
}

#[test]
fn stores_of_pe_are_printed() {
    let Some(folder) = std::env::var_os("PENSTOCK_LOGSTORES") else {
        return skip("PENSTOCK_LOGSTORES does not name a folder with stores that PE has written");
    };
    let store = |name: &str| Path::new(&folder).join(format!("{name}.store")).display().to_string();
    let cat = |name: &str| run_command(&["logstore", "cat", &store(name)]);
    let plain = cat("abc.uncompressed");
    assert_eq!((plain.code, plain.stdout.lines().count()), (Some(0), 1810));
    assert!(plain.stdout.starts_with("Jan 13 17:09:55 localhost 1\n"));
    let packed = cat("loggen.compressed");
    assert_eq!((packed.code, packed.stdout.lines().count()), (Some(0), 34212));
    assert_eq!(cat("serialized").stdout, "Dec 12 22:46:53 localhost This is a test message.\n");
    let locked = cat("encrypted");
    assert_eq!((locked.code, locked.stdout.as_str()), (Some(1), ""));
    assert!(locked.stderr.contains("never published"), "{locked:?}");
    for name in [
        "abc.uncompressed",
        "loggen.compressed",
        "short.compressed",
        "serialized",
        "sha256",
        "timestamped",
        "encrypted",
    ] {
        let outcome = run_command(&["logstore", "validate", &store(name)]);
        assert_eq!(outcome.code, Some(0), "{name}: {outcome:?}");
    }
}
