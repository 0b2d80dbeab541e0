//! The worked examples of docs/tls.md, as they stand there: certificates from nothing, a server and its
//! client, a chain over a relay.

use std::io::Write;
use testkit::penstock::root;
use testkit::{Lab, Penstock, Sender, run_command, wait_until};

const COUNT: usize = 50;

/// The indented blocks of one part of the page, from its heading to the next.
fn blocks(heading: &str) -> Vec<String> {
    let page = std::fs::read_to_string(root().join("docs/tls.md")).expect("the page");
    let (_, part) =
        page.split_once(&format!("## {heading}\n")).unwrap_or_else(|| panic!("no part {heading}"));
    let part = part.split("\n## ").next().unwrap_or_default();
    let (mut blocks, mut inside) = (Vec::<String>::new(), false);
    for line in part.lines() {
        match line.strip_prefix("    ") {
            Some(code) => {
                if !inside {
                    blocks.push(String::new());
                }
                blocks.last_mut().expect("a block").extend([code, "\n"]);
                inside = true;
            }
            None => inside = false,
        }
    }
    blocks
}

/// With the names of this machine in place of those of the page.
fn here(text: &str, certificates: &str) -> String {
    text.replace("/etc/penstock/tls", certificates)
        .replace("relay.example.com", "localhost")
        .replace("log.example.com", "127.0.0.1")
}

/// Runs the page's command; where the certificates are.
fn certificates(lab: &Lab, command: &str) -> String {
    let folder = lab.path("certificates").display().to_string();
    let command = here(command, &folder);
    let words: Vec<&str> = command.split_whitespace().collect();
    let made = run_command(words.strip_prefix(&["penstock"]).expect("a command of penstock"));
    assert_eq!(made.code, Some(0), "{made:?}");
    folder
}

/// A source opens a port of the lab, a destination goes to this one.
fn ports(text: &str, to: u16) -> String {
    let text = text.replace("\" transport(\"tls\") port(6514)", &format!("\" transport(\"tls\") port({to})"));
    text.replace("transport(\"tls\") port(6514)", "transport(\"tls\") port(%tcp:tls%)")
}

#[test]
fn a_server_and_its_client() {
    let lab = Lab::new();
    let command = blocks("Certificates to try it with").remove(0);
    let folder = certificates(&lab, &command);
    let (server, client) = (blocks("The server").remove(0), blocks("The client").remove(0));
    let statements = here(&format!("{server}{client}"), &folder);
    let config = format!(
        "@version: 4.11\noptions {{ keep-hostname(yes); use-dns(no); time-reopen(1); }};\n\
         source own {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n{}\n\
         destination d {{ file(\"%dir%/out\" template(\"$HOST $MSG ${{.tls.x509_cn}}\\n\")); }};\n\
         log {{ source(own); destination(d_tls); flags(flow-control); }};\n\
         log {{ source(s_tls); destination(d); flags(flow-control); }};\n",
        ports(&statements, lab.port("tls"))
    );
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    for number in 0..COUNT {
        sender.line(&format!("<13>Nov 11 01:02:03 h1 app: {number}"));
    }
    wait_until("all messages", || lab.lines("out").len() == COUNT);
    assert_eq!(lab.lines("out")[COUNT - 1], format!("h1 {} web1", COUNT - 1));
    penstock.wait_settled(2 * COUNT as u64).assert_nothing_lost();
    penstock.stop();
}

#[test]
fn a_chain_of_client_relay_and_server() {
    let (client, relay, server) = (Lab::new(), Lab::new(), Lab::new());
    let parts = blocks("A chain: client, relay, server");
    let [command, of_client, of_relay, of_server] = parts.as_slice() else { panic!("{parts:?}") };
    let folder = certificates(&server, command);
    let config = |text: &str, to: u16| {
        let text = ports(&here(text, &folder), to);
        text.replace("/var/log/app.log", "%dir%/app.log").replace("/var/log/hosts", "%dir%/hosts")
    };
    let log = client.path("app.log");
    std::fs::write(&log, "").expect("a file");
    // The server first, so that nobody waits for time-reopen().
    let mut last = Penstock::start(&server, &config(of_server, 0));
    let mut middle = Penstock::start(&relay, &config(of_relay, server.port("tls")));
    let mut first = Penstock::start(&client, &config(of_client, relay.port("tls")));
    let mut file = std::fs::OpenOptions::new().append(true).open(&log).expect("the file");
    for number in 0..COUNT {
        writeln!(file, "<13>Nov 11 01:02:03 web1 app: {number}").expect("a line");
    }
    let out = "hosts/web1/messages.log";
    wait_until("all messages", || server.lines(out).len() >= COUNT);
    let expected: Vec<String> = (0..COUNT).map(|n| format!("Nov 11 01:02:03 web1 app: {n}")).collect();
    assert_eq!(server.lines(out), expected);
    first.wait_settled(COUNT as u64).assert_nothing_lost();
    middle.wait_settled(COUNT as u64).assert_nothing_lost();
    last.wait_settled(COUNT as u64).assert_nothing_lost();
    // The client's own certificate is good for the relay only.
    let (cert, key) = (format!("--cert-file={folder}/web1.pem"), format!("--key-file={folder}/web1.key"));
    let port = server.port("tls").to_string();
    run_command(&["loggen", "-i", "-S", "-U", "-P", "-Q", "--total=1", &cert, &key, "127.0.0.1", &port]);
    last.wait_log("its subject `CN=web1` matches none of trusted-dn()");
    for penstock in [first, middle, last] {
        penstock.stop();
    }
}
