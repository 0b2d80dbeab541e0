//! Damage done to the files of a store that lies still: flipped bits, zeroed pages, files cut short, missing,
//! exchanged. Every message whose bytes were left alone must come back, in order, once.

use crate::tally::{Tally, number};
use crate::trial::{Chance, Plan, Verdict};
use std::ops::Range;
use std::path::Path;
use store::{Log, Options, Queue, Safe};
use testkit::Lab;

const MESSAGES: u64 = 2000;
const SEGMENT_BYTES: u64 = 64 << 10;
const PAGE: usize = 4096;
/// What stands in front of a message in the store: its frame's head.
const HEAD: usize = 24;
const FOLDER: &str = "penstock-store";

/// A store as it lies on the disk, and where its messages are.
struct Still {
    files: Vec<(String, Vec<u8>)>,
    /// File and place of each message by number, its head included.
    places: Vec<(usize, Range<usize>)>,
}

struct Harm {
    files: Vec<(String, Vec<u8>)>,
    /// Places that were touched, per file of the original.
    touched: Vec<Vec<Range<usize>>>,
    what: String,
}

pub fn run(plan: &Plan) -> Verdict {
    // What the store says of each of thousands of damages would hide the table.
    oplog::set_stderr(false);
    let folder = Lab::new();
    let mut problems = Vec::new();
    let mut tally = Tally::default();
    let still = match Still::make(&folder.path("still")) {
        Ok(still) => still,
        Err(error) => return Verdict::Skipped(error),
    };
    let mut chance = Chance(plan.seed);
    for round in 0..plan.rounds {
        let harm = still.harm(&mut chance);
        let dir = folder.path("harmed");
        let numbers = match read(&dir, &harm.files) {
            Ok(numbers) => numbers,
            Err(error) => {
                problems.push(format!("round {round}, {}: {error}", harm.what));
                continue;
            }
        };
        let intact = |number: u64| still.is_intact(number as usize, &harm);
        let mut found = Tally::of(MESSAGES, 0, &numbers);
        let kept: Vec<u64> = (0..MESSAGES).filter(|n| intact(*n)).collect();
        let arrived: std::collections::HashSet<u64> = numbers.iter().copied().collect();
        found.acknowledged = kept.len() as u64;
        found.lost = kept.iter().filter(|n| !arrived.contains(n)).count() as u64;
        found.rounds = 1;
        if found.lost + found.doubled + found.reordered + found.unaccounted > 0 && problems.len() < 5 {
            problems.push(format!(
                "round {round}, {}: {} intact ones lost, {} doubled, {} reordered",
                harm.what, found.lost, found.doubled, found.reordered
            ));
        }
        tally.add(&found);
    }
    Verdict::Ran { tally, restart_ms: 0, problems, notes: Vec::new() }
}

fn open(dir: &Path) -> Result<(std::sync::Arc<Log>, Queue), String> {
    let options = Options { segment_bytes: SEGMENT_BYTES, free_segments: 0, ..Options::new(dir) };
    let opened = Log::open(options).map_err(|e| format!("cannot be opened: {e}"))?;
    let queue = opened.log.queue(b"d", 1 << 30, Box::new(|| ())).map_err(|e| format!("no queue: {e}"))?;
    Ok((opened.log, queue))
}

/// What a store made of these files gives back.
fn read(dir: &Path, files: &[(String, Vec<u8>)]) -> Result<Vec<u64>, String> {
    let folder = dir.join(FOLDER);
    let _ = std::fs::remove_dir_all(dir);
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    for (name, bytes) in files {
        std::fs::write(folder.join(name), bytes).map_err(|e| e.to_string())?;
    }
    let (log, queue) = open(dir)?;
    let mut numbers = Vec::new();
    let mut from = queue.first_waiting();
    loop {
        let read = queue.read(from, 64 << 10).map_err(|e| format!("cannot be read: {e}"))?;
        let mut start = 0;
        for end in &read.ends {
            let message = read.bytes.get(start..*end as usize).unwrap_or_default();
            numbers.push(number(message).unwrap_or(u64::MAX));
            start = *end as usize;
        }
        if read.seqs.is_empty() {
            break;
        }
        from = read.seqs.end;
    }
    log.close();
    Ok(numbers)
}

impl Still {
    fn make(dir: &Path) -> Result<Still, String> {
        std::fs::create_dir_all(dir).map_err(|e| e.to_string())?;
        let (log, queue) = open(dir)?;
        for n in 0..MESSAGES {
            let message = format!("n={n:010} {}\n", "x".repeat((n * 7 % 300) as usize));
            let stored =
                queue.append(message.as_bytes(), &[message.len() as u32], Safe::Synced, Box::new(()));
            stored.map_err(|(why, _)| format!("{why:?}"))?;
        }
        log.flush();
        log.close();
        let mut files = Vec::new();
        for entry in std::fs::read_dir(dir.join(FOLDER)).map_err(|e| e.to_string())? {
            let entry = entry.map_err(|e| e.to_string())?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".log") {
                files.push((name, std::fs::read(entry.path()).map_err(|e| e.to_string())?));
            }
        }
        files.sort();
        let mut places = vec![(0, 0..0); MESSAGES as usize];
        for (at, (_, bytes)) in files.iter().enumerate() {
            for start in memchr_all(bytes, b"n=0") {
                let Some(number) = bytes.get(start..start + 12).and_then(number) else { continue };
                let length = bytes[start..].iter().position(|b| *b == b'\n').map_or(0, |n| n + 1);
                places[number as usize] = (at, start - HEAD..start + length);
            }
        }
        match places.iter().all(|(_, place)| !place.is_empty()) {
            true => Ok(Still { files, places }),
            false => Err("not every message was found in the files".to_owned()),
        }
    }

    fn is_intact(&self, number: usize, harm: &Harm) -> bool {
        let (file, place) = &self.places[number];
        harm.touched[*file].iter().all(|touched| touched.end <= place.start || place.end <= touched.start)
    }

    fn harm(&self, chance: &mut Chance) -> Harm {
        let mut files = self.files.clone();
        let mut touched: Vec<Vec<Range<usize>>> = vec![Vec::new(); files.len()];
        let at = chance.below(files.len() as u64) as usize;
        let length = files[at].1.len();
        let what = match chance.below(10) {
            0..=4 => {
                let flips = 1 + chance.below(8);
                for _ in 0..flips {
                    let place = chance.below(length as u64) as usize;
                    files[at].1[place] ^= 1 << chance.below(8);
                    touched[at].push(place..place + 1);
                }
                format!("{flips} bits of {}", files[at].0)
            }
            5..=6 => {
                let page = chance.below((length / PAGE) as u64) as usize * PAGE;
                files[at].1[page..page + PAGE].fill(0);
                touched[at].push(page..page + PAGE);
                format!("page {page} of {}", files[at].0)
            }
            7 => {
                let cut = chance.below(length as u64) as usize;
                files[at].1.truncate(cut);
                touched[at].push(cut..length);
                format!("{} cut at {cut}", files[at].0)
            }
            8 => {
                touched[at].push(0..length);
                let (name, _) = files.remove(at);
                format!("{name} missing")
            }
            _ => {
                let other = chance.below(files.len() as u64) as usize;
                let names = (files[at].0.clone(), files[other].0.clone());
                files[at].0 = names.1.clone();
                files[other].0 = names.0.clone();
                format!("{} and {} exchanged", names.0, names.1)
            }
        };
        Harm { files, touched, what }
    }
}

fn memchr_all<'a>(bytes: &'a [u8], pattern: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    bytes.windows(pattern.len()).enumerate().filter(move |(_, w)| *w == pattern).map(|(at, _)| at)
}
