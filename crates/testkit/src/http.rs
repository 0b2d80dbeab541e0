//! A server of HTTP/1.1 for tests: it writes down what it was asked, and answers as its script says, cut
//! where the script cuts.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One request as it came.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
    /// Which connection it came on, counted from 0.
    pub connection: usize,
}

impl Request {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn lines(&self) -> Vec<String> {
        self.text().lines().map(str::to_owned).collect()
    }

    /// The next request of a connection. `None`: it never becomes whole.
    pub fn read(reader: &mut impl BufRead, connection: usize) -> Option<Request> {
        let mut request = head(reader, connection)?;
        request.read_body(reader)?;
        Some(request)
    }

    fn read_body(&mut self, reader: &mut impl BufRead) -> Option<()> {
        self.body = vec![0; self.header("content-length").parse().unwrap_or(0)];
        reader.read_exact(&mut self.body).ok()
    }
}

/// What the server does about a request.
#[derive(Clone, Debug)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
    /// Bytes of the answer after which the connection is cut.
    cut: Option<usize>,
    is_silent: bool,
}

impl Reply {
    pub fn new(status: u16) -> Reply {
        Reply { status, headers: Vec::new(), body: String::new(), cut: None, is_silent: false }
    }

    pub fn header(mut self, name: &str, value: &str) -> Reply {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn body(mut self, text: impl Into<String>) -> Reply {
        self.body = text.into();
        self
    }

    /// The connection ends after so many bytes of the answer.
    pub fn cut(mut self, bytes: usize) -> Reply {
        self.cut = Some(bytes);
        self
    }

    /// No answer ever comes.
    pub fn silent() -> Reply {
        Reply { is_silent: true, ..Reply::new(200) }
    }
}

type Script = dyn Fn(&Request) -> Reply + Send + Sync;
type Early = dyn Fn(&Request) -> Option<Reply> + Send + Sync;

#[derive(Default)]
struct Shared {
    /// Requests that came whole.
    requests: Mutex<Vec<Request>>,
    /// What was said about each, in the order in which it was said.
    statuses: Mutex<Vec<u16>>,
    sockets: Mutex<Vec<TcpStream>>,
    is_over: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// On a busy machine somebody else's connection may have the port for its own end while the server is away.
fn bound(port: u16) -> TcpListener {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        match TcpListener::bind(("127.0.0.1", port)) {
            Ok(listener) => return listener,
            Err(error) if error.kind() == ErrorKind::AddrInUse && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(50));
            }
            Err(error) => panic!("port {port}: {error}"),
        }
    }
}

pub struct HttpServer {
    port: u16,
    shared: Arc<Shared>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl HttpServer {
    /// Listens, and answers whole requests as `script` says.
    pub fn start(port: u16, script: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> HttpServer {
        HttpServer::with(port, |_| None, script)
    }

    /// `early` sees the head of a request before its body is read: what it answers is all, and the connection
    /// is cut.
    pub fn with(
        port: u16,
        early: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static,
        script: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> HttpServer {
        let listener = bound(port);
        let port = listener.local_addr().expect("an address").port();
        let shared: Arc<Shared> = Arc::default();
        let (there, early, script): (_, Arc<Early>, Arc<Script>) =
            (Arc::clone(&shared), Arc::new(early), Arc::new(script));
        let thread = std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let Ok(stream) = stream else { continue };
                if there.is_over.load(Ordering::SeqCst) {
                    return;
                }
                lock(&there.sockets).extend(stream.try_clone());
                let (shared, early, script) = (Arc::clone(&there), Arc::clone(&early), Arc::clone(&script));
                std::thread::spawn(move || serve(&stream, number, &shared, (&*early, &*script)));
            }
        });
        HttpServer { port, shared, thread: Some(thread) }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The requests that came whole.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }

    /// The statuses of whole answers, in order.
    pub fn statuses(&self) -> Vec<u16> {
        lock(&self.shared.statuses).clone()
    }
}

/// As when its process is killed: every connection is cut, and the port is free.
impl Drop for HttpServer {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        for socket in lock(&self.shared.sockets).drain(..) {
            let _ = socket.shutdown(Shutdown::Both);
        }
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(stream: &TcpStream, connection: usize, shared: &Shared, (early, script): (&Early, &Script)) {
    let Ok(reading) = stream.try_clone() else { return };
    let mut reader = BufReader::new(reading);
    while let Some(mut request) = head(&mut reader, connection) {
        if let Some(reply) = early(&request) {
            let _ = say(stream, &reply, shared);
            break;
        }
        if request.read_body(&mut reader).is_none() || shared.is_over.load(Ordering::SeqCst) {
            break;
        }
        lock(&shared.requests).push(request.clone());
        let reply = script(&request);
        if !say(stream, &reply, shared) {
            break;
        }
    }
    let _ = stream.shutdown(Shutdown::Both);
}

fn head(reader: &mut impl BufRead, connection: usize) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|n| *n > 0)?;
    let mut words = line.split_whitespace();
    let mut request = Request {
        method: words.next()?.to_owned(),
        path: words.next()?.to_owned(),
        connection,
        ..Request::default()
    };
    loop {
        line.clear();
        reader.read_line(&mut line).ok().filter(|n| *n > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { return Some(request) };
        request.headers.insert(name.trim().to_ascii_lowercase(), value.trim().to_owned());
    }
}

/// Whether the connection goes on.
fn say(mut stream: &TcpStream, reply: &Reply, shared: &Shared) -> bool {
    if reply.is_silent {
        return true;
    }
    let mut text = format!("HTTP/1.1 {} Scripted\r\nContent-Length: {}\r\n", reply.status, reply.body.len());
    for (name, value) in &reply.headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text.push_str(&reply.body);
    let bytes = text.as_bytes();
    let end = reply.cut.unwrap_or(bytes.len()).min(bytes.len());
    // Who has the answer must find it written down.
    if reply.cut.is_none() {
        lock(&shared.statuses).push(reply.status);
    }
    stream.write_all(&bytes[..end]).is_ok() && reply.cut.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn requests_are_written_down_and_answered() {
        let server = HttpServer::start(0, |request| Reply::new(201).body(request.path.clone()));
        let mut stream = TcpStream::connect(("127.0.0.1", server.port())).expect("there");
        stream.write_all(b"POST /x HTTP/1.1\r\nContent-Length: 3\r\nX-A: b\r\n\r\nabc").expect("written");
        let expected = b"HTTP/1.1 201 Scripted\r\nContent-Length: 2\r\n\r\n/x";
        let mut answer = vec![0; expected.len()];
        stream.read_exact(&mut answer).expect("answered");
        assert_eq!(answer, expected);
        let requests = server.requests();
        assert_eq!((requests[0].text(), requests[0].header("x-a")), ("abc".to_owned(), "b"));
        assert_eq!(server.statuses(), [201]);
    }
}
