//! A real cluster of HDFS, where one was installed: Hadoop's namenode and datanodes in one process. What it
//! has is read by WebHDFS, which is Hadoop's own.

use crate::kerberos::{Kerberos, REALM};
use crate::lab::Lab;
use crate::penstock::root;
use crate::ports::free_port;
use crate::process::Process;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;

/// Why there is none; the test is skipped with it.
pub const MISSING: &str = "no HDFS, see `./x servers hdfs`";

/// A cluster that keeps its files over a kill.
pub struct Hdfs {
    dir: PathBuf,
    port: u16,
    web: u16,
    asked: u16,
    /// With Kerberos: the settings of the realm, and the file with the keys of all servers.
    realm: Option<(PathBuf, PathBuf)>,
    process: Option<Process>,
}

/// With Kerberos: who the servers are.
const SERVERS: &str = "hdfs/localhost";

fn installed() -> PathBuf {
    root().join("target/servers/hdfs")
}

/// Who started the cluster, and may do everything there.
fn user() -> String {
    let output = Command::new("id").arg("-un").output().expect("id");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

impl Hdfs {
    /// Starts one with a datanode, in a folder of the lab.
    #[track_caller]
    pub fn start(lab: &Lab) -> Option<Hdfs> {
        Hdfs::with(lab, None)
    }

    /// The same, which wants Kerberos and encrypts what goes to datanodes.
    #[track_caller]
    pub fn secured(lab: &Lab, realm: &Kerberos) -> Option<Hdfs> {
        Hdfs::with(lab, Some((realm.settings(), realm.add(SERVERS))))
    }

    #[track_caller]
    fn with(lab: &Lab, realm: Option<(PathBuf, PathBuf)>) -> Option<Hdfs> {
        installed().join("complete").exists().then_some(())?;
        let dir = lab.path("hdfs");
        std::fs::create_dir_all(&dir).expect("a folder");
        let mut cluster =
            Hdfs { dir, port: free_port(), web: free_port(), asked: free_port(), realm, process: None };
        cluster.run();
        Some(cluster)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts it again, after [`Hdfs::kill`].
    #[track_caller]
    pub fn run(&mut self) {
        let folder = installed();
        let mut command = Command::new("java");
        if let Some((settings, _)) = &self.realm {
            command.arg(format!("-Djava.security.krb5.conf={}", settings.display()));
        }
        command.args(["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"]);
        command.arg(format!("{}/lib/*", folder.display()));
        let classes = folder.join("classes.jsa");
        if classes.is_file() {
            command.arg(format!("-XX:SharedArchiveFile={}", classes.display()));
        }
        command.arg("Cluster");
        command.arg(self.dir.join("disks"));
        command.args([self.port, self.web, self.asked].map(|port| port.to_string())).arg("1");
        if let Some((_, keys)) = &self.realm {
            command.arg(format!("{SERVERS}@{REALM}")).arg(keys);
        }
        command.current_dir(&self.dir);
        let process = self.process.insert(Process::spawn("hdfs", command, None, &self.dir.join("log")));
        let asked = self.asked;
        process.wait_for(|| {
            TcpStream::connect(("127.0.0.1", asked)).err().map(|error| format!("HDFS to be there: {error}"))
        });
    }

    /// Ends all of it without a word.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.signal(rustix::process::Signal::KILL);
            process.wait_end();
        }
    }

    /// The servers' part of Hadoop's own configuration, for clients.
    #[track_caller]
    pub fn resources(&self) -> PathBuf {
        let (path, mut text) = (self.dir.join("core-site.xml"), String::from("<configuration>\n"));
        let principal = format!("{SERVERS}@{REALM}");
        for (name, value) in [
            ("hadoop.security.authentication", "kerberos"),
            ("dfs.data.transfer.protection", "privacy"),
            ("dfs.namenode.kerberos.principal", &principal),
        ] {
            text.push_str(&format!("<property><name>{name}</name><value>{value}</value></property>\n"));
        }
        std::fs::write(&path, text + "</configuration>\n").expect("a file");
        path
    }

    /// What the process of the cluster answers, as the user it is.
    #[track_caller]
    pub fn ask(&self, word: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.asked)).expect("the cluster");
        stream.write_all(format!("{word}\n").as_bytes()).expect("the cluster");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    fn web(&self, path: &str, query: &str) -> Vec<u8> {
        let url = format!("http://127.0.0.1:{}/webhdfs/v1{path}?op={query}&user.name={}", self.web, user());
        let output = Command::new("curl").args(["-sL", "--max-time", "60", &url]).output().expect("curl");
        assert!(output.status.success(), "{url}: {output:?}");
        output.stdout
    }

    /// The bytes of a file.
    #[track_caller]
    pub fn bytes(&self, path: &str) -> Vec<u8> {
        self.web(path, "OPEN")
    }

    /// The paths of all files below a folder, in their order; none where there is no such folder.
    #[track_caller]
    pub fn files(&self, folder: &str) -> Vec<String> {
        let text = self.web(folder, "LISTSTATUS");
        let answer: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
        let Some(list) = answer["FileStatuses"]["FileStatus"].as_array() else { return Vec::new() };
        let mut files = Vec::new();
        for status in list {
            let name = status["pathSuffix"].as_str().expect("a name");
            let path = format!("{}/{name}", folder.trim_end_matches('/'));
            match status["type"].as_str() {
                Some("DIRECTORY") => files.extend(self.files(&path)),
                _ => files.push(path),
            }
        }
        files
    }

    /// The lines of all files below a folder, in the order of their numbers.
    #[track_caller]
    pub fn lines(&self, folder: &str) -> Vec<String> {
        let mut files = self.files(folder);
        let number = |path: &String| path.rsplit_once('.').and_then(|(_, end)| end.parse::<u64>().ok());
        files.sort_by_key(|path| number(path).unwrap_or(0));
        let whole: Vec<u8> = files.iter().flat_map(|path| self.bytes(path)).collect();
        String::from_utf8_lossy(&whole).lines().map(str::to_owned).collect()
    }

    /// Makes a folder in which only its owner may write.
    #[track_caller]
    pub fn make_folder(&self, path: &str) {
        let (web, user) = (self.web, user());
        let url =
            format!("http://127.0.0.1:{web}/webhdfs/v1{path}?op=MKDIRS&permission=700&user.name={user}");
        let output = Command::new("curl").args(["-s", "-X", "PUT", &url]).output().expect("curl");
        assert!(String::from_utf8_lossy(&output.stdout).contains("true"), "{output:?}");
    }
}
