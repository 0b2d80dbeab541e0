//! The command line of `penstock python`, and that of `syslog-ng-update-virtualenv`.

use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// The virtual environment that is used where VIRTUAL_ENV names none.
pub const PYTHON_VENV: &str = "/var/lib/penstock/python-venv";
/// The same of syslog-ng.
pub const SYSLOG_NG_VENV: &str = "/var/lib/syslog-ng/python-venv";

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  penstock python venv
  penstock python venv ./venv --requirements requirements.txt
  penstock python package ./typings
  ./venv/bin/python3 -m syslogng.check mymodule.MyParser --message 'hello'

Exit code: 0 done, 1 it cannot be done, 2 wrong usage.")]
pub struct PythonArgs {
    #[command(subcommand)]
    pub command: PythonCommand,
}

#[derive(Debug, Subcommand)]
pub enum PythonCommand {
    /// Make a virtual environment, or bring it up to date: requirements, and the package `syslogng`
    Venv(VenvArgs),
    /// Write the package `syslogng` with its types, for editors and for `python3 -m syslogng.check`
    Package(PackageArgs),
}

#[derive(Debug, Args)]
pub struct VenvArgs {
    /// The folder of the virtual environment
    #[arg(value_name = "FOLDER", default_value = PYTHON_VENV)]
    pub folder: PathBuf,
    /// A file of requirements to install; may be repeated
    #[arg(short, long, value_name = "FILE")]
    pub requirements: Vec<PathBuf>,
    /// The interpreter to make it with, python3 where none is named; one that is there has to be of it
    #[arg(long, value_name = "PROGRAM")]
    pub python: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct PackageArgs {
    /// A folder in which Python, or an editor, looks for modules
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}

/// Makes the virtual environment of the Python classes, or brings it up to date.
#[derive(Debug, Parser)]
#[command(name = "syslog-ng-update-virtualenv", disable_version_flag = true)]
pub struct UpdateVirtualenvArgs {
    /// Ask nothing; nothing is asked anyway
    #[arg(short = 'y')]
    pub yes: bool,
    /// Say more; all that pip says is shown anyway
    #[arg(short = 'v')]
    pub verbose: bool,
    /// A file of requirements to install; may be repeated
    #[arg(short, long, value_name = "FILE")]
    pub requirements: Vec<PathBuf>,
}

impl UpdateVirtualenvArgs {
    pub fn parse_args(args: impl IntoIterator<Item = OsString>) -> Result<VenvArgs, clap::Error> {
        let args = UpdateVirtualenvArgs::try_parse_from(args)?;
        let folder = SYSLOG_NG_VENV.into();
        Ok(VenvArgs { folder, requirements: args.requirements, python: None })
    }
}
