//! The program of an earlier version gives way to this one under load, and this one to itself. `--from` says
//! which program that is; scripts/earlier builds one.

use crate::estate::feeds::{Feeds, HOSTS, Ports, WAYS, finish_all};
use crate::estate::member::Member;
use crate::estate::stores::by_lane;
use crate::estate::{certificate, feeds::Count};
use crate::source::{PADDING, message_of};
use crate::tally::{LANE, Tally};
use crate::target::Target;
use crate::tls::Generation;
use crate::trial::{BUFFER, HEAD, Plan, Verdict, reached};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::Duration;
use testkit::Lab;

/// So many more messages, and what happened is over.
const MORE: usize = 500;
/// So many wait for both targets when the earlier version gives way to this one while they are away.
const BACKLOG: u64 = 2000;
const PATIENCE: Duration = Duration::from_secs(60);
/// The lane behind those that come over sockets: lines of a file.
const FILE: usize = WAYS;
const PAUSE: Duration = Duration::from_millis(5);

struct Round {
    member: Member,
    feeds: Vec<Feeds>,
    file: Lines,
    /// What waits for the first is kept on disk, what waits for the second in memory.
    targets: [Target; 2],
}

pub fn run(plan: &Plan) -> Verdict {
    let Some(from) = &plan.from else {
        return Verdict::Skipped(
            "there is no `--from` with an earlier version, see scripts/earlier".to_owned(),
        );
    };
    let (mut tally, mut problems) = (Tally::default(), Vec::new());
    let mut restart_ms = 0;
    for round in 0..plan.rounds {
        let mut began = match Round::start(from) {
            Ok(began) => began,
            Err(why) => return Verdict::Skipped(why),
        };
        if let Err(why) = began.through(round % 2 == 1) {
            problems.push(format!("round {round}: {why}"));
        }
        restart_ms = restart_ms.max(began.member.restart_ms);
        began.judge(&mut tally, &mut problems);
        tally.rounds += 1;
    }
    let notes = vec![format!("from {} to {}", version(from), version(testkit::binary()))];
    Verdict::Ran { tally, restart_ms, problems, notes }
}

/// What a program says that it is.
fn version(program: &Path) -> String {
    let said = Command::new(program).arg("version").output();
    let said = said.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    said.lines().next().unwrap_or("a program of no version").to_owned()
}

impl Round {
    /// The earlier version runs and is fed; otherwise what is not there.
    fn start(from: &Path) -> Result<Round, String> {
        let lab = Lab::new();
        let made = Generation::make(lab.path("certificates"))?;
        let [key, cert] = certificate(&lab.path("certificates"));
        let config = format!(
            "{HEAD}source s {{ relp(ip(127.0.0.1) port(%tcp:relp%)); network(ip(127.0.0.1) port(%tcp:tcp%));\n\
             network(ip(127.0.0.1) port(%udp:udp%) transport(udp));\n\
             network(ip(127.0.0.1) port(%tcp:tls%) transport(tls)\n\
             tls(key-file(\"{key}\") cert-file(\"{cert}\") peer-verify(optional-untrusted)));\n\
             file(\"%dir%/lines\" follow-freq(0.1)); }};\n\
             destination d_disk {{ network(127.0.0.1 port(%port:disk%) time-reopen(0.1) {BUFFER}); }};\n\
             destination d_memory {{ network(127.0.0.1 port(%port:memory%) time-reopen(0.1)); }};\n\
             log {{ source(s); destination(d_disk); destination(d_memory); flags(flow-control); }};\n"
        );
        let targets = ["disk", "memory"].map(|name| Target::new(lab.port(name)));
        targets.iter().for_each(Target::up);
        let file = Lines::start(lab.path("lines"));
        let member = Member::of(Some(from.to_owned()), "the program".to_owned(), lab, config);
        let [relp, tcp, tls, udp] = ["relp", "tcp", "tls", "udp"].map(|name| member.lab.port(name));
        let tls = Some((tls, made.client(&made)));
        let feeds = vec![Feeds::start(0, Ports { relp, tcp, tls, udp })];
        Ok(Round { member, feeds, file, targets })
    }

    fn through(&mut self, are_away: bool) -> Result<(), String> {
        self.wait_more()?;
        if are_away {
            self.targets.iter().for_each(Target::down);
            if !reached(PATIENCE, || self.member.waiting() >= BACKLOG) {
                return Err("nothing waits while the targets are away".to_owned());
            }
        }
        self.upgrade()?;
        self.targets.iter().for_each(Target::up);
        self.wait_more()?;
        self.upgrade()?;
        self.wait_more()
    }

    /// Who speaks TLS makes another connection: the process before keeps those.
    fn upgrade(&mut self) -> Result<(), String> {
        self.member.upgrade(|| self.feeds.iter().for_each(Feeds::reconnect))
    }

    fn wait_more(&self) -> Result<(), String> {
        let before = self.targets.each_ref().map(Target::received);
        let mut now = self.targets.iter().zip(before);
        match now.all(|(target, before)| reached(PATIENCE, || target.received() >= before + MORE)) {
            true => Ok(()),
            false => Err("no more messages come through".to_owned()),
        }
    }

    /// Everything comes to rest; then what both targets have is held against what senders were told.
    fn judge(mut self, tally: &mut Tally, problems: &mut Vec<String>) {
        let mut counts = finish_all(&mut self.feeds, problems);
        counts.push(self.file.finish());
        let owed: u64 = counts.iter().map(|count| count.owed).sum();
        for target in &self.targets {
            target.up();
            reached(PATIENCE, || target.received() as u64 >= owed);
        }
        problems.extend(self.member.stop().err());
        for (target, waits) in self.targets.iter().zip(["on disk", "in memory"]) {
            let (lanes, foreign) = by_lane(&counts, target.numbers().into_iter());
            for (count, lane) in lanes {
                let wrong = [("lost", lane.lost), ("reordered", lane.reordered), ("doubled", lane.doubled)];
                for (what, number) in wrong.into_iter().filter(|(_, number)| *number > 0) {
                    let host = HOSTS[count.lane];
                    problems.push(format!("{host}, what waits {waits}: {number} {what}"));
                }
                tally.add(&lane);
            }
            tally.unaccounted += foreign + target.foreign();
        }
        if tally.unaccounted > 0 {
            problems.push(format!("{} unaccounted", tally.unaccounted));
        }
    }
}

/// Who writes numbered lines into a file that the program follows.
struct Lines {
    is_over: Arc<AtomicBool>,
    written: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Lines {
    fn start(path: PathBuf) -> Lines {
        let mut file = std::fs::File::create(path).expect("a file");
        let (is_over, written) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (over, count) = (Arc::clone(&is_over), Arc::clone(&written));
        let thread = Some(spawn(move || {
            let mut number = 0;
            while !over.load(Ordering::SeqCst) {
                let line = message_of(HOSTS[FILE], FILE as u64 * LANE + number, PADDING) + "\n";
                file.write_all(line.as_bytes()).expect("a file can be written");
                number += 1;
                count.store(number, Ordering::SeqCst);
                sleep(PAUSE);
            }
        }));
        Lines { is_over, written, thread }
    }

    /// Nothing new is written. What is in the file may not be missing.
    fn finish(&mut self) -> Count {
        self.is_over.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let written = self.written.load(Ordering::SeqCst);
        Count { lane: FILE, sent: written, owed: written }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
    }
}
