//! The command line of `penstock explain`.

use super::Running;
use crate::explain::ExplainRequest;
use crate::ledger::DropReason;
use clap::Args;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Which messages are meant that are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dropped {
    /// No destination gets them.
    Unrouted,
    /// A destination drops them.
    For(DropReason),
}

impl Dropped {
    fn reason(self) -> Option<DropReason> {
        match self {
            Dropped::Unrouted => None,
            Dropped::For(reason) => Some(reason),
        }
    }
}

/// Of these reasons it is known which messages were dropped.
fn dropped(text: &str) -> Result<Dropped, String> {
    if text.is_empty() {
        return Ok(Dropped::Unrouted);
    }
    match text.parse::<DropReason>()? {
        reason @ (DropReason::Kernel | DropReason::NoCredit) => {
            Err(format!("what is dropped for {} is lost before it is read", reason.name()))
        }
        DropReason::Framing => Err(
            "bytes whose framing is broken go no way through the configuration; `penstock tap --dropped framing` shows them"
                .to_owned(),
        ),
        reason => Ok(Dropped::For(reason)),
    }
}

/// A line of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLine {
    pub path: String,
    /// From 1 on.
    pub line: usize,
}

/// `/var/log/auth.log:17`
fn file_line(text: &str) -> Result<FileLine, String> {
    let wrong = || "a path, a colon and the number of a line are needed".to_owned();
    let (path, line) = text.rsplit_once(':').ok_or_else(wrong)?;
    match line.parse() {
        Ok(line) if line > 0 && !path.is_empty() => Ok(FileLine { path: path.to_owned(), line }),
        _ => Err(wrong()),
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  penstock explain --next 'program(\"sshd\")'
  penstock explain --source s_net --from 10.0.0.7 --count 3
  penstock explain --next 'host(\"web\")' --wait 60
  penstock explain --dropped --timeout 60
  penstock explain --dropped queue-full
  penstock explain --config new.conf --line '<13>Nov 23 10:00:00 web app[7]: hello'
  penstock explain --config new.conf --source s_net --input sample.log
  tail -5 sample.log | penstock explain --config new.conf --source s_net -
  penstock explain --file /var/log/auth.log:17

Without --config the running program is asked about messages that come from now on, without stopping or slowing it.
With --config nothing runs and nothing is delivered: the message goes through the configuration, and the destinations show what
they would write.
Exit code: 0 explained; 1 no such message came, or the message or configuration is wrong; 2 wrong usage.")]
pub struct ExplainArgs {
    /// Wait for a message for which this filter expression holds, as its source has read it; default: any
    #[arg(long, value_name = "FILTER", conflicts_with = "config")]
    pub next: Option<String>,
    /// Only messages that no destination gets; with a reason, those that a destination drops for it:
    /// queue-full, refused, oversized ...
    #[arg(long, value_name = "REASON", num_args = 0..=1, default_missing_value = "", value_parser = dropped, conflicts_with = "config")]
    pub dropped: Option<Dropped>,
    /// Stop after so many messages
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000),
          conflicts_with = "config")]
    pub count: u32,
    /// Wait so many seconds at most
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600),
          conflicts_with = "config")]
    pub timeout: u64,
    /// Wait so many seconds for destinations to deliver it, or drop it [default: 0.3]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600),
          conflicts_with_all = ["config", "dropped"])]
    pub wait: Option<u64>,
    /// The source: its name, or name#n of one of its drivers
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// The address that the message comes from
    #[arg(long, value_name = "ADDRESS")]
    pub from: Option<IpAddr>,
    /// A configuration to try instead of asking the running program
    #[arg(short = 'f', long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The message, as it comes in
    #[arg(long, value_name = "TEXT", requires = "config", conflicts_with = "input")]
    pub line: Option<String>,
    /// A file of messages, one in a line, or a recording; - is standard input
    #[arg(long, value_name = "FILE", requires = "config")]
    pub input: Option<PathBuf>,
    /// A line of an output, as PATH:LINE: what wrote it; in the configuration of the running program where
    /// none is named
    #[arg(long, value_name = "PATH:LINE", value_parser = file_line,
          conflicts_with_all = ["line", "input", "next", "dropped"])]
    pub file: Option<FileLine>,
    /// The same as --input -
    #[arg(value_name = "-", value_parser = ["-"], hide_possible_values = true, requires = "config",
          conflicts_with_all = ["line", "input", "file"])]
    pub standard_input: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub running: Running,
}

impl ExplainArgs {
    /// The file of messages; `-` is standard input.
    pub fn messages(&self) -> Option<&Path> {
        self.input.as_deref().or_else(|| self.standard_input.as_deref().map(Path::new))
    }

    /// What the running program is asked.
    pub fn request(&self) -> ExplainRequest {
        ExplainRequest {
            json: self.json,
            is_lost: self.dropped == Some(Dropped::Unrouted),
            dropped: self.dropped.and_then(Dropped::reason),
            count: self.count as usize,
            patience: Duration::from_secs(self.timeout),
            wait: Duration::from_secs(self.wait.unwrap_or_default()),
            source: self.source.clone(),
            from: self.from,
            filter: self.next.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_files() {
        let found = FileLine { path: "/a:b".into(), line: 17 };
        assert_eq!(file_line("/a:b:17"), Ok(found));
        for wrong in ["/a", "/a:0", "/a:", ":7", "/a:-1", ""] {
            assert!(file_line(wrong).is_err(), "{wrong}");
        }
    }
}
