//! A collector of OpenTelemetry that others have written, when `scripts/servers otelcol` has put it there:
//! one that writes down what it takes, or one that hands it on.

use crate::lab::Lab;
use crate::penstock::root;
use crate::ports::free_port;
use crate::process::Process;
use serde_json::Value;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;

/// Why there is no collector; the test is skipped with it.
pub const MISSING: &str = "no collector of OpenTelemetry, see `./x servers otelcol`";

pub struct Otelcol {
    dir: PathBuf,
    port: u16,
    process: Option<Process>,
}

impl Otelcol {
    /// One that writes each request into a file before it answers. `receiver`: more of its settings, in YAML.
    #[track_caller]
    pub fn writing(lab: &Lab, receiver: &str) -> Option<Otelcol> {
        let path = lab.path("written").join("requests").display().to_string();
        // With a rotation nothing waits in a buffer of its own.
        let exporter = format!("file: {{path: \"{path}\", rotation: {{max_megabytes: 10000}}}}");
        Otelcol::with(lab, "written", receiver, &exporter)
    }

    /// One that answers when what it hands on is answered. `exporter`: more of its settings, in YAML.
    #[track_caller]
    pub fn handing_on(lab: &Lab, to: u16, exporter: &str) -> Option<Otelcol> {
        let exporter = format!(
            "otlp_grpc: {{endpoint: \"127.0.0.1:{to}\", sending_queue: {{enabled: false}}, \
             retry_on_failure: {{initial_interval: 100ms, max_interval: 1s, max_elapsed_time: 0s}}, {exporter}}}"
        );
        Otelcol::with(lab, "handed-on", "", &exporter)
    }

    #[track_caller]
    fn with(lab: &Lab, name: &str, receiver: &str, exporter: &str) -> Option<Otelcol> {
        root().join("target/servers/otelcol/complete").is_file().then_some(())?;
        let (dir, port) = (lab.path(name), free_port());
        std::fs::create_dir_all(&dir).expect("a folder");
        let to = exporter.split(':').next().unwrap_or_default();
        let pipeline = format!("{{receivers: [otlp], exporters: [{to}]}}");
        let config = format!(
            "extensions: {{bearertokenauth: {{token: good}}}}\n\
             receivers: {{otlp: {{protocols: {{grpc: {{endpoint: \"127.0.0.1:{port}\", {receiver}}}}}}}}}\n\
             exporters: {{{exporter}}}\n\
             service:\n  extensions: [bearertokenauth]\n  telemetry: {{metrics: {{level: none}}}}\n  \
             pipelines: {{logs: {pipeline}, metrics: {pipeline}, traces: {pipeline}}}\n"
        );
        std::fs::write(dir.join("config.yaml"), config).expect("a file");
        let mut collector = Otelcol { dir, port, process: None };
        collector.run();
        Some(collector)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts it again, after [`Otelcol::kill`].
    #[track_caller]
    pub fn run(&mut self) {
        let mut command = Command::new(root().join("target/servers/otelcol/otelcol"));
        command.arg("--config").arg(format!("file:{}", self.dir.join("config.yaml").display()));
        let process = self.process.insert(Process::spawn("otelcol", command, None, &self.dir.join("log")));
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

    /// The requests that it has written down.
    pub fn requests(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.dir.join("requests")).unwrap_or_default();
        // The last line may not be whole.
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The log records of all requests, each with the resource and the scope around it.
    pub fn records(&self) -> Vec<(Value, Value, Value)> {
        let mut records = Vec::new();
        for request in self.requests() {
            for resource in list(&request["resourceLogs"]) {
                for scope in list(&resource["scopeLogs"]) {
                    records.extend(list(&scope["logRecords"]).iter().map(|record| {
                        (resource["resource"].clone(), scope["scope"].clone(), record.clone())
                    }));
                }
            }
        }
        records
    }

    /// The bodies of its log records that are texts.
    pub fn bodies(&self) -> Vec<String> {
        let body = |record: &Value| record["body"]["stringValue"].as_str().map(str::to_owned);
        self.records().iter().filter_map(|(_, _, record)| body(record)).collect()
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
