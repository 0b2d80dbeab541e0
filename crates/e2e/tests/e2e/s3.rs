//! `s3()` with a real server, read back with boto3: where there is none, these are skipped.

use crate::answered::{Peer, collector_killed};
use crate::messages::{HEAD, message};
use crate::tls::{Authority, prepared};
use testkit::s3::{MISSING, S3};
use testkit::{HttpServer, Lab, Penstock, Reply, Sender, Signal, skip, wait_until};

fn config(server: &S3, options: &str) -> String {
    let port = server.port();
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ s3(url(\"http://127.0.0.1:{port}\") bucket(\"logs\") access-key(\"access\") secret-key(\"secret\") \
         object-key(\"$PROGRAM/log\") time-reopen(1) {options}); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

const DISK: &str = "disk-buffer(reliable(yes) capacity-bytes(100MiB)) max-object-size(20KiB)";

fn feed(lab: &Lab, from: usize, to: usize) {
    let mut sender = Sender::tcp(lab.port("in"));
    let block: String = (from..to).map(|n| message(0, n) + "\n").collect();
    sender.raw(block.as_bytes());
    sender.finish();
}

fn text(n: usize) -> String {
    format!("message number {n} of connection 0")
}

#[track_caller]
fn assert_messages(found: &[String], count: usize) {
    for (n, line) in found.iter().enumerate() {
        assert_eq!(*line, text(n), "line {n}");
    }
    assert_eq!(found.len(), count);
}

#[test]
fn objects_have_all_messages_in_their_order() {
    let lab = Lab::new();
    let Some(server) = S3::start(&lab) else { return skip(MISSING) };
    let options = "max-object-size(100KiB) compression(yes) compresslevel(1) content-type(\"text/plain\") \
                   storage-class(standard) object-key-suffix(\".txt\")";
    let mut penstock = Penstock::start(&lab, &config(&server, options));
    feed(&lab, 0, 10_000);
    penstock.wait_settled(10_000).assert_nothing_lost();
    penstock.stop();
    let names = server.names();
    assert!(
        names.len() > 2 && names.iter().all(|name| name.starts_with("app/log-") && name.ends_with(".txt.gz")),
        "{names:?}"
    );
    assert_messages(&server.lines("app/"), 10_000);
    assert_eq!(server.head(&names[0]).0, "text/plain");
}

#[test]
fn each_name_has_its_objects_and_one_that_no_server_takes_costs_its_messages() {
    let lab = Lab::new();
    let Some(server) = S3::start(&lab) else { return skip(MISSING) };
    let options = "object-key-timestamp(\"-${HOST}\")";
    let mut penstock = Penstock::start(&lab, &config(&server, options));
    let mut sender = Sender::tcp(lab.port("in"));
    let long = "h".repeat(1200);
    let host = |n: usize| if n == 6789 { long.as_str() } else { ["one", "two", "two words"][n % 2] };
    let block: String =
        (0..10_000).map(|n| format!("<13>Nov 11 01:02:03 {} app: {}\n", host(n), text(n))).collect();
    sender.raw(block.as_bytes());
    sender.finish();
    let ledger = penstock.wait_ledger(|ledger| {
        (ledger.received() < 10_000 || ledger.waiting() > 0).then(|| "10000 messages dealt with".to_owned())
    });
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1), "{ledger}");
    ledger.assert_balanced();
    penstock.stop();
    let of = |rest: usize| (0..10_000).filter(|n| n % 2 == rest && *n != 6789).map(text).collect::<Vec<_>>();
    assert_eq!(server.lines("app/log-one-"), of(0));
    assert_eq!(server.lines("app/log-two-"), of(1));
}

#[test]
fn wrong_keys_hold_everything() {
    let lab = Lab::new();
    let Some(server) = S3::start(&lab) else { return skip(MISSING) };
    let good = config(&server, "");
    let mut penstock =
        Penstock::start(&lab, &good.replace("secret-key(\"secret\")", "secret-key(\"wrong\")"));
    feed(&lab, 0, 100);
    penstock.wait_log("SignatureDoesNotMatch");
    wait_until("them to wait", || penstock.ledger().destination("d").waiting == 100);
    assert_eq!(penstock.ledger().dropped(), 0);
    assert!(server.names().is_empty());
    penstock.reload_with(&lab, &good);
    penstock.wait_settled(100).assert_nothing_lost();
    assert_messages(&server.lines(""), 100);
}

/// Objects have the first messages, once each, and the rest waits for its object to become full.
#[track_caller]
fn assert_complete(server: &S3, penstock: &mut Penstock, count: usize) {
    wait_until("no more than a part of an object to wait", || {
        penstock.ledger().destination("d").waiting < 1000
    });
    let mut found = Vec::new();
    wait_until("each message in an object or waiting", || {
        let waiting = penstock.ledger().destination("d").waiting as usize;
        found = server.lines("app/");
        found.len() + waiting == count && penstock.ledger().destination("d").waiting as usize == waiting
    });
    assert_messages(&found, found.len());
}

#[test]
fn a_server_that_dies_over_and_over_gets_each_message_once() {
    let lab = Lab::new();
    let Some(mut server) = S3::start(&lab) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &config(&server, DISK));
    for round in 0..5u64 {
        let first = round as usize * 2000;
        feed(&lab, first, first + 2000);
        wait_until("some of it to be there", || penstock.ledger().destination("d").delivered > round * 2000);
        server.kill();
        server.run();
    }
    assert_complete(&server, &mut penstock, 10_000);
}

impl Peer for S3 {
    fn kill(&mut self) {
        S3::kill(self);
    }

    fn run(&mut self) {
        S3::run(self);
    }

    fn texts(&self) -> Vec<String> {
        self.lines("app/")
    }
}

#[test]
fn a_collector_that_is_killed_doubles_and_loses_nothing() {
    let lab = Lab::new();
    let Some(server) = S3::start(&lab) else { return skip(MISSING) };
    let config = config(&server, DISK)
        .replace("destination d", "destination k")
        .replace("destination(d)", "destination(k)");
    collector_killed(&lab, &config, &server);
    let found = server.texts();
    let number = |line: &String| line.split_whitespace().nth(2)?.parse::<usize>().ok();
    let numbers: Vec<usize> = found.iter().filter_map(number).collect();
    assert_eq!(numbers.len(), found.len());
    assert!(numbers.is_sorted_by(|a, b| a < b), "out of order or twice");
}

/// Messages of which each has 1000 bytes and its number.
fn feed_large(lab: &Lab, count: usize) {
    let mut sender = Sender::tcp(lab.port("in"));
    let filling = "x".repeat(1000);
    for first in (0..count).step_by(1000) {
        let numbers = first..(first + 1000).min(count);
        let block: String =
            numbers.map(|n| format!("<13>Nov 11 01:02:03 h app: {n:08} {filling}\n")).collect();
        sender.raw(block.as_bytes());
    }
    sender.finish();
}

#[test]
fn a_large_object_goes_in_parts_and_what_was_left_of_another_is_taken_back() {
    let lab = Lab::new();
    let Some(server) = S3::start(&lab) else { return skip(MISSING) };
    let options = "disk-buffer(reliable(yes) capacity-bytes(200MiB)) max-object-size(12MiB) chunk-size(5MiB) upload-threads(3)";
    let mut penstock = Penstock::start(&lab, &config(&server, options));
    feed_large(&lab, 12_600);
    wait_until("an object", || penstock.ledger().destination("d").delivered > 0);
    let names = server.names();
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(server.head(&names[0]).1.ends_with("-3"), "{:?}", server.head(&names[0]));
    let lines = server.lines("app/");
    assert!(lines.len() > 12_000, "{}", lines.len());
    for (n, line) in lines.iter().enumerate() {
        assert_eq!(line[..9], format!("{n:08} "));
    }
    assert_eq!(server.uploads(), 0);
    // What a killed one leaves behind has the name of its queue; another's upload is left alone.
    wait_until("all of it", || penstock.ledger().source("s").received == 12_600);
    penstock.signal(Signal::KILL);
    penstock.wait_end();
    let place = names[0].rfind('-').expect("a place");
    server.begin_upload(&format!("{}-9999999999999999.log", &names[0][..place]));
    server.begin_upload("another");
    let penstock = Penstock::start(&lab, &config(&server, options));
    // What was left of the first ones is an object of its own, that waits for nothing.
    wait_until("the rest", || {
        let ledger = penstock.ledger();
        ledger.destination("d").delivered > 0 && ledger.destination("d").waiting == 0
    });
    let rest = penstock.ledger().destination("d").delivered;
    feed_large(&lab, 12_600);
    wait_until("another object", || penstock.ledger().destination("d").delivered > rest + 12_000);
    assert_eq!(server.uploads(), 1);
    let lines = server.lines("app/");
    assert!(
        lines.len() > 24_000
            && lines[..24_000].iter().filter(|line| line.starts_with("00000000 ")).count() <= 2
    );
}

#[test]
fn encrypted_and_a_wrong_certificate_gets_nothing() {
    let lab = Lab::new();
    prepared(&lab);
    Authority::new(&lab, "other");
    let Some(server) = S3::secured(&lab, lab.path("server.pem"), lab.path("server.key")) else {
        return skip(MISSING);
    };
    let with = |ca: &str| {
        let options = format!("tls(ca-file(\"%dir%/{ca}.pem\"))");
        config(&server, &options).replace("http://", "https://")
    };
    let mut penstock = Penstock::start(&lab, &with("other"));
    feed(&lab, 0, 100);
    penstock.wait_log("the certificate of the peer is refused");
    assert!(server.names().is_empty());
    penstock.reload_with(&lab, &with("ca"));
    penstock.wait_settled(100).assert_nothing_lost();
    assert_messages(&server.lines(""), 100);
}

/// A server of STS and of machines' metadata, as their documents say it.
fn amazon(secret: &'static str) -> HttpServer {
    HttpServer::start(0, move |request| match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/") => {
            let text = request.text();
            let is_asked = text.contains("Action=AssumeRole")
                && text.contains("RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Flogs");
            let is_signed = request.header("authorization").contains("/sts/aws4_request");
            if !is_asked || !is_signed {
                return Reply::new(403).body("<Error><Code>AccessDenied</Code></Error>");
            }
            Reply::new(200).body(format!(
                "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>access</AccessKeyId>\
                 <SecretAccessKey>{secret}</SecretAccessKey><SessionToken></SessionToken>\
                 <Expiration>2100-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>"
            ))
        }
        ("PUT", "/latest/api/token") => Reply::new(200).body("token"),
        ("GET", path) if request.header("x-aws-ec2-metadata-token") != "token" => Reply::new(401).body(path),
        ("GET", "/latest/meta-data/iam/security-credentials/") => Reply::new(200).body("the role"),
        ("GET", "/latest/meta-data/iam/security-credentials/the%20role") => {
            Reply::new(200).body(format!("{{\"AccessKeyId\":\"access\",\"SecretAccessKey\":\"{secret}\"}}"))
        }
        _ => Reply::new(404),
    })
}

#[test]
fn roles_profiles_and_the_account_of_a_machine() {
    let lab = Lab::new();
    let Some(server) = S3::start(&lab) else { return skip(MISSING) };
    let amazon = amazon("secret");
    let address = format!("http://127.0.0.1:{}", amazon.port());
    let credentials = lab.path("credentials");
    let profiles = "[me]\naws_access_key_id = me\naws_secret_access_key = mine\n[logs]\nrole_arn = arn:aws:iam::1:role/logs\n\
                    source_profile = me\n[plain]\naws_access_key_id=access\naws_secret_access_key=secret\n";
    std::fs::write(&credentials, profiles).expect("a file");
    let keys = "access-key(\"access\") secret-key(\"secret\")";
    let ways = [
        "access-key(\"any\") secret-key(\"other\") role(\"arn:aws:iam::1:role/logs\")",
        "profile(\"logs\")",
        "profile(\"plain\")",
        "",
    ];
    let mut sent = 0;
    for way in ways {
        let text = config(&server, "").replace(keys, way);
        let mut penstock = Penstock::configure(&lab, &text)
            .env("AWS_ENDPOINT_URL_STS", &address)
            .env("AWS_EC2_METADATA_SERVICE_ENDPOINT", &address)
            .env("AWS_SHARED_CREDENTIALS_FILE", credentials.to_str().expect("a path"))
            .env("AWS_CONFIG_FILE", "/nonexistent")
            .ready();
        feed(&lab, sent, sent + 10);
        sent += 10;
        penstock.wait_settled(10).assert_nothing_lost();
        assert_eq!(server.lines("").len(), sent, "{way}");
        penstock.stop();
    }
}
