//! The bar of commands that read a lot: on a terminal only, and only when they take a while.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// What is done sooner shows none.
const SHOWN_AFTER: Duration = Duration::from_millis(500);
const REDRAWS_PER_SECOND: u8 = 5;

pub struct Bar {
    total: u64,
    began: Instant,
    /// Beside what is printed on the same terminal, it would only disturb.
    wanted: bool,
    bar: Option<ProgressBar>,
}

impl Bar {
    /// For so many bytes. `prints`: something is printed to standard output meanwhile.
    pub fn new(total: u64, prints: bool) -> Bar {
        let terminal = std::io::stderr().is_terminal();
        let disturbs = prints && std::io::stdout().is_terminal();
        Bar { total, began: Instant::now(), wanted: terminal && !disturbs, bar: None }
    }

    pub fn at(&mut self, bytes: u64) {
        if !self.wanted {
            return;
        }
        if self.bar.is_none() && self.began.elapsed() >= SHOWN_AFTER {
            let target = ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SECOND);
            let bar = ProgressBar::with_draw_target(Some(self.total), target);
            let style = "{wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
            self.bar = Some(bar.with_style(
                ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()),
            ));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(bytes);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
