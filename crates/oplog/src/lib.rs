//! The program's own log: what penstock says about itself, in syslog-ng's form `Text; name='value'`.
//!
//! Below every other crate, so that engine and drivers can speak. A message goes to standard error (with a
//! timestamp), to the sink that feeds `internal()`, or to both. Not for the per-message path: formatting
//! allocates and delivery takes a lock. Anything a peer can provoke uses [`limited`].
//!
//! ```
//! let (fd, client) = (12, "AF_INET(10.0.0.1:4711)");
//! oplog::notice("Syslog connection accepted", &[("fd", &fd), ("client", &client)]);
//! oplog::limited("network.accept", oplog::Level::Warning, "Cannot accept", &[("error", &"out of files")]);
//! ```

mod level;
mod limit;
mod logger;
mod minute;
mod secrets;
mod text;
mod urls;

pub use level::{Level, Verbosity};
pub use logger::{BACKLOG_COUNT_MAX, Entry, Logger, RECENT_COUNT_MAX, Sink};
pub use minute::OnceAMinute;
pub use secrets::{begun, begun_of, hidden, hide};
pub use text::{Bytes, VALUE_BYTES_MAX, render, stderr_line};
pub use urls::{BLOT, SECRET_WORDS, SecretInUrl, in_urls, without_secrets};

/// A name and a value of a message. Values are escaped, names are not: they are literals of the program.
pub type Field<'a> = (&'a str, &'a dyn std::fmt::Display);

static GLOBAL: Logger = Logger::new();

/// The logger behind the functions of this crate.
pub fn logger() -> &'static Logger {
    &GLOBAL
}

/// The program cannot go on.
pub fn critical(text: &'static str, fields: &[Field<'_>]) {
    GLOBAL.log(Level::Critical, text, fields);
}

/// Something failed and a person has to act.
pub fn error(text: &'static str, fields: &[Field<'_>]) {
    GLOBAL.log(Level::Error, text, fields);
}

/// Something is not as it should be, work goes on.
pub fn warning(text: &'static str, fields: &[Field<'_>]) {
    GLOBAL.log(Level::Warning, text, fields);
}

/// Normal and worth reading: life cycle, connections.
pub fn notice(text: &'static str, fields: &[Field<'_>]) {
    GLOBAL.log(Level::Notice, text, fields);
}

/// Normal.
pub fn info(text: &'static str, fields: &[Field<'_>]) {
    GLOBAL.log(Level::Info, text, fields);
}

/// Shown with `--verbose` and above.
pub fn verbose(text: &'static str, fields: &[Field<'_>]) {
    GLOBAL.log(Level::Verbose, text, fields);
}

/// Shown with `--debug` and above.
pub fn debug(text: &'static str, fields: &[Field<'_>]) {
    GLOBAL.log(Level::Debug, text, fields);
}

/// Shown with `--trace` only.
pub fn trace(text: &'static str, fields: &[Field<'_>]) {
    GLOBAL.log(Level::Trace, text, fields);
}

/// As the functions above, but at most a few messages per `key` in ten seconds; how many were withheld is
/// said once the ten seconds are over.
pub fn limited(key: &'static str, level: Level, text: &'static str, fields: &[Field<'_>]) {
    GLOBAL.limited(key, level, text, fields);
}

/// The same for what is said of each connection, whose coming and going is worth more lines.
pub fn often(key: &'static str, level: Level, text: &'static str, fields: &[Field<'_>]) {
    GLOBAL.often(key, level, text, fields);
}

/// Says what [`limited`] has withheld in windows that are over. Call about once a second.
pub fn tick() {
    GLOBAL.tick(std::time::Instant::now());
}

/// Says what has been withheld so far, also in windows that are not over: the program ends, and nobody will
/// ask again.
pub fn tick_last() {
    GLOBAL.tick(std::time::Instant::now() + limit::WINDOW);
}

/// Whether a message of this level would go anywhere: for callers whose values are costly to make.
pub fn enabled(level: Level) -> bool {
    GLOBAL.enabled(level)
}

/// The last messages from `info` up, oldest first, at most [`RECENT_COUNT_MAX`].
pub fn recent() -> Vec<Entry> {
    GLOBAL.recent()
}

/// Sets how much is said.
pub fn set_verbosity(verbosity: Verbosity) {
    GLOBAL.set_verbosity(verbosity);
}

/// How much is said.
pub fn verbosity() -> Verbosity {
    GLOBAL.verbosity()
}

/// Whether messages go to standard error. On at the start of the program.
pub fn set_stderr(on: bool) {
    GLOBAL.set_stderr(on);
}

/// Hands every message from now on to `sink`, after what was said since the start of the program.
/// `None`: nobody wants them; the backlog is forgotten.
pub fn set_sink(sink: Option<Sink>) {
    GLOBAL.set_sink(sink);
}

/// Runs work that is done for the log itself, as the delivery of `internal()` messages is: what it logs on
/// this thread goes to standard error only, so that the log does not feed itself.
pub fn apart<R>(work: impl FnOnce() -> R) -> R {
    logger::apart(work)
}
