//! What is wrong is said, and mended by a reload: keys, certificates, options.

use super::{WHOLE, assert_each_once, body, config};
use crate::messages::HEAD;
use crate::tls::{Authority, prepared};
use testkit::s3::{MISSING, S3};
use testkit::{Lab, Penstock, run_command, skip, wait_until};

#[test]
fn wrong_keys_hold_everything_and_are_said_once_a_minute() {
    let lab = Lab::new();
    let Some(server) = S3::start(&lab) else { return skip(MISSING) };
    server.put(&[("a", &body(0, 100))]);
    let good = config(server.port(), WHOLE, "$MSG");
    let mut penstock =
        Penstock::start(&lab, &good.replace("secret-key(\"secret\")", "secret-key(\"wrong\")"));
    penstock.wait_log("SignatureDoesNotMatch");
    let asked =
        || std::fs::read_to_string(lab.path("s3/log")).map_or(0, |log| log.matches("list-type=2").count());
    wait_until("it to be asked again", || asked() == 0 || asked() > 3);
    assert_eq!(penstock.log().matches("S3 does not list objects now").count(), 1, "once a minute");
    penstock.reload_with(&lab, &good);
    penstock.wait_settled(100).assert_nothing_lost();
    assert_each_once(&lab.lines("out"), 100);
    penstock.stop();
}

#[test]
fn a_bucket_that_is_not_there_yet_is_waited_for() {
    let lab = Lab::new();
    let Some(server) = S3::start(&lab) else { return skip(MISSING) };
    let config = config(server.port(), WHOLE, "$MSG").replace("bucket(\"logs\")", "bucket(\"later\")");
    let mut penstock = Penstock::start(&lab, &config);
    penstock.wait_log("NoSuchBucket");
    std::fs::create_dir(lab.path("s3/objects/later")).expect("a folder");
    std::fs::write(lab.path("s3/objects/later/x"), body(0, 10)).expect("written");
    penstock.wait_settled(10);
    assert_each_once(&lab.lines("out"), 10);
    assert!(penstock.log().contains("Objects of S3 are listed"));
}

#[test]
fn over_tls_only_a_server_with_the_right_certificate_is_asked() {
    let lab = Lab::new();
    prepared(&lab);
    Authority::new(&lab, "other");
    let Some(server) = S3::secured(&lab, lab.path("server.pem"), lab.path("server.key")) else {
        return skip(MISSING);
    };
    server.put(&[("a", &body(0, 100))]);
    let with = |ca: &str| {
        let options = format!("{WHOLE} tls(ca-file(\"%dir%/{ca}.pem\"))");
        config(server.port(), &options, "$MSG").replace("http://", "https://")
    };
    let mut penstock = Penstock::start(&lab, &with("other"));
    penstock.wait_log("the certificate of the peer is refused");
    penstock.reload_with(&lab, &with("ca"));
    penstock.wait_settled(100).assert_nothing_lost();
    assert_each_once(&lab.lines("out"), 100);
}

/// What was not given has no warning.
#[test]
fn options_without_effect_are_told() {
    let said = |options: &str| {
        let lab = Lab::new();
        let text = config(9, options, "$MSG").replace("follow-freq(1) ", "");
        let (path, _) = lab.write_config("right.conf", &text);
        let outcome = run_command(&["check", path.to_str().expect("text")]);
        assert_eq!(outcome.code, Some(0), "{options}");
        (outcome.stdout + &outcome.stderr).matches("has no effect").count()
    };
    let queue = "sqs-url(\"http://127.0.0.1:9/1/q\")";
    assert_eq!((said(""), said(queue), said("ack-deadline(20)")), (0, 0, 1));
    assert_eq!(said(&format!("{queue} follow-freq(5) object-order(ascending) read-old-records(no)")), 3);
}

#[test]
fn what_is_wrong_with_options_is_said() {
    let check = |options: &str, words: &[&str]| {
        let lab = Lab::new();
        let text = format!(
            "{HEAD}source s {{ s3(access-key(\"a\") secret-key(\"s\") {options}); }};\ndestination d {{ file(\"%dir%/out\"); }};\n\
             log {{ source(s); destination(d); }};\n"
        );
        let (path, _) = lab.write_config("wrong.conf", &text);
        let outcome = run_command(&["check", path.to_str().expect("text")]);
        assert_ne!(outcome.code, Some(0), "{options}");
        let said = outcome.stdout + &outcome.stderr;
        words.iter().for_each(|word| assert!(said.contains(word), "{options}: {word}\n{said}"));
    };
    check("", &["D0261", "the name of a bucket"]);
    check("bucket(\"b\") url(\"https://h/path\")", &["D0261", "has a path"]);
    check("bucket(\"b\") when-read(move)", &["D0261", "move-prefix(\"read/\")"]);
    check("bucket(\"b\") prefix(\"a/\") when-read(move) move-prefix(\"a/b\")", &["D0261", "read again"]);
    check("bucket(\"b\") move-prefix(\"a/b\")", &["D0261", "when-read(move)"]);
    check("bucket(\"b\") compression(lz4)", &["compression", "zstd"]);
    check("bucket(\"b\") multi-line-mode(prefix-garbage)", &["D0113"]);
    check("bucket(\"b\") sqs-url(\"ftp://h/q\")", &["D0261", "sqs-url(\"https://sqs.REGION"]);
}
