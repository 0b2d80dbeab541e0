//! A real receiver of SNMP's notifications, snmptrapd, where the distribution's is installed.

use crate::lab::Lab;
use crate::ports::free_port;
use crate::process::Process;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Why there is none; the test is skipped with it.
pub const MISSING: &str = "no receiver of SNMP, see `./x servers snmp`";

const PROGRAM: &str = "/usr/sbin/snmptrapd";

/// Takes communities of any name, and the users that `users` makes; keeps its engine over a kill.
pub struct Snmptrapd {
    dir: PathBuf,
    port: u16,
    process: Option<Process>,
}

impl Snmptrapd {
    /// Starts one in a folder of the lab. `users`: lines for its configuration.
    #[track_caller]
    pub fn start(lab: &Lab, users: &str) -> Option<Snmptrapd> {
        Path::new(PROGRAM).is_file().then_some(())?;
        let dir = lab.path("snmp");
        std::fs::create_dir_all(&dir).expect("a folder");
        std::fs::write(dir.join("conf"), format!("disableAuthorization yes\n{users}\n")).expect("a file");
        let mut server = Snmptrapd { dir, port: free_port(), process: None };
        server.run();
        Some(server)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts it again, after [`Snmptrapd::kill`].
    #[track_caller]
    pub fn run(&mut self) {
        let mut command = Command::new(PROGRAM);
        command.env("MIBS", "").env("SNMP_PERSISTENT_DIR", &self.dir);
        command.args(["-f", "-A", "-n", "-On", "-Oa", "-C", "-F", "got|%P|%v\\n"]);
        command.arg("-Lf").arg(self.dir.join("taken")).arg("-c").arg(self.dir.join("conf"));
        command.arg(format!("udp:127.0.0.1:{}", self.port));
        let process = self.process.insert(Process::spawn("snmptrapd", command, None, &self.dir.join("log")));
        let port = self.port;
        process.wait_for(|| {
            // A port that nobody has can be bound.
            let free = std::net::UdpSocket::bind(("127.0.0.1", port)).is_ok();
            free.then(|| "snmptrapd to listen".to_owned())
        });
    }

    /// Ends it without a word.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.signal(rustix::process::Signal::KILL);
            process.wait_end();
        }
    }

    /// Its log: a line that begins with `got|` for each notification.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.dir.join("taken")).unwrap_or_default()).into_owned()
    }

    /// The notifications: what they were sent with, and their objects, as it writes them.
    pub fn taken(&self) -> Vec<String> {
        self.log().lines().filter_map(|line| line.strip_prefix("got|")).map(str::to_owned).collect()
    }

    /// The text of the object of this name in each.
    pub fn texts(&self, name: &str) -> Vec<String> {
        let begin = format!("{name} = STRING: \"");
        let of = |line: &String| {
            let (_, behind) = line.split_once(&begin)?;
            Some(behind.split_once('"')?.0.to_owned())
        };
        self.taken().iter().filter_map(of).collect()
    }
}
