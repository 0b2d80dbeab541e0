//! The thread that reads what waits on disk back into memory, for all outlets of a log in turn.

use crate::outlet::Outlet;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What was appended a moment ago cannot be read before it is written: the next look.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// What became of one look at an outlet.
pub(crate) enum Turn {
    /// It needs nothing; it asks again when it does.
    Enough,
    More,
    /// What it needs is not written yet.
    Later,
    /// What it needs cannot be read now.
    After(Duration),
}

#[derive(Default)]
struct State {
    asked: VecDeque<Weak<Outlet>>,
    ended: bool,
}

#[derive(Default)]
pub(crate) struct Keeper {
    state: Mutex<State>,
    wake: Condvar,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Keeper {
    pub fn start() -> std::io::Result<Arc<Keeper>> {
        let keeper: Arc<Keeper> = Arc::default();
        let mine = Arc::clone(&keeper);
        let thread = std::thread::Builder::new().name("disk-buffer".into()).spawn(move || mine.run())?;
        *keeper.thread.lock() = Some(thread);
        Ok(keeper)
    }

    /// The outlet wants a look. It is given several when it asks several times.
    pub fn ask(&self, outlet: Weak<Outlet>) {
        self.state.lock().asked.push_back(outlet);
        self.wake.notify_one();
    }

    fn run(&self) {
        let mut later: Vec<(Instant, Weak<Outlet>)> = Vec::new();
        loop {
            let outlet = {
                let mut state = self.state.lock();
                if state.ended {
                    return;
                }
                let now = Instant::now();
                state.asked.extend(later.extract_if(.., |(at, _)| *at <= now).map(|(_, outlet)| outlet));
                match (state.asked.pop_front(), later.iter().map(|(at, _)| *at).min()) {
                    (Some(outlet), _) => outlet,
                    (None, None) => {
                        self.wake.wait(&mut state);
                        continue;
                    }
                    (None, Some(next)) => {
                        self.wake.wait_until(&mut state, next);
                        continue;
                    }
                }
            };
            let Some(alive) = outlet.upgrade() else { continue };
            let look = std::panic::AssertUnwindSafe(|| alive.refill());
            match std::panic::catch_unwind(look) {
                Ok(Turn::Enough) => {}
                Ok(Turn::More) => self.state.lock().asked.push_back(outlet),
                Ok(Turn::Later) => later.push((Instant::now() + LOOK_AGAIN, outlet)),
                Ok(Turn::After(pause)) => later.push((Instant::now() + pause, outlet)),
                Err(_) => {
                    oplog::critical(
                        "Internal error while reading from disk, contained",
                        &[("location", &alive.name)],
                    );
                    later.push((Instant::now() + LOOK_AGAIN, outlet));
                }
            }
        }
    }

    /// Ends the thread and waits for it.
    pub fn end(&self) {
        self.state.lock().ended = true;
        self.wake.notify_all();
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            // It contains what it runs.
            let _ = thread.join();
        }
    }
}
