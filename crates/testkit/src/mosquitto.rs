//! A real MQTT server, Mosquitto, where the distribution's is installed, and its own client to listen with.

use crate::lab::Lab;
use crate::ports::free_port;
use crate::process::Process;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Why there is none; the test is skipped with it.
pub const MISSING: &str = "no MQTT server, see `./x servers mosquitto`";

/// A server and somebody who writes down what is published, once the server has taken note of him.
pub struct Mosquitto {
    dir: PathBuf,
    port: u16,
    config: String,
    /// How the listener gets in.
    login: Vec<String>,
    process: Option<Process>,
    listener: Option<Process>,
}

fn program() -> Option<&'static str> {
    ["/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto", "/usr/bin/mosquitto"]
        .into_iter()
        .find(|path| Path::new(path).is_file())
}

impl Mosquitto {
    /// Starts a server in a folder of the lab. `more`: lines for its configuration. `login`: what its
    /// client has to say to get in.
    #[track_caller]
    pub fn start(lab: &Lab, more: &str, login: &[&str]) -> Option<Mosquitto> {
        program()?;
        let asked = Command::new("mosquitto_sub").arg("--help").stdout(Stdio::null()).status();
        asked.ok()?;
        let dir = lab.path("mosquitto");
        std::fs::create_dir_all(&dir).expect("a folder");
        let port = free_port();
        // Without a bound (0), version 2.0.11 ends the connection of whoever publishes what it refuses.
        let queued = "max_queued_messages 1000000";
        let config = format!(
            "user root\npersistence true\npersistence_location {}/\nautosave_interval 0\n{queued}\n{more}\n",
            dir.display()
        );
        let login = login.iter().map(|word| (*word).to_owned()).collect();
        let mut server = Mosquitto { dir, port, config, login, process: None, listener: None };
        server.run();
        Some(server)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts it again, after [`Mosquitto::kill`].
    #[track_caller]
    pub fn run(&mut self) {
        let file = self.dir.join("mosquitto.conf");
        let config = self.config.replace("PORT", &self.port.to_string());
        std::fs::write(&file, config).expect("a file");
        let mut command = Command::new(program().expect("it was there"));
        command.arg("-v").arg("-c").arg(&file);
        let process = Process::spawn("mosquitto", command, None, &self.dir.join("log"));
        let port = self.port;
        self.process.insert(process).wait_for(|| {
            let error = TcpStream::connect(("127.0.0.1", port)).err();
            error.map(|error| format!("Mosquitto to listen: {error}"))
        });
    }

    /// Ends it without a word.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.signal(rustix::process::Signal::KILL);
            process.wait_end();
        }
    }

    /// Ends it in order: it writes down what it has.
    pub fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.terminate();
        }
    }

    /// Everything that it says.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.dir.join("log")).unwrap_or_default()
    }

    /// Publishes each line to a topic, with Mosquitto's own client.
    #[track_caller]
    pub fn publish(&self, topic: &str, quality: usize, lines: &str) {
        let mut command = Command::new("mosquitto_pub");
        command.args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-t", topic, "-l"]);
        command.args(["-q", &quality.to_string()]).args(&self.login);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("mosquitto_pub");
        std::io::Write::write_all(&mut child.stdin.take().expect("piped"), lines.as_bytes())
            .expect("written");
        assert!(child.wait().expect("mosquitto_pub").success());
    }

    /// Writes down what is published from now on, over cuts too: topic, blank, message.
    #[track_caller]
    pub fn listen(&mut self) {
        // Into a file it would write only when its buffer is full.
        let mut command = Command::new("stdbuf");
        command.args(["-oL", "mosquitto_sub"]);
        command.args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-q", "2", "-t", "#", "-F", "%t %p"]);
        command.args(["-i", "listener", "-c", "-d"]).args(&self.login);
        let process = Process::spawn("mosquitto_sub", command, None, &self.dir.join("heard"));
        let heard = self.dir.join("heard");
        self.listener.insert(process).wait_for(|| {
            let log = std::fs::read_to_string(&heard).unwrap_or_default();
            (!log.contains("Subscribed (mid")).then(|| "the listener to be subscribed".to_owned())
        });
    }

    /// How often the listener has subscribed: again with each start of the server.
    pub fn subscribed(&self) -> usize {
        let text = std::fs::read_to_string(self.dir.join("heard")).unwrap_or_default();
        text.matches("Subscribed (mid").count()
    }

    /// What the listener has written down of a topic.
    pub fn heard(&self, topic: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.dir.join("heard")).unwrap_or_default();
        let prefix = format!("{topic} ");
        text.lines().filter_map(|line| line.strip_prefix(&prefix)).map(str::to_owned).collect()
    }
}
