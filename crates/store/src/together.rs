//! Messages that several queues get at once: they are stored once if nothing comes in between, and if they
//! are written at once.

use crate::log::Log;
use std::sync::Arc;

/// While it lives, nothing is written and nobody else has one of the same log: what is appended to several
/// queues meanwhile stays together. To be held for moments. Other appends may come in between where one queue
/// gets them only; they cost no more than room.
pub struct Together {
    log: Arc<Log>,
}

impl Log {
    /// Waits for others who have one, and for a group that is due: neither is kept waiting for ever.
    pub fn together(self: &Arc<Self>) -> Together {
        let mut state = self.shared.lock();
        while (state.together || state.due) && !state.closed {
            self.shared.parted.wait(&mut state);
        }
        state.together = true;
        drop(state);
        Together { log: Arc::clone(self) }
    }
}

impl Drop for Together {
    fn drop(&mut self) {
        let shared = &self.log.shared;
        let mut state = shared.lock();
        state.together = false;
        let due = state.due;
        drop(state);
        if due {
            shared.work.notify_one();
        } else {
            shared.parted.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Log, Options, Queue, Safe};
    use std::sync::Arc;

    /// Says nothing but that it is gone.
    struct Told(#[expect(dead_code, reason = "only its end matters")] std::sync::mpsc::Sender<()>);

    impl crate::OnSafe for Told {
        fn safe(self: Box<Self>) {}

        fn never_safe(self: Box<Self>) {
            panic!("the log was closed too early");
        }
    }

    fn queues(log: &Arc<Log>) -> Vec<Queue> {
        let queue = |i: u32| log.queue(format!("{i}").as_bytes(), 1 << 30, Box::new(|| ())).unwrap();
        (0..5).map(queue).collect()
    }

    /// Each round differs in its length.
    fn give(queues: &[Queue], thread: usize, round: usize) {
        let bytes = format!("{thread} {round} {}\n", "x".repeat(round)).into_bytes();
        for queue in queues {
            let seqs = queue.append(&bytes, &[bytes.len() as u32], Safe::Synced, Box::new(()));
            seqs.map_err(|(why, _)| why).unwrap();
            // The committing thread would have every chance.
            std::thread::yield_now();
        }
    }

    #[test]
    fn what_several_queues_get_at_once_is_stored_once() {
        let dir = tempfile::tempdir().unwrap();
        let log = Log::open(Options::new(dir.path())).unwrap().log;
        let queues = queues(&log);
        log.flush();
        let before = log.stats().commits;
        let together = log.together();
        for round in 0..10 {
            give(&queues, 0, round);
        }
        assert_eq!(log.stats().commits, before, "nothing is written meanwhile");
        drop(together);
        assert!(log.flush());
        let stats = log.stats();
        assert_eq!((stats.messages_appended, stats.messages_shared), (50, 40));
        log.close();
    }

    /// Without anybody asking for more, as under load, where every source waits for what it has given.
    #[test]
    fn what_is_given_is_written_as_soon_as_it_is_over() {
        let dir = tempfile::tempdir().unwrap();
        let log = Log::open(Options::new(dir.path())).unwrap().log;
        let queues = queues(&log);
        for round in 0..500 {
            let (safe, told) = std::sync::mpsc::channel::<()>();
            let together = log.together();
            for queue in &queues {
                queue
                    .append(b"x", &[1], Safe::Synced, Box::new(Told(safe.clone())))
                    .map_err(|(why, _)| why)
                    .unwrap();
                queue.done(queue.end(), 1, 1);
                (0..round % 50).for_each(|_| std::thread::yield_now());
            }
            drop((together, safe));
            let patience = std::time::Duration::from_secs(60);
            assert_eq!(told.recv_timeout(patience), Err(std::sync::mpsc::RecvTimeoutError::Disconnected));
        }
        log.close();
    }

    #[test]
    fn nobody_is_kept_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let log = Log::open(Options::new(dir.path())).unwrap().log;
        let queues = queues(&log);
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (log, queues) = (&log, &queues);
                scope.spawn(move || {
                    for round in 0..200 {
                        let together = log.together();
                        give(queues, thread, round);
                        drop(together);
                        if round % 50 == 0 {
                            assert!(log.flush());
                        }
                    }
                });
            }
        });
        assert!(log.flush());
        let stats = log.stats();
        assert_eq!((stats.messages_appended, stats.messages_shared), (3000, 2400));
        log.close();
        // A closed log keeps nobody either.
        drop((log.together(), log.together()));
    }
}
