//! The command lines of `penstock capture` and `penstock replay`.

use super::Running;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  penstock capture --output all.recording --timeout 60
  penstock capture s_net --output fw.recording --limit 1000
  penstock explain --config new.conf --source s_net --input fw.recording

Messages are recorded as they were received, with time and peer, before anything is read in them. Where more comes than can be taken along, the
number of those that were missed is said. The file is readable for its owner only.
Exit code: 0 recorded; 1 nothing came, or no answer; 2 wrong usage.")]
pub struct CaptureArgs {
    /// The source: its name, or name#n of one of its drivers [default: all]
    #[arg(value_name = "SOURCE")]
    pub source: Option<String>,
    /// File to write; it must not exist
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Stop at so many bytes; k, M and G are taken
    #[arg(long, value_name = "BYTES", default_value = "64M", value_parser = size)]
    pub size: u64,
    /// Stop after so many messages
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,
    /// Stop after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: u64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub running: Running,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  penstock replay fw.recording
  penstock replay fw.recording --speed max --source s_test
  penstock replay --since 2h --to d_siem --dry-run
  penstock replay --since '2026-11-24 08:00' --until '2026-11-24 09:30' --to d_siem

Without FILE, what keep-input() of the configuration has kept is sent again. Messages go through the log paths of their source as when they came,
with the time at which they came and with the tag `replayed`.
Exit code: 0 all were taken; 1 some were not, there are none, or no answer; 2 wrong usage.")]
pub struct ReplayArgs {
    /// A recording [default: what keep-input() has kept]
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Only messages of this source, or name#n of one of its drivers
    #[arg(long, value_name = "NAME")]
    pub only: Option<String>,
    /// Give them to this source [default: the one that each came to]
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// Only this destination gets them; may be given several times [default: all of their log paths]
    #[arg(long, value_name = "NAME")]
    pub to: Vec<String>,
    /// How much faster than they came, or max [default: as they came; of keep-input(), max]
    #[arg(long, value_name = "N", value_parser = speed)]
    pub speed: Option<Speed>,
    /// Only those that came since: 90s, 30m, 2h or 1d ago, @SECONDS since 1970, or a local time as
    /// 2026-11-24 08:00
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only those that came before
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Say what would be sent, and send nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub running: Running,
}

/// How fast messages come again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Speed {
    /// As many times as fast as they came.
    Times(f64),
    /// As fast as they are taken.
    Max,
}

fn speed(text: &str) -> Result<Speed, String> {
    match (text, text.parse::<f64>()) {
        ("max", _) => Ok(Speed::Max),
        (_, Ok(times)) if times > 0.0 && times.is_finite() => Ok(Speed::Times(times)),
        _ => Err("expected a number, as 10 or 0.5, or max".to_owned()),
    }
}

fn size(text: &str) -> Result<u64, String> {
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(at);
    let times = match unit.to_ascii_lowercase().trim_end_matches("ib").trim_end_matches('b') {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        _ => return Err("expected bytes, as 64M".to_owned()),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(times)).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| "expected bytes, as 64M".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_speeds() {
        assert_eq!((size("10"), size("2k"), size("64M")), (Ok(10), Ok(2048), Ok(64 << 20)));
        assert_eq!((size("1GiB"), size("3MB")), (Ok(1 << 30), Ok(3 << 20)));
        for wrong in ["", "M", "0", "-1", "1x", "99999999999999999999G"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        assert_eq!((speed("max"), speed("0.5")), (Ok(Speed::Max), Ok(Speed::Times(0.5))));
        assert!(speed("0").is_err() && speed("-1").is_err() && speed("inf").is_err() && speed("x").is_err());
    }
}
