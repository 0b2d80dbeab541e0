//! The load generator in a process of its own, so that its CPU is not the receiver's.

use std::ffi::OsString;
use std::io::Read;
use std::process::{Child, Command as Spawn, Stdio};
use std::time::{Duration, Instant};

use crate::cases::{Case, Feed};
use crate::receiver::OwnProgram;
use loggen::message::Body;
use stdio::CommandError;

const LOOK: Duration = Duration::from_millis(2);

pub struct Sender {
    child: Child,
}

/// The arguments of `loggen` for `case`.
pub fn arguments(case: &Case, port: u16, messages: u64) -> Vec<OsString> {
    let input = &case.input;
    let mut words: Vec<String> = ["--inet", "--stamp", "--quiet"].map(String::from).to_vec();
    words.push(format!("--body={}", body(input.body)));
    words.push(format!("--size={}", input.size));
    words.push(format!("--hosts={}", input.hosts));
    words.push(format!("--active-connections={}", input.connections));
    words.push(format!("--total={messages}"));
    match input.feed {
        Feed::Tcp | Feed::Prepared => words.push("--perf".into()),
        Feed::Paced { per_second } => words.push(format!("--rate={per_second}")),
        Feed::Udp { per_second, .. } => {
            words.push(format!("--rate={}", f64::from(per_second) / input.connections as f64));
        }
        // Nobody sends.
        Feed::Files(_) => {}
    }
    words.push(if case.is_udp() { "--dgram" } else { "--stream" }.into());
    if input.ietf {
        words.push("--syslog-proto".into());
    }
    if input.secure {
        words.push("--use-ssl".into());
    }
    words.extend(["127.0.0.1".into(), port.to_string()]);
    words.into_iter().map(OsString::from).collect()
}

/// The same for a load that lasts so many seconds, of messages of 400 bytes over TCP: so many a second, or as
/// fast as they are taken.
pub fn lasting(port: u16, connections: u32, seconds: u64, rate: Option<u32>) -> Vec<OsString> {
    let mut words: Vec<String> =
        ["--inet", "--stream", "--stamp", "--quiet", "--body=text", "--size=400"].map(String::from).to_vec();
    words.push(format!("--active-connections={connections}"));
    words.push(format!("--interval={seconds}"));
    words.push(rate.map_or("--perf".into(), |rate| format!("--rate={rate}")));
    words.extend(["127.0.0.1".into(), port.to_string()]);
    words.into_iter().map(OsString::from).collect()
}

/// `--body`.
fn body(body: Body) -> &'static str {
    match body {
        Body::Padd => "padd",
        Body::Text => "text",
        Body::Kv => "kv",
        Body::Json => "json",
        Body::Csv => "csv",
        Body::Xml => "xml",
        Body::Events => "events",
        Body::Devices => "devices",
    }
}

impl Sender {
    pub fn start(case: &Case, port: u16, messages: u64) -> Result<Sender, CommandError> {
        Sender::spawn(arguments(case, port, messages))
    }

    /// With arguments of `loggen`.
    pub fn spawn(arguments: Vec<OsString>) -> Result<Sender, CommandError> {
        let mut words: Vec<OsString> = vec!["load".into()];
        words.extend(arguments);
        let command = OwnProgram::here()?.command(words);
        let mut spawn = Spawn::new(&command.program);
        spawn.args(&command.args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        Ok(Sender { child: spawn.spawn().map_err(|e| format!("cannot start the sender: {e}"))? })
    }

    /// Waits until everything is sent or `limit` has passed; false for the latter.
    pub fn wait(&mut self, limit: Duration) -> bool {
        let until = Instant::now() + limit;
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() >= until {
                return false;
            }
            std::thread::sleep(LOOK);
        }
        true
    }

    pub fn running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// How many messages were sent, after the end.
    pub fn sent(mut self) -> Result<u64, CommandError> {
        let mut words = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            let _ = stderr.read_to_string(&mut words);
        }
        Ok(count_in(&words)
            .ok_or_else(|| format!("the sender failed: {}", words.trim().replace('\n', " | ")))?)
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The count of loggen's closing line.
fn count_in(words: &str) -> Option<u64> {
    let (_, rest) = words.rsplit_once("count=")?;
    rest.split(',').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::CASES;

    #[test]
    fn the_closing_line_is_read() {
        let words = "warning: x\naverage rate = 6.00 msg/sec, count=300, time=0.5, (average) msg size=256, bandwidth=1.50 kB/sec\n";
        assert_eq!(count_in(words), Some(300));
        assert_eq!(count_in("Total runtime = 0.5, count = 0"), None);
    }

    #[test]
    fn arguments_follow_the_case() {
        let words = |name: &str| {
            let case = CASES.iter().find(|case| case.name == name).unwrap();
            arguments(case, 514, 1000)
                .into_iter()
                .map(|word| word.into_string().unwrap())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert!(words("tcp-100").contains("--active-connections=100 --total=1000 --perf --stream"));
        assert!(words("ietf-1").contains("--syslog-proto 127.0.0.1 514"));
        assert!(words("udp-512").contains("--size=512") && words("udp-512").contains("--rate=67000 --dgram"));
        assert!(words("udp-300k-8").contains("--active-connections=8 --total=1000 --rate=37500 --dgram"));
        assert!(words("hosts-10").contains("--hosts=10"));
        assert!(words("tls-10").contains("--use-ssl") && !words("tcp-10").contains("--use-ssl"));
    }
}
