//! A real PostgreSQL server, where the distribution's is installed, and what its own client reads from it.

use crate::lab::Lab;
use crate::ports::free_port;
use crate::process::Process;
use rustix::process::{Signal, geteuid};
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Why there is no server; the test is skipped with it.
pub const MISSING: &str = "no PostgreSQL server, see `./x servers postgresql`";

/// Where distributions put its programs.
const FOLDERS: &str = "/usr/lib/postgresql";

/// A server with a database `logs`, in which the user `log` with the password `secret` may do everything.
pub struct Postgres {
    dir: PathBuf,
    port: u16,
    process: Option<Process>,
}

/// The folder with the programs of the newest version.
fn programs() -> Option<PathBuf> {
    let folders = std::fs::read_dir(FOLDERS).ok()?.flatten().map(|entry| entry.path().join("bin"));
    let mut versions: Vec<PathBuf> = folders.filter(|folder| folder.join("initdb").is_file()).collect();
    versions.sort();
    versions.pop()
}

/// A program of the server, which refuses to run as root.
pub(crate) fn unprivileged(program: impl AsRef<OsStr>) -> Command {
    if !geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]).arg(program);
    command
}

/// Makes a folder of the lab in which such a program may write.
pub(crate) fn open_to_all(lab: &Lab, dir: &Path) {
    std::fs::create_dir(dir).expect("a folder");
    // Who the server runs as has to get there.
    std::fs::set_permissions(lab.dir(), PermissionsExt::from_mode(0o711)).expect("a mode");
    std::fs::set_permissions(dir, PermissionsExt::from_mode(0o777)).expect("a mode");
}

#[track_caller]
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

impl Postgres {
    /// Starts a server in a folder of the lab and waits until it serves; `None` when there is none.
    /// `certificate`: files with a certificate and its key (PEM), for connections with TLS.
    #[track_caller]
    pub fn start(lab: &Lab, certificate: Option<(&Path, &Path)>) -> Option<Postgres> {
        let programs = programs()?;
        let dir = lab.path("postgres");
        open_to_all(lab, &dir);
        let data = dir.join("data");
        let mut init = unprivileged(programs.join("initdb"));
        run(init
            .args(["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "-N", "-D"])
            .arg(&data));
        let tls = match certificate {
            None => String::new(),
            Some((cert, key)) => {
                for (from, name) in [(cert, "server.crt"), (key, "server.key")] {
                    // Written by who reads it: nobody else may.
                    let text = std::fs::read_to_string(from).expect("a file");
                    let script = format!("umask 077; printf %s '{text}' > '{}'", data.join(name).display());
                    run(unprivileged("/bin/sh").args(["-c", &script]));
                }
                "ssl = on\n".to_owned()
            }
        };
        let access = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
        let more = format!(
            "cat >> '{0}/postgresql.conf' <<'END'\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '{1}'\n\
             fsync = off\nmax_connections = 20\nshared_buffers = 16MB\n{tls}END\nprintf '{access}' > '{0}/pg_hba.conf'",
            data.display(),
            dir.display()
        );
        run(unprivileged("/bin/sh").args(["-c", &more]));
        let mut server = Postgres { dir, port: free_port(), process: None };
        server.run();
        server.query_in("postgres", "CREATE ROLE log LOGIN PASSWORD 'secret'");
        server.query_in("postgres", "CREATE DATABASE logs OWNER log");
        Some(server)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder with its socket.
    pub fn socket(&self) -> &Path {
        &self.dir
    }

    /// Starts it again, after [`Postgres::kill`].
    #[track_caller]
    pub fn run(&mut self) {
        let programs = programs().expect("it was there");
        let mut command = unprivileged(programs.join("postgres"));
        command.arg("-D").arg(self.dir.join("data")).args(["-p", &self.port.to_string()]);
        let process = Process::spawn("postgres", command, None, &self.dir.with_extension("log"));
        let (dir, port) = (self.dir.clone(), self.port);
        self.process.insert(process).wait_for(|| {
            let mut ask = Command::new(programs.join("pg_isready"));
            let ready = ask.arg("-q").arg("-h").arg(&dir).args(["-p", &port.to_string()]).status();
            (!ready.is_ok_and(|status| status.success())).then(|| "the server to be ready".to_owned())
        });
    }

    /// Ends it without a word: what was not committed is gone, and its next start recovers.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.signal(Signal::QUIT);
            process.wait_end();
        }
    }

    /// What a statement in the database `logs` says, line by line, columns divided by `|`.
    #[track_caller]
    pub fn query(&self, statement: &str) -> Vec<String> {
        self.query_in("logs", statement)
    }

    #[track_caller]
    fn query_in(&self, database: &str, statement: &str) -> Vec<String> {
        let mut command = Command::new("psql");
        command.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-d", database]);
        command.arg("-h").arg(&self.dir).args(["-p", &self.port.to_string(), "-c", statement]);
        run(&mut command).lines().map(str::to_owned).collect()
    }

    /// Rows of a table; 0 while there is no such table.
    #[track_caller]
    pub fn count(&self, table: &str) -> usize {
        let there = self.query(&format!("SELECT to_regclass('{table}') IS NOT NULL"));
        if there != ["t"] {
            return 0;
        }
        self.query(&format!("SELECT count(*) FROM {table}")).concat().parse().expect("a number")
    }
}
