//! The program that runs in this process, for sources that tell others what it counts.

use crate::subject::Subject;
use std::sync::{Arc, OnceLock, Weak};

static RUNNING: OnceLock<Weak<dyn Subject>> = OnceLock::new();

/// Said once, by the program, as soon as it can be asked.
pub fn set(subject: &Arc<dyn Subject>) {
    let _ = RUNNING.set(Arc::downgrade(subject));
}

/// `None` before that, after its end, and where nothing runs.
pub fn subject() -> Option<Arc<dyn Subject>> {
    RUNNING.get()?.upgrade()
}
