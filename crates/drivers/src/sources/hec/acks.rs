//! Numbers under which clients ask what became of their requests, by channel.

use super::replies::{BUSY, Reply};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

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
        let fresh = || Channel { next: 0, numbers: BTreeMap::new(), heard: Instant::now() };
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
        assert_eq!((first.number, second.number, other.number), (0, 1, 0));
        assert_eq!(acks.ask("a", &[0, 1, 7]), [(0, false), (1, false), (7, false)]);
        second.done();
        assert_eq!(acks.ask("b", &[1]), [(1, false)]);
        assert_eq!(acks.ask("a", &[0, 1]), [(0, false), (1, true)]);
        assert_eq!(acks.ask("a", &[1]), [(1, false)]);
        drop(first);
        assert_eq!(acks.ask("a", &[0]), [(0, false)]);
        assert_eq!(acks.ask("c", &[0]), [(0, false)]);
    }

    #[test]
    fn a_channel_that_never_asks_is_busy_in_the_end() {
        let acks: Arc<Acks> = Arc::default();
        for _ in 0..NUMBERS_MAX {
            acks.give("a").expect("a number").done();
        }
        assert_eq!(acks.give("a").err(), Some(BUSY));
        assert!(acks.give("b").is_ok());
        assert_eq!(acks.ask("a", &[3]), [(3, true)]);
        assert!(acks.give("a").is_ok());
    }
}
