//! An API server of Kubernetes for tests: pods that are listed, watched and asked for as the real one lets
//! them be, and everything that goes wrong with it.

use crate::http::Request;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A connection, encrypted or not.
pub trait Stream: Read + Write + Send {}
impl<T: Read + Write + Send> Stream for T {}

/// Makes what is spoken over out of what was accepted; `None`: it was nobody who could speak.
pub type Wrap = dyn Fn(TcpStream) -> Option<Box<dyn Stream>> + Send + Sync;

#[derive(Default)]
struct State {
    version: u64,
    /// By namespace and name.
    pods: BTreeMap<(String, String), Value>,
    /// What happened, with the version of it: a line of a watch each.
    events: Vec<(u64, String)>,
    /// Versions before this one are forgotten.
    oldest: u64,
    /// What has to be shown; empty: nothing.
    token: String,
    is_forbidden: bool,
    /// Lists and pods are not answered.
    is_slow: bool,
    /// The next event is cut in the middle, with its connection.
    cuts: bool,
    watches: usize,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    requests: Mutex<Vec<Request>>,
    sockets: Mutex<Vec<TcpStream>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub struct ApiServer {
    port: u16,
    shared: Arc<Shared>,
    wrap: Arc<Wrap>,
    running: Option<(Arc<AtomicBool>, std::thread::JoinHandle<()>)>,
}

impl ApiServer {
    /// Without TLS.
    pub fn start(port: u16) -> ApiServer {
        ApiServer::with(port, |stream| Some(Box::new(stream)))
    }

    pub fn with(
        port: u16,
        wrap: impl Fn(TcpStream) -> Option<Box<dyn Stream>> + Send + Sync + 'static,
    ) -> ApiServer {
        let shared: Arc<Shared> = Arc::default();
        lock(&shared.state).version = 100;
        let mut server = ApiServer { port, shared, wrap: Arc::new(wrap), running: None };
        server.run();
        server
    }

    /// Starts it again, after [`ApiServer::kill`], with the pods that it had.
    pub fn run(&mut self) {
        let listener = TcpListener::bind(("127.0.0.1", self.port)).expect("the port is ours");
        let is_over: Arc<AtomicBool> = Arc::default();
        let (over, shared, wrap) = (Arc::clone(&is_over), Arc::clone(&self.shared), Arc::clone(&self.wrap));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                lock(&shared.sockets).extend(stream.try_clone());
                let (shared, wrap, over) = (Arc::clone(&shared), Arc::clone(&wrap), Arc::clone(&over));
                std::thread::spawn(move || {
                    let socket = stream.try_clone();
                    if let Some(stream) = wrap(stream) {
                        serve(stream, &shared, &over);
                    }
                    // What is encrypted keeps the socket to itself.
                    let _ = socket.map(|socket| socket.shutdown(Shutdown::Both));
                });
            }
        });
        self.running = Some((is_over, thread));
    }

    /// As when its process is killed.
    pub fn kill(&mut self) {
        let Some((is_over, thread)) = self.running.take() else { return };
        is_over.store(true, Ordering::SeqCst);
        for socket in lock(&self.shared.sockets).drain(..) {
            let _ = socket.shutdown(Shutdown::Both);
        }
        self.shared.changed.notify_all();
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        let _ = thread.join();
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// A pod of this UID with this label `app` is there, or is changed. Its container is `app`.
    pub fn put(&self, pod: &str, uid: &str, label: &str) {
        self.change(pod, uid, label, true);
    }

    /// The same, and no watch ever tells of it.
    pub fn put_silently(&self, pod: &str, uid: &str, label: &str) {
        self.change(pod, uid, label, false);
    }

    fn change(&self, pod: &str, uid: &str, label: &str, is_told: bool) {
        let (namespace, name) = pod.split_once('/').expect("NAMESPACE/NAME");
        let mut state = lock(&self.shared.state);
        state.version += 1;
        let object = json!({
            "kind": "Pod", "apiVersion": "v1",
            "metadata": {
                "name": name, "namespace": namespace, "uid": uid, "resourceVersion": state.version.to_string(),
                "labels": {"app": label, "app.kubernetes.io/part-of": "shop"},
                "annotations": {"note": format!("of {name}")},
                "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:metadata": {}}}]
            },
            "spec": {"nodeName": "node-1", "containers": [{"name": "side", "image": "r/side"}, {"name": "app", "image": "r/app"}]},
            "status": {"containerStatuses": [{
                "name": "app", "image": "registry.example.com/app:1", "imageID": "docker-pullable://r/app@sha256:12",
                "containerID": "containerd://abc"}]}
        });
        let key = (namespace.to_owned(), name.to_owned());
        let kind = if state.pods.insert(key, object.clone()).is_some() { "MODIFIED" } else { "ADDED" };
        if is_told {
            self.tell(state, kind, &object);
        }
    }

    pub fn delete(&self, pod: &str) {
        let (namespace, name) = pod.split_once('/').expect("NAMESPACE/NAME");
        let mut state = lock(&self.shared.state);
        state.version += 1;
        let mut object = state.pods.remove(&(namespace.to_owned(), name.to_owned())).expect("it is there");
        object["metadata"]["resourceVersion"] = state.version.to_string().into();
        self.tell(state, "DELETED", &object);
    }

    /// Nothing but a version.
    pub fn bookmark(&self) {
        let mut state = lock(&self.shared.state);
        state.version += 1;
        let version = state.version.to_string();
        let object =
            json!({"kind": "Pod", "metadata": {"resourceVersion": version, "creationTimestamp": null}});
        self.tell(state, "BOOKMARK", &object);
    }

    /// Every version so far is forgotten: watches that run are told, later ones are refused.
    pub fn forget(&self) {
        let mut state = lock(&self.shared.state);
        state.version += 1;
        state.oldest = state.version;
        state.events.clear();
        let object = json!({"kind": "Status", "status": "Failure", "message": "too old resource version",
                            "reason": "Expired", "code": 410});
        self.tell(state, "ERROR", &object);
    }

    /// A line that is no event.
    pub fn say_nonsense(&self) {
        let mut state = lock(&self.shared.state);
        state.version += 1;
        let version = state.version;
        state.events.push((version, "<html>a proxy</html>\n".to_owned()));
        drop(state);
        self.shared.changed.notify_all();
    }

    fn tell(&self, mut state: MutexGuard<'_, State>, kind: &str, object: &Value) {
        let version = state.version;
        state.events.push((version, format!("{}\n", json!({"type": kind, "object": object}))));
        drop(state);
        self.shared.changed.notify_all();
    }

    pub fn want_token(&self, token: &str) {
        lock(&self.shared.state).token = token.to_owned();
    }

    pub fn forbid(&self, is_forbidden: bool) {
        lock(&self.shared.state).is_forbidden = is_forbidden;
    }

    /// Lists and pods are answered later, when this is taken back.
    pub fn be_slow(&self, is_slow: bool) {
        lock(&self.shared.state).is_slow = is_slow;
        self.shared.changed.notify_all();
    }

    /// The connection of the next event ends in the middle of it.
    pub fn cut_next(&self) {
        lock(&self.shared.state).cuts = true;
    }

    /// Watches that run now.
    pub fn watches(&self) -> usize {
        lock(&self.shared.state).watches
    }

    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }

    /// Requests whose path has this in it.
    pub fn count(&self, part: &str) -> usize {
        lock(&self.shared.requests).iter().filter(|request| request.path.contains(part)).count()
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A stream that is only read.
struct Reading<'s>(&'s mut dyn Stream);

impl Read for Reading<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(into)
    }
}

fn serve(mut stream: Box<dyn Stream>, shared: &Shared, over: &AtomicBool) {
    loop {
        // Nobody sends a second request before the first is answered.
        let request = Request::read(&mut BufReader::new(Reading(&mut *stream)), 0);
        let Some(request) = request.filter(|_| !over.load(Ordering::SeqCst)) else { return };
        lock(&shared.requests).push(request.clone());
        let is_watch = request.path.contains("watch=1");
        let done = match refusal(&request, shared) {
            Some((status, body)) => answer(&mut *stream, status, &body),
            None if is_watch => {
                lock(&shared.state).watches += 1;
                let done = watch(&mut *stream, &request, shared, over);
                lock(&shared.state).watches -= 1;
                done
            }
            None => {
                let (status, body) = found(&request, shared, over);
                answer(&mut *stream, status, &body)
            }
        };
        if done.is_none() {
            return;
        }
    }
}

fn refusal(request: &Request, shared: &Shared) -> Option<(u16, Value)> {
    let state = lock(&shared.state);
    let status =
        |code: u16, reason: &str| Some((code, json!({"kind": "Status", "reason": reason, "code": code})));
    if !state.token.is_empty() && request.header("authorization") != format!("Bearer {}", state.token) {
        return status(401, "Unauthorized");
    }
    if state.is_forbidden {
        return status(403, "Forbidden");
    }
    (parameter(request, "watch").is_some() && version(request) < state.oldest)
        .then(|| status(410, "Expired"))
        .flatten()
}

fn parameter<'r>(request: &'r Request, name: &str) -> Option<&'r str> {
    let (_, query) = request.path.split_once('?')?;
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

fn version(request: &Request) -> u64 {
    parameter(request, "resourceVersion").and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// A list in pages of two, or one pod.
fn found(request: &Request, shared: &Shared, over: &AtomicBool) -> (u16, Value) {
    let mut state = lock(&shared.state);
    while state.is_slow && !over.load(Ordering::SeqCst) {
        state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    let path = request.path.split('?').next().unwrap_or_default();
    if path == "/api/v1/pods" {
        assert_eq!(parameter(request, "fieldSelector"), Some("spec.nodeName%3Dnode-1"), "{}", request.path);
        let from: usize = parameter(request, "continue").and_then(|word| word.parse().ok()).unwrap_or(0);
        let items: Vec<&Value> = state.pods.values().skip(from).take(2).collect();
        let mut about = json!({"resourceVersion": state.version.to_string()});
        if from + items.len() < state.pods.len() {
            about["continue"] = (from + items.len()).to_string().into();
        }
        return (200, json!({"kind": "PodList", "apiVersion": "v1", "metadata": about, "items": items}));
    }
    let mut parts = path.trim_start_matches("/api/v1/namespaces/").split('/');
    let key = (parts.next().unwrap_or_default().to_owned(), parts.nth(1).unwrap_or_default().to_owned());
    match state.pods.get(&key) {
        Some(pod) => (200, pod.clone()),
        None => (404, json!({"kind": "Status", "reason": "NotFound", "code": 404})),
    }
}

fn answer(stream: &mut dyn Stream, status: u16, body: &Value) -> Option<()> {
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).and_then(|()| stream.flush()).ok()
}

/// Events from the version on, in chunks that do not end with them.
fn watch(stream: &mut dyn Stream, request: &Request, shared: &Shared, over: &AtomicBool) -> Option<()> {
    let mut last = version(request);
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).and_then(|()| stream.flush()).ok()?;
    loop {
        let mut state = lock(&shared.state);
        let news: Vec<(u64, String)> =
            state.events.iter().filter(|(version, _)| *version > last).cloned().collect();
        let is_cut = !news.is_empty() && std::mem::take(&mut state.cuts);
        if news.is_empty() {
            // Whoever hangs up is seen by the next event.
            drop(shared.changed.wait_timeout(state, Duration::from_millis(100)));
            if over.load(Ordering::SeqCst) {
                return None;
            }
            continue;
        }
        drop(state);
        for (version, line) in news {
            let (first, rest) = line.as_bytes().split_at(line.len() / 2);
            chunk(stream, first)?;
            if is_cut {
                return None;
            }
            chunk(stream, rest)?;
            last = version;
            if line.contains("\"ERROR\"") {
                return stream.write_all(b"0\r\n\r\n").and_then(|()| stream.flush()).ok();
            }
        }
    }
}

fn chunk(stream: &mut dyn Stream, bytes: &[u8]) -> Option<()> {
    let head = format!("{:x}\r\n", bytes.len());
    let whole = [head.as_bytes(), bytes, b"\r\n"].concat();
    stream.write_all(&whole).and_then(|()| stream.flush()).ok()
}
