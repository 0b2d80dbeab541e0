//! The reader of one file: a port without a descriptor in the readiness loop, woken when there is something
//! to read.

use super::beginning::Beginning;
use super::followed::{Drained, Ended, Followed};
use super::tail::{Step, Tail};
use engine::reader::SLAB_BYTES;
use engine::source::Source;
use engine::worker::{After, Port, PortContext};
use engine::{Feed, Read};
use record::{Batch, Context, Record};
use std::hint::black_box;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Room after the read bytes for text made on the way.
const ARENA_BYTES: usize = 16 * 1024;
/// Bytes asked for in one read. What is under way of two reads may be repeated after a kill: the end of one
/// batch's output may wait for the next one's, so that writes end on borders of the page cache.
const READ_BYTES: usize = SLAB_BYTES / 2;
/// Reads in one turn; then the worker's other files and connections have theirs.
const TURN_READS: usize = 8;
/// A read that brings this much shows that there is more to come.
const BUSY_BYTES: usize = 64 * 1024;
/// Writers may still write into a file that was renamed or removed: it is read for so long after its last
/// growth.
const LINGER: Duration = Duration::from_secs(10);
/// A file that is read is asked so often at most whether it still begins as it did: whether what was read
/// before is still there is seen by each read. This finds a file that was written anew up to the same line at
/// the same place.
const CHECK_PERIOD: Duration = Duration::from_secs(10);

pub struct PortOptions {
    pub fetch_limit: Option<usize>,
    pub window_messages: Option<usize>,
    pub multi_line_timeout: Option<Duration>,
    /// Where what is read is no text.
    pub records: Option<Arc<dyn Records>>,
}

/// Makes messages of records that are no text: the frames of a batch.
pub trait Records: Send + Sync {
    fn make(&self, batch: &mut Batch, source: &Source);
}

pub struct FilePort {
    tail: Tail,
    path: Arc<Path>,
    followed: Arc<Followed>,
    context: Arc<Context>,
    feed: Feed,
    options: Arc<PortOptions>,
    ended: Arc<dyn Ended>,
    /// Another file had taken this one's place before this turn.
    replaced: bool,
    /// There was no waiting for late writers any more.
    hurried: bool,
    /// No path led to the file any more.
    let_go: bool,
    /// Of the last read that brought something.
    grown: Instant,
    /// When it was looked at how the file begins.
    checked: Instant,
    beginning: Beginning,
    queued: bool,
    /// It is read to its end and will not be opened again.
    finished: bool,
    panicked: bool,
}

/// What a reader is made of.
pub struct Parts {
    pub tail: Tail,
    pub path: Arc<Path>,
    pub followed: Arc<Followed>,
    pub context: Arc<Context>,
    pub source: Arc<Source>,
    pub options: Arc<PortOptions>,
    pub ended: Arc<dyn Ended>,
}

impl FilePort {
    pub fn new(parts: Parts, cx: &PortContext, token: mio::Token) -> FilePort {
        let Parts { tail, path, followed, context, source, options, ended } = parts;
        followed.attach(cx.handle.waker(token));
        let now = Instant::now();
        FilePort {
            tail,
            path,
            followed,
            context,
            feed: Feed::new(source, options.window_messages, cx, token),
            options,
            ended,
            replaced: false,
            hurried: false,
            let_go: false,
            grown: now,
            checked: now,
            beginning: Beginning::default(),
            queued: false,
            finished: false,
            panicked: false,
        }
    }

    /// Reads once. `Err` says what the turn comes to.
    fn step(&mut self, began: Instant, cx: &mut PortContext) -> Result<usize, After> {
        if !self.feed.may_read() {
            // Should it be truncated before there is credit again, it is known what that took.
            return Err(match self.tail.is_shorter() {
                Ok(false) => After::Idle,
                Ok(true) => self.begin_anew(cx),
                Err(error) => self.failed(&error),
            });
        }
        let mut batch = cx.batch();
        batch.text.reserve(READ_BYTES + ARENA_BYTES);
        let Batch { text, records, .. } = &mut batch;
        let read = match self.tail.read(text, READ_BYTES, |span| records.push(Record::new(span))) {
            Ok(Step::Read(read)) => read,
            other => {
                cx.recycle(batch);
                return Err(match other {
                    Ok(Step::Anew) => self.begin_anew(cx),
                    Ok(_) => self.at_end(cx),
                    Err(error) => self.failed(&error),
                });
            }
        };
        self.grown = began;
        self.followed.grew();
        let messages = batch.records.len();
        self.run(batch, read, began, cx);
        // A short read of a regular file means its end; should it have grown meanwhile, that is another
        // notification.
        if read < READ_BYTES { Err(self.at_end(cx)) } else { Ok(messages) }
    }

    fn run(&mut self, mut batch: Batch, bytes: usize, began: Instant, cx: &mut PortContext) {
        self.feed.source.counters.truncated.add(self.tail.take_truncated() as usize);
        batch.contexts.push(Arc::clone(&self.context));
        if let Some(records) = &self.options.records {
            records.make(&mut batch, &self.feed.source);
        }
        let mark = Some(self.followed.tracker.mark(self.tail.position()));
        self.feed.run_marked(batch, Read { bytes, busy: bytes >= BUSY_BYTES, began, mark }, cx);
    }

    /// Nothing more is there now.
    fn at_end(&mut self, cx: &mut PortContext) -> After {
        if self.options.multi_line_timeout.is_some_and(|limit| self.grown.elapsed() >= limit) {
            self.finish(cx);
        }
        if self.replaced {
            // What was read here comes before what the next file's reader will write, on whichever worker.
            self.hand_over(cx);
        }
        if self.followed.is_let_go() && (self.hurried || self.grown.elapsed() >= LINGER) {
            self.finish(cx);
            self.finished = true;
            return After::Close;
        }
        After::Idle
    }

    /// The next file's reader may begin when what was read here is in the outlets' queues; idle workers may
    /// have some of it.
    fn hand_over(&self, cx: &mut PortContext) {
        self.feed.when_handed_over(Arc::new(Drained(Arc::clone(&self.followed))), cx);
    }

    /// What was read of a message without its end is one.
    fn finish(&mut self, cx: &mut PortContext) {
        if !self.tail.has_rest() {
            return;
        }
        let mut batch = cx.batch();
        let Batch { text, records, .. } = &mut batch;
        self.tail.finish(text, |span| records.push(Record::new(span)));
        self.run(batch, 0, Instant::now(), cx);
    }

    fn failed(&mut self, error: &std::io::Error) -> After {
        match error.kind() {
            ErrorKind::Interrupted => After::Again,
            ErrorKind::WouldBlock => After::Idle,
            _ => {
                oplog::error(
                    "Error reading a file, it is closed until it changes",
                    &[("filename", &self.path.display()), ("error", error)],
                );
                After::Close
            }
        }
    }

    fn begin_anew(&mut self, cx: &mut PortContext) -> After {
        match self.restart(cx) {
            Ok(()) => After::Again,
            Err(error) => self.failed(&error),
        }
    }

    /// Looks whether the file was written anew, where reading does not tell.
    fn check(&mut self, now: Instant, cx: &mut PortContext) -> std::io::Result<()> {
        if self.tail.knows_beginning() && now.duration_since(self.checked) < CHECK_PERIOD {
            return Ok(());
        }
        self.checked = now;
        if self.tail.is_rewritten()? { self.restart(cx) } else { Ok(()) }
    }

    /// The file was truncated or written anew: begins at its beginning.
    fn restart(&mut self, cx: &mut PortContext) -> std::io::Result<()> {
        let lost = self.tail.lost();
        // What was begun will not be ended.
        self.finish(cx);
        self.tail.restart()?;
        // Of what begins now a restart has to know, under whatever name.
        self.followed.tracker.renew();
        self.followed.tracker.mark(self.tail.position()).done();
        match lost {
            0 => oplog::verbose(
                "File was truncated, reading it from its beginning",
                &[("filename", &self.path.display())],
            ),
            _ => oplog::warning(
                "File was truncated before it was read to its end, reading it from its beginning",
                &[("filename", &self.path.display()), ("lost_bytes", &lost)],
            ),
        }
        self.feed.source.counters.lost_bytes.add(lost as usize);
        Ok(())
    }
}

impl Port for FilePort {
    fn turn(&mut self, cx: &mut PortContext) -> After {
        if !self.followed.may_begin() || !self.beginning.may_be(&self.feed.source, &self.path, &self.followed)
        {
            return After::Idle;
        }
        let followed = &self.followed;
        (self.replaced, self.hurried) = (followed.is_replaced(), followed.is_hurried());
        self.let_go = followed.is_let_go();
        let mut now = Instant::now();
        if let Err(error) = self.check(now, cx) {
            return self.failed(&error);
        }
        let mut fetched = 0;
        for _ in 0..TURN_READS {
            match self.step(now, cx) {
                Ok(messages) => {
                    fetched += messages;
                    if self.options.fetch_limit.is_some_and(|limit| fetched >= limit) {
                        break;
                    }
                    now = Instant::now();
                }
                Err(after) => return after,
            }
        }
        After::Again
    }

    fn approach(&self) {
        let followed = u64::from(self.followed.approach()) + self.followed.tracker.approach();
        black_box(followed + self.feed.approach() + self.tail.approach());
    }

    fn queued(&mut self) -> &mut bool {
        &mut self.queued
    }

    fn retry(&self) -> bool {
        // Whoever lets it go gives it a turn.
        self.let_go
            || self.beginning.is_awaited()
            || (self.options.multi_line_timeout.is_some() && self.tail.has_rest())
    }

    fn panicked(&mut self) {
        self.panicked = true;
    }

    fn closed(&mut self, cx: &mut PortContext) {
        if self.finished && !self.panicked {
            self.followed.tracker.forget();
        }
        self.followed.detach();
        self.hand_over(cx);
        self.ended.ended(self.followed.id);
    }

    fn source(&self) -> Option<&Arc<Source>> {
        Some(&self.feed.source)
    }
}
