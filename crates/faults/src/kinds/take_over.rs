//! Another process takes over under load: how long whoever sends at every millisecond notices something.

use crate::source::{Load, PADDING, Source, message};
use crate::tally::{LANE, Tally};
use crate::target::Target;
use crate::trial::{BUFFER, Chance, HEAD, Plan, Trial, Verdict, reached};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

/// What a sender may notice.
const GAP_MAX: Duration = Duration::from_millis(200);
const EACH: Duration = Duration::from_millis(1);
/// Without a take-over, for comparison.
const QUIET: Duration = Duration::from_secs(2);

/// Senders, each with a lane of numbers: one waits for each answer (RELP), one stays connected, one connects
/// for each message and waits until the server has read it and closed.
const ASKING: usize = 0;
const STAYING: usize = 1;
const CONNECTING: usize = 2;

#[derive(Default)]
struct Senders {
    is_over: AtomicBool,
    sent: [AtomicU64; 3],
    /// Microseconds; that of the one that stays is seen at the target.
    longest: [AtomicU64; 3],
    broken: AtomicU64,
}

pub fn run(plan: &Plan) -> Verdict {
    let mut trial = Trial::of(&format!(
        "{HEAD}source s {{ relp(ip(127.0.0.1) port(%tcp:in%));\n\
           network(ip(127.0.0.1) port(%tcp:lines%) max-connections(1000)); }};\n\
         destination d {{ network(\"127.0.0.1\" port(%port:out%) time-reopen(0.1) {BUFFER}); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    ));
    trial.target.up();
    let Some(penstock) = trial.begin() else { return trial.verdict(plan, 0) };
    let mut running = Some(penstock);
    let lines = trial.lab.port("lines");
    let source = Source::start(trial.lab.port("in"), Load { count: 0, look: EACH, ..Load::default() });
    let senders = Senders::default();
    let mut chance = Chance(plan.seed);
    let [mut quiet, mut gaps] = [[Duration::ZERO; 3]; 2];
    scope(|scope| {
        scope.spawn(|| senders.run(ASKING, |number| ask(&source, number)));
        let mut stream = TcpStream::connect(("127.0.0.1", lines));
        let stay = move |number| {
            let written = stream.as_mut().map(|stream| stream.write_all(&line(STAYING, number)));
            matches!(written, Ok(Ok(())))
        };
        let staying = &senders;
        scope.spawn(move || staying.run(STAYING, stay));
        scope.spawn(|| senders.run(CONNECTING, |number| connect(lines, number).is_ok()));
        senders.wait(10);
        senders.gaps(&trial.target);
        sleep(if plan.short { QUIET / 10 } else { QUIET });
        quiet = senders.gaps(&trial.target);
        for _ in 0..plan.rounds {
            sleep(chance.milliseconds(10, 100));
            running = running.take().and_then(|old| trial.take_over(old));
            if running.is_none() {
                break;
            }
            senders.wait(20);
            let now = senders.gaps(&trial.target);
            gaps.iter_mut().zip(now).for_each(|(longest, now)| *longest = now.max(*longest));
            trial.round();
        }
        senders.is_over.store(true, Ordering::SeqCst);
    });
    for (name, gaps) in [("without a take-over", &quiet), ("with", &gaps)] {
        let [asking, staying, connecting] = gaps.map(|gap| gap.as_secs_f64() * 1000.0);
        trial.note(format!(
            "{name}, longest: answer to a message {asking:.0} ms, between two of a connection {staying:.0} ms, \
             from connecting to the end {connecting:.0} ms"
        ));
    }
    let longest = gaps.iter().max().copied().unwrap_or_default();
    if longest > GAP_MAX && !plan.short {
        trial.problem(format!("a gap of {} ms", longest.as_millis()));
    }
    let broken = senders.broken.load(Ordering::SeqCst);
    if broken > 0 {
        trial.problem(format!("{broken} connections refused or broken"));
    }
    let sent = senders.sent.each_ref().map(|sent| sent.load(Ordering::SeqCst));
    let Some(penstock) = running else { return trial.verdict(plan, 0) };
    source.finish();
    trial.rest(penstock, |numbers| {
        // Those of connections of their own may overtake each other.
        let mut connecting: Vec<u64> = Vec::new();
        let mut others = Vec::new();
        for number in numbers {
            let lane = if number / LANE == CONNECTING as u64 { &mut connecting } else { &mut others };
            lane.push(*number);
        }
        connecting.sort_unstable();
        others.append(&mut connecting);
        Tally::of_lanes(&sent, &others)
    });
    trial.verdict(plan, 0)
}

impl Senders {
    /// Sends by `send`, which says whether it worked, until all is over.
    fn run(&self, lane: usize, mut send: impl FnMut(u64) -> bool) {
        let mut number = 0;
        while !self.is_over.load(Ordering::SeqCst) {
            let began = Instant::now();
            if !send(number) {
                self.broken.fetch_add(1, Ordering::SeqCst);
                return;
            }
            number += 1;
            let took = began.elapsed().as_micros() as u64;
            if let (Some(sent), Some(longest)) = (self.sent.get(lane), self.longest.get(lane)) {
                longest.fetch_max(took, Ordering::SeqCst);
                sent.store(number, Ordering::SeqCst);
            }
            sleep(EACH);
        }
    }

    /// Waits until each has sent so many more.
    fn wait(&self, more: u64) {
        let now = || self.sent.each_ref().map(|sent| sent.load(Ordering::SeqCst));
        let before = now();
        reached(10 * QUIET, || {
            let all = now().iter().zip(&before).all(|(now, before)| *now > before + more);
            all || self.broken.load(Ordering::SeqCst) > 0
        });
    }

    /// The longest since the last call.
    fn gaps(&self, target: &Target) -> [Duration; 3] {
        let mut gaps = self.longest.each_ref().map(|l| Duration::from_micros(l.swap(0, Ordering::SeqCst)));
        gaps[STAYING] = gaps[STAYING].max(target.longest_pause());
        gaps
    }
}

fn line(lane: usize, number: u64) -> Vec<u8> {
    (message(lane as u64 * LANE + number, PADDING) + "\n").into_bytes()
}

fn ask(source: &Source, number: u64) -> bool {
    source.raise(1);
    reached(Duration::from_secs(30), || source.acknowledged() > number)
}

fn connect(port: u16, number: u64) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.write_all(&line(CONNECTING, number))?;
    stream.shutdown(Shutdown::Write)?;
    stream.read_to_end(&mut Vec::new()).map(drop)
}
