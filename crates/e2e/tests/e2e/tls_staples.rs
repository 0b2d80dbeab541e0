//! OCSP answers that a server staples, the server and the responder being the real openssl.

use crate::messages::{block, send};
use crate::tls::own_and;
use std::path::Path;
use std::process::{Command, Stdio};
use testkit::process::Process;
use testkit::{Lab, Penstock, skip};

const COUNT: usize = 50;

/// Runs openssl in the lab.
fn openssl(lab: &Lab, args: &str) -> bool {
    let words: Vec<&str> = args.split('\'').enumerate().fold(Vec::new(), |mut words, (at, part)| {
        match at % 2 {
            0 => words.extend(part.split_whitespace()),
            _ => words.push(part),
        }
        words
    });
    let outcome = Command::new("openssl").args(words).current_dir(lab.dir()).stdin(Stdio::null()).output();
    match outcome {
        Ok(outcome) if outcome.status.success() => true,
        Ok(outcome) => panic!("openssl {args}: {}", String::from_utf8_lossy(&outcome.stderr)),
        Err(_) => false,
    }
}

/// An authority, a server and a responder; `false` when there is no openssl.
fn prepared(lab: &Lab) -> bool {
    let write = |name: &str, text: &str| std::fs::write(lab.path(name), text).expect("a file");
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    if !openssl(lab, &format!("req -x509 {key} -keyout ca.key -out ca.pem -days 2 -subj '/CN=authority'")) {
        return false;
    }
    for (name, serial, extension) in [
        ("server", "0x4D", "subjectAltName=IP:127.0.0.1"),
        ("responder", "0x4E", "extendedKeyUsage=OCSPSigning"),
    ] {
        write("extensions", extension);
        openssl(lab, &format!("req {key} -keyout {name}.key -out {name}.csr -subj '/CN={name}'"));
        openssl(
            lab,
            &format!(
                "x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -set_serial {serial} -days 2 -extfile extensions -out {name}.pem"
            ),
        );
    }
    write("good", "V\t21200101000000Z\t\t4D\tunknown\t/CN=server\n");
    write("revoked", "R\t21200101000000Z\t200101000000Z,keyCompromise\t4D\tunknown\t/CN=server\n");
    write("empty", "");
    let said = |name: &str, index: &str, more: &str| {
        let about = "-issuer ca.pem -cert server.pem -CA ca.pem -noverify -nmin 60";
        openssl(lab, &format!("ocsp -index {index} {about} {more} -respout {name}.ocsp"))
    };
    let (ca, responder) = ("-rsigner ca.pem -rkey ca.key", "-rsigner responder.pem -rkey responder.key");
    said("issuer", "good", ca)
        && said("delegated", "good", responder)
        && said("revoked", "revoked", ca)
        && said("unknown", "empty", responder)
        && said("unempowered", "good", "-rsigner server.pem -rkey server.key")
}

/// A server that prints what it gets.
fn server(lab: &Lab, name: &str, version: &str, staple: Option<&Path>) -> Process {
    let mut command = Command::new("openssl");
    command.current_dir(lab.dir()).args(["s_server", "-cert", "server.pem", "-key", "server.key", version]);
    command.args(["-accept", &format!("127.0.0.1:{}", lab.port(name))]);
    if let Some(staple) = staple {
        command.arg("-status_file").arg(staple);
    }
    // Its standard input stays open: at the end of it the server ends.
    let mut server = Process::spawn("openssl", command, Some(Stdio::piped()), &lab.path(name));
    server.wait_log("ACCEPT");
    server
}

fn config(port: &str) -> String {
    own_and(&format!(
        "destination d {{ network(127.0.0.1 port(%port:{port}%) transport(\"tls\")\n\
         tls(ca-file(\"%dir%/ca.pem\") ocsp-stapling-verify(yes))); }};\n\
         log {{ source(own); destination(d); flags(flow-control); }};\n"
    ))
}

#[test]
fn good_answers_let_the_server_in() {
    let lab = Lab::new();
    if !prepared(&lab) {
        return skip("openssl is not installed");
    }
    for (version, staple) in
        [("-tls1_3", "issuer"), ("-tls1_2", "issuer"), ("-tls1_3", "delegated"), ("-tls1_2", "delegated")]
    {
        let name = format!("{staple}{version}");
        let mut server = server(&lab, &name, version, Some(&lab.path(&format!("{staple}.ocsp"))));
        let penstock = Penstock::start(&lab, &config(&name));
        send(&lab, 0, COUNT);
        let expected = block(0, COUNT);
        let last = expected.lines().last().expect("a line");
        server.wait_log(last);
        for line in expected.lines() {
            assert!(server.log().contains(line), "{name}: {line}");
        }
        let said = penstock.stop();
        assert!(!said.contains("is refused"), "{said}");
    }
}

#[test]
fn other_answers_keep_it_out() {
    let lab = Lab::new();
    if !prepared(&lab) {
        return skip("openssl is not installed");
    }
    for (staple, reason) in [
        (Some("revoked"), "it has been revoked, its OCSP answer says"),
        (Some("unknown"), "the OCSP responder does not know it"),
        (Some("unempowered"), "its OCSP answer is signed by somebody who may not"),
        (None, "no OCSP answer came with it, and ocsp-stapling-verify() wants one"),
    ] {
        for version in ["-tls1_3", "-tls1_2"] {
            let name = format!("{}{version}", staple.unwrap_or("none"));
            let path = staple.map(|staple| lab.path(&format!("{staple}.ocsp")));
            let server = server(&lab, &name, version, path.as_deref());
            let mut penstock = Penstock::start(&lab, &config(&name));
            send(&lab, 0, 1);
            penstock.wait_log(&format!("the certificate of the peer is refused: {reason}"));
            assert_eq!(penstock.ledger().destination("d").delivered, 0, "{name}");
            drop(penstock);
            assert!(!server.log().contains("message number"), "{name}");
        }
    }
}
