//! The same with etcd and kube-apiserver themselves: pods are made and changed through the API, and RBAC says
//! who may see them.

use super::{Cluster, FOLDER, counter};
use crate::messages::HEAD;
use crate::tls::Authority;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use testkit::process::Process;
use testkit::{Lab, Penstock, Signal, free_port, root, skip, wait_until};

struct Kube {
    dir: PathBuf,
    port: u16,
    trust: Arc<ClientConfig>,
    process: Option<Process>,
}

impl Kube {
    /// `None`: it is not built.
    fn start(lab: &Lab) -> Option<Kube> {
        if !program().exists() {
            skip("kube-apiserver is not built: scripts/servers kube");
            return None;
        }
        let dir = lab.path("kube");
        std::fs::create_dir_all(&dir).expect("a folder");
        Authority::new(lab, "ca").identity(lab, "server", "127.0.0.1", |_| {});
        for name in ["server.pem", "server.key"] {
            std::fs::copy(lab.path(name), dir.join(name)).expect("a copy");
        }
        let accounts = "admin,admin,1,system:masters\nagent,agent,2\n";
        std::fs::write(dir.join("tokens.csv"), accounts).expect("a file");
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(lab.path("ca.pem")).expect("a certificate")).expect("taken");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let trust = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let trust = trust.expect("versions").with_root_certificates(roots).with_no_client_auth();
        let mut kube = Kube { dir, port: free_port(), trust: Arc::new(trust), process: None };
        kube.run();
        Some(kube)
    }

    fn run(&mut self) {
        let mut command = Command::new(program());
        command.arg(&self.dir).arg(self.port.to_string());
        let log = self.dir.join("log");
        self.process = Some(Process::spawn("kube", command, None, &log));
        wait_until("the API server", || {
            self.ask("GET", "/readyz", None).is_some_and(|(status, _)| status == 200)
        });
    }

    fn kill(&mut self) {
        let mut process = self.process.take().expect("it runs");
        process.signal(Signal::KILL);
        process.wait_end();
    }

    /// As `admin`. Over HTTP/1.0, so that an answer ends with its connection.
    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Option<(u16, Value)> {
        let name = ServerName::try_from("127.0.0.1").expect("a name");
        let session = ClientConnection::new(Arc::clone(&self.trust), name).ok()?;
        let mut stream = StreamOwned::new(session, TcpStream::connect(("127.0.0.1", self.port)).ok()?);
        let body = body.map(Value::to_string).unwrap_or_default();
        let kind =
            if method == "PATCH" { "application/strategic-merge-patch+json" } else { "application/json" };
        let head = format!(
            "{method} {path} HTTP/1.0\r\nHost: kube\r\nAuthorization: Bearer admin\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).ok()?;
        let mut answer = Vec::new();
        // Some servers end without a word.
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n")?;
        Some((head.split(' ').nth(1)?.parse().ok()?, serde_json::from_str(body).unwrap_or(Value::Null)))
    }

    #[track_caller]
    fn done(&self, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.ask(method, path, Some(body)).expect("an answer");
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
        answer
    }

    /// A pod of `node-1`; its UID.
    fn pod(&self, name: &str, label: &str) -> String {
        let pod = json!({
            "metadata": {"name": name, "namespace": "shop", "labels": {"app": label}, "annotations": {"note": "n"}},
            "spec": {"nodeName": "node-1", "containers": [{"name": "app", "image": "r/app:1"}]}
        });
        let made = self.done("POST", "/api/v1/namespaces/shop/pods", &pod);
        made["metadata"]["uid"].as_str().expect("a UID").to_owned()
    }

    fn change(&self, name: &str, part: &str, change: &Value) {
        self.done("PATCH", &format!("/api/v1/namespaces/shop/pods/{name}{part}"), change);
    }

    /// Lets `agent` see pods.
    fn grant(&self) {
        let rbac = "/apis/rbac.authorization.k8s.io/v1";
        let role = json!({"metadata": {"name": "pods"}, "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]});
        self.done("POST", &format!("{rbac}/clusterroles"), &role);
        let bound = json!({"metadata": {"name": "pods"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "pods"},
            "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "agent"}]});
        self.done("POST", &format!("{rbac}/clusterrolebindings"), &bound);
    }
}

fn program() -> PathBuf {
    root().join("target/servers/kube/kube")
}

fn config(port: u16, options: &str) -> String {
    format!(
        "{HEAD}@include \"scl.conf\"\n\
         source s {{ kubernetes(base-dir(\"%dir%/{FOLDER}\") url(\"https://127.0.0.1:{port}\") ca-file(\"%dir%/ca.pem\") token-file(\"%dir%/token\") {options}); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"${{.k8s.labels.app:-none}} ${{.k8s.pod_uuid:-none}} ${{.k8s.container_image:-none}} ${{.k8s.container_hash:-none}} $MESSAGE\\n\")); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

#[test]
fn the_real_api_server() {
    let cluster = Cluster::new();
    let Some(mut kube) = Kube::start(&cluster.lab) else { return };
    std::fs::write(cluster.lab.path("token"), "agent\n").expect("a token");
    kube.done("POST", "/api/v1/namespaces", &json!({"metadata": {"name": "shop"}}));
    let first = kube.pod("web-0", "web");
    cluster.line("shop/web-0", "1");
    let text = config(kube.port, "node-name(\"node-1\") wait(60)");
    let mut penstock = Penstock::start(&cluster.lab, &text);
    penstock.wait_log("does not let pods be seen");
    cluster.wait_line("none none none none 1");
    kube.grant();
    wait_until("the pod", || counter(&penstock, "kubernetes_pods") == 1);
    cluster.line("shop/web-0", "begun");
    cluster.wait_line(&format!("web {first} r/app:1 none begun"));

    // Its container begins, its labels change.
    let events = || counter(&penstock, "kubernetes_watch_events_total");
    let before = events();
    let running = json!({"status": {"phase": "Running", "containerStatuses": [{"name": "app", "ready": true, "restartCount": 0,
        "image": "registry.example.com/r/app:1", "imageID": "registry.example.com/r/app@sha256:12", "containerID": "containerd://abc",
        "state": {"running": {}}}]}});
    kube.change("web-0", "/status", &running);
    kube.change("web-0", "", &json!({"metadata": {"labels": {"app": "changed"}}}));
    wait_until("two events", || events() >= before + 2);
    cluster.line("shop/web-0", "2");
    let of_first = format!("{first} registry.example.com/r/app:1 registry.example.com/r/app@sha256:12");
    cluster.wait_line(&format!("changed {of_first} 2"));

    // It goes, with lines that are still to be read.
    let before = events();
    kube.done(
        "DELETE",
        "/api/v1/namespaces/shop/pods/web-0",
        &json!({"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}),
    );
    wait_until("an event", || events() > before);
    cluster.line("shop/web-0", "3");
    cluster.wait_line(&format!("changed {of_first} 3"));

    // The server ends and comes back with what etcd has.
    kube.kill();
    penstock.wait_log("cannot be asked");
    cluster.line("shop/late-0", "4");
    kube.run();
    let late = kube.pod("late-0", "late");
    cluster.wait_line(&format!("late {late} r/app:1 none 4"));
    penstock.wait_settled_input().assert_balanced();
    penstock.stop();
}

#[test]
fn the_real_api_server_asked_for_single_pods() {
    let cluster = Cluster::new();
    let Some(kube) = Kube::start(&cluster.lab) else { return };
    std::fs::write(cluster.lab.path("token"), "agent\n").expect("a token");
    kube.done("POST", "/api/v1/namespaces", &json!({"metadata": {"name": "shop"}}));
    kube.grant();
    let uid = kube.pod("web-0", "web");
    cluster.line("shop/web-0", "1");
    cluster.line("shop/gone-0", "2");
    let penstock = Penstock::start(&cluster.lab, &config(kube.port, "wait(60)"));
    cluster.wait_line(&format!("web {uid} r/app:1 none 1"));
    cluster.wait_line("none none none none 2");
    let log = penstock.stop();
    assert!(!log.contains("cannot be asked"), "{log}");
}
