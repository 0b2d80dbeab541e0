//! What the engine knows of a parser's contexts: whose they are, so that a reload can hand them over, and how
//! to close them.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The contexts of one reference of a parser.
pub trait State: Any + Send + Sync {
    /// The persist-name(), or what tells the parser from others.
    fn key(&self) -> &str;

    /// From now on every batch, above all the empty ones of ticks, closes all contexts as if their time was
    /// over: nobody will come back.
    fn close(&self);

    /// Forgets all contexts and the time, and makes nothing of them: of a configuration that is only tried.
    fn begin_anew(&self);

    /// The last batch has left contexts that are to be closed: too many of them came to their end together.
    fn is_behind(&self) -> bool;

    fn counters(&self) -> &Arc<StateCounters>;

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// Counted per batch: `generated = delivered + in work + filtered + contained`.
#[derive(Debug, Default)]
pub struct StateCounters {
    /// Messages made.
    pub generated: AtomicU64,
    /// Of these, those handed to at least one destination, or to internal().
    pub delivered: AtomicU64,
    /// Those in the log path that made them.
    pub in_work: AtomicU64,
    /// Those that went to no destination.
    pub filtered: AtomicU64,
    /// Those that a contained fault cost.
    pub contained: AtomicU64,
    /// Contexts closed before their time for want of room.
    pub closed_early: AtomicU64,
}

impl StateCounters {
    pub(super) fn add(&self, made: Made, closed_early: usize) {
        add(&self.generated, made.joined + made.posted + made.unheard);
        add(&self.in_work, made.joined);
        add(&self.delivered, made.posted);
        add(&self.filtered, made.unheard);
        add(&self.closed_early, closed_early);
    }

    /// Messages that went on in their log path have left it.
    pub fn settled(&self, delivered: usize, filtered: usize) {
        add(&self.delivered, delivered);
        add(&self.filtered, filtered);
        self.in_work.fetch_sub((delivered + filtered) as u64, Relaxed);
    }

    /// Messages that went on in their log path were lost there.
    pub fn contained(&self, messages: usize) {
        add(&self.contained, messages);
        self.in_work.fetch_sub(messages as u64, Relaxed);
    }
}

fn add(counter: &AtomicU64, messages: usize) {
    if messages > 0 {
        counter.fetch_add(messages as u64, Relaxed);
    }
}

/// Where the messages went that one batch made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// On in the log path.
    pub joined: usize,
    /// To internal().
    pub posted: usize,
    /// Nowhere: they were for internal(), and there is none, or they were made of its own messages.
    pub unheard: usize,
}
