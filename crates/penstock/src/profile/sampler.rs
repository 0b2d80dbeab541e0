//! Looks at the workers for a time, and makes a summary of what was seen.

use super::causes::{Causes, has_queue_on_disk, is_full_on_disk, is_of_disk};
use super::threads::{self, Clock, Used};
use super::verdict::{Busy, DestinationSeen, Names, Queue, Summary, Where};
use crate::lookout::edges;
use crate::program::{Daemon, Running};
use control::{Refusal, asker};
use engine::profile::{Doing, Nameless, Profiling};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Between two looks, on average.
const EVERY: Duration = Duration::from_micros(6_670);
/// Every so many looks it is asked whether a thread that writes runs, and what holds the sources.
const ASKED_EVERY: u64 = 8;
/// Workers say what they do at their next step: until then, at most so long, nothing is counted.
const SETTLE_MAX: Duration = Duration::from_secs(5);

/// Nobody reads it.
const GONE: &str = "whoever asked is gone";

/// One at a time: two would each find what the other costs.
static IS_UNDER_WAY: AtomicBool = AtomicBool::new(false);

struct Turn;

impl Drop for Turn {
    fn drop(&mut self) {
        IS_UNDER_WAY.store(false, Ordering::SeqCst);
    }
}

/// What workers were seen at.
#[derive(Default)]
struct Seen {
    /// Processor time since the look before, by what the worker was met at, as [`threads::Lap::weight`] has
    /// it. Looks alone would count the time in which another program had the processor.
    met: HashMap<(Doing, u32), u64>,
    clocks: HashMap<i32, Clock>,
    /// Asked whether they run, and those that were at a step or wrote, and did not.
    asked: u64,
    /// Of those that were asked: they slept, and could run. They go to sleep, or wake up.
    half_asleep: u64,
    stuck: HashMap<(Doing, u32), u64>,
    /// Asked when names of senders were waited for.
    nameless: u64,
    /// The most of them at a time.
    names: usize,
}

/// Looks for so long. JSON.
pub fn run(program: &Daemon, duration: Duration) -> Result<String, Refusal> {
    if IS_UNDER_WAY.swap(true, Ordering::SeqCst) {
        return Err("a profile is being made already".into());
    }
    let _turn = Turn;
    let running = program.running();
    let workers = program.shared.workers().len();
    let edges = edges::of(&running.view);
    let (mut seen, mut causes) = (Seen::default(), Causes::default());
    let profiling = Profiling::begin();
    settle(&profiling, workers);
    let (before, delivered, began) = (threads::used(), delivered(&running), Instant::now());
    let mut look = 0;
    while began.elapsed() < duration {
        if asker::is_gone() {
            return Err(GONE.into());
        }
        std::thread::sleep(pause(look));
        let asks = look % ASKED_EVERY == 0;
        for worker in 0..workers {
            seen.note(&profiling, worker, asks);
        }
        if asks {
            causes.look(&running.view, &edges);
            seen.note_names(Nameless::count());
        }
        look += 1;
    }
    let elapsed = began.elapsed();
    drop(profiling);
    if !Arc::ptr_eq(&running, &program.running()) {
        return Err("the configuration was replaced meanwhile: ask again".into());
    }
    let after = threads::used();
    let summary = summary(&running, program, &seen, causes, &Times { before, after, elapsed, delivered });
    Ok(super::report::json(&summary))
}

/// Until a look. Batches follow one another in equal times: looks that did so too would meet the same step
/// again and again. These fall on all parts of any time alike.
fn pause(look: u64) -> Duration {
    const GOLDEN: f64 = 0.618_033_988_749_895;
    EVERY.mul_f64(0.5 + (look as f64 * GOLDEN).fract())
}

/// Waits for workers that are in the middle of something long.
fn settle(profiling: &Profiling, workers: usize) {
    let says_nothing_yet = |worker: usize| {
        let at = profiling.look(worker);
        at.is_some_and(|(doing, _, thread)| doing == Doing::Sleeps && threads::is_running(thread))
    };
    let until = Instant::now() + SETTLE_MAX;
    while Instant::now() < until && !asker::is_gone() && (0..workers).any(says_nothing_yet) {
        std::thread::sleep(EVERY);
    }
}

impl Seen {
    fn note(&mut self, profiling: &Profiling, worker: usize, asks: bool) {
        let Some((doing, number, thread)) = profiling.look(worker) else { return };
        let clock = self.clocks.entry(thread).or_insert_with(|| Clock::of(thread));
        let weight = clock.lap().weight();
        *self.met.entry((doing, number)).or_default() += weight;
        if !asks {
            return;
        }
        self.asked += 1;
        match (doing, threads::is_running(thread)) {
            (Doing::Writes | Doing::Steps, false) => *self.stuck.entry((doing, number)).or_default() += 1,
            // It goes to sleep or wakes up, unless it has begun with something since it was looked at.
            (Doing::Sleeps, true) if profiling.look(worker).is_some_and(|(now, ..)| now == Doing::Sleeps) => {
                self.half_asleep += 1;
            }
            _ => {}
        }
    }

    fn note_names(&mut self, waited_for: usize) {
        self.nameless += u64::from(waited_for > 0);
        self.names = self.names.max(waited_for);
    }

    /// Processors that workers use for going to sleep and waking up. Who has been woken waits for a processor
    /// first, and that time, the most of what it waits, is not used.
    fn waking(&self, busy: &[Busy], cpu: f64) -> f64 {
        let half_asleep = self.half_asleep as f64 / self.asked.max(1) as f64 * busy.len() as f64;
        let queued: f64 = busy.iter().map(|worker| worker.queued).sum();
        (half_asleep - queued).clamp(0.0, cpu)
    }

    /// Part of the workers' time in which one was there and did not run.
    fn stuck_at(&self, doing: Doing, is_meant: impl Fn(u32) -> bool) -> f64 {
        let meant = self.stuck.iter().filter(|((at, number), _)| *at == doing && is_meant(*number));
        meant.map(|(_, count)| *count).sum::<u64>() as f64 / self.asked.max(1) as f64
    }
}

struct Times {
    before: HashMap<i32, Used>,
    after: HashMap<i32, Used>,
    elapsed: Duration,
    delivered: Vec<u64>,
}

fn delivered(running: &Running) -> Vec<u64> {
    running.view.destinations.iter().map(|(_, d)| d.counters().delivered_bytes.value()).collect()
}

fn summary(running: &Running, program: &Daemon, seen: &Seen, causes: Causes, times: &Times) -> Summary {
    let nanos = times.elapsed.as_nanos().max(1) as f64;
    let (mut busy, mut workers_cpu, mut others) = (Vec::new(), 0.0, BTreeMap::<String, f64>::new());
    let own = rustix::thread::gettid().as_raw_nonzero().get();
    let mut cost = 0.0;
    for (thread, after) in &times.after {
        let before = times.before.get(thread).cloned().unwrap_or_default();
        let part = |now: u64, then: u64| now.saturating_sub(then) as f64 / nanos;
        let (ran, queued) = (part(after.running, before.running), part(after.queued, before.queued));
        if *thread == own {
            cost = ran;
        } else if seen.clocks.contains_key(thread) {
            workers_cpu += ran;
            busy.push(Busy { ran, queued });
        } else if ran > 0.0 {
            *others.entry(after.name.clone()).or_default() += ran;
        }
    }
    let waking = seen.waking(&busy, workers_cpu);
    let outlets = outlets(running);
    let rates =
        delivered(running).into_iter().zip(&times.delivered).map(|(now, then)| now.saturating_sub(*then));
    let destinations =
        running.view.destinations.iter().zip(rates).enumerate().map(|(at, ((id, one), bytes))| {
            let stuck = seen.stuck_at(Doing::Writes, |outlet| outlets.get(&outlet) == Some(&at));
            let (driver, instance) = one.described();
            let wait = program.observed().waits.into_iter().find(|wait| wait.destination == *id);
            let (starves, error) = wait.map(|wait| (wait.starves, wait.error)).unwrap_or_default();
            DestinationSeen {
                id: id.clone(),
                detail: format!("{driver} {instance}").trim_end().to_owned(),
                bytes_per_second: bytes as f64 / times.elapsed.as_secs_f64(),
                stuck,
                is_of_disk: is_of_disk(one),
                queue: match (has_queue_on_disk(one), is_full_on_disk(one)) {
                    (false, _) => Queue::InMemory,
                    (true, is_full) => Queue::OnDisk { is_full },
                },
                error: error.map(|error| error.text),
                starves,
            }
        });
    Summary {
        seconds: times.elapsed.as_secs_f64(),
        destinations: destinations.collect(),
        steps: steps(running, seen, &outlets, (workers_cpu, waking)),
        stuck_step: stuck_step(running, seen, &outlets),
        names: Names { part: seen.nameless as f64 / causes.looks.max(1) as f64, most: seen.names },
        connections: running
            .view
            .sources
            .iter()
            .map(|s| (s.id.clone(), s.counters.connections.value()))
            .collect(),
        busy,
        others,
        causes,
        cost,
    }
}

/// Which destination an outlet is of, by its number.
fn outlets(running: &Running) -> HashMap<u32, usize> {
    let all = running.view.destinations.iter().enumerate();
    all.flat_map(|(at, (_, one))| one.outlets().into_iter().map(move |outlet| (outlet.id, at))).collect()
}

/// Where the workers' processor time went, the most first: in processors. `waking` of them are not seen in
/// what workers say.
fn steps(
    running: &Running,
    seen: &Seen,
    outlets: &HashMap<u32, usize>,
    (cpu, waking): (f64, f64),
) -> Vec<(Where, f64)> {
    let mut parts: BTreeMap<Where, u64> = BTreeMap::new();
    let mut all: u64 = 0;
    for ((doing, number), nanos) in &seen.met {
        if *doing == Doing::Sleeps || *nanos == 0 {
            continue;
        }
        all += *nanos;
        *parts.entry(place(running, *doing, *number, outlets)).or_default() += *nanos;
    }
    let said = cpu - waking;
    let mut steps: BTreeMap<Where, f64> =
        parts.into_iter().map(|(at, nanos)| (at, said * nanos as f64 / all.max(1) as f64)).collect();
    *steps.entry(place(running, Doing::Turns, 0, outlets)).or_default() += waking;
    let mut steps: Vec<(Where, f64)> = steps.into_iter().filter(|(_, used)| *used > 0.0).collect();
    steps.sort_by(|a, b| b.1.total_cmp(&a.1));
    steps
}

/// The step at which workers stand most, and do not run: what is asked there is not done by them.
fn stuck_step(running: &Running, seen: &Seen, outlets: &HashMap<u32, usize>) -> Option<(Where, f64)> {
    let steps = seen.stuck.keys().filter(|(doing, _)| *doing == Doing::Steps);
    let parts = steps.map(|(doing, number)| (*number, seen.stuck_at(*doing, |other| other == *number)));
    let (number, part) = parts.max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some((place(running, Doing::Steps, number, outlets), part))
}

fn place(running: &Running, doing: Doing, number: u32, outlets: &HashMap<u32, usize>) -> Where {
    let entry = running.view.map.numbered(number);
    let label = entry.map(|entry| entry.label()).unwrap_or_default();
    let location =
        entry.and_then(|entry| entry.statement.as_ref()).map(|s| s.location.clone()).unwrap_or_default();
    let (what, label, location) = match doing {
        Doing::Sleeps | Doing::Turns => ("turns", String::new(), String::new()),
        Doing::Reads => ("reads", label, location),
        Doing::Handshakes => ("handshakes", label, location),
        Doing::Parses => ("headers", label, location),
        Doing::Steps if label.starts_with("destination ") => ("formats", label, location),
        Doing::Steps => ("step", label, location),
        Doing::Writes => {
            let id = outlets.get(&number).and_then(|at| running.view.destinations.get(*at));
            ("writes", id.map_or(String::new(), |(id, _)| format!("destination {id}")), String::new())
        }
    };
    Where { what, label, location }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_a_processor_uses_none_for_waking_up() {
        let seen = Seen { asked: 100, half_asleep: 50, ..Seen::default() };
        let waking =
            |queued: f64, cpu| seen.waking(&[Busy { ran: 0.4, queued }, Busy { ran: 0.4, queued }], cpu);
        assert_eq!((waking(0.0, 2.0), waking(0.25, 2.0)), (1.0, 0.5));
        assert_eq!((waking(0.75, 2.0), waking(0.0, 0.8)), (0.0, 0.8));
    }
}
