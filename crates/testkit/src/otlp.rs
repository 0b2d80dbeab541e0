//! A collector of OpenTelemetry's protocol on others' libraries, when `scripts/servers grpc` has put them
//! there, and what it wrote down before it answered.

use crate::lab::Lab;
use crate::penstock::root;
use crate::ports::free_port;
use crate::process::Process;
use crate::scripted::end_last_line;
use serde_json::Value;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;

/// Why there is none; the test is skipped with it.
pub const MISSING: &str = "no libraries of gRPC in Python, see `./x servers grpc`";

pub const NO_BIGQUERY: &str = "no types of BigQuery in Python, see `./x servers bigquery`";
pub const NO_FLIGHT: &str = "no pyarrow, see `./x servers flight`";

/// The interpreter that has them.
pub fn python() -> Option<PathBuf> {
    python_of("grpc")
}

fn python_of(server: &str) -> Option<PathBuf> {
    let folder = root().join("target/servers").join(server);
    folder.join("complete").is_file().then(|| folder.join("python/bin/python"))
}

pub struct Otlp {
    python: PathBuf,
    script: &'static str,
    dir: PathBuf,
    port: u16,
    options: Vec<String>,
    process: Option<Process>,
}

impl Otlp {
    /// Starts one in a folder of the lab. `options`: more of its command line.
    #[track_caller]
    pub fn start(lab: &Lab, options: &[&str]) -> Option<Otlp> {
        Otlp::with(("grpc", "scripts/otlp/server.py"), lab, options)
    }

    /// The same with a server that is Loki's and ClickHouse's: entries, and rows.
    #[track_caller]
    pub fn pushed(lab: &Lab, options: &[&str]) -> Option<Otlp> {
        Otlp::with(("grpc", "scripts/otlp/pushed.py"), lab, options)
    }

    /// One that is BigQuery's: rows.
    #[track_caller]
    pub fn bigquery(lab: &Lab, options: &[&str]) -> Option<Otlp> {
        Otlp::with(("bigquery", "scripts/bigquery/server.py"), lab, options)
    }

    /// Arrow's own server of Flight: rows.
    #[track_caller]
    pub fn flight(lab: &Lab, options: &[&str]) -> Option<Otlp> {
        Otlp::with(("flight", "scripts/flight/server.py"), lab, options)
    }

    #[track_caller]
    fn with((server, script): (&str, &'static str), lab: &Lab, options: &[&str]) -> Option<Otlp> {
        let python = python_of(server)?;
        let dir = lab.path("otlp");
        std::fs::create_dir_all(&dir).expect("a folder");
        let options = options.iter().map(|word| (*word).to_owned()).collect();
        let mut collector = Otlp { python, script, dir, port: free_port(), options, process: None };
        collector.run();
        Some(collector)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts it again, after [`Otlp::kill`].
    #[track_caller]
    pub fn run(&mut self) {
        end_last_line(&self.dir.join("records"));
        let mut command = Command::new(&self.python);
        command.arg(root().join(self.script));
        command.args(["--port", &self.port.to_string()]).arg("--out").arg(self.dir.join("records"));
        command.args(&self.options);
        let process = self.process.insert(Process::spawn("otlp", command, None, &self.dir.join("log")));
        let port = self.port;
        process.wait_for(|| {
            let refused = TcpStream::connect(("127.0.0.1", port)).err();
            refused.map(|error| format!("the collector to listen: {error}"))
        });
    }

    /// Ends it without a word.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.signal(rustix::process::Signal::KILL);
            process.wait_end();
        }
    }

    /// With another word of this option, when it is started again.
    pub fn change(&mut self, option: &str, word: &str) {
        crate::scripted::change(&mut self.options, option, word);
    }

    /// What it has taken, in order.
    pub fn records(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.dir.join("records")).unwrap_or_default();
        // The last line may not be whole.
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The bodies of its log records that are texts.
    pub fn bodies(&self) -> Vec<String> {
        let body = |record: &Value| record["record"]["body"]["stringValue"].as_str().map(str::to_owned);
        self.records().iter().filter_map(body).collect()
    }
}

/// A client on the same libraries that sends what the words of its command line say.
pub struct Client(Command);

impl Client {
    pub fn new(port: u16, options: &[&str]) -> Option<Client> {
        let mut command = Command::new(python()?);
        command.arg(root().join("scripts/otlp/client.py")).args(["--port", &port.to_string()]).args(options);
        Some(Client(command))
    }

    /// Sends all; the lines it writes: a status, the first number, and how many.
    #[track_caller]
    pub fn run(mut self) -> Vec<String> {
        let output = self.0.output().expect("a client");
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
    }

    /// The same beside the test.
    pub fn spawn(self) -> std::thread::JoinHandle<Vec<String>> {
        std::thread::spawn(move || self.run())
    }
}
