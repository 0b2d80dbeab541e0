//! Keys of TLS sources: with a passphrase that comes later, and made from nothing by `test-ca`.

use crate::messages::HEAD;
use std::path::Path;
use std::process::Command;
use testkit::{Lab, Outcome, Penstock, run_command, skip, wait_until};

fn config(tls: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) transport(\"tls\") tls({tls})); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\nlog {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

fn send(lab: &Lab, more: &[&str]) -> Outcome {
    let port = lab.port("in").to_string();
    let mut args = vec!["loggen", "-i", "-S", "-U", "-Q", "--perf", "--total=10"];
    args.extend(more);
    args.extend(["127.0.0.1", &port]);
    run_command(&args)
}

#[test]
fn a_key_waits_for_its_passphrase() {
    let lab = Lab::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tls/src/tests/fixtures");
    for name in ["rsa.pem", "rsa-encrypted.key"] {
        std::fs::copy(fixtures.join(name), lab.path(name)).expect("copied");
    }
    let tls = "key-file(\"%dir%/rsa-encrypted.key\") cert-file(\"%dir%/rsa.pem\") peer-verify(no)";
    let mut penstock = Penstock::start(&lab, &config(tls));
    penstock.wait_log("A private key waits for its passphrase");
    let key = lab.path("rsa-encrypted.key").display().to_string();
    assert_ne!(send(&lab, &[]).code, Some(0));
    penstock.wait_log("its passphrase is not known yet");
    assert!(penstock.request("PWD status").contains(&format!("{key}\tPENDING")));
    assert!(penstock.request(&format!("PWD add {key} guess")).starts_with("FAIL"));
    assert!(penstock.request("PWD status").contains("INVALID_PASSWORD"));
    let answer = penstock.request(&format!("PWD add {key} open sesame"));
    assert!(answer.starts_with("OK"), "{answer}");
    let outcome = send(&lab, &[]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    wait_until("the messages", || lab.lines("out").len() == 10);
    // It is known to the next configuration too, and when it ends can be asked.
    penstock.reload_with(&lab, &config(tls));
    assert_eq!(send(&lab, &[]).code, Some(0));
    wait_until("the messages", || lab.lines("out").len() == 20);
    let metrics = penstock.request("STATS PROMETHEUS");
    let line =
        metrics.lines().find(|line| line.starts_with("syslogng_tls_certificate_not_after_timestamp_seconds"));
    let line = line.unwrap_or_else(|| panic!("no such metric in\n{metrics}"));
    assert!(line.contains("rsa.pem") && line.contains("CN=rsa.example.com"), "{line}");
    assert!(!penstock.stop().contains("open sesame"));
}

/// Behind a balancer as well: with the PROXY header inside the encryption and in front of it.
#[test]
fn a_key_of_a_proxied_source_waits_too() {
    for (transport, more) in [
        ("proxied-tls", &["--proxied"][..]),
        ("proxied-tls-passthrough", &["--proxied", "--proxied-tls-passthrough"]),
    ] {
        let lab = Lab::new();
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tls/src/tests/fixtures");
        for name in ["rsa.pem", "rsa-encrypted.key"] {
            std::fs::copy(fixtures.join(name), lab.path(name)).expect("copied");
        }
        let tls = "key-file(\"%dir%/rsa-encrypted.key\") cert-file(\"%dir%/rsa.pem\") peer-verify(no)";
        let config = config(tls).replace("transport(\"tls\")", &format!("transport(\"{transport}\")"));
        let mut penstock = Penstock::start(&lab, &config);
        penstock.wait_log("A private key waits for its passphrase");
        assert_ne!(send(&lab, more).code, Some(0));
        let key = lab.path("rsa-encrypted.key").display().to_string();
        let answer = penstock.request(&format!("PWD add {key} open sesame"));
        assert!(answer.starts_with("OK"), "{answer}");
        let outcome = send(&lab, more);
        assert_eq!(outcome.code, Some(0), "{transport}: {outcome:?}");
        wait_until("the messages", || lab.lines("out").len() == 10);
    }
}

/// A container with RC2 and triple DES, as openssl made them for twenty years, and options of those days that
/// come to nothing.
#[test]
fn a_container_of_old_times() {
    let lab = Lab::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tls/src/tests/fixtures");
    let made = Command::new("openssl")
        .args([
            "pkcs12",
            "-legacy",
            "-export",
            "-inkey",
            "rsa.key",
            "-in",
            "rsa.pem",
            "-passout",
            "pass:open sesame",
        ])
        .arg("-out")
        .arg(lab.path("old.p12"))
        .current_dir(fixtures)
        .status();
    if !made.is_ok_and(|status| status.success()) {
        return skip("openssl is not installed, or without its old ciphers");
    }
    let more = "allow-compress(yes) ocsp-stapling-verify(yes) ssl-version(tlsv1_0)";
    let tls = format!("pkcs12-file(\"%dir%/old.p12\") peer-verify(no) {more}");
    let mut penstock = Penstock::start(&lab, &config(&tls));
    penstock.wait_log("A private key waits for its passphrase");
    let answer = penstock.request(&format!("PWD add {} open sesame", lab.path("old.p12").display()));
    assert!(answer.starts_with("OK"), "{answer}");
    penstock.wait_log("encrypted in an old way that is quickly broken");
    let outcome = send(&lab, &[]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    wait_until("the messages", || lab.lines("out").len() == 10);
    let said = penstock.stop();
    for text in ["no peer will do it", "clients bring no OCSP answers", "older versions are too weak"] {
        assert!(said.contains(text), "{said}");
    }
}

#[test]
fn a_server_with_client_certificates_from_nothing() {
    let lab = Lab::new();
    let folder = lab.path("certificates").display().to_string();
    let made = run_command(&["test-ca", &folder, "--server", "127.0.0.1", "--client", "web1"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    assert!(
        made.stdout.contains("source s_tls") && made.stdout.contains("destination d_tls"),
        "{}",
        made.stdout
    );
    let block = made.stdout.lines().find_map(|line| line.trim().strip_prefix("tls(")).expect("a block");
    let block = block.strip_suffix(")); };").expect("its end");
    let mut penstock = Penstock::start(&lab, &config(block));
    let outcome = send(&lab, &[]);
    assert!(lab.lines("out").is_empty(), "nobody without a certificate: {outcome:?}");
    penstock.wait_log("the peer has shown no certificate");
    let (cert, key) = (format!("--cert-file={folder}/web1.pem"), format!("--key-file={folder}/web1.key"));
    let outcome = send(&lab, &[&cert, &key]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    wait_until("the messages", || lab.lines("out").len() == 10);
    penstock.stop();
}
