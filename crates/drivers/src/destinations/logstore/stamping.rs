//! Time stamps asked for while a store is written: one request at a time, on a thread of its own, since an
//! authority may take as long as it likes.

use logstore::{Digest, stamp};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::time::{Duration, Instant};

/// A time stamp, or why there is none.
type Answered = Result<Vec<u8>, String>;

/// Who is asked, and how often.
pub struct Authority {
    pub url: String,
    pub freq: Duration,
    /// As DER has it.
    pub policy: Option<Vec<u8>>,
}

/// A store that ends waits for its last stamp while the authority fails no more often than this.
const FAILURES_MAX: u32 = 3;

/// What is to be stamped: the number of the last chunk, and the file MAC behind it.
#[derive(Clone)]
pub struct Wanted {
    pub chunk: u32,
    pub digest: Digest,
    pub mac: Vec<u8>,
}

#[derive(Default)]
pub struct Stamping {
    under_way: Option<(Wanted, Receiver<Answered>)>,
    asked: Option<Instant>,
    /// The last chunk that was stamped.
    stamped: Option<u32>,
    failures: u32,
}

impl Stamping {
    /// The answer for a chunk, when it came.
    pub fn heard(&mut self, url: &str) -> Option<(u32, Vec<u8>)> {
        let (wanted, answer) = self.under_way.as_ref()?;
        let answer = match answer.try_recv() {
            Ok(answer) => answer,
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => Err("the thread that asked has ended".to_owned()),
        };
        let chunk = wanted.chunk;
        self.under_way = None;
        match answer {
            Ok(answer) => {
                (self.stamped, self.failures) = (Some(chunk), 0);
                Some((chunk, answer))
            }
            Err(error) => {
                self.failures += 1;
                let fields: [oplog::Field<'_>; 2] = [("url", &url), ("error", &error)];
                oplog::limited(
                    "logstore-stamp",
                    oplog::Level::Error,
                    "No time stamp for a log store, it is asked for again",
                    &fields,
                );
                None
            }
        }
    }

    /// Asks for a stamp when there is something to stamp, and it is time.
    pub fn ask(&mut self, authority: &Arc<Authority>, wanted: Wanted, now: Instant) {
        let is_due = self.asked.is_none_or(|asked| now.saturating_duration_since(asked) >= authority.freq);
        if self.under_way.is_some() || self.stamped == Some(wanted.chunk) || !is_due {
            return;
        }
        self.asked = Some(now);
        let (said, answer) = sync_channel(1);
        let (asked, authority) = (wanted.clone(), Arc::clone(authority));
        let work = move || {
            // Nobody hears it when the store was closed.
            let _ = said.send(answer_of(&authority, &asked));
        };
        // Without a thread the channel is closed, which counts as a failure.
        let _ = std::thread::Builder::new().name("time-stamp".to_owned()).spawn(work);
        self.under_way = Some((wanted, answer));
    }

    /// Whether a stamp is still to come for the last chunk.
    pub fn is_awaited(&self, chunk: Option<u32>) -> bool {
        self.failures < FAILURES_MAX && (self.under_way.is_some() || chunk != self.stamped)
    }
}

fn answer_of(authority: &Authority, wanted: &Wanted) -> Result<Vec<u8>, String> {
    let nonce = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos() as u64);
    let request = stamp::request(wanted.digest, &wanted.mac, authority.policy.as_deref(), nonce);
    let answer = stamp::ask(&authority.url, &request).map_err(|error| error.to_string())?;
    stamp::answered(&answer)?;
    let token = stamp::token(&answer).ok_or("the answer cannot be read")?;
    if token.imprint != (Some(wanted.digest), &wanted.mac) {
        return Err("the stamp is for something else".to_owned());
    }
    Ok(answer)
}
