//! `kubernetes()` with an API server: what it knows of pods comes with the messages of their containers,
//! whatever happens to the server meanwhile.

mod real;
mod trouble;

use crate::messages::HEAD;
use crate::tls::Authority;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::Arc;
use testkit::{ApiServer, Lab, Penstock, free_port, run_command, wait_until};

const ID: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const FOLDER: &str = "var/log/containers";

/// A lab with a folder of containers, and an API server.
struct Cluster {
    lab: Lab,
    server: ApiServer,
}

impl Cluster {
    fn new() -> Cluster {
        let lab = Lab::new();
        std::fs::create_dir_all(lab.path(FOLDER)).expect("a folder");
        Cluster { lab, server: ApiServer::start(free_port()) }
    }

    fn config(&self, options: &str) -> String {
        format!(
            "{HEAD}@include \"scl.conf\"\n\
             source s {{ kubernetes(base-dir(\"%dir%/{FOLDER}\") url(\"http://127.0.0.1:{}\") {options}); }};\n\
             destination d {{ file(\"%dir%/out\" template(\"${{.k8s.labels.app:-none}} ${{.k8s.pod_uuid:-none}} $MESSAGE\\n\")); }};\n\
             log {{ source(s); destination(d); flags(flow-control); }};\n",
            self.server.port()
        )
    }

    fn start(&self, options: &str) -> Penstock {
        Penstock::start(&self.lab, &self.config(options))
    }

    /// A line of the container `app` of a pod.
    fn line(&self, pod: &str, text: &str) {
        let (namespace, name) = pod.split_once('/').expect("NAMESPACE/NAME");
        let path = self.lab.path(FOLDER).join(format!("{name}_{namespace}_app-{ID}.log"));
        let mut file = OpenOptions::new().append(true).create(true).open(path).expect("a file");
        writeln!(file, "2026-01-02T03:04:05.678901234Z stdout F {text}").expect("written");
    }

    fn lines(&self) -> Vec<String> {
        self.lab.lines("out")
    }

    /// What is written ends with this line.
    #[track_caller]
    fn wait_line(&self, expected: &str) {
        wait_until(&format!("the line `{expected}`"), || self.lines().iter().any(|line| line == expected));
    }
}

/// A counter of the pods.
fn counter(penstock: &Penstock, name: &str) -> u64 {
    let stats = penstock.request("STATS PROMETHEUS");
    let value = stats.lines().find(|line| line.starts_with(&format!("syslogng_{name}{{")));
    value.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0)
}

fn wait_counter(penstock: &Penstock, name: &str, value: u64) {
    wait_until(&format!("{name} {value}"), || counter(penstock, name) == value);
}

/// `wait()` in these tests is longer than a test may take: lines come when their pod is known, or never.
const NODE: &str = "node-name(\"node-1\") wait(60)";

#[test]
fn everything_of_a_pod_comes_with_its_messages_over_tls_with_a_token() {
    let lab = Lab::new();
    std::fs::create_dir_all(lab.path(FOLDER)).expect("a folder");
    Authority::new(&lab, "ca").identity(&lab, "server", "127.0.0.1", |_| {});
    let chain =
        CertificateDer::pem_file_iter(lab.path("server.pem")).expect("a file").collect::<Result<Vec<_>, _>>();
    let key = PrivateKeyDer::from_pem_file(lab.path("server.key")).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions");
    let config =
        config.with_no_client_auth().with_single_cert(chain.expect("certificates"), key).expect("a server");
    let config = Arc::new(config);
    let server = ApiServer::with(free_port(), move |stream| {
        let session = ServerConnection::new(Arc::clone(&config)).ok()?;
        Some(Box::new(StreamOwned::new(session, stream)))
    });
    server.want_token("the token");
    server.put("shop/web-0", "u-1", "web");
    std::fs::write(lab.path("token"), "the token\n").expect("a file");
    let cluster = Cluster { lab, server };
    cluster.line("shop/web-0", "hello");
    let config = format!(
        "{HEAD}@include \"scl.conf\"\n\
         source s {{ kubernetes(base-dir(\"%dir%/{FOLDER}\") key-delimiter(\"~\") token-file(\"%dir%/token\") ca-file(\"%dir%/ca.pem\") wait(60)); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"$(format-json --key-delimiter ~ --key .k8s.* HOST=$HOST PROGRAM=$PROGRAM PID=$PID MSG=$MSG)\\n\")); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    );
    // As in a cluster: the environment names server and node.
    let penstock = Penstock::configure(&cluster.lab, &config)
        .env("KUBERNETES_SERVICE_HOST", "127.0.0.1")
        .env("KUBERNETES_SERVICE_PORT", &cluster.server.port().to_string())
        .env("NODE_NAME", "node-1")
        .ready();
    wait_until("the line", || !cluster.lines().is_empty());
    penstock.stop();
    let line: serde_json::Value = serde_json::from_str(&cluster.lines()[0]).expect("JSON");
    let expected = serde_json::json!({
        "HOST": "k8s/shop/web-0", "PROGRAM": "app", "PID": "u-1/stdout", "MSG": "hello",
        "_k8s.namespace_name": "shop", "_k8s.pod_name": "web-0", "_k8s.container_name": "app",
        "_k8s.container_id": &ID[..12], "_k8s.stream": "stdout",
        "_k8s.pod_uuid": "u-1", "_k8s.container_image": "registry.example.com/app:1",
        "_k8s.container_hash": "r/app@sha256:12", "_k8s.docker_id": ID,
        "_k8s.labels": {"app": "web", "app.kubernetes.io/part-of": "shop"},
        "_k8s.annotations": {"note": "of web-0"}
    });
    assert_eq!(line, expected);
    let paths: Vec<String> = cluster.server.requests().iter().map(|request| request.path.clone()).collect();
    assert!(paths[1].contains("watch=1") && paths[1].contains("allowWatchBookmarks=true"), "{paths:?}");
}

#[test]
fn a_file_waits_for_its_pod_while_others_are_read() {
    let cluster = Cluster::new();
    cluster.server.put("shop/web-0", "u-1", "web");
    cluster.line("shop/late-0", "first");
    cluster.line("shop/late-0", "second");
    let penstock = cluster.start(NODE);
    cluster.line("shop/web-0", "meanwhile");
    cluster.wait_line("web u-1 meanwhile");
    assert_eq!(cluster.lines().len(), 1, "the other file waits");
    cluster.server.put("shop/late-0", "u-2", "late");
    cluster.wait_line("late u-2 second");
    assert_eq!(counter(&penstock, "kubernetes_messages_total"), 3);
    penstock.stop();
    assert_eq!(cluster.lines(), ["web u-1 meanwhile", "late u-2 first", "late u-2 second"]);
}

#[test]
fn a_list_that_takes_its_time_holds_nobody_for_longer_than_wait() {
    let cluster = Cluster::new();
    cluster.server.be_slow(true);
    cluster.server.put("shop/web-0", "u-1", "web");
    cluster.line("shop/web-0", "without");
    let mut penstock = cluster.start("node-name(\"node-1\") wait(1)");
    cluster.wait_line("none none without");
    cluster.server.be_slow(false);
    wait_counter(&penstock, "kubernetes_pods", 1);
    cluster.line("shop/web-0", "with");
    cluster.wait_line("web u-1 with");
    let stats = penstock.request("STATS PROMETHEUS");
    for expected in ["pod=\"known\"} 1", "pod=\"unknown\"} 1"] {
        assert!(stats.contains(expected), "{stats}");
    }
    penstock.wait_settled_input().assert_balanced();
    penstock.stop();
    assert_eq!(cluster.lines(), ["none none without", "web u-1 with"]);
}

#[test]
fn events_are_followed_and_the_deleted_are_remembered() {
    let cluster = Cluster::new();
    for pod in ["a", "b", "c"] {
        cluster.server.put(&format!("shop/{pod}"), "u", pod);
    }
    let penstock = cluster.start(NODE);
    cluster.line("shop/c", "third of two pages");
    cluster.wait_line("c u third of two pages");
    wait_until("a watch", || cluster.server.watches() == 1);
    cluster.server.put("shop/a", "u", "changed");
    cluster.server.delete("shop/b");
    cluster.server.bookmark();
    wait_counter(&penstock, "kubernetes_watch_events_total", 3);
    cluster.line("shop/a", "2");
    cluster.line("shop/b", "last words");
    cluster.wait_line("changed u 2");
    cluster.wait_line("b u last words");
    // One of its name comes after it: its log is another container's, whose id nobody knows yet.
    cluster.server.put("shop/b", "u-2", "next");
    wait_counter(&penstock, "kubernetes_watch_events_total", 4);
    cluster.line("shop/b", "of the next");
    cluster.wait_line("next u-2 of the next");
    assert_eq!(cluster.server.count("watch=1"), 1);
    penstock.stop();
}

#[test]
fn without_a_node_each_pod_is_asked_for_once() {
    let cluster = Cluster::new();
    cluster.server.put("shop/a", "u", "a");
    for text in ["1", "2", "3"] {
        cluster.line("shop/a", text);
        cluster.line("shop/gone", text);
    }
    let penstock = cluster.start("wait(60)");
    for text in ["1", "2", "3"] {
        cluster.wait_line(&format!("a u {text}"));
        cluster.wait_line(&format!("none none {text}"));
    }
    cluster.line("shop/a", "4");
    cluster.wait_line("a u 4");
    penstock.stop();
    let mut paths: Vec<String> =
        cluster.server.requests().iter().map(|request| request.path.clone()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["/api/v1/namespaces/shop/pods/a", "/api/v1/namespaces/shop/pods/gone"]);
}

#[test]
fn a_reload_keeps_what_is_known_and_another_server_is_asked_anew() {
    let cluster = Cluster::new();
    let other = ApiServer::start(free_port());
    cluster.server.put("shop/a", "u", "a");
    other.put("shop/a", "u", "other");
    let mut penstock = cluster.start(NODE);
    cluster.line("shop/a", "1");
    cluster.wait_line("a u 1");
    wait_until("a watch", || cluster.server.watches() == 1);
    let renamed = cluster.config(NODE).replace(":-none} $MESSAGE", ":-none} again $MESSAGE");
    penstock.reload_with(&cluster.lab, &renamed);
    cluster.line("shop/a", "2");
    cluster.wait_line("a u again 2");
    assert_eq!(cluster.server.count("limit="), 1, "one list");
    let port = |server: &ApiServer| format!(":{}\"", server.port());
    penstock.reload_with(&cluster.lab, &renamed.replace(&port(&cluster.server), &port(&other)));
    cluster.line("shop/b", "3");
    other.put("shop/b", "u", "b");
    cluster.wait_line("b u again 3");
    cluster.line("shop/a", "4");
    cluster.wait_line("other u again 4");
    penstock.stop();
}

#[test]
fn nobody_is_asked_where_nobody_should_be_or_nothing_is_read() {
    let off = Cluster::new();
    off.line("shop/a", "1");
    let penstock = off.start("pod-metadata(no)");
    off.wait_line("none none 1");
    penstock.stop();
    assert_eq!(off.server.requests().len(), 0);

    let cluster = Cluster::new();
    cluster.line("shop/a", "1");
    let config = format!(
        "{HEAD}@include \"scl.conf\"\n\
         source s {{ wildcard-file(base-dir(\"%dir%/{FOLDER}\") filename-pattern(\"*.log\") flags(no-parse)); }};\n\
         parser p {{ kubernetes-metadata-parser(url(\"http://127.0.0.1:{}\") wait(60)); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"${{.k8s.pod_name}} $MESSAGE\\n\")); }};\n\
         log {{ source(s); parser(p); destination(d); flags(flow-control); }};\n",
        cluster.server.port()
    );
    let penstock = Penstock::start(&cluster.lab, &config);
    cluster.wait_line("a 2026-01-02T03:04:05.678901234Z stdout F 1");
    penstock.stop();
    assert_eq!(cluster.server.requests().len(), 0);
}

#[test]
fn a_check_asks_nobody_and_says_what_is_wrong() {
    let cluster = Cluster::new();
    let check = |options: &str| {
        let (path, _) = cluster.lab.write_config("check.conf", &cluster.config(options));
        run_command(&["check", path.to_str().expect("a path")])
    };
    let good = check(NODE);
    assert!(good.code == Some(0), "{}", good.stderr);
    let bad = check("ca-file(\"%dir%/no-such-file\")");
    assert!(
        bad.code != Some(0) && bad.stderr.contains("A0109"),
        "nothing is signed without https: {}",
        bad.stderr
    );
    let text = cluster.config("ca-file(\"%dir%/no-such-file\")").replace("http://", "https://");
    let (path, _) = cluster.lab.write_config("check.conf", &text);
    let bad = run_command(&["check", path.to_str().expect("a path")]);
    assert!(
        bad.code != Some(0) && bad.stderr.contains("A0109") && bad.stderr.contains("no-such-file"),
        "{}",
        bad.stderr
    );
    let text = cluster.config(NODE).replace("http://", "ftp://");
    let (path, _) = cluster.lab.write_config("check.conf", &text);
    let bad = run_command(&["check", path.to_str().expect("a path")]).stderr;
    assert!(bad.contains("A0109") && bad.contains("neither http nor https") && bad.contains("6443"), "{bad}");
    assert_eq!(cluster.server.requests().len(), 0);
}
