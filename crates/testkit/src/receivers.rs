//! Destinations that are answered and their servers, one description each: how a server is started, what the
//! driver says to reach it, what a client that is not ours reads there. What holds for all destinations is
//! tried with each of these, by the end-to-end tests and by the fault bench.

mod brokers;
mod hadoop;
mod kills;
mod mongo;
mod objects;
mod pushed;
mod redis;
mod scripted;
mod tables;
mod traps;

pub use kills::{DISK, Killed, collector_killed, feed, server_killed, settle};

use crate::lab::Lab;
use crate::penstock::run_command;
use std::path::{Path, PathBuf};

/// What a server is to be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum House {
    Open,
    /// With TLS and the certificate that [`certificate`] names.
    Secure,
    /// It wants a login, or a token.
    Guarded,
    /// It never takes the message [`bad`].
    Strict,
}

/// How a driver is to reach a server.
pub struct Way<'a> {
    pub port: u16,
    pub house: House,
    /// With an authority that has not signed the certificate, or with a wrong login.
    pub is_wrong: bool,
    /// More of the driver's options.
    pub options: &'a str,
}

impl Way<'_> {
    /// `tls()` where the server speaks it; trusts whom it should, or somebody else.
    fn tls(&self) -> String {
        if self.house == House::Secure { format!("tls({})", self.authority()) } else { String::new() }
    }

    fn authority(&self) -> String {
        format!("ca-file(\"%dir%/{}/ca.pem\")", if self.is_wrong { "other" } else { "pki" })
    }

    /// What it says to get in: `good` or `bad`.
    fn word(&self) -> &'static str {
        if self.house == House::Guarded && self.is_wrong { "bad" } else { "good" }
    }
}

/// A running server with a client that is not ours.
pub trait Receiver {
    fn port(&self) -> u16;

    /// The driver that reaches it: `redis(port(1) ...)`.
    fn driver(&self, way: &Way<'_>) -> String;

    /// Ends it without a word, or, where it keeps nothing then, in the hardest way in which it does.
    fn kill(&mut self);

    /// Starts it again with what it had kept.
    fn run(&mut self);

    /// The texts it has.
    fn texts(&self) -> Vec<String>;

    /// From now on it takes what a strict one does not; false where it is the program that cannot send it.
    fn mend(&mut self) -> bool;
}

/// What is tried with each destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trial {
    Delivered,
    Certificate,
    Login,
    Bad,
    ServerKilled,
    CollectorKilled,
    Reload,
    TakeOver,
    Slow,
}

pub struct Destination {
    pub name: &'static str,
    /// Why there is no server.
    pub missing: &'static str,
    /// A server in a folder of the lab, where one is installed.
    pub start: fn(&Lab, House) -> Option<Box<dyn Receiver>>,
    /// What cannot be tried with it, and why.
    pub without: &'static [(Trial, &'static str)],
    /// Messages of a trial.
    pub count: usize,
    /// Kills in an ordinary test run: 20 where a server starts at once.
    pub kills: usize,
    /// Kills of which nothing arrives twice.
    pub once: &'static [Trial],
    /// It delivers what has come together when the program ends, and not before.
    pub at_end: bool,
    /// Half of a batch that its server refuses may be there, and comes again.
    pub doubles_when_refused: bool,
    /// Its server may take what was sent behind a batch that it refuses.
    pub reorders_when_refused: bool,
}

/// What most have in common.
const PLAIN: Destination = Destination {
    name: "",
    missing: "",
    start: |_, _| None,
    without: &[],
    count: 10_000,
    kills: 20,
    once: &[],
    at_end: false,
    doubles_when_refused: false,
    reorders_when_refused: false,
};

/// All of them.
pub fn all() -> Vec<&'static Destination> {
    let groups: [&[Destination]; 9] = [
        scripted::ALL,
        brokers::ALL,
        tables::ALL,
        mongo::ALL,
        redis::ALL,
        objects::ALL,
        hadoop::ALL,
        pushed::ALL,
        traps::ALL,
    ];
    groups.into_iter().flatten().collect()
}

impl Destination {
    /// Why a trial is not made; nothing where it is.
    pub fn reason_against(&self, trial: Trial) -> Option<&'static str> {
        self.without.iter().find(|(without, _)| *without == trial).map(|(_, why)| *why)
    }

    /// Kills in an ordinary test run; a collector starts fast, whatever its server does.
    pub fn kills_in(&self, trial: Trial) -> usize {
        if trial == Trial::CollectorKilled { self.kills.max(3) } else { self.kills }
    }
}

/// A configuration that sends what comes in on TCP to the destination `k`.
pub fn config(driver: &str) -> String {
    format!(
        "@version: 4.11\n@include \"scl.conf\"\n\
         options {{ keep-hostname(yes); use-dns(no); time-reopen(1); dead-letters(yes); }};\n\
         source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination k {{ {driver}; }};\n\
         log {{ source(s); destination(k); flags(flow-control); }};\n"
    )
}

/// A message with its number.
pub fn message(n: usize) -> String {
    format!("<13>Nov 11 01:02:03 host app[7]: {}", text(n))
}

/// What `$MSG` is of it.
pub fn text(n: usize) -> String {
    format!("message number {n} of connection 0")
}

/// Which message no strict server takes.
pub const BAD: usize = 7777;

/// What no message has.
const NOTHING: &str = "no such text";

/// That message: servers know it by its text, its program or its process id.
pub fn bad() -> String {
    format!("<13>Nov 11 01:02:03 host bad[x]: {}", text(BAD))
}

/// Of the folder `pki`; another authority is in `other`.
fn certificate(lab: &Lab) -> (PathBuf, PathBuf) {
    for name in ["pki", "other"] {
        if !lab.path(name).is_dir() {
            let folder = lab.path(name).display().to_string();
            let made = run_command(&["test-ca", &folder, "--server", "127.0.0.1"]);
            assert_eq!(made.code, Some(0), "{}", made.stderr);
        }
    }
    let file = |ending: &str| lab.path("pki").join(format!("127.0.0.1.{ending}"));
    (file("pem"), file("key"))
}

/// Options of a server's command line, from a template of them: `CERT` and `KEY` are files, `TEXT` is what a
/// strict one refuses.
fn words(lab: &Lab, house: House, secure: &[&str], guarded: &[&str], strict: &[&str]) -> Vec<String> {
    let chosen = match house {
        House::Open => &[],
        House::Secure => secure,
        House::Guarded => guarded,
        House::Strict => strict,
    };
    let fill = |word: &&str| match *word {
        "CERT" => shown(&certificate(lab).0),
        "KEY" => shown(&certificate(lab).1),
        "TEXT" => format!("number {BAD} of"),
        word => word.to_owned(),
    };
    chosen.iter().map(fill).collect()
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// As arguments of those who start servers.
fn borrowed(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}
