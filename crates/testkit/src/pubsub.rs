//! Google Pub/Sub's own fake, when `scripts/servers pubsub` has put it there, and what was published to it.

use crate::lab::Lab;
use crate::penstock::root;
use crate::ports::free_port;
use crate::process::Process;
use crate::wait::wait_until;
use serde_json::Value;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;

/// Why there is none; the test is skipped with it.
pub const MISSING: &str = "no Pub/Sub, see `./x servers pubsub`";

pub struct PubSub {
    out: PathBuf,
    port: u16,
    _process: Process,
}

impl PubSub {
    /// Starts one that has this topic.
    #[track_caller]
    pub fn start(lab: &Lab, topic: &str) -> Option<PubSub> {
        let folder = root().join("target/servers/pubsub");
        folder.join("complete").is_file().then_some(())?;
        let (out, port) = (lab.path("published"), free_port());
        let mut command = Command::new(folder.join("pubsub"));
        command.arg(port.to_string()).arg(topic).arg(&out);
        let mut process = Process::spawn("pubsub", command, None, &lab.path("pubsub.log"));
        process.wait_for(|| {
            let refused = TcpStream::connect(("127.0.0.1", port)).err();
            refused.map(|error| format!("Pub/Sub to listen: {error}"))
        });
        Some(PubSub { out, port, _process: process })
    }

    pub fn port(&self) -> u16 {
        self.port
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
