//! What a destination does by the clock: throttle(), MARK lines, and the count of repetitions that were left
//! out.

use crate::writer::{MarkMode, Writer};
use engine::{Chunk, Progress, Sink, Status, Waits};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Puts the clock between an outlet and its sink, where the options ask for it.
pub fn pace(writer: &Arc<Writer>, id: u32, sink: Box<dyn Sink>) -> Box<dyn Sink> {
    if writer.throttle == 0 && !writer.marks.is_on() && writer.suppress.is_none() {
        return sink;
    }
    let now = Instant::now();
    Box::new(Paced {
        sink,
        id,
        bucket: (writer.throttle > 0).then(|| Bucket::new(writer.throttle, now)),
        writer: Arc::clone(writer),
        wrote: now,
        marked: now,
        is_throttled: false,
    })
}

struct Paced {
    sink: Box<dyn Sink>,
    /// Of the outlet.
    id: u32,
    bucket: Option<Bucket>,
    writer: Arc<Writer>,
    wrote: Instant,
    marked: Instant,
    /// More was to be written than throttle() allows.
    is_throttled: bool,
}

impl Paced {
    fn throttled(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>) -> Status {
        let Some(bucket) = &mut self.bucket else { return self.sink.write(chunks, progress) };
        let allowed = bucket.allowed(self.wrote);
        self.is_throttled = allowed == 0;
        if allowed == 0 {
            return Status::Retry(bucket.wait());
        }
        let mut turn = take(chunks, allowed);
        let before: usize = turn.iter().map(Chunk::messages).sum();
        let status = catch_unwind(AssertUnwindSafe(|| self.sink.write(&mut turn, progress)));
        bucket.spend(before - turn.iter().map(Chunk::messages).sum::<usize>());
        // Whatever happened in there, what was not finished belongs to the queue.
        while let Some(chunk) = turn.pop_back() {
            chunks.push_front(chunk);
        }
        match status.unwrap_or_else(|panic| resume_unwind(panic)) {
            Status::Done if !chunks.is_empty() => {
                self.is_throttled = true;
                Status::Retry(bucket.wait())
            }
            other => other,
        }
    }

    fn is_mark_due(&self, now: Instant) -> bool {
        let marks = &self.writer.marks;
        let life = match marks.mode {
            MarkMode::DstIdle => self.wrote,
            MarkMode::HostIdle => self.writer.last_local().unwrap_or(self.marked),
            MarkMode::Periodical => self.marked,
            MarkMode::Internal | MarkMode::None => return false,
        };
        marks.is_on() && now.saturating_duration_since(life.max(self.marked)) >= marks.freq
    }
}

/// The first `count` messages.
fn take(chunks: &mut VecDeque<Chunk>, count: usize) -> VecDeque<Chunk> {
    let mut taken = VecDeque::new();
    let mut room = count;
    while room > 0
        && let Some(mut chunk) = chunks.pop_front()
    {
        if chunk.messages() > room {
            chunks.push_front(chunk.split(room));
        }
        room -= chunk.messages();
        taken.push_back(chunk);
    }
    taken
}

impl Sink for Paced {
    fn write(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>) -> Status {
        self.wrote = Instant::now();
        self.throttled(chunks, progress)
    }

    fn event(&mut self) {
        self.sink.event();
    }

    fn reopen(&mut self) {
        self.sink.reopen();
    }

    fn reloaded(&mut self) {
        self.sink.reloaded();
    }

    fn is_well(&self, now: Instant) -> bool {
        self.sink.is_well(now)
    }

    fn waits_for(&self) -> Waits {
        if self.is_throttled { Waits::Rate } else { self.sink.waits_for() }
    }

    fn tick(&mut self, now: Instant) {
        self.sink.tick(now);
    }

    fn own(&mut self, now: Instant) -> Option<Chunk> {
        let mut chunk = self.sink.own(now);
        self.writer.write_overdue(self.id, &mut chunk);
        if self.is_mark_due(now) {
            self.marked = now;
            self.writer.write_mark(chunk.get_or_insert_default());
        }
        chunk
    }

    fn finish(&mut self, chunk: &mut Chunk, progress: &mut Progress<'_>, until: Instant) {
        self.sink.finish(chunk, progress, until);
    }

    fn is_numbered(&self) -> bool {
        self.sink.is_numbered()
    }

    fn unsettled(&self) -> usize {
        self.sink.unsettled()
    }

    fn kept(&self, queue: &VecDeque<Chunk>) -> Vec<Chunk> {
        self.sink.kept(queue)
    }

    fn let_go(&mut self) {
        self.sink.let_go();
    }

    fn ask_peer(&mut self) -> bool {
        self.sink.ask_peer()
    }

    fn guarded(&self) -> usize {
        self.sink.guarded()
    }

    fn kept_bytes(&self) -> usize {
        self.sink.kept_bytes()
    }

    fn part(&mut self, queue: &mut VecDeque<Chunk>) {
        self.sink.part(queue);
    }

    fn close_unsettled(&mut self, queue: &mut VecDeque<Chunk>) -> VecDeque<Chunk> {
        self.writer.forget(self.id);
        self.sink.close_unsettled(queue)
    }

    fn close(&mut self, queue: &mut VecDeque<Chunk>) {
        self.writer.forget(self.id);
        self.sink.close(queue);
    }
}

/// So many messages a second, saved up for a second at most.
struct Bucket {
    rate: u32,
    tokens: f64,
    filled: Instant,
}

/// The shortest wait for tokens: at high rates several messages go at a time.
const WAIT_MIN: Duration = Duration::from_millis(10);

impl Bucket {
    fn new(rate: u32, now: Instant) -> Bucket {
        Bucket { rate, tokens: f64::from(rate), filled: now }
    }

    fn allowed(&mut self, now: Instant) -> usize {
        let gained = now.saturating_duration_since(self.filled).as_secs_f64() * f64::from(self.rate);
        self.tokens = (self.tokens + gained).min(f64::from(self.rate));
        self.filled = now;
        self.tokens as usize
    }

    fn spend(&mut self, messages: usize) {
        self.tokens = (self.tokens - messages as f64).max(0.0);
    }

    /// Until the next message may go.
    fn wait(&self) -> Duration {
        let missing = (1.0 - self.tokens).max(0.0);
        Duration::from_secs_f64(missing / f64::from(self.rate)).max(WAIT_MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_gives_its_rate_and_saves_a_second() {
        let mut now = Instant::now();
        let mut bucket = Bucket::new(100, now);
        assert_eq!(bucket.allowed(now), 100);
        bucket.spend(100);
        assert_eq!(bucket.allowed(now), 0);
        assert_eq!(bucket.wait(), Duration::from_millis(10));
        now += Duration::from_millis(50);
        assert_eq!(bucket.allowed(now), 5);
        now += Duration::from_secs(60);
        assert_eq!(bucket.allowed(now), 100);
    }

    #[test]
    fn a_turn_takes_the_front() {
        let chunk = |text: &[&str]| {
            let mut chunk = Chunk::default();
            for message in text {
                chunk.bytes.extend_from_slice(message.as_bytes());
                chunk.ends.push(chunk.bytes.len() as u32);
            }
            chunk
        };
        let mut chunks = VecDeque::from([chunk(&["a", "b"]), chunk(&["c", "d", "e"])]);
        let text =
            |chunks: &VecDeque<Chunk>| chunks.iter().flat_map(|c| c.pending().to_vec()).collect::<Vec<u8>>();
        let taken = take(&mut chunks, 3);
        assert_eq!((text(&taken), text(&chunks)), (b"abc".to_vec(), b"de".to_vec()));
        assert_eq!(text(&take(&mut chunks, 9)), b"de");
    }
}
