//! Classes that make headers of HTTP requests: what they are given and hear, and what becomes of requests for
//! which they fail. Judged by a server that is not ours to bend.

use super::{message, send};
use crate::messages::HEAD;
use std::io::Write;
use std::process::{Command, Stdio};
use testkit::{HttpServer, Lab, Penstock, Reply, Sender, wait_until};

/// An `http()` with these options, and a class `Made` whose methods are these.
fn config(port: u16, options: &str, methods: &str) -> String {
    format!(
        "{HEAD}options {{ sandbox-write(\"%dir%\"); }};\nsource s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ http(url(\"http://127.0.0.1:{port}/in\") body(\"${{MESSAGE}}\") {options}); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n\
         python {{\nimport hashlib, os\nclass Made:\n    def __init__(self, options):\n        self.options, self.count = options, 0\n{methods}\n}};\n"
    )
}

const SIGNS: &str = "    def get_headers(self, body, headers):\n\
    \x20       self.count += 1\n\
    \x20       digest = hashlib.sha256(body.encode()).hexdigest()\n\
    \x20       seen = [h for h in headers if h.lower().startswith('x-own')]\n\
    \x20       return ['X-Sum: ' + digest, 'X-Count: %d' % self.count, b'X-Seen: ' + seen[0].encode(), 'User-Agent: ' + self.options['agent']]\n\
    \x20   def on_http_response_received(self, http_code):\n\
    \x20       with open(self.options['path'], 'a') as out: out.write('%d\\n' % http_code)";

/// As coreutils have it.
fn sha256(text: &[u8]) -> String {
    let mut child =
        Command::new("sha256sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("sha256sum");
    child.stdin.take().expect("a pipe").write_all(text).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    String::from_utf8_lossy(&output.stdout).split(' ').next().unwrap_or_default().to_owned()
}

#[test]
fn a_class_signs_each_request_and_hears_the_answers() {
    let lab = Lab::new();
    let server = HttpServer::start(0, |request| {
        // The first attempt at each fifth batch is turned away.
        let turned = request.header("x-count").parse::<u32>().is_ok_and(|count| count % 5 == 1);
        Reply::new(if turned { 503 } else { 200 })
    });
    let options = "headers(\"X-Own: a\") batch-lines(10) workers(2) time-reopen(1) \
                   python-http-header(class(\"Made\") options(\"agent\" => \"signer\" \"path\" => \"%dir%/heard\"))";
    let mut penstock = Penstock::start(&lab, &config(server.port(), options, SIGNS));
    send(&mut Sender::tcp(lab.port("in")), 0..200);
    penstock.wait_settled(200).assert_nothing_lost();
    penstock.stop();
    let requests = server.requests();
    assert!(requests.len() >= 21, "{}", requests.len());
    let mut counts = Vec::new();
    for request in &requests {
        assert_eq!(request.header("x-sum"), sha256(&request.body));
        assert_eq!((request.header("x-seen"), request.header("user-agent")), ("x-own: a", "signer"));
        counts.push(request.header("x-count").parse::<usize>().expect("a number"));
    }
    counts.sort_unstable();
    assert_eq!(counts, (1..=requests.len()).collect::<Vec<_>>(), "one object serves both workers");
    let mut heard: Vec<String> = lab.lines("heard");
    heard.sort_unstable();
    assert_eq!(heard.len(), requests.len());
    assert_eq!((heard[0].as_str(), heard[heard.len() - 1].as_str()), ("200", "503"));
}

#[test]
fn a_class_that_raises_holds_the_messages_unless_that_is_not_critical() {
    let methods = "    def get_headers(self, body, headers):\n\
        \x20       if not os.path.exists(self.options['gate']): raise ValueError('no token')\n\
        \x20       return ['X-Token: t']";
    let class = "class(\"Made\") options(\"gate\" => \"%dir%/gate\")";
    let lab = Lab::new();
    let server = HttpServer::start(0, |_| Reply::new(200));
    let options = format!("time-reopen(1) python-http-header({class})");
    let mut penstock = Penstock::start(&lab, &config(server.port(), &options, methods));
    send(&mut Sender::tcp(lab.port("in")), 0..3);
    wait_until("the reason", || penstock.log().contains("no token"));
    assert!(server.requests().is_empty());
    std::fs::write(lab.path("gate"), "").expect("a file");
    penstock.wait_settled(3).assert_nothing_lost();
    assert!(server.requests().iter().all(|request| request.header("x-token") == "t"));
    penstock.stop();

    let lab = Lab::new();
    let server = HttpServer::start(0, |_| Reply::new(200));
    let options = format!("python-http-header({class} mark-errors-as-critical(no))");
    let mut penstock = Penstock::start(&lab, &config(server.port(), &options, methods));
    send(&mut Sender::tcp(lab.port("in")), 0..3);
    penstock.wait_settled(3).assert_nothing_lost();
    let texts: Vec<String> = server.requests().iter().map(|request| request.text()).collect();
    assert_eq!(texts, (0..3).map(|n| n.to_string()).collect::<Vec<_>>());
    assert!(penstock.log().contains("sent without the headers"));
    penstock.stop();
}

#[test]
fn a_process_that_is_killed_is_replaced() {
    let methods = "    def get_headers(self, body, headers):\n\
        \x20       if not os.path.exists(self.options['gate']):\n\
        \x20           open(self.options['gate'], 'w').close()\n\
        \x20           os._exit(3)\n\
        \x20       return ['X-Token: t']";
    let lab = Lab::new();
    let server = HttpServer::start(0, |_| Reply::new(200));
    let options = "time-reopen(1) python-http-header(class(\"Made\") options(\"gate\" => \"%dir%/gate\"))";
    let mut penstock = Penstock::start(&lab, &config(server.port(), options, methods));
    send(&mut Sender::tcp(lab.port("in")), 0..3);
    penstock.wait_settled(3).assert_nothing_lost();
    assert!(server.requests().iter().all(|request| request.header("x-token") == "t"));
    penstock.stop();
}

#[test]
fn two_classes_are_asked_in_their_order() {
    let methods = "    def get_headers(self, body, headers):\n\
        \x20       return ['X-%s: %d' % (self.options['name'], len([h for h in headers if h.startswith('x-')]))]";
    let lab = Lab::new();
    let server = HttpServer::start(0, |_| Reply::new(200));
    let options = "msg-data-in-header(no) python-http-header(class(\"Made\") options(\"name\" => \"A\")) \
                   python-http-header(class(\"Made\") options(\"name\" => \"B\"))";
    let mut penstock = Penstock::start(&lab, &config(server.port(), options, methods));
    Sender::tcp(lab.port("in")).raw((message(1) + "\n").as_bytes());
    penstock.wait_settled(1).assert_nothing_lost();
    penstock.stop();
    let requests = server.requests();
    assert_eq!((requests[0].header("x-a"), requests[0].header("x-b")), ("0", "1"));
}
