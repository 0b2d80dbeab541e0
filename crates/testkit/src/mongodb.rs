//! An in-memory server that speaks MongoDB's protocol, when `scripts/servers mongodb` has put it there,
//! and what MongoDB's client for Python reads from it.

use crate::lab::Lab;
use crate::penstock::root;
use crate::ports::free_port;
use crate::process::Process;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Why there is none; the test is skipped with it.
pub const MISSING: &str = "no server for MongoDB's protocol, see `./x servers mongodb`";

/// What it has is gone when it ends.
pub struct Mongodb {
    dir: PathBuf,
    port: u16,
    tls: Option<(PathBuf, PathBuf)>,
    process: Option<Process>,
}

fn folder() -> PathBuf {
    root().join("target/servers/mongodb")
}

impl Mongodb {
    /// Starts a server. `tls`: files with a key and its certificate (PEM).
    #[track_caller]
    pub fn start(lab: &Lab, tls: Option<(&Path, &Path)>) -> Option<Mongodb> {
        folder().join("complete").is_file().then_some(())?;
        let tls = tls.map(|(key, certificate)| (key.to_owned(), certificate.to_owned()));
        let mut server = Mongodb { dir: lab.dir().to_owned(), port: free_port(), tls, process: None };
        server.run();
        Some(server)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts it again, after [`Mongodb::kill`], with nothing in it.
    #[track_caller]
    pub fn run(&mut self) {
        let mut command = Command::new("java");
        let folder = folder();
        command.args(["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"]);
        command.arg(format!("{}:{}/lib/*", folder.display(), folder.display()));
        command.args(["Server", &self.port.to_string()]);
        if let Some((key, certificate)) = &self.tls {
            command.arg(key).arg(certificate);
        }
        let process =
            self.process.insert(Process::spawn("mongodb", command, None, &self.dir.join("mongodb.log")));
        let port = self.port;
        process.wait_for(|| {
            let error = TcpStream::connect(("127.0.0.1", port)).err();
            error.map(|error| format!("the server to listen: {error}"))
        });
    }

    /// Ends it without a word.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.signal(rustix::process::Signal::KILL);
            process.wait_end();
        }
    }

    /// What a few lines of Python print, in which `db` is the database `logs`.
    #[track_caller]
    pub fn ask(&self, script: &str) -> Vec<String> {
        let options = if self.tls.is_some() { "?tls=true&tlsInsecure=true" } else { "" };
        let script = format!(
            "import pymongo\ndb = pymongo.MongoClient('mongodb://127.0.0.1:{}/logs{options}').logs\n{script}\n",
            self.port
        );
        let mut command = Command::new(folder().join("python/bin/python"));
        let output = command.args(["-c", &script]).output().expect("Python");
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
    }

    /// A value of each document of a collection, in the order in which they were put there.
    #[track_caller]
    pub fn values(&self, collection: &str, name: &str) -> Vec<String> {
        self.ask(&format!("for d in db['{collection}'].find().sort('$natural', 1): print(d['{name}'])"))
    }
}
