//! Servers in Python, in this repository's `scripts/`, on others' libraries that `scripts/servers` has
//! installed. They write down what they take as lines of JSON before they answer.

use crate::lab::Lab;
use crate::penstock::root;
use crate::ports::free_port;
use crate::process::Process;
use serde_json::Value;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Scripted {
    name: &'static str,
    dir: PathBuf,
    port: u16,
    options: Vec<String>,
    process: Option<Process>,
}

impl Scripted {
    /// Starts `scripts/NAME/server.py` in a folder of the lab, where its libraries are. `options`: more of
    /// its command line.
    #[track_caller]
    pub fn start(lab: &Lab, name: &'static str, options: &[&str]) -> Option<Scripted> {
        python(name)?;
        let dir = lab.path(name);
        std::fs::create_dir_all(&dir).expect("a folder");
        let options = options.iter().map(|word| (*word).to_owned()).collect();
        let mut server = Scripted { name, dir, port: free_port(), options, process: None };
        server.run();
        Some(server)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The file that it writes to; one beside it may be a sign for it.
    pub fn file(&self, ending: &str) -> PathBuf {
        self.dir.join(format!("taken{ending}"))
    }

    /// Starts it again, after [`Scripted::kill`].
    #[track_caller]
    pub fn run(&mut self) {
        let mut command = Command::new(python(self.name).expect("it was there"));
        command.arg(root().join("scripts").join(self.name).join("server.py"));
        command.arg(self.port.to_string()).arg(self.file("")).args(&self.options);
        let log = self.dir.join("log");
        let _ = std::fs::remove_file(&log);
        end_last_line(&self.file(""));
        self.process.insert(Process::spawn(self.name, command, None, &log)).wait_log("ready");
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
        change(&mut self.options, option, word);
    }

    /// What it took, in its order. A line that is not whole was not answered.
    pub fn taken(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.file("")).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// One text of each.
    pub fn texts(&self, name: &str) -> Vec<String> {
        self.taken().iter().map(|one| one[name].as_str().unwrap_or_default().trim_end().to_owned()).collect()
    }
}

/// A kill may have cut the last line that a server wrote: what it writes next is a line of its own.
pub(crate) fn end_last_line(file: &Path) {
    let text = std::fs::read(file).unwrap_or_default();
    if text.last().is_some_and(|last| *last != b'\n') {
        let mut file = OpenOptions::new().append(true).open(file).expect("the file of a server");
        file.write_all(b"\n").expect("a line end");
    }
}

/// Gives an option another word.
pub(crate) fn change(options: &mut [String], option: &str, word: &str) {
    let at = options.iter().position(|word| word == option);
    if let Some(value) = at.and_then(|at| options.get_mut(at + 1)) {
        word.clone_into(value);
    }
}

/// The interpreter with a server's libraries. That of `http` needs none.
fn python(name: &str) -> Option<PathBuf> {
    if name == "http" {
        let said = Command::new("python3").arg("--version").output();
        return said.is_ok_and(|output| output.status.success()).then(|| "python3".into());
    }
    let folder = root().join("target/servers").join(name);
    folder.join("complete").is_file().then(|| folder.join("python/bin/python"))
}
