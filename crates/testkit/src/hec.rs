//! A Splunk HEC receiver with acknowledgements that others have written, when `scripts/servers hec` has
//! put it there, and what it wrote down.

use crate::lab::Lab;
use crate::penstock::root;
use crate::ports::free_port;
use crate::process::Process;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;

/// Why there is no receiver; the test is skipped with it.
pub const MISSING: &str = "no Splunk HEC receiver, see `./x servers hec`";

pub struct Hec {
    dir: PathBuf,
    port: u16,
    process: Option<Process>,
}

impl Hec {
    /// Starts one in a folder of the lab; `None` when there is none.
    #[track_caller]
    pub fn start(lab: &Lab) -> Option<Hec> {
        let folder = root().join("target/servers/hec");
        folder.join("complete").is_file().then_some(())?;
        let (dir, port) = (lab.path("hec"), free_port());
        std::fs::create_dir_all(&dir).expect("a folder");
        let config = format!(
            "extensions: {{ack: {{}}}}\n\
             receivers: {{splunk_hec: {{endpoint: \"127.0.0.1:{port}\", ack: {{extension: ack}}}}}}\n\
             exporters: {{file: {{path: \"{}\", append: true, flush_interval: 50ms}}}}\n\
             service:\n  extensions: [ack]\n  telemetry: {{metrics: {{level: none}}}}\n  \
             pipelines: {{logs: {{receivers: [splunk_hec], exporters: [file]}}}}\n",
            dir.join("events").display()
        );
        std::fs::write(dir.join("config.yaml"), config).expect("a file");
        let mut hec = Hec { dir, port, process: None };
        hec.run();
        Some(hec)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts it again, after [`Hec::stop`].
    #[track_caller]
    pub fn run(&mut self) {
        let mut command = Command::new(root().join("target/servers/hec/hec"));
        command.arg("--config").arg(format!("file:{}", self.dir.join("config.yaml").display()));
        let process = self.process.insert(Process::spawn("hec", command, None, &self.dir.join("log")));
        let port = self.port;
        process.wait_for(|| {
            let refused = TcpStream::connect(("127.0.0.1", port)).err();
            refused.map(|error| format!("the receiver to listen: {error}"))
        });
    }

    /// Ends it in order: what it has acknowledged is in its file.
    pub fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.terminate();
        }
    }

    /// The texts of the events it has written down.
    pub fn events(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.dir.join("events")).unwrap_or_default();
        let mut events = Vec::new();
        // The last line may not be whole.
        for line in text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()) {
            let records = line["resourceLogs"]
                .as_array()
                .into_iter()
                .flatten()
                .flat_map(|resource| resource["scopeLogs"].as_array().into_iter().flatten())
                .flat_map(|scope| scope["logRecords"].as_array().into_iter().flatten());
            events.extend(
                records.filter_map(|record| record["body"]["stringValue"].as_str().map(str::to_owned)),
            );
        }
        events
    }
}
