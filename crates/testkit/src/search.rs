//! Real search engines, where they were installed: OpenSearch, and Elasticsearch with what it makes of itself
//! at its first start, TLS and users. What they have is read with curl.

use crate::lab::Lab;
use crate::penstock::root;
use crate::ports::free_port;
use crate::postgres::run;
use crate::process::Process;
use rustix::process::{Signal, geteuid};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// Why there is none; the test is skipped with it.
pub const MISSING: &str = "no search engine, see `./x servers opensearch elasticsearch`";

pub const USER: &str = "log";
pub const PASSWORD: &str = "logsecret";

/// They need half a minute on a machine that does nothing else.
const PATIENCE: Duration = Duration::from_secs(300);
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// The largest request they take here; theirs is 100 MB.
pub const REQUEST_BYTES_MAX: usize = 1 << 20;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    OpenSearch,
    Elasticsearch,
}

impl Engine {
    fn name(self) -> &'static str {
        match self {
            Engine::OpenSearch => "opensearch",
            Engine::Elasticsearch => "elasticsearch",
        }
    }

    fn installed(self) -> PathBuf {
        root().join("target/servers").join(self.name())
    }
}

/// Documents in one answer; the engines give 10,000 at most.
const PAGE: usize = 10_000;

/// A document as the engine has it.
pub struct Document {
    pub id: String,
    /// When it was put last: a number that grows with each that is put into its shard.
    pub sequence: u64,
    /// How often it was put.
    pub version: u64,
    pub source: Value,
}

/// A server that keeps its documents over a kill.
pub struct Search {
    engine: Engine,
    dir: PathBuf,
    port: u16,
    process: Option<Process>,
}

impl Search {
    /// Starts one in a folder of the lab.
    #[track_caller]
    pub fn start(lab: &Lab, engine: Engine) -> Option<Search> {
        engine.installed().join("complete").exists().then_some(())?;
        let dir = lab.path(engine.name());
        for folder in ["data", "logs", "tmp"] {
            std::fs::create_dir_all(dir.join(folder)).expect("a folder");
        }
        run(Command::new("cp").arg("-r").arg(engine.installed().join("home/config")).arg(&dir));
        let (port, between) = (free_port(), free_port());
        let config = format!(
            "discovery.type: single-node\nhttp.port: {port}\ntransport.port: {between}\nnetwork.host: 127.0.0.1\n\
             path.data: {dir}/data\npath.logs: {dir}/logs\nhttp.max_content_length: {REQUEST_BYTES_MAX}b\n\
             cluster.routing.allocation.disk.threshold_enabled: false\n",
            dir = dir.display()
        );
        std::fs::write(dir.join("config").join(format!("{}.yml", engine.name())), config).expect("a file");
        let mut search = Search { engine, dir, port, process: None };
        if engine == Engine::Elasticsearch {
            run(search.program("elasticsearch-users").args([
                "useradd",
                USER,
                "-p",
                PASSWORD,
                "-r",
                "superuser",
            ]));
        }
        search.run();
        Some(search)
    }

    /// One of its programs. None of them works for root.
    fn program(&self, name: &str) -> Command {
        let path = self.engine.installed().join("home/bin").join(name);
        let mut command = match geteuid().is_root() {
            false => Command::new(path),
            true => {
                let mut command = Command::new("unshare");
                command.args(["--user", "--map-user=1000", "--map-group=1000"]).arg(path);
                command
            }
        };
        let java = std::fs::read_to_string(self.engine.installed().join("java")).expect("a file");
        for prefix in ["ES", "OPENSEARCH"] {
            command.env(format!("{prefix}_JAVA_HOME"), java.trim());
            command.env(format!("{prefix}_PATH_CONF"), self.dir.join("config"));
            command.env(format!("{prefix}_TMPDIR"), self.dir.join("tmp"));
            command.env(format!("{prefix}_JAVA_OPTS"), "-Xms512m -Xmx512m -XX:TieredStopAtLevel=1");
        }
        command
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// `https://localhost:9200`
    pub fn url(&self) -> String {
        let scheme = if self.engine == Engine::Elasticsearch { "https" } else { "http" };
        format!("{scheme}://localhost:{}", self.port)
    }

    /// The certificate of the authority that has signed its own.
    pub fn authority(&self) -> PathBuf {
        self.dir.join("config/certs/http_ca.crt")
    }

    /// Starts it again, after [`Search::kill`].
    #[track_caller]
    pub fn run(&mut self) {
        let command = self.program(self.engine.name());
        let process = Process::spawn(self.engine.name(), command, None, &self.dir.join("log"));
        self.process = Some(process);
        let began = Instant::now();
        while self.asked("GET", "/_cluster/health", None).is_none() {
            let process = self.process.as_mut().expect("started");
            let status = process.ended();
            assert!(status.is_none() && began.elapsed() < PATIENCE, "{status:?}\n{}", process.log());
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// Ends it without a word.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.signal(Signal::KILL);
            process.wait_end();
        }
    }

    fn asked(&self, method: &str, path: &str, body: Option<&str>) -> Option<Value> {
        let mut command = Command::new("curl");
        command.args(["-s", "-k", "--fail-with-body", "--max-time", "60", "-X", method]);
        if self.engine == Engine::Elasticsearch {
            command.args(["-u", &format!("{USER}:{PASSWORD}")]);
        }
        if let Some(body) = body {
            command.args(["-H", "Content-Type: application/json", "-d", body]);
        }
        let output = command.arg(format!("{}{path}", self.url())).output().expect("curl");
        output.status.success().then(|| serde_json::from_slice(&output.stdout).unwrap_or_default())
    }

    /// Its answer to a request.
    #[track_caller]
    pub fn ask(&self, method: &str, path: &str, body: Option<&str>) -> Value {
        self.asked(method, path, body).unwrap_or_else(|| panic!("{method} {path} {body:?}"))
    }

    /// The documents of an index that were stored by now, the ids with them.
    #[track_caller]
    pub fn documents(&self, index: &str) -> Vec<(String, Value)> {
        self.ask("POST", &format!("/{index}/_refresh"), None);
        // As many as one answer may have.
        let found = self.ask("GET", &format!("/{index}/_search?size={PAGE}"), None);
        let hits = found["hits"]["hits"].as_array().cloned().unwrap_or_default();
        hits.into_iter()
            .map(|mut hit| (hit["_id"].as_str().unwrap_or_default().to_owned(), hit["_source"].take()))
            .collect()
    }

    /// The same however many there are, with these members of each, in no order.
    #[track_caller]
    pub fn all_documents(&self, index: &str, members: &[&str]) -> Vec<Document> {
        self.ask("POST", &format!("/{index}/_refresh"), None);
        let asked = json!({
            "size": PAGE, "sort": ["_doc"], "seq_no_primary_term": true, "version": true, "_source": members,
        });
        let mut page = self.ask("POST", &format!("/{index}/_search?scroll=5m"), Some(&asked.to_string()));
        let mut documents = Vec::new();
        loop {
            let next = json!({ "scroll": "5m", "scroll_id": page["_scroll_id"] });
            let Some(hits) = page["hits"]["hits"].as_array_mut().filter(|hits| !hits.is_empty()) else {
                return documents;
            };
            documents.extend(hits.iter_mut().map(|hit| Document {
                id: hit["_id"].as_str().expect("an id").to_owned(),
                sequence: hit["_seq_no"].as_u64().expect("a number"),
                version: hit["_version"].as_u64().expect("a number"),
                source: hit["_source"].take(),
            }));
            page = self.ask("POST", "/_search/scroll", Some(&next.to_string()));
        }
    }

    /// How many documents an index has by now.
    #[track_caller]
    pub fn count(&self, index: &str) -> u64 {
        self.ask("POST", &format!("/{index}/_refresh"), None);
        self.ask("GET", &format!("/{index}/_count"), None)["count"].as_u64().expect("a number")
    }
}
