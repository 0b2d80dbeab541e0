//! A real Redis server, where one is installed, and its own client to look into it.

use crate::lab::Lab;
use crate::ports::free_port;
use crate::process::Process;
use crate::wait::wait_until;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Why there is none; the test is skipped with it.
pub const MISSING: &str = "no Redis server, see `./x servers redis`";

/// A server that keeps what it has replied to over a kill.
pub struct Redis {
    dir: PathBuf,
    port: u16,
    options: Vec<String>,
    /// How its client gets in.
    client: Vec<String>,
    process: Option<Process>,
}

impl Redis {
    /// Starts a server in a folder of the lab. `options`: more of its command line. `client`: what its client
    /// has to say to get in.
    #[track_caller]
    pub fn start(lab: &Lab, options: &[&str], client: &[&str]) -> Option<Redis> {
        let asked = Command::new("redis-server").arg("--version").stdout(Stdio::null()).status();
        asked.ok().filter(|status| status.success())?;
        let dir = lab.path("redis");
        std::fs::create_dir_all(&dir).expect("a folder");
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let mut redis =
            Redis { dir, port: free_port(), options: owned(options), client: owned(client), process: None };
        redis.run();
        Some(redis)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts it again, after [`Redis::kill`].
    #[track_caller]
    pub fn run(&mut self) {
        let mut command = Command::new("redis-server");
        let tls = self.options.iter().any(|option| option == "--tls-cert-file");
        let (clear, secure) = if tls { (0, self.port) } else { (self.port, 0) };
        command.args(["--bind", "127.0.0.1", "--port", &clear.to_string()]);
        if tls {
            command.args(["--tls-port", &secure.to_string(), "--tls-auth-clients", "no"]);
        }
        command.args(["--appendonly", "yes", "--appendfsync", "always", "--save", ""]);
        command.args(&self.options).current_dir(&self.dir);
        let process =
            self.process.insert(Process::spawn("redis-server", command, None, &self.dir.join("log")));
        let port = self.port;
        process.wait_for(|| {
            TcpStream::connect(("127.0.0.1", port)).err().map(|error| format!("Redis to listen: {error}"))
        });
    }

    /// Ends it without a word.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.signal(rustix::process::Signal::KILL);
            process.wait_end();
        }
    }

    /// What its client prints for a command, line by line.
    #[track_caller]
    pub fn ask(&self, words: &[&str]) -> Vec<String> {
        let mut lines = Vec::new();
        wait_until("an answer of Redis", || {
            let mut command = Command::new("redis-cli");
            command.args(["-h", "127.0.0.1", "-p", &self.port.to_string()]).args(&self.client).args(words);
            let output = command.stderr(Stdio::null()).output().expect("redis-cli");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            lines = text.lines().map(str::to_owned).collect();
            output.status.success() && !text.starts_with("LOADING") && !text.contains("Connection refused")
        });
        lines
    }

    /// All of a list.
    #[track_caller]
    pub fn list(&self, key: &str) -> Vec<String> {
        self.ask(&["LRANGE", key, "0", "-1"]).into_iter().filter(|line| !line.is_empty()).collect()
    }
}
