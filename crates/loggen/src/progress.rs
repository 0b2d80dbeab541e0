//! What has been sent so far, and how it is told: loggen's per-second line, CSV, a live line, the final
//! average.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Counters of a run, added to once per write.
#[derive(Debug, Default)]
pub struct Progress {
    connections: Vec<AtomicU64>,
    bytes: AtomicU64,
    finished: AtomicBool,
}

impl Progress {
    pub fn new(connections: usize) -> Progress {
        Progress { connections: (0..connections).map(|_| AtomicU64::new(0)).collect(), ..Progress::default() }
    }

    pub fn add(&self, connection: usize, messages: u64, bytes: u64) {
        if let Some(count) = self.connections.get(connection) {
            count.fetch_add(messages, Relaxed);
        }
        self.bytes.fetch_add(bytes, Relaxed);
    }

    pub fn messages(&self) -> u64 {
        self.connections.iter().map(|count| count.load(Relaxed)).sum()
    }

    pub fn per_connection(&self) -> Vec<u64> {
        self.connections.iter().map(|count| count.load(Relaxed)).collect()
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    pub fn finish(&self) {
        self.finished.store(true, Relaxed);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reporting {
    /// Only the final average.
    Quiet,
    /// A line to standard error each second; a live one when that is a terminal.
    Live,
    /// `ThreadId;Time;Rate;Count` to standard output each half second.
    Csv,
}

const LOOK: Duration = Duration::from_millis(20);

/// Runs until `progress` is finished; meant for a thread of its own.
pub fn report(progress: &Progress, how: Reporting) {
    match how {
        Reporting::Quiet => {}
        Reporting::Live => live(progress),
        Reporting::Csv => csv(progress),
    }
}

/// Waits for the next reporting time; false when the run is over.
fn wait(progress: &Progress, until: Instant) -> bool {
    while !progress.finished.load(Relaxed) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::park_timeout(left.min(LOOK));
    }
    false
}

fn live(progress: &Progress) {
    let bar = std::io::stderr().is_terminal().then(|| {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
            bar.set_style(style);
        }
        bar
    });
    let every = if bar.is_some() { Duration::from_millis(200) } else { Duration::from_secs(1) };
    let (mut last, mut at) = (0, Instant::now());
    while wait(progress, at + every) {
        let (count, now) = (progress.messages(), Instant::now());
        let rate = (count - last) as f64 / (now - at).as_secs_f64();
        let line = format!("count={count}, rate = {rate:.2} msg/sec");
        match &bar {
            Some(bar) => {
                bar.set_message(line);
                bar.tick();
            }
            None => stdio::err!("{line}"),
        }
        (last, at) = (count, now);
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

fn csv(progress: &Progress) {
    let start = Instant::now();
    let mut last = vec![0; progress.connections.len()];
    let mut before = Duration::ZERO;
    let mut out = std::io::stdout().lock();
    // Nobody may be reading any more; the run itself goes on.
    let _ = writeln!(out, "ThreadId;Time;Rate;Count");
    for id in 0..last.len() {
        let _ = writeln!(out, "{id};0.000000;0.00;0");
    }
    let mut running = true;
    while running {
        running = wait(progress, start + before + Duration::from_millis(500));
        let now = start.elapsed();
        let seconds = (now - before).as_secs_f64().max(1e-6);
        for (id, count) in progress.per_connection().into_iter().enumerate() {
            let rate = (count - last[id]) as f64 / seconds;
            let _ = writeln!(out, "{id};{:.6};{rate:.2};{count}", now.as_secs_f64());
            last[id] = count;
        }
        let _ = out.flush();
        before = now;
    }
}

/// The closing line in loggen's words. `message_bytes` is the size of one message on the wire.
pub fn average(count: u64, bytes: u64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64().max(1e-6);
    if count == 0 {
        return format!("Total runtime = {}, count = 0", general(seconds));
    }
    format!(
        "average rate = {:.2} msg/sec, count={count}, time={}, (average) msg size={}, bandwidth={:.2} kB/sec",
        count as f64 / seconds,
        general(seconds),
        bytes / count,
        bytes as f64 / 1024.0 / seconds
    )
}

/// A number as C's `%g` prints it: six significant digits, no trailing zeros.
fn general(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let exponent = value.abs().log10().floor() as i32;
    if !(-5..6).contains(&exponent) {
        let text = format!("{value:.5e}");
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        let power: i32 = power.parse().unwrap_or(0);
        let sign = if power < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim(digits), power.abs());
    }
    trim(&format!("{value:.*}", (5 - exponent).max(0) as usize)).to_owned()
}

fn trim(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn general_is_like_c() {
        for (value, expected) in [
            (0.500186, "0.500186"),
            (2.50086, "2.50086"),
            (10.0, "10"),
            (3e-6, "3e-06"),
            (123456.7, "123457"),
            (1234567.0, "1.23457e+06"),
        ] {
            assert_eq!(general(value), expected);
        }
    }

    #[test]
    fn average_line() {
        assert_eq!(
            average(3, 3 * 256, Duration::from_millis(500)),
            "average rate = 6.00 msg/sec, count=3, time=0.5, (average) msg size=256, bandwidth=1.50 kB/sec"
        );
        assert_eq!(average(0, 0, Duration::from_millis(500)), "Total runtime = 0.5, count = 0");
    }

    #[test]
    fn counts_add_up() {
        let progress = Progress::new(2);
        progress.add(0, 3, 300);
        progress.add(1, 4, 400);
        assert_eq!((progress.messages(), progress.bytes(), progress.per_connection()), (7, 700, vec![3, 4]));
    }
}
