//! One Python process: started, asked, ended.

use crate::fault::Fault;
use crate::marshal::{self, Item, Reader};
use crate::persist;
use crate::program::Script;
use crate::sources::{PACKAGE, START};
use crate::templates;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use std::collections::HashMap;
use std::io::{ErrorKind, PipeWriter, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Bytes of an answer: what a class makes of a batch that is larger than this is no answer.
const ANSWER_BYTES_MAX: u32 = 256 << 20;
/// What classes may ask of the state file for one batch, or in init(); one that asks on and on is ended.
const STATE_QUESTIONS_MAX: usize = 1 << 20;
/// Buffers that were larger are given back.
const KEPT_BYTES_MAX: usize = 4 << 20;
/// How long a process has to start and to run the blocks, or python-timeout() where that is longer: on a busy
/// machine an interpreter takes seconds.
const START_MAX: Duration = Duration::from_secs(60);
/// How long a process that is told to end has for its deinit().
const FAREWELL: Duration = Duration::from_secs(5);
/// Between two looks at its memory.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// For the last words of one that is killed for its silence.
const LAST_WORDS: Duration = Duration::from_millis(200);

pub struct Child {
    process: std::process::Child,
    stream: UnixStream,
    bound: Duration,
    request: Vec<u8>,
    answer: Vec<u8>,
    /// When its memory was looked at last.
    looked: Instant,
    /// Instances that have their object there, with the version of the names it was told.
    pub known: HashMap<u64, u64>,
}

impl Child {
    /// Starts the interpreter and lets it run the blocks.
    pub fn start(program: &Script, output: &PipeWriter) -> Result<Child, Fault> {
        let python = program.interpreter();
        let cannot = |error: std::io::Error| Fault::CannotStart(format!("{}: {error}", python.display()));
        let (ours, theirs) = UnixStream::pair().map_err(cannot)?;
        let process = Command::new(&python)
            .args(["-u", "-c", START])
            .env_clear()
            .envs(program.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(output.try_clone().map_err(cannot)?))
            .stderr(Stdio::from(output.try_clone().map_err(cannot)?))
            .spawn()
            .map_err(cannot)?;
        let mut child = Child {
            process,
            stream: ours,
            bound: program.bound.max(START_MAX),
            request: Vec::new(),
            answer: Vec::new(),
            looked: Instant::now(),
            known: HashMap::new(),
        };
        child.bound_data(program.memory_max);
        let begun = child.begin(program).and_then(|()| {
            child.bound = program.bound;
            child.bind().map_err(cannot)
        });
        match begun {
            Ok(()) => Ok(child),
            Err(fault) => {
                child.kill();
                Err(fault)
            }
        }
    }

    /// An answer takes no longer than the bound.
    fn bind(&self) -> std::io::Result<()> {
        self.stream.set_read_timeout(Some(self.bound))?;
        self.stream.set_write_timeout(Some(self.bound))
    }

    fn begin(&mut self, program: &Script) -> Result<(), Fault> {
        self.bind().map_err(|error| self.failed(&error))?;
        self.ask(|out| {
            marshal::tuple(3, out);
            marshal::list(PACKAGE.len(), out);
            for (name, source) in PACKAGE {
                marshal::tuple(2, out);
                marshal::text(name, out);
                marshal::text(source, out);
            }
            marshal::int(i64::from(program.debug_level), out);
            marshal::list(program.paths.len(), out);
            program.paths.iter().for_each(|path| marshal::text(&path.to_string_lossy(), out));
        })?;
        self.call("setup", 2, |out| {
            marshal::list(program.blocks.len(), out);
            program.blocks.iter().for_each(|block| block.write(out));
            marshal::int(i64::from(program.debug_level), out);
        })?;
        Ok(())
    }

    /// Sends a request without waiting for an answer.
    pub fn ask(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), Fault> {
        let mut request = std::mem::take(&mut self.request);
        request.clear();
        request.extend_from_slice(&[0; 4]);
        write(&mut request);
        let len = u32::try_from(request.len() - 4).map_err(|_| Fault::Malformed)?;
        request[..4].copy_from_slice(&len.to_le_bytes());
        let sent = self.stream.write_all(&request);
        if request.capacity() <= KEPT_BYTES_MAX {
            self.request = request;
        }
        sent.map_err(|error| self.failed(&error))
    }

    /// Waits for the next answer. It stays in place until the next call. What a class asks of the state file,
    /// or about a template, is none.
    pub fn answer(&mut self) -> Result<&[u8], Fault> {
        for _ in 0..STATE_QUESTIONS_MAX {
            self.receive()?;
            match persist::reply(&self.answer).or_else(|| templates::reply(&self.answer)) {
                Some(reply) => self.ask(|out| out.extend_from_slice(&reply))?,
                None => return Ok(&self.answer),
            }
        }
        Err(Fault::Malformed)
    }

    fn receive(&mut self) -> Result<(), Fault> {
        let mut head = [0; 4];
        self.read(&mut head)?;
        let len = u32::from_le_bytes(head);
        if len > ANSWER_BYTES_MAX {
            return Err(Fault::Malformed);
        }
        let mut answer = std::mem::take(&mut self.answer);
        if answer.capacity() > KEPT_BYTES_MAX {
            answer = Vec::new();
        }
        answer.resize(len as usize, 0);
        let read = self.read(&mut answer);
        self.answer = answer;
        read
    }

    fn read(&mut self, into: &mut [u8]) -> Result<(), Fault> {
        self.stream.read_exact(into).map_err(|error| self.failed(&error))
    }

    /// A request beside messages, with so many arguments: its result, in the format of `marshal`.
    pub fn call(
        &mut self,
        name: &str,
        arguments: usize,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Result<Vec<u8>, Fault> {
        self.ask(|out| {
            marshal::tuple(arguments + 1, out);
            marshal::text(name, out);
            write(out);
        })?;
        let answer = self.answer()?;
        let mut reader = Reader::new(answer);
        let mut parse = || -> Result<Result<Vec<u8>, String>, marshal::Malformed> {
            let Item::Tuple(2) = reader.item()? else { return Err(marshal::Malformed) };
            match reader.text()? {
                b"ok" => Ok(Ok(reader.rest().to_vec())),
                b"error" => Ok(Err(String::from_utf8_lossy(reader.text()?).into_owned())),
                _ => Err(marshal::Malformed),
            }
        };
        match parse() {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(trace)) => Err(Fault::Refused(trace)),
            Err(_) => Err(Fault::Malformed),
        }
    }

    pub fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// What became of a process that has closed its connection.
    pub fn ended(&mut self, error: &std::io::Error) -> Fault {
        self.failed(error)
    }

    /// What became of the process when it could not be spoken to.
    fn failed(&mut self, error: &std::io::Error) -> Fault {
        if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) {
            self.signal(Signal::USR1);
            // The process says where it is, to the pipe that another thread reads.
            std::thread::sleep(LAST_WORDS);
            return Fault::Silent(self.bound);
        }
        let until = Instant::now() + LAST_WORDS;
        loop {
            match self.process.try_wait() {
                Ok(Some(status)) => {
                    return Fault::Ended(match (status.signal(), status.code()) {
                        (Some(signal), _) => format!("by signal {signal}"),
                        (None, code) => format!("with exit status {}", code.unwrap_or_default()),
                    });
                }
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
                _ => return Fault::Ended(error.to_string()),
            }
        }
    }

    /// One batch that takes twice what a process may have gets no more.
    fn bound_data(&self, memory_max: u64) {
        if memory_max > 0
            && let Some(pid) = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw)
        {
            let most = Some(memory_max.saturating_mul(2));
            // It may have ended already, which its first answer tells.
            let _ = prlimit(Some(pid), Resource::Data, Rlimit { current: most, maximum: most });
        }
    }

    /// Bytes of memory that it has, looked at now and then: `None` when it was not looked at.
    pub fn memory(&mut self) -> Option<u64> {
        if self.looked.elapsed() < LOOK_EVERY {
            return None;
        }
        self.looked = Instant::now();
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kilobytes * 1024)
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw) {
            // It may have ended on its own.
            let _ = kill_process(pid, signal);
        }
    }

    pub fn kill(mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Lets all run their deinit() and end; those that do not are killed.
    pub fn end_all(children: Vec<Child>) {
        let mut processes: Vec<_> = children.into_iter().map(|Child { process, .. }| process).collect();
        let until = Instant::now() + FAREWELL;
        while !processes.is_empty() && Instant::now() < until {
            processes.retain_mut(|process| matches!(process.try_wait(), Ok(None)));
            if !processes.is_empty() {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        for mut process in processes {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}
