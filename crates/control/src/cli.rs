//! Every command line: `penstock` itself, and what it understands when called as `syslog-ng` or
//! `syslog-ng-ctl`.

mod convert;
mod ctl;
mod daemon;
mod diff;
mod doctor;
mod explain;
mod filterx;
mod graph;
mod help;
mod ledger;
mod look;
mod native;
mod options;
mod plan;
mod profile;
mod python;
mod recording;
mod running;
mod tap;
mod test;
mod top;
mod tune;
mod version;

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

pub use convert::ConvertArgs;
pub use ctl::{command_line as ctl_command_line, run_ctl};
pub use daemon::{DaemonAction, DaemonArgs, ParseOptions, state_dir};
pub use diff::DiffArgs;
pub use doctor::DoctorArgs;
pub use explain::{ExplainArgs, FileLine};
pub use filterx::FilterxArgs;
pub use graph::GraphArgs;
pub use ledger::{command_line as ledger_command_line, run_ledger};
pub use native::{CheckArgs, Cli, Command, CompletionsArgs, ManArgs, RawArgs, RunArgs, TestCaArgs};
pub use options::{ProcessMode, RunOptions, SandboxUnsaid, WORKER_THREADS_COUNT_MAX};
pub use plan::{PlanArgs, PlanTarget};
pub use profile::ProfileArgs;
pub use python::{
    PYTHON_VENV, PackageArgs, PythonArgs, PythonCommand, SYSLOG_NG_VENV, UpdateVirtualenvArgs, VenvArgs,
};
pub use recording::{CaptureArgs, ReplayArgs, Speed};
pub use running::Running;
pub use tap::{TapArgs, run_tap};
pub use test::TestArgs;
pub use top::{SortBy, TopArgs};
pub use tune::TuneArgs;
pub use version::{VersionInfo, version_text};

/// Control socket of a program started as `syslog-ng`.
pub const SYSLOG_NG_CONTROL: &str = "/var/lib/syslog-ng/syslog-ng.ctl";
/// State folder of a program started as `penstock`.
pub const PENSTOCK_STATE_DIR: &str = "/var/lib/penstock";
/// Seconds a program that was taken over goes on for what only it can read.
pub const LINGER: u64 = 300;
/// Name of the control socket in the state folder.
pub const CONTROL_FILE_NAME: &str = "penstock.ctl";
/// Name of the state file there: how far files were read, and more. The process that runs has locked it.
pub const STATE_FILE_NAME: &str = "penstock.state";

/// Which program the binary is to be, by the name it was called with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalledAs {
    Penstock,
    SyslogNg,
    SyslogNgCtl,
    Loggen,
    Pdbtool,
    Dqtool,
    PersistTool,
    Slogkey,
    Slogencrypt,
    Slogverify,
    Lgstool,
    Logcat,
    UpdateVirtualenv,
}

impl CalledAs {
    /// Looks at the last part of the first argument.
    pub fn from_program(program: &OsStr) -> CalledAs {
        match Path::new(program).file_name().and_then(OsStr::to_str) {
            Some("syslog-ng") => CalledAs::SyslogNg,
            Some("syslog-ng-ctl") => CalledAs::SyslogNgCtl,
            Some("loggen") => CalledAs::Loggen,
            Some("pdbtool") => CalledAs::Pdbtool,
            Some("dqtool") => CalledAs::Dqtool,
            Some("persist-tool") => CalledAs::PersistTool,
            Some("slogkey") => CalledAs::Slogkey,
            Some("slogencrypt") => CalledAs::Slogencrypt,
            Some("slogverify") => CalledAs::Slogverify,
            Some("lgstool") => CalledAs::Lgstool,
            Some("logcat") => CalledAs::Logcat,
            Some("syslog-ng-update-virtualenv") => CalledAs::UpdateVirtualenv,
            _ => CalledAs::Penstock,
        }
    }

    /// Whether paths and words are to be syslog-ng's own.
    pub fn is_syslog_ng(self) -> bool {
        matches!(self, CalledAs::SyslogNg | CalledAs::SyslogNgCtl)
    }
}

/// Prints what clap has to say, to where it belongs, and gives the exit code: 0 for help, else `failure`.
pub fn usage_exit(error: &clap::Error, failure: u8) -> ExitCode {
    let columns = help::columns().filter(|_| !error.use_stderr());
    let printed = match columns {
        Some(columns) => {
            let is_dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
            let text = error.render();
            let text = match stdio::is_colourless() || is_dumb {
                true => text.to_string(),
                false => text.ansi().to_string(),
            };
            stdio::out_text!("{}", help::wrapped(&text, columns));
            Ok(())
        }
        None => error.print(),
    };
    if error.use_stderr() {
        // Nobody is left to tell when that fails.
        return ExitCode::from(failure);
    }
    stdio::note(printed);
    ExitCode::SUCCESS
}

/// An answer, as lines.
fn print(text: &str) {
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    stdio::out_text!("{text}{end}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_decides() {
        let check = |name: &str, expected| assert_eq!(CalledAs::from_program(name.as_ref()), expected);
        check("/usr/sbin/syslog-ng", CalledAs::SyslogNg);
        check("syslog-ng-ctl", CalledAs::SyslogNgCtl);
        check("./penstock", CalledAs::Penstock);
        check("loggen", CalledAs::Loggen);
        check("pdbtool", CalledAs::Pdbtool);
        check("dqtool", CalledAs::Dqtool);
        check("persist-tool", CalledAs::PersistTool);
        check("slogkey", CalledAs::Slogkey);
        check("slogencrypt", CalledAs::Slogencrypt);
        check("/usr/bin/slogverify", CalledAs::Slogverify);
        check("lgstool", CalledAs::Lgstool);
        check("logcat", CalledAs::Logcat);
        check("/usr/bin/syslog-ng-update-virtualenv", CalledAs::UpdateVirtualenv);
        check("anything", CalledAs::Penstock);
        check("", CalledAs::Penstock);
    }
}
