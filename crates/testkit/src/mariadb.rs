//! A real MariaDB server, where the distribution's is installed, and what its own client reads from it.

use crate::lab::Lab;
use crate::ports::free_port;
use crate::postgres::{open_to_all, run, unprivileged};
use crate::process::Process;
use rustix::process::Signal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Why there is no server; the test is skipped with it.
pub const MISSING: &str = "no MariaDB server, see `./x servers mariadb`";

/// A server with a database `logs`, in which the user `log` with the password `secret` may do everything.
pub struct Mariadb {
    dir: PathBuf,
    port: u16,
    options: Vec<String>,
    process: Option<Process>,
}

/// Where distributions put the server, which need not be on the path of users.
fn program() -> Option<PathBuf> {
    ["/usr/sbin/mariadbd", "/usr/bin/mariadbd", "/usr/libexec/mariadbd"]
        .into_iter()
        .map(PathBuf::from)
        .find(|path| path.is_file())
}

impl Mariadb {
    /// Starts a server in a folder of the lab and waits until it serves; `None` when there is none.
    /// `certificate`: files with a certificate and its key (PEM), for connections with TLS.
    #[track_caller]
    pub fn start(lab: &Lab, certificate: Option<(&Path, &Path)>) -> Option<Mariadb> {
        program()?;
        let dir = lab.path("mariadb");
        open_to_all(lab, &dir);
        let mut init = unprivileged("mariadb-install-db");
        init.args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]);
        // Its temporary tables have names that another one's have too.
        init.arg(format!("--tmpdir={}", dir.display()));
        run(init.arg(format!("--datadir={}", dir.join("data").display())).current_dir("/"));
        let mut options = Vec::new();
        if let Some((cert, key)) = certificate {
            for (from, name) in [(cert, "cert.pem"), (key, "key.pem")] {
                std::fs::copy(from, dir.join(name)).expect("copied");
                std::fs::set_permissions(dir.join(name), std::os::unix::fs::PermissionsExt::from_mode(0o644))
                    .expect("a mode");
            }
            options.push(format!("--ssl-cert={}", dir.join("cert.pem").display()));
            options.push(format!("--ssl-key={}", dir.join("key.pem").display()));
        }
        let mut server = Mariadb { dir, port: free_port(), options, process: None };
        server.run();
        server.ask(
            "",
            "CREATE DATABASE logs CHARACTER SET utf8mb4; CREATE USER log@'127.0.0.1' IDENTIFIED BY 'secret'; \
                        GRANT ALL ON logs.* TO log@'127.0.0.1'",
        );
        Some(server)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts it again, after [`Mariadb::kill`].
    #[track_caller]
    pub fn run(&mut self) {
        let mut command = unprivileged(program().expect("it was there"));
        command.args(["--no-defaults", "--bind-address=127.0.0.1", "--innodb-flush-log-at-trx-commit=2"]);
        command.args(["--innodb-buffer-pool-size=32M", "--innodb-log-file-size=16M", "--skip-name-resolve"]);
        command.arg(format!("--datadir={}", self.dir.join("data").display()));
        command.arg(format!("--socket={}", self.socket().display())).arg(format!("--port={}", self.port));
        command.arg(format!("--pid-file={}", self.dir.join("pid").display())).args(&self.options);
        let process = Process::spawn("mariadbd", command, None, &self.dir.with_extension("log"));
        let socket = self.socket();
        self.process.insert(process).wait_for(|| {
            let mut ask = client(&socket);
            let ready = ask.args(["-e", "SELECT 1"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
            (!ready.is_ok_and(|status| status.success())).then(|| "the server to be ready".to_owned())
        });
    }

    /// Its socket, by which root comes in without a password.
    pub fn socket(&self) -> PathBuf {
        self.dir.join("socket")
    }

    /// Ends it without a word: what was not committed is gone, and its next start recovers.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.signal(Signal::KILL);
            process.wait_end();
        }
    }

    /// What a statement in the database `logs` says, line by line, columns divided by tabs.
    #[track_caller]
    pub fn query(&self, statement: &str) -> Vec<String> {
        self.ask("logs", statement)
    }

    #[track_caller]
    fn ask(&self, database: &str, statement: &str) -> Vec<String> {
        let mut command = client(&self.socket());
        command.args(["--raw", "-e", statement, "-D", database]);
        run(&mut command).lines().map(str::to_owned).collect()
    }
}

fn client(socket: &Path) -> Command {
    let mut command = Command::new("mariadb");
    command
        .args(["--no-defaults", "-N", "-B", "-u", "root", "--default-character-set=utf8mb4", "-S"])
        .arg(socket);
    command
}
