//! Very many inputs in little time: changed from known ones, without a look at what they reach.
//!
//! `TARGET COUNT FOLDER...` runs COUNT inputs made of the files in the folders on all cores. An input that
//! panics or takes ten seconds ends the program; it is in the file `soak-input` then.

use crate::mutate::{Mutator, Random};
use std::cell::RefCell;
use std::path::Path;
use std::process::exit;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// An input that takes longer has stalled.
const STALL: Duration = Duration::from_secs(10);
/// Inputs that a thread takes at once.
const SHARE: u64 = 1000;
const FOUND: &str = "soak-input";

/// What a thread is at.
#[derive(Default)]
struct Seat {
    input: Mutex<Vec<u8>>,
    /// Inputs that it has begun.
    begun: AtomicU64,
}

thread_local! {
    static HERE: RefCell<Option<Arc<Seat>>> = const { RefCell::new(None) };
}

pub fn soak(target: &(dyn Fn(&[u8]) + Sync)) -> i32 {
    let mut args = std::env::args().skip(1);
    let Some(count) = args.next().and_then(|count| count.parse::<u64>().ok()) else {
        eprintln!("usage: TARGET COUNT FOLDER...");
        return 2;
    };
    let known: Vec<Vec<u8>> = args.flat_map(|folder| files(Path::new(&folder))).collect();
    let start = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    println!("{count} inputs from {} files, start {start}", known.len());
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        usual(info);
        HERE.with_borrow(|seat| seat.iter().for_each(|seat| keep(seat)));
        exit(1);
    }));
    let begun = Instant::now();
    let (left, slowest) = (AtomicU64::new(count), AtomicU64::new(0));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let seats: Vec<Arc<Seat>> = (0..threads).map(|_| Arc::default()).collect();
    std::thread::scope(|scope| {
        for (number, seat) in seats.iter().enumerate() {
            let mutator = Mutator::new(known.clone(), Random::new(start ^ (number as u64) << 32));
            let (left, slowest) = (&left, &slowest);
            scope.spawn(move || work(target, seat, mutator, (left, slowest)));
        }
        watch(&seats, &left, begun);
    });
    let slowest = Duration::from_nanos(slowest.into_inner());
    println!("{count} inputs in {:.0} s, the slowest {slowest:?}", begun.elapsed().as_secs_f64());
    0
}

fn work(
    target: &(dyn Fn(&[u8]) + Sync),
    seat: &Arc<Seat>,
    mut mutator: Mutator,
    (left, slowest): (&AtomicU64, &AtomicU64),
) {
    HERE.set(Some(Arc::clone(seat)));
    let mut input = Vec::new();
    let take = |left: u64| Some(left.saturating_sub(SHARE));
    while let Ok(mine @ 1..) = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
        for _ in 0..mine.min(SHARE) {
            mutator.make(&mut input);
            seat.input.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&input);
            seat.begun.fetch_add(1, Ordering::Relaxed);
            let begun = Instant::now();
            target(&input);
            slowest.fetch_max(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
        }
    }
    seat.begun.store(u64::MAX, Ordering::Relaxed);
}

/// Looks whether threads go on until all inputs are done.
fn watch(seats: &[Arc<Seat>], left: &AtomicU64, begun: Instant) {
    let mut seen: Vec<(u64, Instant)> = seats.iter().map(|_| (0, Instant::now())).collect();
    let mut said = Instant::now();
    loop {
        std::thread::sleep(Duration::from_millis(100));
        let mut are_done = true;
        for (seat, (count, since)) in seats.iter().zip(&mut seen) {
            let now = seat.begun.load(Ordering::Relaxed);
            are_done &= now == u64::MAX;
            if now != *count {
                (*count, *since) = (now, Instant::now());
            } else if now != u64::MAX && since.elapsed() > STALL {
                eprintln!("stalled: an input takes more than {STALL:?}");
                keep(seat);
                exit(1);
            }
        }
        if are_done {
            return;
        }
        if said.elapsed() > Duration::from_secs(60) {
            said = Instant::now();
            println!("{} left after {:.0} s", left.load(Ordering::Relaxed), begun.elapsed().as_secs_f64());
        }
    }
}

fn keep(seat: &Seat) {
    let input = seat.input.lock().unwrap_or_else(PoisonError::into_inner);
    match std::fs::write(FOUND, &*input) {
        Ok(()) => eprintln!("the input is in {FOUND}"),
        Err(error) => eprintln!("{FOUND}: {error}: {:?}", String::from_utf8_lossy(&input)),
    }
}

fn files(folder: &Path) -> Vec<Vec<u8>> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| std::fs::read(entry.path()).ok()).collect()
}
