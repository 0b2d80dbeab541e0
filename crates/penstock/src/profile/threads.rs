//! What the kernel knows of the threads of this process: processor time, time spent waiting for a processor,
//! whether one runs.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Of one thread, in nanoseconds since it began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Used {
    pub name: String,
    pub running: u64,
    /// Ready to run, and no processor was free.
    pub queued: u64,
}

/// All threads by their numbers.
pub fn used() -> HashMap<i32, Used> {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return HashMap::new() };
    let numbers = tasks.flatten().filter_map(|task| task.file_name().to_str()?.parse().ok());
    numbers.filter_map(|number| Some((number, of(number)?))).collect()
}

fn of(number: i32) -> Option<Used> {
    let read = |what: &str| std::fs::read_to_string(format!("/proc/self/task/{number}/{what}")).ok();
    let (running, queued) = times(&read("schedstat")?)?;
    Some(Used { name: read("comm")?.trim_end().to_owned(), running, queued })
}

fn times(schedstat: &str) -> Option<(u64, u64)> {
    let mut words = schedstat.split_whitespace().map(|word| word.parse().ok());
    Some((words.next()??, words.next()??))
}

/// How much processor time a thread has used, asked again and again.
pub struct Clock {
    file: Option<File>,
    running: u64,
    queued: u64,
}

/// Of a thread, since it was asked last, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lap {
    pub running: u64,
    /// It could have run meanwhile, and others did.
    pub queued: u64,
}

impl Lap {
    /// How much it says about what the thread does that it was met at something. One that had to wait for its
    /// processor is met where others get it, which is mostly at the end of a system call, and not where its
    /// time went.
    pub fn weight(self) -> u64 {
        let part = self.running as f64 / (self.running + self.queued).max(1) as f64;
        (self.running as f64 * part * part) as u64
    }
}

impl Clock {
    /// Begins now.
    pub fn of(number: i32) -> Clock {
        let file = File::open(format!("/proc/self/task/{number}/schedstat")).ok();
        let mut clock = Clock { file, running: 0, queued: 0 };
        clock.lap();
        clock
    }

    pub fn lap(&mut self) -> Lap {
        let mut text = [0; 96];
        let read = self.file.as_ref().and_then(|file| file.read_at(&mut text, 0).ok()).unwrap_or(0);
        let text = std::str::from_utf8(text.get(..read).unwrap_or_default()).unwrap_or_default();
        let (running, queued) = times(text).unwrap_or((self.running, self.queued));
        Lap {
            running: running.saturating_sub(std::mem::replace(&mut self.running, running)),
            queued: queued.saturating_sub(std::mem::replace(&mut self.queued, queued)),
        }
    }
}

/// Whether a thread runs, or could: not when it waits for a disk, a lock or a peer.
pub fn is_running(number: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{number}/stat")).unwrap_or_default();
    // The name, in brackets, may have anything in it.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('R'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_a_processor_says_little() {
        let weight = |running, queued| Lap { running, queued }.weight();
        assert_eq!((weight(4000, 0), weight(4000, 4000), weight(1000, 9000)), (4000, 1000, 10));
        assert_eq!(weight(0, 0), 0);
    }

    #[test]
    fn what_the_kernel_says_is_read() {
        assert_eq!(times("12 34 5\n"), Some((12, 34)));
        assert_eq!((times(""), times("12"), times("x y")), (None, None, None));
        let own = rustix::thread::gettid().as_raw_nonzero().get();
        let before = used().remove(&own).expect("this thread");
        let mut clock = Clock::of(own);
        while used().remove(&own).expect("this thread").running == before.running {}
        while clock.lap().running == 0 {}
        assert_eq!(Clock::of(-1).lap(), Lap::default());
        assert!(is_running(own) && !is_running(-1));
    }
}
