//! `stdin()`: lines from standard input, be it a pipe, a terminal or a file. The program stops when the input ends.

use super::file::{Mode, multi_line};
use super::input::read_spare;
use super::listener::register;
use super::reading::{Defaults, Reading, padded};
use super::unnamed::Unnamed;
use conf_schema::Settings;
use diag::Diagnostics;
use engine::driver::{BuildContext, SourceDriver, Start};
use engine::reader::{Input, StreamPort};
use engine::source::{Settings as SourceSettings, Source};
use engine::{Need, Shared};
use mio::Registry;
use mio::unix::SourceFd;
use record::{Context, NameId};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;

/// FILE_NAME of what comes from standard input, as in syslog-ng.
const FILE_NAME: &[u8] = b"-";

pub fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<SourceDriver> {
    let defaults =
        Defaults { framing: padded(s), syslog_protocol: false, expect_hostname: true, local: true };
    let reading = Reading::new(s, cx, &defaults, diags);
    let multi_line = multi_line(s, diags)?;
    let lines = multi_line.as_ref().map(|(_, text)| text.clone()).unwrap_or_default();
    let key = reading.persist_name.clone().unwrap_or_else(|| "stdin".to_owned());
    let (parsing, finish) = (reading.syslog.clone(), reading.finish.clone());
    Some(SourceDriver {
        key,
        opened_with: format!("{lines} {}", reading.fixed()),
        driver: "stdin",
        instance: "stdin".to_owned(),
        settings: Box::new(move |program| SourceSettings::new(parsing.clone(), finish.clone(), program)),
        start: Box::new(StdinStart { reading, multi_line: multi_line.map(|(mode, _)| mode) }),
    })
}

struct StdinStart {
    reading: Reading,
    multi_line: Option<Mode>,
}

impl Start for StdinStart {
    fn start(&self, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), String> {
        let stdin = io::stdin();
        rustix::fs::fstat(&stdin).map_err(|e| format!("cannot read standard input: {e}"))?;
        let lines =
            Lines { reading: &self.reading, multi_line: self.multi_line.as_ref(), file_name: FILE_NAME };
        serve(PolledInput { fd: stdin, at_end: stop_program }, &lines, "local+file", shared, source)
    }

    fn needs(&self) -> Vec<Need<'_>> {
        Vec::new()
    }
}

/// Everything that was read is in the log paths: the program drains them and exits.
fn stop_program() {
    oplog::notice("Standard input has ended, stopping", &[]);
    let _ = nix::sys::signal::kill(nix::unistd::getpid(), nix::sys::signal::Signal::SIGTERM);
}

/// How an input becomes messages.
pub struct Lines<'a> {
    pub reading: &'a Reading,
    pub multi_line: Option<&'a Mode>,
    pub file_name: &'a [u8],
}

/// Adds a port that reads lines from an input.
pub fn serve<F: AsFd + AsRawFd + Send + 'static>(
    input: PolledInput<F>,
    lines: &Lines<'_>,
    transport: &'static str,
    shared: &Arc<Shared>,
    source: &Arc<Source>,
) -> Result<(), String> {
    let Lines { reading, multi_line, file_name } = *lines;
    let worker = shared.any_worker().ok_or("there are no workers")?;
    let mut context = Context::local(&reading.group, &reading.local_name, transport);
    context.values.push((NameId::FILE_NAME, file_name.into()));
    let (source, context) = (Arc::clone(source), Arc::new(context));
    let unnamed = Unnamed::new(reading, multi_line);
    worker.add(move |token, cx| {
        match register(&input.fd.as_raw_fd(), cx.handle.registry(), token) {
            Ok(()) => {}
            // Regular files and /dev/null cannot be watched, and need not be.
            Err(e) if e.kind() == ErrorKind::PermissionDenied => {}
            Err(e) => return Err(e),
        }
        let (input, options) = unnamed.wrap(Box::new(input));
        Ok(Box::new(StreamPort::new(input, source, context, options, cx, token)))
    });
    Ok(())
}

/// A descriptor that may block, because it is shared with other processes: asked before each read. A short read says nothing about
/// what is left, as a terminal gives one line at a time.
pub struct PolledInput<F> {
    pub fd: F,
    /// Called once when the input has ended.
    pub at_end: fn(),
}

impl<F: AsFd + AsRawFd + Send> Input for PolledInput<F> {
    fn read(&mut self, into: &mut Vec<u8>, max: usize) -> io::Result<usize> {
        let mut ready = [PollFd::new(&self.fd, PollFlags::IN)];
        match poll(&mut ready, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))? {
            0 => Err(ErrorKind::WouldBlock.into()),
            _ => read_spare(&self.fd, into, max),
        }
    }

    fn always_ready(&self) -> bool {
        true
    }

    fn deregister(&mut self, registry: &Registry) {
        // Fails only for a descriptor that was never registered.
        let _ = registry.deregister(&mut SourceFd(&self.fd.as_raw_fd()));
    }

    fn at_end(&mut self) -> bool {
        (self.at_end)();
        false
    }
}

#[cfg(test)]
mod tests;
