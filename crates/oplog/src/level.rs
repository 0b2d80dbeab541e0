//! Levels of a message and how much of them is let through, with syslog-ng's names.

use std::str::FromStr;

/// How grave a message is. `Verbose` and `Trace` share a syslog severity with their neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    Critical,
    Error,
    Warning,
    Notice,
    Info,
    Verbose,
    Debug,
    Trace,
}

impl Level {
    /// As the log's readers call it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Critical => "critical",
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Notice => "notice",
            Level::Info => "info",
            Level::Verbose => "verbose",
            Level::Debug => "debug",
            Level::Trace => "trace",
        }
    }

    /// Severity of RFC 5424 section 6.2.1, `0..=7`.
    pub fn severity(self) -> u8 {
        match self {
            Level::Critical => 2,
            Level::Error => 3,
            Level::Warning => 4,
            Level::Notice => 5,
            Level::Info | Level::Verbose => 6,
            Level::Debug | Level::Trace => 7,
        }
    }
}

/// How much the program says: each step includes the ones before it. The default lets everything up to
/// [`Level::Info`] through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Verbosity {
    #[default]
    Default,
    Verbose,
    Debug,
    Trace,
}

impl Verbosity {
    pub const ALL: [Verbosity; 4] =
        [Verbosity::Default, Verbosity::Verbose, Verbosity::Debug, Verbosity::Trace];

    /// The name on the command line and on the control socket.
    pub fn name(self) -> &'static str {
        match self {
            Verbosity::Default => "default",
            Verbosity::Verbose => "verbose",
            Verbosity::Debug => "debug",
            Verbosity::Trace => "trace",
        }
    }

    /// Whether a message of `level` is let through.
    pub fn admits(self, level: Level) -> bool {
        let most = match self {
            Verbosity::Default => Level::Info,
            Verbosity::Verbose => Level::Verbose,
            Verbosity::Debug => Level::Debug,
            Verbosity::Trace => Level::Trace,
        };
        level <= most
    }
}

impl FromStr for Verbosity {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let wanted = name.to_ascii_lowercase();
        Verbosity::ALL
            .into_iter()
            .find(|v| v.name() == wanted)
            .ok_or_else(|| format!("unknown log level '{name}', expected default, verbose, debug or trace"))
    }
}

impl std::fmt::Display for Verbosity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verbosity_adds_one_step() {
        assert!(Verbosity::Default.admits(Level::Info));
        assert!(!Verbosity::Default.admits(Level::Verbose));
        assert!(Verbosity::Verbose.admits(Level::Verbose));
        assert!(!Verbosity::Verbose.admits(Level::Debug));
        assert!(Verbosity::Debug.admits(Level::Debug));
        assert!(!Verbosity::Debug.admits(Level::Trace));
        assert!(Verbosity::Trace.admits(Level::Trace));
    }

    #[test]
    fn names_round_trip() {
        for v in Verbosity::ALL {
            assert_eq!(v.name().parse(), Ok(v));
        }
        assert_eq!("DEBUG".parse(), Ok(Verbosity::Debug));
        assert!("loud".parse::<Verbosity>().is_err());
    }
}
