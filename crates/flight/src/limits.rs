//! How batches are cut and sent, as the configuration says it.

use std::time::Duration;

/// The most bytes of a batch when batch-bytes() does not say.
pub const BATCH_BYTES_MAX: usize = 16 << 20;
/// The most messages of a batch when batch-lines() does not say.
pub const BATCH_LINES_MAX: usize = 100_000;

#[derive(Clone, Debug)]
pub struct Limits {
    /// `batch-lines()`: 0 is no limit where `bytes` is one; with neither, each message goes alone.
    pub lines: usize,
    /// `batch-bytes()`: 0 is no limit. A message that is larger goes alone.
    pub bytes: usize,
    /// Bytes that are added to each message: a delimiter.
    pub extra: usize,
    /// `batch-timeout()`: a batch that is not full waits so long after its first message. `None`: it does not
    /// wait.
    pub timeout: Option<Duration>,
    /// `batch-idle-timeout()`: it does not wait longer after its last message either.
    pub idle: Option<Duration>,
    /// Batches that may be on the way.
    pub away: usize,
    /// `retries()`: after so many failures that count, a batch is halved; a message alone is refused.
    pub retries: u32,
    /// `time-reopen()`: the longest pause after failures, and the time between two looks at what is held.
    pub time_reopen: Duration,
    /// `throttle()`: messages a second; 0 is no limit.
    pub throttle: u32,
    /// `timeout()`: an answer that takes longer is late. `None`: after [`LATE`].
    pub answer: Option<Duration>,
    /// Messages carry keys, and those of a batch have the same one.
    pub keyed: bool,
    /// The client wants to know the number of each message on disk, and a batch ends with one that has one.
    pub numbered: bool,
    /// The receiver knows by these numbers what comes again, however batches are cut then.
    pub knows_again: bool,
}

/// An answer that takes longer is late, unless timeout() says otherwise: sources without flow-control are not
/// held back any more.
pub const LATE: Duration = Duration::from_secs(30);

impl Limits {
    /// The most messages of a batch.
    pub(crate) fn lines_max(&self) -> usize {
        match (self.lines, self.bytes) {
            (0, 0) => 1,
            (0, _) => BATCH_LINES_MAX,
            (lines, _) => lines,
        }
    }

    /// The most bytes of a batch.
    pub(crate) fn bytes_max(&self) -> usize {
        if self.bytes == 0 { BATCH_BYTES_MAX } else { self.bytes }
    }

    pub(crate) fn late(&self) -> Duration {
        self.answer.unwrap_or(LATE)
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            lines: 0,
            bytes: 0,
            extra: 0,
            timeout: None,
            idle: None,
            away: 1,
            retries: 3,
            time_reopen: Duration::from_secs(60),
            throttle: 0,
            answer: None,
            keyed: false,
            numbered: false,
            knows_again: false,
        }
    }
}
