//! What the store costs: CPU time a message of appending with its commit, reading back, recovery, memory.
//! `store_cost DIR [MESSAGES] [recovery GIB]`; DIR is on the disk to be measured, and is emptied.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};
use store::{Full, Log, Options, Queue, Safe};

const MESSAGE_BYTES: usize = 400;
/// Messages of a chunk: about what a worker hands over at once.
const CHUNK: usize = 160;
/// Chunks that are not safe yet, as a source's window allows them.
const WINDOW: u64 = 64;

/// Chunks under way, and a wake-up when there are fewer.
#[derive(Default)]
struct Window {
    open: Mutex<u64>,
    less: Condvar,
}

struct Ticket(Arc<Window>);

impl store::OnSafe for Ticket {
    fn safe(self: Box<Self>) {
        *self.0.open.lock().unwrap() -= 1;
        self.0.less.notify_one();
    }

    fn never_safe(self: Box<Self>) {}
}

fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(1);
    let dir = PathBuf::from(args.next().expect("a folder"));
    let messages: usize = args.next().map_or(5_000_000, |n| n.parse().unwrap());
    let recovery = args.next().is_some_and(|word| word == "recovery");
    if recovery {
        return recover(&dir, args.next().map_or(10, |n| n.parse().unwrap()));
    }
    println!(
        "{:<24} {:>10} {:>10} {:>12} {:>10} {:>9} {:>9}",
        "case", "msg/s", "CPU ns", "bytes/msg", "p99 safe", "commits", "RSS MiB"
    );
    for (name, safe) in [("synced", Safe::Synced), ("written", Safe::Written)] {
        for queues in [1, 5] {
            // The second round writes over the files of the first.
            for round in ["fresh", "again"] {
                append(&dir, &format!("{name}, {queues} queue, {round}"), queues, messages, safe)?;
            }
            std::fs::remove_dir_all(dir.join("penstock-store"))?;
        }
    }
    read_back(&dir, messages)
}

fn chunk() -> (Vec<u8>, Vec<u32>) {
    let mut bytes: Vec<u8> = (0..CHUNK * MESSAGE_BYTES).map(|i| b' ' + (i % 90) as u8).collect();
    bytes.iter_mut().skip(MESSAGE_BYTES - 1).step_by(MESSAGE_BYTES).for_each(|b| *b = b'\n');
    let ends = (1..=CHUNK).map(|i| (i * MESSAGE_BYTES) as u32).collect();
    (bytes, ends)
}

fn open(dir: &Path, queues: usize) -> std::io::Result<(Arc<Log>, Vec<Queue>)> {
    let opened = Log::open(Options { free_segments: 32, ..Options::new(dir) })?;
    let queue = |i| opened.log.queue(format!("queue-{i}").as_bytes(), u64::MAX, Box::new(|| ()));
    let queues = (0..queues).map(queue).collect::<Result<_, _>>()?;
    Ok((opened.log, queues))
}

/// Each queue gets all messages; they are done some time after they were appended, as of a destination that
/// moves.
fn append(dir: &Path, name: &str, count: usize, messages: usize, safe: Safe) -> std::io::Result<()> {
    let (log, queues) = open(dir, count)?;
    for queue in &queues {
        let waiting = queue.waiting();
        queue.done(queue.end(), waiting.messages, waiting.bytes);
    }
    log.flush();
    let before = log.stats();
    let (mut bytes, ends) = chunk();
    let window = Arc::new(Window::default());
    let (cpu, began) = (cpu_time(), Instant::now());
    for number in 0..messages / CHUNK {
        bytes[..8].copy_from_slice(&(number as u64).to_le_bytes());
        let mut open = window.open.lock().unwrap();
        while *open >= WINDOW * count as u64 {
            open = window.less.wait(open).unwrap();
        }
        *open += count as u64;
        drop(open);
        for queue in &queues {
            let mut held: store::Held = Box::new(Ticket(window.clone()));
            let seqs = loop {
                match queue.append(&bytes, &ends, safe, held) {
                    Ok(seqs) => break seqs,
                    Err((Full::Busy, back)) => held = back,
                    Err((why, _)) => panic!("{why:?}"),
                }
                std::thread::yield_now();
            };
            if number % 8 == 7 {
                queue.done(seqs.end, 8 * CHUNK as u64, (8 * CHUNK * MESSAGE_BYTES) as u64);
            }
        }
    }
    log.flush();
    let (wall, cpu) = (began.elapsed(), cpu_time() - cpu);
    let stats = log.stats();
    let total = messages / CHUNK * CHUNK;
    println!(
        "{name:<24} {:>10.0} {:>10.1} {:>12.1} {:>10?} {:>9} {:>9}",
        total as f64 / wall.as_secs_f64(),
        cpu.as_nanos() as f64 / (total * count) as f64,
        (stats.bytes_written - before.bytes_written) as f64 / total as f64,
        percentile(&stats.synced.buckets, 0.99),
        stats.commits - before.commits,
        memory() >> 20,
    );
    log.close();
    Ok(())
}

fn read_back(dir: &Path, messages: usize) -> std::io::Result<()> {
    let (log, queues) = open(dir, 1)?;
    let queue = &queues[0];
    fill(&log, queue, messages / CHUNK);
    log.flush();
    for name in ["read back", "read back again"] {
        let (cpu, began) = (cpu_time(), Instant::now());
        let (mut at, mut count, mut bytes) = (queue.first_waiting(), 0, 0);
        while at < queue.end() {
            let read = queue.read(at, 256 << 10)?;
            count += read.ends.len();
            bytes += read.bytes.len();
            at = read.seqs.end;
        }
        let (wall, cpu) = (began.elapsed(), cpu_time() - cpu);
        assert_eq!(count, messages / CHUNK * CHUNK);
        let rate = bytes as f64 / wall.as_secs_f64() / 1e6;
        let each = cpu.as_nanos() as f64 / count as f64;
        println!("{name:<24} {:>10.0} {each:>10.1}   {rate:.0} MB/s", count as f64 / wall.as_secs_f64());
    }
    log.close();
    std::fs::remove_dir_all(dir.join("penstock-store"))
}

fn fill(log: &Log, queue: &Queue, chunks: usize) {
    static FULL: AtomicU64 = AtomicU64::new(0);
    let (bytes, ends) = chunk();
    for _ in 0..chunks {
        while let Err((why, _)) = queue.append(&bytes, &ends, Safe::Written, Box::new(())) {
            assert_eq!(why, Full::Busy);
            FULL.fetch_add(1, Ordering::Relaxed);
            log.flush();
        }
    }
}

/// Fills a store, leaves it as a killed process would, and opens it again.
fn recover(dir: &Path, gib: usize) -> std::io::Result<()> {
    let chunks = (gib << 30) / (CHUNK * (MESSAGE_BYTES + 24));
    let (log, queues) = open(dir, 1)?;
    fill(&log, &queues[0], chunks);
    log.flush();
    println!("filled: {} segments, {} MiB resident", log.stats().segments, memory() >> 20);
    log.close();
    drop((queues, log));
    let newest = std::fs::read_dir(dir.join("penstock-store"))?.filter_map(|e| Some(e.ok()?.path()));
    let newest = newest.filter(|path| path.extension().is_some_and(|e| e == "log")).max().unwrap();
    // Without its footer the newest segment is one of a process that was killed.
    let file = std::fs::OpenOptions::new().write(true).open(newest)?;
    file.set_len(file.metadata()?.len() - 16)?;
    let (cpu, began) = (cpu_time(), Instant::now());
    let opened = Log::open(Options::new(dir))?;
    println!("opened in {:?}, CPU {:?}: {:?}", began.elapsed(), cpu_time() - cpu, opened.report);
    println!("{} MiB resident, {:?}", memory() >> 20, opened.log.queues()[0].waiting);
    drop(opened);
    std::fs::remove_dir_all(dir.join("penstock-store"))
}

fn percentile(buckets: &[u64], part: f64) -> Duration {
    let all: u64 = buckets.iter().sum();
    let mut seen = 0;
    let bucket = buckets.iter().position(|count| {
        seen += count;
        seen as f64 >= all as f64 * part
    });
    Duration::from_micros(bucket.map_or(0, |b| 1 << b))
}

/// Of the process, in user and system.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Resident bytes of the process.
fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}
