//! Looks after what the program keeps on disk: what somebody removes while it is in use is noticed within a
//! second, said, and written anew.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::identity;
use crate::program::Daemon;

/// Between two looks.
const EVERY: Duration = Duration::from_millis(400);

/// Looks until the program ends or is given to another process.
pub fn start(program: &Arc<Daemon>, state_dir: PathBuf) {
    let (host, run) = (program.identity().host_id, program.identity().run_id);
    let program = Arc::downgrade(program);
    let started = std::thread::Builder::new().name("caretaker".into()).spawn(move || {
        while let Some(program) = program.upgrade().filter(|program| !program.is_given()) {
            program.shared.state().look_after();
            program.shared.durable.look_after();
            identity::look_after(&state_dir, host, run);
            drop(program);
            std::thread::sleep(EVERY);
        }
    });
    if let Err(error) = started {
        oplog::error("Cannot start the thread that looks after the state folder", &[("error", &error)]);
    }
}
