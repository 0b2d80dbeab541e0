//! What doctor finds: on a program that is well, on things that were broken for it, and what it packs.

use crate::messages::{HEAD, send};
use serde_json::Value;
use std::net::{TcpListener, UdpSocket};
use std::process::Command;
use testkit::{Lab, Outcome, Penstock, run_command};

fn doctor(lab: &Lab, more: &[&str]) -> Outcome {
    let (state, config) =
        (lab.path("state").display().to_string(), lab.path("penstock.conf").display().to_string());
    run_command(&[&["doctor", "--state-dir", &state, "--config", &config], more].concat())
}

fn findings(lab: &Lab) -> Vec<Value> {
    let outcome = doctor(lab, &["--json"]);
    let json: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(json["version"], 1);
    assert_eq!(outcome.code, Some(i32::from(json["fail"] != 0)), "{outcome:?}");
    json["findings"].as_array().expect("a list").clone()
}

/// The findings of a check, as `status: text -> cure`.
#[track_caller]
fn check(found: &[Value], name: &str, expected: &str) {
    let of_check = found.iter().filter(|finding| finding["check"] == name);
    let lines: Vec<String> = of_check
        .map(|finding| {
            let cure = finding["cure"].as_str().map_or(String::new(), |cure| format!(" -> {cure}"));
            format!(
                "{}: {}{cure}",
                finding["status"].as_str().unwrap_or(""),
                finding["text"].as_str().unwrap_or("")
            )
        })
        .collect();
    assert!(lines.iter().any(|line| line.contains(expected)), "{name} has no `{expected}`: {lines:#?}");
}

fn config(source: &str, destination: &str) -> String {
    format!(
        "{HEAD}source s {{ {source} }};\ndestination d {{ {destination} }};\nlog {{ source(s); destination(d); }};\n"
    )
}

const SOURCE: &str = "network(ip(127.0.0.1) port(%tcp:in%));";
const FILE: &str = "file(\"%dir%/out\");";

#[test]
fn a_program_that_is_well() {
    let lab = Lab::new();
    let penstock = Penstock::start(&lab, &config(SOURCE, FILE));
    send(&lab, 0, 3);
    let found = findings(&lab);
    for (name, text) in [
        ("program", &*format!("ok: runs as process {}", penstock.id())),
        ("health", "ok: workers answer"),
        ("configuration", " is right"),
        ("in effect", "ok: what runs is what the file says"),
        ("ports", &*format!("ok: TCP port {} is ours", lab.port("in"))),
        ("limits", "files may be open"),
        ("disks", "the file system of "),
    ] {
        check(&found, name, text);
    }
    let other = lab.write_config("other.conf", &config("network(port(%tcp:other%));", FILE)).0;
    let state = lab.path("state").display().to_string();
    let of_other = ["doctor", "--state-dir", &state, "--config", &other.display().to_string()];
    let text = run_command(&of_other).stdout;
    assert!(text.contains("warn  in effect       what runs is ") && !text.contains("ctl reload"), "{text}");
    let text = doctor(&lab, &[]).stdout;
    assert!(text.starts_with("ok    program         runs as process ") && text.contains(" ok, "), "{text}");
}

#[test]
fn what_is_broken_is_named_with_its_cure() {
    let lab = Lab::new();
    let source = "network(ip(127.0.0.1) port(%tcp:in%)); network(ip(127.0.0.1) port(%udp:udp%) transport(udp) so-rcvbuf(2000000000));";
    let mut penstock = Penstock::start(&lab, &config(source, FILE));
    check(&findings(&lab), "kernel buffers", "sysctl -w net.core.rmem_max=2000000000");
    // Another configuration on disk: a name that nobody has, ports of somebody else, a folder that is not
    // there.
    let other = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = other.local_addr().expect("an address").port();
    let udp = UdpSocket::bind(("127.0.0.1", 0)).expect("a port");
    let udp_port = udp.local_addr().expect("an address").port();
    let source = format!(
        "{SOURCE} network(ip(127.0.0.1) port({port})); network(ip(127.0.0.1) port({udp_port}) transport(udp));"
    );
    let destination = "network(\"no-such-host.invalid\" port(601)); file(\"%dir%/none/out\");";
    penstock.rewrite(&lab, &config(&source, destination));
    let found = findings(&lab);
    check(&found, "in effect", "warn: the file is not what runs -> penstock ctl reload");
    check(&found, "names", "fail: no-such-host.invalid of d#0 is not known");
    check(&found, "ports", &format!("fail: TCP port {port} is used by "));
    check(&found, "ports", &format!("fail: UDP port {udp_port} is used by "));
    check(&found, "permissions", "none");
    // And one that is no configuration.
    penstock.rewrite(&lab, "@version: 4.11\nsource s { nothing(); };\nlog { source(s); };\n");
    check(&findings(&lab), "configuration", "fail: ");
    penstock.process().terminate();
    check(&findings(&lab), "program", "fail: no program answers");
}

#[test]
fn certificates_that_end_are_named() {
    let lab = Lab::new();
    let folder = lab.path("certificates").display().to_string();
    let made = run_command(&["test-ca", &folder, "--days", "3"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let source = format!(
        "network(ip(127.0.0.1) port(%tcp:in%) transport(tls) tls(key-file(\"{folder}/localhost.key\") cert-file(\"{folder}/localhost.pem\") peer-verify(no)));"
    );
    let _penstock = Penstock::start(&lab, &config(&source, FILE));
    check(&findings(&lab), "certificates", "localhost.pem ends in ");
}

#[test]
fn the_archive_has_no_secrets() {
    let lab = Lab::new();
    let file = lab.path("secret");
    std::fs::write(&file, "pl4nted-file-secret\n").expect("a file");
    let destination = format!(
        "http(url(\"http://pl4nted-user:pl4nted-url@127.0.0.1:%port:out%/?api_key=pl4nted-parameter\") headers(\"Authorization: Bearer pl4nted-bearer\")); \
         http(url(\"http://127.0.0.1:%port:out%/x\") user(u) password(\"pl4nted\\\"quoted\")); \
         http(url(\"http://127.0.0.1:%port:out%/y\") user(u) password(\"`file:{}`\"));",
        file.display()
    );
    let text = format!("@define pw \"pl4nted-define\"\n{}", "");
    let config = config(SOURCE, &destination).replace(
        "destination d {",
        "destination e { http(url(\"http://127.0.0.1:%port:out%/z\") user(u) password(\"`pw`\")); };\ndestination d {",
    );
    let config = config
        .replace("@version: 4.11\n", &format!("@version: 4.11\n{text}"))
        .replace("destination(d);", "destination(d); destination(e);");
    let _penstock = Penstock::start(&lab, &config);
    send(&lab, 0, 3);
    let bundle = lab.path("support.tar.gz");
    let outcome = doctor(&lab, &["--bundle", &bundle.display().to_string()]);
    assert!(!format!("{}{}", outcome.stdout, outcome.stderr).contains("pl4nted-"), "{outcome:?}");
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(&bundle).expect("an archive").permissions().mode() & 0o777, 0o600);
    let unpacked =
        Command::new("tar").arg("-xzf").arg(&bundle).arg("-C").arg(lab.dir()).status().expect("tar");
    assert!(unpacked.success());
    let folder = lab.path("penstock-support");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a text");
        for secret in [
            "pl4nted-url",
            "pl4nted-parameter",
            "pl4nted-bearer",
            "pl4nted\"quoted",
            "pl4nted\\\"quoted",
            "pl4nted-file",
            "pl4nted-define",
        ] {
            assert!(!text.contains(secret), "{} has {secret}: {text}", path.display());
        }
        names.push(path.file_name().expect("a name").to_string_lossy().into_owned());
    }
    for wanted in [
        "doctor.json",
        "ledger.json",
        "statistics.csv",
        "configuration.conf",
        "running.conf",
        "health.txt",
        "kernel.txt",
    ] {
        assert!(names.iter().any(|name| name == wanted), "{names:?}");
    }
    // It is worth having: what is no secret stands there.
    let text = std::fs::read_to_string(folder.join("configuration.conf")).expect("a text");
    assert!(text.contains("source s") && text.contains("password(\"***\")"), "{text}");
    // What is there is not written over.
    let again = doctor(&lab, &["--bundle", &bundle.display().to_string()]);
    assert!(again.code == Some(1) && again.stderr.contains("exists"), "{again:?}");
}
