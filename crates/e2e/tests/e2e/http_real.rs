//! `http()` against a server that is not ours, Python's: TLS with right and wrong certificates, bodies
//! unpacked by other people's code.

use crate::messages::{HEAD, assert_complete, block};
use crate::tls::{Authority, prepared};
use std::process::{Command, Stdio};
use testkit::process::Process;
use testkit::{Lab, Penstock, Sender, skip, wait_until};

const COUNT: usize = 2000;
const MISSING: &str = "python3 is not installed";

/// Writes the bodies of requests to a file, unpacked, and says when it listens.
const SERVER: &str = r#"
import gzip, http.server, ssl, sys, zlib
port, out, certificate = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        coding = self.headers.get("Content-Encoding")
        body = gzip.decompress(body) if coding == "gzip" else zlib.decompress(body) if coding == "deflate" else body
        with open(out, "ab") as file:
            file.write(body)
        answer = gzip.compress(b"well") if "gzip" in self.headers.get("Accept-Encoding", "") else b"well"
        self.send_response(200)
        if answer != b"well":
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
if certificate:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate[0], certificate[1])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print("listening", flush=True)
server.serve_forever()
"#;

fn server(lab: &Lab, port: u16, certificate: Option<&str>) -> Option<Process> {
    Command::new("python3").arg("--version").stdout(Stdio::null()).status().ok()?;
    let script = lab.path("server.py");
    std::fs::write(&script, SERVER).expect("written");
    let mut command = Command::new("python3");
    command.arg(&script).arg(port.to_string()).arg(lab.path("taken"));
    if let Some(name) = certificate {
        command.arg(lab.path(&format!("{name}.pem"))).arg(lab.path(&format!("{name}.key")));
    }
    let mut process = Process::spawn("python3", command, None, &lab.path("server.log"));
    process.wait_log("listening");
    Some(process)
}

fn config(url: &str, options: &str) -> String {
    format!(
        "{HEAD}source own {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination away {{ http(url(\"{url}\") body(\"${{DATE}} ${{HOST}} ${{MSGHDR}}${{MSG}}\") body-suffix(\"\\n\") \
         batch-lines(100) {options}); }};\n\
         log {{ source(own); destination(away); flags(flow-control); }};\n"
    )
}

fn feed(lab: &Lab) {
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(block(0, COUNT).as_bytes());
    sender.finish();
}

#[track_caller]
fn delivers(certificate: Option<&str>, scheme: &str, options: &str) {
    let lab = Lab::new();
    prepared(&lab);
    let port = lab.port("peer");
    let Some(_server) = server(&lab, port, certificate) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &config(&format!("{scheme}://127.0.0.1:{port}/"), options));
    feed(&lab);
    penstock.wait_settled(COUNT as u64).assert_nothing_lost();
    assert_complete(&lab.lines("taken"), 1, COUNT);
    penstock.stop();
}

#[test]
fn in_the_clear() {
    delivers(None, "http", "accept-encoding(all)");
}

#[test]
fn compressed() {
    delivers(None, "http", "content-compression(\"gzip\")");
    delivers(None, "http", "content-compression(\"deflate\")");
}

#[test]
fn encrypted() {
    delivers(Some("server"), "https", "tls(ca-file(\"%dir%/ca.pem\"))");
    delivers(Some("server"), "https", "ca-file(\"%dir%/ca.pem\") cipher-suite(\"TLS_AES_256_GCM_SHA384\")");
}

#[test]
fn a_wrong_certificate_gets_nothing() {
    let lab = Lab::new();
    prepared(&lab);
    Authority::new(&lab, "other");
    let port = lab.port("peer");
    let Some(_server) = server(&lab, port, Some("server")) else { return skip(MISSING) };
    let text = config(&format!("https://127.0.0.1:{port}/"), "tls(ca-file(\"%dir%/other.pem\"))");
    let mut penstock = Penstock::start(&lab, &text);
    feed(&lab);
    penstock.wait_log("the certificate of the peer is refused");
    let ledger = penstock
        .wait_ledger(|ledger| (ledger.received() < COUNT as u64).then(|| "everything received".to_owned()));
    assert_eq!((ledger.destination("away").delivered, ledger.dropped()), (0, 0), "{ledger}");
    assert!(!lab.path("taken").exists());
    // The right authority, by a reload: what waited goes.
    penstock.reload_with(&lab, &text.replace("other.pem", "ca.pem"));
    penstock.wait_settled(COUNT as u64).assert_nothing_lost();
    wait_until("all of it", || lab.lines("taken").len() == COUNT);
    penstock.stop();
}
