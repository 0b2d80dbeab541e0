//! Google Pub/Sub's own fake, when `scripts/servers pubsub` has put it there: what was published to it, and
//! what it hears of what it has sent.

use crate::lab::Lab;
use crate::penstock::root;
use crate::ports::free_port;
use crate::process::Process;
use crate::wait::wait_until;
use crate::web;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Why there is none; the test is skipped with it.
pub const MISSING: &str = "no Pub/Sub, see `./x servers pubsub`";

/// The subscription of those who subscribe.
const SUBSCRIPTION: &str = "projects/p/subscriptions/s";
const TOPIC: &str = "projects/p/topics/t";

pub struct PubSub {
    out: PathBuf,
    log: PathBuf,
    arguments: Vec<String>,
    port: u16,
    /// Where it is told what to publish, and asked what became of it.
    control: u16,
    process: Process,
}

/// What became of a message.
#[derive(Debug)]
pub struct Fate {
    pub data: String,
    pub deliveries: u64,
    pub acks: u64,
    /// Seconds that subscribers asked for.
    pub modified: Vec<u64>,
}

impl PubSub {
    /// Starts one that has this topic.
    #[track_caller]
    pub fn start(lab: &Lab, topic: &str) -> Option<PubSub> {
        PubSub::with(lab, free_port(), 0, vec![topic.to_owned()])
    }

    /// Starts one with a subscription, `projects/p/subscriptions/s`.
    #[track_caller]
    pub fn subscribed(lab: &Lab) -> Option<PubSub> {
        let control = free_port();
        PubSub::with(
            lab,
            free_port(),
            control,
            vec![TOPIC.to_owned(), SUBSCRIPTION.to_owned(), control.to_string()],
        )
    }

    #[track_caller]
    fn with(lab: &Lab, port: u16, control: u16, mut arguments: Vec<String>) -> Option<PubSub> {
        root().join("target/servers/pubsub/complete").is_file().then_some(())?;
        let (out, log) = (lab.path("published"), lab.path("pubsub.log"));
        arguments.insert(0, port.to_string());
        arguments.insert(2, out.to_str().expect("text").to_owned());
        let process = run(&arguments, &log, &[port, control]);
        Some(PubSub { out, log, arguments, port, control, process })
    }

    /// The same, and with TLS at the second port. Certificate and key are `server.pem` and `server.key`.
    #[track_caller]
    pub fn encrypted(lab: &Lab) -> Option<(PubSub, u16)> {
        let (control, secure) = (free_port(), free_port());
        let path = |name: &str| lab.path(name).to_str().expect("text").to_owned();
        let arguments = [TOPIC.to_owned(), SUBSCRIPTION.to_owned(), control.to_string(), secure.to_string()];
        let arguments = arguments.into_iter().chain([path("server.pem"), path("server.key")]).collect();
        let server = PubSub::with(lab, free_port(), control, arguments)?;
        wait_until("Pub/Sub to listen with TLS", || TcpStream::connect(("127.0.0.1", secure)).is_ok());
        Some((server, secure))
    }

    /// What it had is gone with it.
    pub fn kill(&mut self) {
        self.process.signal(Signal::KILL);
        self.process.wait_end();
    }

    #[track_caller]
    pub fn run(&mut self) {
        self.process = run(&self.arguments, &self.log, &[self.port, self.control]);
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    #[track_caller]
    pub fn publish(&self, messages: &[Value]) {
        let body = serde_json::to_vec(messages).expect("JSON");
        assert_eq!(web::post(self.control, "/publish", "", &body).status, 200);
    }

    /// A message of each of these texts.
    #[track_caller]
    pub fn publish_texts<T: AsRef<str>>(&self, texts: &[T]) {
        let messages: Vec<Value> = texts.iter().map(|text| json!({"data": text.as_ref()})).collect();
        self.publish(&messages);
    }

    /// What became of all that was published.
    #[track_caller]
    pub fn fates(&self) -> Vec<Fate> {
        let read = |fate: &Value| Fate {
            data: fate["data"].as_str().unwrap_or_default().to_owned(),
            deliveries: fate["deliveries"].as_u64().unwrap_or_default(),
            acks: fate["acks"].as_u64().unwrap_or_default(),
            modified: fate["modified"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect(),
        };
        web::get(self.control, "/fates", "").json().as_array().into_iter().flatten().map(read).collect()
    }

    /// Waits until so many messages are acknowledged.
    #[track_caller]
    pub fn wait_acknowledged(&self, count: usize) {
        wait_until("all acknowledgements at Pub/Sub", || {
            self.fates().iter().filter(|fate| fate.acks > 0).count() >= count
        });
    }

    /// Refuses so many calls that acknowledge.
    #[track_caller]
    pub fn refuse(&self, count: usize) {
        assert_eq!(web::get(self.control, &format!("/refuse?count={count}"), "").status, 200);
    }

    /// Ends each stream that begins from now on after so many milliseconds, as the service does after half an
    /// hour.
    #[track_caller]
    pub fn end_streams_after(&self, ms: u64) {
        assert_eq!(web::get(self.control, &format!("/end?ms={ms}"), "").status, 200);
    }

    /// All that was published, once it is so much.
    #[track_caller]
    pub fn wait_messages(&self, count: usize) -> Vec<Value> {
        let mut messages = Vec::new();
        wait_until("all messages at Pub/Sub", || {
            let text = std::fs::read_to_string(&self.out).unwrap_or_default();
            messages = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
            messages.len() >= count
        });
        messages
    }
}

/// Starts it, and waits until it listens at these ports, of which 0 is none.
#[track_caller]
fn run(arguments: &[String], log: &Path, ports: &[u16]) -> Process {
    let mut command = Command::new(root().join("target/servers/pubsub/pubsub"));
    command.args(arguments);
    let mut process = Process::spawn("pubsub", command, None, log);
    for port in ports.iter().filter(|port| **port != 0) {
        process.wait_for(|| {
            let refused = TcpStream::connect(("127.0.0.1", *port)).err();
            refused.map(|error| format!("Pub/Sub to listen: {error}"))
        });
    }
    process
}
