//! Numbers under which clients ask what became of their requests, by channel.

use super::replies::{BUSY, Reply};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Channels at one time.
const CHANNELS_MAX: usize = 4096;
/// Requests of one channel that were not asked for, or are not dealt with.
const NUMBERS_MAX: usize = 10_000;
/// A channel of which nothing was heard for so long is forgotten when there are too many.
const IDLE: Duration = Duration::from_secs(600);

#[derive(Default)]
pub struct Acks(Mutex<HashMap<String, Channel>>);

struct Channel {
    next: u64,
    /// Whether each is dealt with.
    numbers: BTreeMap<u64, bool>,
    heard: Instant,
}

/// Where a channel begins: microseconds since 1970, which numbers in JSON hold exactly. A client that still
/// asks for numbers of before, of another process or of a channel that was forgotten, is told of none of
/// these.
fn first_number() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_micros() as u64
}

/// A number that was given out.
pub struct AckNumber {
    acks: Arc<Acks>,
    channel: String,
    pub number: u64,
}

impl Acks {
    /// The next number of a channel.
    pub fn give(self: &Arc<Acks>, channel: &str) -> Result<AckNumber, Reply> {
        let mut channels = self.0.lock();
        if !channels.contains_key(channel) && channels.len() >= CHANNELS_MAX {
            channels.retain(|_, channel| channel.heard.elapsed() < IDLE);
            if channels.len() >= CHANNELS_MAX {
                return Err(BUSY);
            }
        }
        let fresh = || Channel { next: first_number(), numbers: BTreeMap::new(), heard: Instant::now() };
        let known = channels.entry(channel.to_owned()).or_insert_with(fresh);
        if known.numbers.len() >= NUMBERS_MAX {
            return Err(BUSY);
        }
        let number = known.next;
        known.next += 1;
        known.heard = Instant::now();
        known.numbers.insert(number, false);
        Ok(AckNumber { acks: Arc::clone(self), channel: channel.to_owned(), number })
    }

    /// Whether each of these is dealt with. Those that are, are forgotten with that.
    pub fn ask(&self, channel: &str, numbers: &[u64]) -> Vec<(u64, bool)> {
        let mut channels = self.0.lock();
        let Some(known) = channels.get_mut(channel) else {
            return numbers.iter().map(|number| (*number, false)).collect();
        };
        known.heard = Instant::now();
        let mut answer = |number: &u64| {
            let done = known.numbers.get(number) == Some(&true);
            if done {
                known.numbers.remove(number);
            }
            (*number, done)
        };
        numbers.iter().map(&mut answer).collect()
    }
}

impl AckNumber {
    /// Everything is delivered.
    pub fn done(self) {
        if let Some(channel) = self.acks.0.lock().get_mut(&self.channel)
            && let Some(done) = channel.numbers.get_mut(&self.number)
        {
            *done = true;
        }
    }
}

/// One that is not done has been forgotten, and its client sends again what it never gets an answer for.
impl Drop for AckNumber {
    fn drop(&mut self) {
        if let Some(channel) = self.acks.0.lock().get_mut(&self.channel)
            && channel.numbers.get(&self.number) == Some(&false)
        {
            channel.numbers.remove(&self.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_true_once_its_events_are_delivered_and_once_only() {
        let acks: Arc<Acks> = Arc::default();
        let first = acks.give("a").expect("a number");
        let second = acks.give("a").expect("a number");
        let other = acks.give("b").expect("a number");
        let (a, b) = (first.number, other.number);
        assert_eq!(second.number, a + 1);
        assert_eq!(acks.ask("a", &[a, a + 1, a + 7]), [(a, false), (a + 1, false), (a + 7, false)]);
        second.done();
        assert_eq!(acks.ask("b", &[b]), [(b, false)]);
        assert_eq!(acks.ask("a", &[a, a + 1]), [(a, false), (a + 1, true)]);
        assert_eq!(acks.ask("a", &[a + 1]), [(a + 1, false)]);
        drop(first);
        assert_eq!(acks.ask("a", &[a]), [(a, false)]);
        assert_eq!(acks.ask("c", &[a]), [(a, false)]);
    }

    #[test]
    fn a_channel_of_another_process_does_not_give_the_same_numbers() {
        let before = Arc::<Acks>::default().give("a").expect("a number").number;
        while first_number() == before {
            std::hint::spin_loop();
        }
        let acks: Arc<Acks> = Arc::default();
        acks.give("a").expect("a number").done();
        assert_eq!(acks.ask("a", &[before, 0]), [(before, false), (0, false)]);
        // JSON's numbers are exact so far.
        assert!(before < 1 << 53);
    }

    #[test]
    fn a_channel_that_never_asks_is_busy_in_the_end() {
        let acks: Arc<Acks> = Arc::default();
        let mut last = 0;
        for _ in 0..NUMBERS_MAX {
            let given = acks.give("a").expect("a number");
            last = given.number;
            given.done();
        }
        assert_eq!(acks.give("a").err(), Some(BUSY));
        assert!(acks.give("b").is_ok());
        assert_eq!(acks.ask("a", &[last]), [(last, true)]);
        assert!(acks.give("a").is_ok());
    }
}
