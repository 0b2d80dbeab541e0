//! A running receiver or sink: started with its output kept, watched through /proc, ended for certain.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Spawn, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::friction::Friction;
use crate::receiver::Command;
use stdio::CommandError;

const START_MAX: Duration = Duration::from_secs(20);
const STOP_MAX: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(5);
/// How much of the process's own words an error quotes.
const QUOTED_BYTES: usize = 600;

pub struct Process {
    child: Child,
    log: PathBuf,
}

/// CPU time and memory of a process and its children.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    pub cpu_ns: u64,
    /// Resident now and at the most, in bytes.
    pub rss: u64,
    pub rss_peak: u64,
    /// Bytes that went, or are to go, to disks.
    pub written: u64,
    /// As far as the kernel counts it.
    pub friction: Friction,
}

impl Usage {
    /// Of two together.
    pub fn and(self, other: Usage) -> Usage {
        Usage {
            cpu_ns: self.cpu_ns + other.cpu_ns,
            rss: self.rss + other.rss,
            rss_peak: self.rss_peak + other.rss_peak,
            written: self.written + other.written,
            friction: self.friction.and(other.friction),
        }
    }
}

impl Process {
    /// Starts `command` with both outputs going to `log`.
    pub fn start(command: &Command, log: PathBuf) -> Result<Process, CommandError> {
        let failed = |e: std::io::Error| format!("cannot start {}: {e}", command.program.display());
        let out = File::create(&log).map_err(failed)?;
        let err = out.try_clone().map_err(failed)?;
        let mut spawn = Spawn::new(&command.program);
        spawn.args(&command.args).stdin(Stdio::null()).stdout(out).stderr(err);
        Ok(Process { child: spawn.spawn().map_err(failed)?, log })
    }

    /// Waits until somebody listens on `port`; an error when the process ends or takes too long.
    pub fn wait_listening(&mut self, port: u16, udp: bool) -> Result<(), CommandError> {
        self.wait_until("listen", || is_bound(port, udp))
    }

    /// Waits until the program takes questions at its control socket, which it opens after its sources.
    pub fn wait_answering(&mut self, control: &Path) -> Result<(), CommandError> {
        self.wait_until("answer", || std::os::unix::net::UnixStream::connect(control).is_ok())
    }

    fn wait_until(&mut self, what: &str, is_so: impl Fn() -> bool) -> Result<(), CommandError> {
        let until = Instant::now() + START_MAX;
        while !is_so() {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(format!("ended with {status} before it did {what}: {}", self.words()).into());
            }
            if Instant::now() >= until {
                return Err(
                    format!("did not {what} within {} s: {}", START_MAX.as_secs(), self.words()).into()
                );
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Whether it still runs.
    pub fn alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    pub fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        for pid in family(self.child.id()) {
            usage.cpu_ns += cpu_ns(pid);
            let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            usage.rss += kilobytes(&status, "VmRSS:") * 1024;
            usage.rss_peak += kilobytes(&status, "VmHWM:") * 1024;
            let io = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
            let count = |name| kilobytes(&io, name);
            usage.written += count("write_bytes:");
            let (reads, writes, bytes) = (count("syscr:"), count("syscw:"), count("wchar:"));
            let friction = Friction { calls: reads + writes, writes, bytes, ..Friction::default() };
            usage.friction = usage.friction.and(friction);
        }
        usage
    }

    /// CPU time of its living threads with such a name.
    pub fn threads_ns(&self, is_meant: impl Fn(&str) -> bool) -> u64 {
        let name = |task: &Path| fs::read_to_string(task.join("comm")).unwrap_or_default();
        let tasks = tasks(self.child.id());
        tasks.iter().filter(|task| is_meant(name(task).trim())).map(|task| schedstat_ns(task)).sum()
    }

    pub fn signal(&self, signal: Signal) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // It may be gone already.
            let _ = rustix::process::kill_process(pid, signal);
        }
    }

    /// Asks it to end, then makes it end.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.signal(Signal::TERM);
        let until = Instant::now() + STOP_MAX;
        while self.alive() && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// The end of what the process has printed.
    pub fn words(&self) -> String {
        let text = fs::read(&self.log).unwrap_or_default();
        let from = text.len().saturating_sub(QUOTED_BYTES);
        let text = String::from_utf8_lossy(&text[from..]).trim().replace('\n', " | ");
        if text.is_empty() { "(it printed nothing)".into() } else { text }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.alive() {
            self.signal(Signal::CONT);
            self.end();
        }
    }
}

/// The process and its descendants.
fn family(pid: u32) -> Vec<u32> {
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(&pid) = found.get(next) {
        next += 1;
        for task in tasks(pid) {
            let children = fs::read_to_string(task.join("children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
    }
    found
}

fn tasks(pid: u32) -> Vec<PathBuf> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// CPU time of all threads of a process, without its children that live. The scheduler's nanoseconds cover
/// living threads only, the clock ticks all that ever were: the larger of the two is right in both cases.
pub fn cpu_ns(pid: u32) -> u64 {
    let exact: u64 = tasks(pid).iter().map(|task| schedstat_ns(task)).sum();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
    exact.max(stat_ticks(&stat) * tick_ns)
}

fn schedstat_ns(task: &Path) -> u64 {
    let text = fs::read_to_string(task.join("schedstat")).unwrap_or_default();
    text.split_whitespace().next().and_then(|ns| ns.parse().ok()).unwrap_or(0)
}

/// utime, stime and those of waited-for children: fields 14 to 17 of /proc/PID/stat.
fn stat_ticks(stat: &str) -> u64 {
    // The second field is a name in brackets that may hold anything.
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    rest.split_whitespace().skip(11).take(4).filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}

fn kilobytes(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("");
    line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Looks into the kernel's tables instead of connecting, which a receiver would count as a connection.
fn is_bound(port: u16, udp: bool) -> bool {
    let names = if udp { ["udp", "udp6"] } else { ["tcp", "tcp6"] };
    names.iter().any(|name| {
        let table = fs::read_to_string(format!("/proc/net/{name}")).unwrap_or_default();
        table.lines().skip(1).any(|line| is_listener(line, port, udp))
    })
}

fn is_listener(line: &str, port: u16, udp: bool) -> bool {
    let mut fields = line.split_whitespace().skip(1);
    let (Some(local), Some(_), Some(state)) = (fields.next(), fields.next(), fields.next()) else {
        return false;
    };
    let bound = local.rsplit_once(':').and_then(|(_, port)| u16::from_str_radix(port, 16).ok());
    // 0A is LISTEN.
    bound == Some(port) && (udp || state == "0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_found_behind_any_name() {
        let stat = "123 (a ) b) S 1 2 3 4 5 6 7 8 9 10 100 20 3 4 20 0 1 0 99";
        assert_eq!(stat_ticks(stat), 127);
        assert_eq!(stat_ticks(""), 0);
    }

    #[test]
    fn memory_lines() {
        let status = "Name:\tx\nVmHWM:\t    5120 kB\nVmRSS:\t    4096 kB\n";
        assert_eq!(
            (kilobytes(status, "VmHWM:"), kilobytes(status, "VmRSS:"), kilobytes(status, "VmSwap:")),
            (5120, 4096, 0)
        );
    }

    #[test]
    fn listeners_are_seen() {
        let line =
            "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12 1";
        assert!(is_listener(line, 8080, false));
        assert!(!is_listener(line, 8081, false));
        assert!(!is_listener(&line.replace(" 0A ", " 01 "), 8080, false));
        assert!(is_listener(&line.replace(" 0A ", " 07 "), 8080, true));
    }

    #[test]
    fn own_usage_is_there() {
        assert!(cpu_ns(std::process::id()) > 0);
    }
}
