//! What limits the program, in situations that are arranged, and whether it is found.

use crate::messages::{HEAD, message};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use testkit::penstock::Start;
use testkit::{Collector, HttpServer, Lab, Penstock, Reply, Sender, run_command, skip};

/// Sends until it is dropped.
struct Sending(Arc<AtomicBool>);

impl Sending {
    fn begin(port: u16, connections: usize) -> Sending {
        Sending::of(port, connections, &"x".repeat(60))
    }

    /// Messages with this in them.
    fn of(port: u16, connections: usize, text: &str) -> Sending {
        let stop = Arc::new(AtomicBool::new(false));
        for connection in 0..connections {
            let (mut sender, stopped) = (Sender::tcp(port), Arc::clone(&stop));
            let block: String = (0..200).map(|n| format!("{} {text} m\n", message(connection, n))).collect();
            std::thread::spawn(move || {
                while !stopped.load(Ordering::Relaxed) && sender.try_raw(block.as_bytes()).is_ok() {}
            });
        }
        Sending(stop)
    }
}

/// Connections with TLS that are opened and closed until it is dropped.
struct Storm(Vec<Child>);

impl Storm {
    fn begin(port: u16, processes: usize) -> Storm {
        let code = format!(
            "import socket, ssl\nc = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)\nc.check_hostname = False\nc.verify_mode = ssl.CERT_NONE\n\
             while True:\n  try:\n    c.wrap_socket(socket.create_connection(('127.0.0.1', {port}))).close()\n  except OSError: pass\n"
        );
        let python = |_| Command::new("python3").args(["-c", &code]).spawn().expect("python3");
        Storm((0..processes).map(python).collect())
    }
}

impl Drop for Storm {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn profile(lab: &Lab) -> Value {
    let state = lab.path("state").display().to_string();
    let outcome = run_command(&["profile", "--state-dir", &state, "--for", "2", "--json"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let json: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(json["version"], 1);
    // How much it is a busy machine, or one that is traced, does not tell.
    assert!(json["cost_percent"].as_f64().is_some_and(|cost| (0.0..100.0).contains(&cost)), "{json}");
    json
}

/// What limits a configuration is so, once everything flows: asked until it is said, or for the last time.
#[track_caller]
fn check(lab: &Lab, limit: &str, name: &str, sentence: &str) -> Value {
    let mut json = Value::Null;
    for _ in 0..10 {
        json = profile(lab);
        let says = |key: &str, part: &str| json[key].as_str().is_some_and(|said| said.contains(part));
        if json["limit"] == limit && says("name", name) && says("sentence", sentence) {
            break;
        }
    }
    assert_eq!(json["limit"], limit, "{json}");
    assert!(json["name"].as_str().is_some_and(|said| said.contains(name)), "{json}");
    assert!(json["sentence"].as_str().is_some_and(|said| said.contains(sentence)), "{json}");
    json
}

fn config(source: &str, destination: &str, path: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) {source}); }};\n\
         filter f_re {{ message('(x).*\\1.*\\1.*m[0-9]' type(pcre)); }};\n\
         destination d {{ {destination} }};\n\
         log {{ source(s); {path} destination(d); flags(flow-control); }};\n"
    )
}

#[test]
fn quiet_sources() {
    let lab = Lab::new();
    let _penstock = Penstock::start(&lab, &config("", "file(\"%dir%/out\");", ""));
    let json = check(&lab, "nothing", "", "the sources are quiet");
    assert!(json["quiet_percent"].as_f64() > Some(80.0), "{json}");
}

#[test]
fn a_peer_that_does_not_read() {
    let lab = Lab::new();
    let collector = Collector::tcp(lab.port("out"));
    collector.pause();
    let _penstock =
        Penstock::start(&lab, &config("", "network(127.0.0.1 port(%tcp:out%) so-sndbuf(4096));", ""));
    let _sending = Sending::begin(lab.port("in"), 2);
    let json = check(&lab, "destination", "d#0", "its peer reads nothing, and s#0 is held back");
    assert_eq!(
        (&json["waits"][0]["cause"], &json["waits"][0]["destination"]),
        (&"destination".into(), &"d#0".into())
    );
}

#[test]
fn a_server_that_refuses() {
    let lab = Lab::new();
    let _penstock =
        Penstock::start(&lab, &config("", "network(127.0.0.1 port(%port:out%) time-reopen(1));", ""));
    let _sending = Sending::begin(lab.port("in"), 2);
    check(&lab, "destination", "d#0", "refused");
}

#[test]
fn a_full_disk() {
    let lab = Lab::new();
    let _penstock = Penstock::start(&lab, &config("", "file(\"/dev/full\");", ""));
    let _sending = Sending::begin(lab.port("in"), 2);
    check(&lab, "disk", "d#0", "No space left");
}

#[test]
fn one_regular_expression() {
    let lab = Lab::new();
    let _penstock = Penstock::configure(&lab, &config("", "file(\"/dev/null\");", "filter(f_re);"))
        .arg("--worker-threads")
        .arg("1")
        .ready();
    let _sending = Sending::begin(lab.port("in"), 3);
    let json = check(&lab, "cpu", "filter f_re", "limited by CPU");
    let step = &json["steps"][0];
    assert_eq!((&step["what"], &step["label"]), (&"step".into(), &"filter f_re".into()), "{json}");
    assert!(step["location"].as_str().is_some_and(|at| at.contains("penstock.conf:4")), "{json}");
    assert!(step["share"].as_f64() > Some(50.0), "{json}");
    // As text, the same on the first line.
    let state = lab.path("state").display().to_string();
    let outcome = run_command(&["profile", "--state-dir", &state, "--for", "1"]);
    assert!(outcome.stdout.starts_with("limited by CPU, "), "{outcome:?}");
    assert!(outcome.stdout.contains(" %  filter f_re ("), "{outcome:?}");
}

#[test]
fn a_parser() {
    let lab = Lab::new();
    let text = config("", "file(\"/dev/null\" template(\"${last}\\n\"));", "parser(p_re);").replace(
        "filter f_re",
        "parser p_re { regexp-parser(patterns('(x).*\\1.*\\1.*(?<last>m[0-9])')); };\nfilter f_re",
    );
    let _penstock = Penstock::configure(&lab, &text).arg("--worker-threads").arg("1").ready();
    let _sending = Sending::begin(lab.port("in"), 3);
    let json = check(&lab, "cpu", "parser p_re", "limited by CPU");
    assert!(json["steps"][0]["location"].as_str().is_some_and(|at| at.contains("penstock.conf:4")), "{json}");
}

#[test]
fn a_parser_in_python() {
    let lab = Lab::new();
    let code = "import time\nclass Slow(object):\n    def parse(self, msg):\n        time.sleep(0.0005)\n        return True\n";
    let text = config("", "file(\"/dev/null\");", "parser(p_py);").replace(
        "filter f_re",
        &format!("python {{\n{code}\n}};\nparser p_py {{ python(class(\"Slow\")); }};\nfilter f_re"),
    );
    let _penstock = Penstock::start(&lab, &text);
    let _sending = Sending::begin(lab.port("in"), 2);
    check(&lab, "step", "parser p_py", "workers stand there");
}

#[test]
fn one_connection() {
    let lab = Lab::new();
    let text = config("flags(no-parse)", "file(\"/dev/null\");", "");
    // Sharing its batches is off: it is the one connection's worker that is busy.
    let text = text.replace("source(s);", "source(s); parallelize(workers(1));");
    let _penstock = Penstock::configure(&lab, &text).arg("--worker-threads").arg("2").ready();
    let _sending = Sending::begin(lab.port("in"), 1);
    check(&lab, "connection", "s#0", "limited by one connection of s#0");
}

#[test]
fn a_slow_disk() {
    let lab = Lab::new();
    if !may_trace() {
        return skip("strace is not installed, or may not trace");
    }
    let text = config("", "file(\"%dir%/out\");", "");
    let _penstock = late(Penstock::configure(&lab, &text), "writev,pwritev,write,pwrite64", 40_000).ready();
    let _sending = Sending::begin(lab.port("in"), 2);
    check(&lab, "disk", "d#0", "limited by the disk of d#0");
}

#[test]
fn a_window_that_is_smaller_than_a_batch() {
    let lab = Lab::new();
    let server = HttpServer::start(0, |_| Reply::new(200));
    let http = format!(
        "http(url(\"http://127.0.0.1:{}/\") batch-lines(5000) batch-timeout(1500) workers(1));",
        server.port()
    );
    let _penstock = Penstock::start(&lab, &config("log-iw-size(200) max-connections(2)", &http, ""));
    let _sending = Sending::begin(lab.port("in"), 2);
    check(&lab, "window", "s#0", "a larger log-iw-size() lets more come in");
}

/// More of a window would help nobody: batches are full, and wait for answers.
#[test]
fn a_server_that_takes_its_time_to_answer() {
    let lab = Lab::new();
    let server = HttpServer::start(0, |_| {
        std::thread::sleep(std::time::Duration::from_millis(300));
        Reply::new(200)
    });
    let http = format!("http(url(\"http://127.0.0.1:{}/\") batch-lines(100) workers(1));", server.port());
    let _penstock = Penstock::start(&lab, &config("", &http, ""));
    let _sending = Sending::begin(lab.port("in"), 2);
    check(&lab, "destination", "d#0", "limited by d#0 (http ");
}

#[test]
fn a_rate_that_is_asked_for() {
    let throttled = |destination: &str| {
        let lab = Lab::new();
        let _collector = Collector::tcp(lab.port("out"));
        let server = HttpServer::start(0, |_| Reply::new(200));
        let destination = destination.replace("%http%", &server.port().to_string());
        let _penstock = Penstock::start(&lab, &config("", &destination, ""));
        let _sending = Sending::begin(lab.port("in"), 2);
        check(&lab, "rate", "d#0", "limited by throttle() of d#0");
    };
    throttled("network(127.0.0.1 port(%tcp:out%) throttle(500));");
    throttled("http(url(\"http://127.0.0.1:%http%/\") throttle(500));");
}

/// It is not the disk that is slow, but whoever is to get what waits there.
#[test]
fn a_queue_on_disk_that_is_full() {
    let lab = Lab::new();
    let destination =
        "network(127.0.0.1 port(%port:out%) time-reopen(1) disk-buffer(capacity-bytes(2MiB) reliable(yes)));";
    let _penstock = Penstock::start(&lab, &config("", destination, ""));
    let _sending = Sending::begin(lab.port("in"), 2);
    check(&lab, "destination", "d#0", "it takes nothing, its queue on disk is full, and s#0 is held back");
}

#[test]
fn a_disk_that_is_slow_to_make_a_queue_safe() {
    if !may_trace() {
        return skip("strace is not installed, or may not trace");
    }
    let lab = Lab::new();
    let destination = "network(127.0.0.1 port(%tcp:out%) disk-buffer(capacity-bytes(1GiB) reliable(yes)));";
    let _collector = Collector::tcp(lab.port("out"));
    let text = config("", destination, "");
    let _penstock = late(Penstock::configure(&lab, &text), "fdatasync,fsync", 200_000).ready();
    let _sending = Sending::begin(lab.port("in"), 2);
    check(&lab, "disk", "d#0", "limited by the disk on which the queue of d#0 (network ");
}

/// Each of these system calls takes so much longer, as on a disk that is asked for more than it can.
fn late<'a>(start: Start<'a>, calls: &str, micros: u32) -> Start<'a> {
    let (trace, inject) = (format!("trace={calls}"), format!("inject={calls}:delay_enter={micros}"));
    start.under(&["strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject])
}

fn may_trace() -> bool {
    let traces = Command::new("strace").args(["-f", "-qq", "-o", "/dev/null", "true"]).status();
    traces.is_ok_and(|status| status.success())
}

#[test]
fn a_name_server_that_does_not_answer() {
    let lab = Lab::new();
    let (source, library) = (lab.path("slow.c"), lab.path("slow.so"));
    let code = "#include <unistd.h>\nint getnameinfo(const void *a, unsigned b, char *c, unsigned d, char *e, unsigned f, int g) { sleep(60); return -3; }\n";
    std::fs::write(&source, code).expect("a file");
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    if !made.is_ok_and(|status| status.success()) {
        return skip("there is no C compiler");
    }
    let hosts = lab.path("hosts");
    std::fs::write(&hosts, "").expect("a file");
    let text = config("use-dns(yes)", "file(\"/dev/null\");", "");
    let text = format!("{text}options {{ dns-cache-hosts(\"{}\"); }};\n", hosts.display());
    let _penstock =
        Penstock::configure(&lab, &text).env("LD_PRELOAD", &library.display().to_string()).ready();
    // Each connection brings one message, and waits a second before it is read.
    let (port, stop) = (lab.port("in"), Arc::new(AtomicBool::new(false)));
    let stopped = Arc::clone(&stop);
    let short = std::thread::spawn(move || {
        while !stopped.load(Ordering::Relaxed) {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the port");
            stream.write_all(b"<13>Oct 11 22:14:15 h p: x\n").expect("a message");
            stream.shutdown(Shutdown::Write).expect("an end");
            let _ = stream.read(&mut [0]);
        }
    });
    check(&lab, "dns", "", "limited by DNS: 1 connection is not read");
    stop.store(true, Ordering::Relaxed);
    short.join().expect("the sender");
}

#[test]
fn handshakes() {
    let lab = Lab::new();
    let folder = lab.path("ca").display().to_string();
    assert_eq!(run_command(&["test-ca", &folder]).code, Some(0));
    let tls = format!(
        "transport(tls) max-connections(1000) tls(key-file(\"{folder}/localhost.key\") cert-file(\"{folder}/localhost.pem\") peer-verify(optional-untrusted))"
    );
    let text = config(&tls, "file(\"/dev/null\");", "");
    let _penstock = Penstock::configure(&lab, &text).arg("--worker-threads").arg("1").ready();
    let storm = Storm::begin(lab.port("in"), 6);
    let json = check(&lab, "cpu", "TLS handshakes of source s#0", "limited by CPU");
    assert_eq!(json["steps"][0]["what"], "handshakes", "{json}");
    drop(storm);
}

/// Two destinations get the same; one of them takes nothing.
#[test]
fn a_destination_that_holds_the_source_of_another() {
    let lab = Lab::new();
    let collector = Collector::tcp(lab.port("out"));
    collector.pause();
    let text = config("", "file(\"%dir%/out\");", "").replace(
        "destination(d);",
        "destination(d); destination { network(127.0.0.1 port(%tcp:out%) so-sndbuf(4096)); };",
    );
    let _penstock = Penstock::start(&lab, &text);
    let _sending = Sending::begin(lab.port("in"), 2);
    let json = check(&lab, "destination", "", "d#0 gets nothing meanwhile");
    assert_ne!(json["name"], "d#0", "{json}");
}

#[test]
fn two_at_a_time_and_wrong_usage() {
    let lab = Lab::new();
    let _penstock = Penstock::start(&lab, &config("", "file(\"%dir%/out\");", ""));
    let state = lab.path("state").display().to_string();
    assert_eq!(run_command(&["profile", "--state-dir", &state, "--for", "0"]).code, Some(2));
    let nobody = lab.path("nobody").display().to_string();
    let outcome = run_command(&["profile", "--state-dir", &nobody]);
    assert!(outcome.code == Some(1) && outcome.stderr.contains("Does the program run?"), "{outcome:?}");
}
