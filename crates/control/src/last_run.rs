//! What a run has left at its stop, destination by destination: written beside the state, shown by `penstock
//! ledger --last-run`. Its form stands in docs/ledger.md.

use std::fmt::Write as _;
use std::io;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// In the state folder.
pub const FILE: &str = "penstock.last-run";
const NEW: &str = "penstock.last-run.new";
const HEAD: &str = "PENSTOCK-LAST-RUN 1";
/// Runs without a stop that are remembered.
const BEGAN_MAX: usize = 2;

/// What one destination had at the stop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// `<statement>#<n>`.
    pub destination: String,
    /// Messages on disk, for the next start.
    pub kept: u64,
    /// Messages that were given up.
    pub given_up: u64,
    /// Age of the oldest of these, in seconds; of messages whose age is not known it is 0.
    pub oldest_seconds: u64,
    pub reason: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastRun {
    /// Seconds since 1970.
    pub ended: u64,
    /// Those that had something left.
    pub rests: Vec<Rest>,
    /// When later runs began, none of which has come to a stop: it runs, or it was killed.
    pub began: Vec<u64>,
}

impl LastRun {
    pub fn given_up(&self) -> u64 {
        self.rests.iter().map(|rest| rest.given_up).sum()
    }

    fn encode(&self) -> String {
        let mut text = format!("{HEAD}\nended\t{}\n", self.ended);
        for Rest { destination, kept, given_up, oldest_seconds, reason } in &self.rests {
            let (destination, reason) = (plain(destination), plain(reason));
            // Writing into a string cannot fail.
            let _ = writeln!(text, "rest\t{destination}\t{kept}\t{given_up}\t{oldest_seconds}\t{reason}");
        }
        for began in &self.began {
            let _ = writeln!(text, "began\t{began}");
        }
        text
    }

    fn decode(text: &str) -> Option<LastRun> {
        let mut lines = text.lines();
        (lines.next()? == HEAD).then_some(())?;
        let mut run = LastRun::default();
        for line in lines {
            let fields: Vec<&str> = line.split('\t').collect();
            match fields.as_slice() {
                ["ended", ended] => run.ended = ended.parse().ok()?,
                ["began", began] => run.began.push(began.parse().ok()?),
                ["rest", destination, kept, given_up, oldest, reason] => run.rests.push(Rest {
                    destination: (*destination).to_owned(),
                    kept: kept.parse().ok()?,
                    given_up: given_up.parse().ok()?,
                    oldest_seconds: oldest.parse().ok()?,
                    reason: (*reason).to_owned(),
                }),
                _ => return None,
            }
        }
        Some(run)
    }

    /// `None` where no run has written one. The error is a sentence.
    pub fn read(folder: &Path) -> Result<Option<LastRun>, String> {
        let path = folder.join(FILE);
        match std::fs::read_to_string(&path) {
            Ok(text) => match LastRun::decode(&text) {
                Some(run) => Ok(Some(run)),
                None => Err(format!("{} is damaged", path.display())),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("cannot read {}: {error}", path.display())),
        }
    }

    /// Takes the place of the one that is there, whole or not at all.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let new = folder.join(NEW);
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(self.encode().as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&new, folder.join(FILE))
    }

    /// Notes that a run begins. What cannot be read of the one before it is gone then.
    pub fn begin(folder: &Path, now: u64) -> io::Result<()> {
        let mut run = LastRun::read(folder).ok().flatten().unwrap_or_default();
        run.began.push(now);
        let more = run.began.len().saturating_sub(BEGAN_MAX);
        run.began.drain(..more);
        run.write(folder)
    }

    /// For people. `runs`: the run that began last is running now.
    pub fn to_table(&self, runs: bool) -> String {
        let mut text = match self.ended {
            0 => "No run has come to a stop here.\n".to_owned(),
            ended => format!("The last run that came to a stop ended at {}.\n", time(ended)),
        };
        let lost = self.began.len().saturating_sub(usize::from(runs));
        for began in self.began.iter().take(lost) {
            let _ = writeln!(
                text,
                "A run began at {} and ended without a stop: what it had in memory is gone.",
                time(*began)
            );
        }
        if self.rests.is_empty() {
            if self.ended > 0 {
                text.push_str("Nothing was left at its end.\n");
            }
            return text;
        }
        let width = self.rests.iter().map(|rest| rest.destination.chars().count()).max().unwrap_or(0).max(11);
        let _ = writeln!(
            text,
            "{:width$}  {:>10}  {:>10}  {:>10}  reason",
            "destination", "kept", "given up", "oldest"
        );
        for rest in &self.rests {
            let oldest =
                if rest.given_up > 0 { format!("{} s", rest.oldest_seconds) } else { "-".to_owned() };
            let line = format!(
                "{:width$}  {:>10}  {:>10}  {oldest:>10}  {}",
                rest.destination, rest.kept, rest.given_up, rest.reason
            );
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// One line.
    pub fn to_json(&self, runs: bool) -> String {
        let rest = |rest: &Rest| {
            serde_json::json!({
                "destination": rest.destination,
                "kept": rest.kept,
                "given_up": rest.given_up,
                "oldest_seconds": rest.oldest_seconds,
                "reason": rest.reason,
            })
        };
        let lost = self.began.len().saturating_sub(usize::from(runs));
        let object = serde_json::json!({
            "ended": self.ended,
            "killed": self.began.iter().take(lost).collect::<Vec<_>>(),
            "destinations": self.rests.iter().map(rest).collect::<Vec<_>>(),
        });
        format!("{object}\n")
    }
}

/// In a field there is neither a tab nor the end of a line.
fn plain(text: &str) -> String {
    text.replace(|c: char| c.is_control(), " ")
}

/// In UTC, as `2026-11-23T06:00:00Z`.
fn time(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days since 1970 to a date of the Gregorian calendar, whose years begin in March here.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year + next;
    format!("{year:04}-{month:02}-{of_month:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_back_as_it_was_written() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(LastRun::read(folder.path()), Ok(None));
        let rest = |destination: &str, given_up, reason: &str| Rest {
            destination: destination.into(),
            kept: 7,
            given_up,
            oldest_seconds: 3,
            reason: reason.into(),
        };
        let run = LastRun {
            ended: 1_795_415_696,
            rests: vec![rest("d#0", 100, "keep-on-stop(no)"), rest("e#0", 0, "")],
            began: vec![],
        };
        run.write(folder.path()).expect("written");
        assert_eq!(LastRun::read(folder.path()), Ok(Some(run.clone())));
        for now in [5, 6, 7] {
            LastRun::begin(folder.path(), now).expect("written");
        }
        let now = LastRun::read(folder.path()).expect("read").expect("there");
        assert_eq!(now, LastRun { began: vec![6, 7], ..run.clone() });
        assert!(now.to_table(true).contains("1970-01-01T00:00:06Z") && !now.to_table(true).contains(":07Z"));
        assert!(now.to_table(false).contains(":07Z"));
        let odd = LastRun { rests: vec![rest("a\tb\n", 1, "x\ny")], ..run };
        odd.write(folder.path()).expect("written");
        let back = LastRun::read(folder.path()).expect("read").expect("there");
        assert_eq!((back.rests[0].destination.as_str(), back.rests[0].reason.as_str()), ("a b ", "x y"));
        std::fs::write(folder.path().join(FILE), format!("{HEAD}\nrest\tx")).expect("damage");
        assert!(LastRun::read(folder.path()).is_err());
    }

    #[test]
    fn times_are_dates() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_798_761_599, "2026-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(time(seconds), expected);
        }
    }
}
