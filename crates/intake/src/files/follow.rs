//! The watcher of one source: hears of its files, keeps the roster, gives each file a reader on a worker.

use super::pace::Pace;
use super::port::PortOptions;
use super::readers::Readers;
use super::roster::{Roster, RosterOptions};
use super::tail::TailOptions;
use super::wanted::{Listed, Wanted};
use crate::inotify::{Event, Method, Watch};
use crate::listener::register;
use diag::Fault;
use engine::Shared;
use engine::source::Source;
use engine::worker::{After, Port, PortContext};
use mio::unix::SourceFd;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Rounds until it is known from how many files something is read between two: one reads, one asks.
const FIRST_ROUNDS: u8 = 2;

/// Modifications that are told of each file between two rounds: with so many it is cheaper not to be told.
const TOLD_MAX: usize = 4;

/// Everything the files of a source have in common.
pub struct Following {
    pub wanted: Wanted,
    pub files_max: usize,
    pub read_old: bool,
    pub key: String,
    pub method: Method,
    /// `follow-freq()`
    pub period: Duration,
    /// `monitor-freq()`: how often folders are listed where there are no notifications.
    pub list_period: Duration,
    pub tail: Arc<TailOptions>,
    pub port: Arc<PortOptions>,
    /// Of messages, without FILE_NAME.
    pub group: Arc<str>,
    pub local_name: Arc<str>,
}

impl Following {
    /// Adds the watcher to a worker; files are opened from there.
    pub fn start(self: &Arc<Following>, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), Fault> {
        let base = self.wanted.base();
        let watch = Watch::new(self.method, base, self.period)
            .map_err(|e| Fault::local(format!("cannot watch {}: {e}", base.display())))?
            .naming_bare(self.wanted.is_bare());
        let worker = shared.any_worker()?;
        let options = RosterOptions {
            wanted: self.wanted.clone(),
            files_max: self.files_max,
            read_old: self.read_old,
            key: self.key.clone(),
        };
        let pace = Pace::new(self.period);
        let roster = Roster::new(options, shared.state());
        let readers = Readers::new(Arc::clone(self), shared, source);
        worker.add(move |token, cx| {
            for fd in watch.descriptors() {
                register(&fd.as_raw_fd(), cx.handle.registry(), token)?;
            }
            let waker = cx.handle.waker(token);
            *readers.ended.watcher.lock() = Some(Arc::clone(&waker));
            roster.saves().open(waker);
            let port = FollowPort {
                roster,
                watch,
                readers,
                started: false,
                incomplete: false,
                lost: false,
                more: false,
                listed: Instant::now(),
                pace,
                untold: 0,
                queued: false,
            };
            Ok(Box::new(port))
        });
        Ok(())
    }
}

struct FollowPort {
    roster: Roster,
    watch: Watch,
    readers: Readers,
    started: bool,
    /// A folder is missing or cannot be watched: look again with every tick.
    incomplete: bool,
    /// Notifications were lost: look at everything with the next round.
    lost: bool,
    /// Not all notifications were taken in the last turn.
    more: bool,
    /// When folders were listed last.
    listed: Instant,
    pace: Pace,
    /// Modifications are not told any more; so many rounds until it is known how many files were read from.
    untold: u8,
    queued: bool,
}

impl FollowPort {
    /// What is there below a folder, all folders watched.
    fn list(&mut self, below: &Path) -> Vec<Listed> {
        let mut found = Vec::new();
        let (watch, incomplete) = (&mut self.watch, &mut self.incomplete);
        let mut folder = |path: &Path| *incomplete |= !watch.folder(path);
        self.roster.wanted().list(below, &mut |listed| found.push(listed), &mut folder);
        if !self.watch.polls() {
            for listed in found.iter().filter(|listed| !listed.is_file) {
                self.watch.link(&listed.path);
            }
        }
        found
    }

    /// Looks at everything. When notifications were lost, readers look for themselves whether their files
    /// have changed.
    fn look(&mut self, lost: bool) {
        self.incomplete = false;
        self.listed = Instant::now();
        let base = self.roster.wanted().base().to_owned();
        let listed = self.list(&base);
        if !self.started
            && let Wanted::One(path) = self.roster.wanted()
            && std::fs::symlink_metadata(path).is_err()
        {
            oplog::info(
                "Follow-mode file source not found, deferring open",
                &[("filename", &path.display())],
            );
        }
        if !std::mem::replace(&mut self.started, true) {
            return self.roster.start(&listed, &mut self.readers);
        }
        match lost {
            true => self.roster.arrive_anew(&listed, &mut self.readers),
            false => self.roster.arrive(&listed, &mut self.readers),
        }
        self.roster.examine_others(&listed, &mut self.readers);
    }

    fn take_events(&mut self) {
        let (roster, pace) = (&self.roster, &mut self.pace);
        let (events, more) = self.watch.events_unless(&mut |path| {
            let followed = roster.followed(path);
            followed.inspect(|followed| pace.changed(followed)).is_some()
        });
        self.more = more;
        for event in events {
            self.event(event);
        }
        let count = self.roster.count();
        let is_much = self.pace.told() >= count.saturating_mul(TOLD_MAX);
        if is_much && count > 0 && self.watch.tells_modifications() {
            self.tell_no_more();
        }
    }

    fn tell_no_more(&mut self) {
        self.watch.tell_modifications(false);
        self.untold = FIRST_ROUNDS;
    }

    /// What is not done more often than in rounds. Whether files have changed.
    fn round(&mut self, now: Instant) -> bool {
        let mut all = self.tell();
        if std::mem::take(&mut self.lost) {
            self.look(true);
            all = Some(self.roster.count());
        } else if self.incomplete {
            self.look(false);
        }
        if self.roster.is_starved() {
            self.roster.retry(&mut self.readers);
        }
        if self.pace.is_paused() {
            self.roster.store();
        }
        self.pace.round(now, all)
    }

    /// Where files change so often that looking at all of them costs less than being told of each
    /// modification, that is what is done: every reader has a turn in each round. How many are given one
    /// then.
    fn tell(&mut self) -> Option<usize> {
        let count = self.roster.count();
        self.pace.forget_told();
        let grown = self.roster.turns().take_grown();
        if self.lost && count > 0 && self.watch.tells_modifications() {
            // Lost ones were many.
            self.tell_no_more();
        }
        match self.watch.tells_modifications() {
            true => return None,
            false if self.untold > 0 => self.untold -= 1,
            false if count > 0 && grown.saturating_mul(2) >= count => {}
            // Told again; what came before that is found with one more look.
            false => self.watch.tell_modifications(true),
        }
        self.roster.turns().begin();
        Some(count)
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Modified(path) => {
                // One that was not known when the notification was taken may have come meanwhile.
                if let Some(followed) = self.roster.followed(&path) {
                    self.pace.changed(followed);
                } else if self.roster.wanted().has(&path) {
                    self.roster.examine(&path, &mut self.readers);
                }
            }
            Event::Changed(path) => {
                if self.roster.wanted().has(&path) {
                    self.watch.link(&path);
                    self.roster.examine(&path, &mut self.readers);
                }
            }
            Event::Renamed { from, to } => {
                if self.roster.wanted().has(&from) && !self.roster.wanted().has(&to) {
                    self.roster.moved_away(&from, &to, &mut self.readers);
                }
            }
            Event::Folder(path) => {
                if self.roster.wanted().is_recursive() {
                    let listed = self.list(&path);
                    self.roster.arrive(&listed, &mut self.readers);
                }
            }
            Event::Unwatched(_) => self.incomplete = true,
            Event::Lost => self.lost = true,
            // Known files each time, folders more rarely when told so.
            Event::Look if self.listed.elapsed() >= self.readers.following.list_period => self.look(false),
            Event::Look => {
                for path in self.roster.paths() {
                    self.roster.examine(&path, &mut self.readers);
                }
            }
        }
    }
}

impl Port for FollowPort {
    fn turn(&mut self, cx: &mut PortContext) -> After {
        let ended = std::mem::take(&mut *self.readers.ended.ids.lock());
        for id in ended {
            self.roster.ended(id, &mut self.readers);
        }
        if !self.started {
            self.look(false);
        }
        let now = Instant::now();
        if self.more || self.pace.is_step(now) && !self.roster.turns().is_under_way() {
            self.take_events();
        }
        self.incomplete |= self.watch.led_astray(now);
        let is_due = self.pace.is_due(now) && !self.roster.turns().is_under_way();
        let busy = is_due && self.round(now);
        self.roster.turns().wake_some();
        let under_way = self.roster.turns().is_under_way();
        self.readers.begin();
        // Positions that wait while it is paused are stored with the next round; during one while they are in
        // the processor's caches.
        if under_way || !self.pace.is_paused() {
            self.roster.store();
        }
        if self.more || under_way {
            return After::Again;
        }
        let waiting = self.lost || !self.watch.tells_modifications();
        self.pace.rest(now, busy, waiting, &self.watch, cx);
        After::Idle
    }

    fn queued(&mut self) -> &mut bool {
        &mut self.queued
    }

    fn retry(&self) -> bool {
        // It is looked where the paths lead.
        !self.watch.polls()
            || self.incomplete
            || self.lost
            || self.roster.is_starved()
            || self.pace.is_paused()
    }

    fn closed(&mut self, cx: &mut PortContext) {
        *self.readers.ended.watcher.lock() = None;
        self.roster.saves().close();
        for fd in self.watch.descriptors() {
            // Fails only for a descriptor that was never registered.
            let _ = cx.handle.registry().deregister(&mut SourceFd(&fd.as_raw_fd()));
        }
    }

    fn source(&self) -> Option<&Arc<Source>> {
        Some(&self.readers.source)
    }
}
