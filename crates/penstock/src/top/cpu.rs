//! Where the processor time goes, by step: profiles of the running program, one after the other, for as long
//! as somebody looks.

use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use stdio::CommandError;

/// After no answer.
const PAUSE: Duration = Duration::from_secs(1);

/// The last profile.
pub struct Cpu {
    last: Arc<Mutex<Option<Result<String, CommandError>>>>,
    is_open: Arc<AtomicBool>,
}

impl Cpu {
    /// Profiles of so many seconds.
    pub fn open(socket: PathBuf, seconds: u64) -> Cpu {
        let cpu = Cpu { last: Arc::default(), is_open: Arc::new(AtomicBool::new(true)) };
        let (last, is_open) = (Arc::clone(&cpu.last), Arc::clone(&cpu.is_open));
        std::thread::spawn(move || {
            while is_open.load(Ordering::Relaxed) {
                let profile = crate::profile::text_of(&socket, seconds);
                let failed = profile.is_err();
                *last.lock() = Some(profile);
                if failed {
                    std::thread::sleep(PAUSE);
                }
            }
        });
        cpu
    }

    pub fn text(&self) -> String {
        match &*self.last.lock() {
            None => "the first profile is being taken".to_owned(),
            Some(Ok(text)) => text.clone(),
            Some(Err(error)) => format!("no profile: {error}"),
        }
    }
}

impl Drop for Cpu {
    fn drop(&mut self) {
        self.is_open.store(false, Ordering::Relaxed);
    }
}
