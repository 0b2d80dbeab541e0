//! The programs that are compared: where each is found and how it is started for a case.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::cases::{Case, Feed};
use crate::conf;
use crate::place::Place;
use stdio::CommandError;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Receiver {
    /// recv and write, nothing else: the least a receiver can do, and the yardstick.
    #[default]
    Floor,
    Penstock,
    /// With the very file penstock gets: windows and queues at their defaults, as configurations in use have
    /// them.
    SyslogNg,
    /// With windows, fetch limits and batches raised, as its performance guides advise.
    SyslogNgTuned,
    Rsyslog,
}

pub const RECEIVERS: [Receiver; 5] =
    [Receiver::Floor, Receiver::Penstock, Receiver::SyslogNg, Receiver::SyslogNgTuned, Receiver::Rsyslog];

/// A command ready to start.
pub struct Command {
    pub program: PathBuf,
    pub args: Vec<OsString>,
}

/// Where the programs are.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    pub penstock: Option<PathBuf>,
    pub syslog_ng: Option<PathBuf>,
    pub rsyslogd: Option<PathBuf>,
}

impl Receiver {
    pub fn name(self) -> &'static str {
        match self {
            Receiver::Floor => "floor",
            Receiver::Penstock => "penstock",
            Receiver::SyslogNg => "syslog-ng",
            Receiver::SyslogNgTuned => "syslog-ng-tuned",
            Receiver::Rsyslog => "rsyslog",
        }
    }

    pub fn from_name(name: &str) -> Option<Receiver> {
        RECEIVERS.into_iter().find(|receiver| receiver.name() == name)
    }

    /// Whether the receiver can do the case at all; the floor does each case as plain receiving.
    pub fn can(self, case: &Case) -> bool {
        case.receivers.contains(&self)
            && match self {
                // What waits in a buffer is taken at once; there is no receiver's rate to see.
                Receiver::Floor => case.input.feed != Feed::Prepared,
                Receiver::Rsyslog => conf::rsyslog::can(case.path),
                Receiver::Penstock | Receiver::SyslogNg | Receiver::SyslogNgTuned => true,
            }
    }

    /// Writes the configuration for `case` and says how to start.
    pub fn command(self, case: &Case, place: &Place, programs: &Programs) -> Result<Command, CommandError> {
        let missing = || format!("{self} is not here");
        if case.input.secure {
            certificates(place, programs)?;
        }
        let folder = |name: &str| place.root.join(name);
        let args =
            |words: &[&std::ffi::OsStr]| words.iter().map(|&word| word.to_owned()).collect::<Vec<OsString>>();
        match self {
            Receiver::Floor => {
                let own = OwnProgram::here()?;
                let output = place.output.join("all.log");
                let port = place.port.to_string();
                let mut words = args(&["floor-receiver".as_ref(), port.as_ref(), output.as_ref()]);
                if case.is_udp() {
                    words.push("--udp".into());
                }
                if let Some(layout) = case.layout() {
                    let how = if layout.known().is_some() { "--followed" } else { "--files" };
                    words.extend(args(&[how.as_ref(), place.input.as_ref()]));
                }
                Ok(own.command(words))
            }
            Receiver::Penstock => {
                let config = place.write("receiver.conf", &conf::syslog_ng::text(case, place, self)?)?;
                let state = folder("state");
                std::fs::create_dir_all(&state).map_err(|e| format!("{}: {e}", state.display()))?;
                let mut words = args(&[
                    "run".as_ref(),
                    "--config".as_ref(),
                    config.as_ref(),
                    "--state-dir".as_ref(),
                    state.as_ref(),
                ]);
                worker_threads(case, &mut words);
                Ok(Command { program: programs.penstock.clone().ok_or_else(missing)?, args: words })
            }
            Receiver::SyslogNg | Receiver::SyslogNgTuned => {
                let config = place.write("receiver.conf", &conf::syslog_ng::text(case, place, self)?)?;
                let (persist, control, pid) = (folder("persist"), folder("control"), folder("pid"));
                let mut words = args(&["-F".as_ref(), "--no-caps".as_ref(), "-f".as_ref(), config.as_ref()]);
                words.extend(args(&["-R".as_ref(), persist.as_ref(), "-c".as_ref(), control.as_ref()]));
                words.extend(args(&["-p".as_ref(), pid.as_ref()]));
                worker_threads(case, &mut words);
                Ok(Command { program: programs.syslog_ng.clone().ok_or_else(missing)?, args: words })
            }
            Receiver::Rsyslog => {
                let config = place.write("receiver.conf", &conf::rsyslog::text(case, place)?)?;
                let pid = folder("pid");
                let words =
                    args(&["-n".as_ref(), "-f".as_ref(), config.as_ref(), "-i".as_ref(), pid.as_ref()]);
                Ok(Command { program: programs.rsyslogd.clone().ok_or_else(missing)?, args: words })
            }
        }
    }
}

/// The receivers' certificate, made by the one receiver that can.
pub fn certificates(place: &Place, programs: &Programs) -> Result<(), CommandError> {
    let program = programs
        .penstock
        .as_ref()
        .ok_or("TLS needs certificates, and penstock, which makes them, is not here")?;
    let mut command = std::process::Command::new(program);
    let output = command.arg("test-ca").arg(place.certificates()).output();
    let output = output.map_err(|e| format!("cannot start {}: {e}", program.display()))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("no certificates: {}", String::from_utf8_lossy(&output.stderr).trim()).into()),
    }
}

fn worker_threads(case: &Case, words: &mut Vec<OsString>) {
    if let Some(count) = case.worker_threads {
        words.push("--worker-threads".into());
        words.push(count.to_string().into());
    }
}

impl fmt::Display for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// This very executable, which is also floor, sink and sender. It may be `penstock` with `bench` as a
/// command, or `bench` on its own.
pub struct OwnProgram {
    path: PathBuf,
    alone: bool,
}

impl OwnProgram {
    pub fn here() -> Result<OwnProgram, CommandError> {
        let path = std::env::current_exe().map_err(|e| format!("cannot find this executable: {e}"))?;
        let alone = path.file_stem().is_some_and(|stem| stem == "bench");
        Ok(OwnProgram { path, alone })
    }

    /// Runs one of the benchmark's own hidden commands.
    pub fn command(&self, mut words: Vec<OsString>) -> Command {
        if !self.alone {
            words.insert(0, "bench".into());
        }
        Command { program: self.path.clone(), args: words }
    }
}

impl Programs {
    /// Looks for everything; a program given in the environment (`PENSTOCK_BIN`, `SYSLOG_NG_BIN`,
    /// `RSYSLOGD_BIN`) comes first, then the installed one, then what `scripts/peers` has unpacked.
    pub fn find() -> Programs {
        let own = std::env::current_exe().ok();
        let beside = |name: &str| own.as_ref().and_then(|path| Some(path.parent()?.join(name)));
        let alone = own.as_ref().is_some_and(|path| path.file_stem().is_some_and(|stem| stem == "bench"));
        let itself = if alone { beside("penstock") } else { own.clone() };
        Programs {
            penstock: first(&[from_env("PENSTOCK_BIN"), itself]),
            syslog_ng: first(&[
                from_env("SYSLOG_NG_BIN"),
                Some("/usr/sbin/syslog-ng".into()),
                unpacked(own.as_deref(), "bin/syslog-ng"),
            ]),
            rsyslogd: first(&[
                from_env("RSYSLOGD_BIN"),
                Some("/usr/sbin/rsyslogd".into()),
                unpacked(own.as_deref(), "rsyslog/usr/sbin/rsyslogd"),
            ]),
        }
    }

    pub fn has(&self, receiver: Receiver) -> bool {
        match receiver {
            Receiver::Floor => true,
            Receiver::Penstock => self.penstock.is_some(),
            Receiver::SyslogNg | Receiver::SyslogNgTuned => self.syslog_ng.is_some(),
            Receiver::Rsyslog => self.rsyslogd.is_some(),
        }
    }
}

fn from_env(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from)
}

fn first(candidates: &[Option<PathBuf>]) -> Option<PathBuf> {
    candidates.iter().flatten().find(|path| path.is_file()).cloned()
}

/// `target/peers/...` of the checkout this runs in.
fn unpacked(own: Option<&Path>, inside: &str) -> Option<PathBuf> {
    let here = std::env::current_dir().ok();
    let starts = [here.as_deref(), own];
    let mut folders = starts.into_iter().flatten().flat_map(Path::ancestors);
    folders.find_map(|folder| Some(folder.join("target/peers").join(inside)).filter(|path| path.is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::CASES;

    #[test]
    fn names_round_trip() {
        for receiver in RECEIVERS {
            assert_eq!(Receiver::from_name(receiver.name()), Some(receiver));
        }
        assert_eq!(Receiver::from_name("vector"), None);
    }

    #[test]
    fn every_case_has_a_floor_or_is_prepared_or_encrypted() {
        for case in CASES {
            let without = case.input.feed == Feed::Prepared || !case.receivers.contains(&Receiver::Floor);
            assert_eq!(Receiver::Floor.can(case), !without, "{}", case.name);
        }
    }
}
