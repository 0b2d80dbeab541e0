//! `penstock python`: the virtual environment of the configuration's classes, and the package they import, as
//! files.

use control::cli::{PackageArgs, PythonArgs, PythonCommand, UpdateVirtualenvArgs, VenvArgs};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::printing::print;
use crate::usage;
use stdio::CommandError;

/// Where an environment has its packages, as it says itself.
const SITE_PACKAGES: &str = "import sysconfig; print(sysconfig.get_paths()['purelib'])";

pub fn run(args: &PythonArgs) -> ExitCode {
    ended(match &args.command {
        PythonCommand::Venv(args) => venv(args),
        PythonCommand::Package(PackageArgs { folder }) => package(folder),
    })
}

/// Called as `syslog-ng-update-virtualenv`.
pub fn update_virtualenv(args: Vec<OsString>) -> ExitCode {
    match UpdateVirtualenvArgs::parse_args(args) {
        Ok(args) => ended(venv(&args)),
        Err(error) => usage(&error),
    }
}

fn ended(done: Result<String, CommandError>) -> ExitCode {
    match done {
        Ok(text) => print(&text),
        Err(error) => error.report(),
    }
}

/// Makes the environment unless it is there, then installs what is asked for.
fn venv(args: &VenvArgs) -> Result<String, CommandError> {
    let python = args.folder.join("bin/python3");
    let is_new = !python.exists();
    if is_new {
        let make: [&OsStr; 3] = ["-m".as_ref(), "venv".as_ref(), args.folder.as_os_str()];
        call(&args.python, &make).map_err(|why| {
            format!(
                "{why}\nthe interpreter needs its module `venv`: on Debian it is the package python3-venv"
            )
        })?;
    }
    for file in &args.requirements {
        let pip = ["-m", "pip", "install", "--disable-pip-version-check", "--upgrade", "-r"];
        let install: Vec<&OsStr> = pip.iter().map(OsStr::new).chain([file.as_os_str()]).collect();
        call(&python, &install)?;
    }
    let site = Command::new(&python).args(["-c", SITE_PACKAGES]).output();
    let site = site.map_err(|error| format!("{}: {error}", python.display()))?;
    let site = PathBuf::from(String::from_utf8_lossy(&site.stdout).trim());
    package(&site)?;
    let done = if is_new { "made" } else { "up to date" };
    Ok(format!(
        "{}: {done}; try a class with {} -m syslogng.check module.Class\n",
        args.folder.display(),
        python.display()
    ))
}

fn package(folder: &Path) -> Result<String, CommandError> {
    let made = python::write_package(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(format!("{}: written\n", made.display()))
}

/// Runs a program whose output is for whoever asked.
fn call(program: &Path, args: &[&OsStr]) -> Result<(), CommandError> {
    let status = Command::new(program).args(args).status();
    match status.map_err(|error| format!("{}: {error}", program.display()))? {
        status if status.success() => Ok(()),
        status => {
            let args: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
            Err(format!("{} {} ended with {status}", program.display(), args.join(" ")).into())
        }
    }
}
