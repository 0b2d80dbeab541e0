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
/// The interpreter that an environment is made with; of one without, itself.
const INTERPRETER: &str =
    "import os, sys; print(os.path.realpath(getattr(sys, '_base_executable', sys.executable)))";

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

/// Makes the environment unless it is there, then installs what is asked for. Of one that is there, the
/// interpreter stays: what is installed in it is for that one.
fn venv(args: &VenvArgs) -> Result<String, CommandError> {
    let python = args.folder.join("bin/python3");
    let is_new = !python.exists();
    if is_new {
        let make: [&OsStr; 3] = ["-m".as_ref(), "venv".as_ref(), args.folder.as_os_str()];
        call(args.python.as_deref().unwrap_or(Path::new("python3")), &make).map_err(|why| {
            format!(
                "{why}\nthe interpreter needs its module `venv`: on Debian it is the package python3-venv"
            )
        })?;
    } else if let Some(asked) = &args.python {
        is_of(asked, &python, &args.folder)?;
    }
    for file in &args.requirements {
        let pip = ["-m", "pip", "install", "--disable-pip-version-check", "--upgrade", "-r"];
        let install: Vec<&OsStr> = pip.iter().map(OsStr::new).chain([file.as_os_str()]).collect();
        call(&python, &install)?;
    }
    package(&said(&python, SITE_PACKAGES)?)?;
    let done = if is_new { "made" } else { "up to date" };
    Ok(format!(
        "{}: {done}; try a class with {} -m syslogng.check module.Class\n",
        args.folder.display(),
        python.display()
    ))
}

/// Whether an environment is of the interpreter that is asked for.
fn is_of(asked: &Path, python: &Path, folder: &Path) -> Result<(), CommandError> {
    let (wanted, found) = (said(asked, INTERPRETER)?, said(python, INTERPRETER)?);
    if wanted == found {
        return Ok(());
    }
    Err(format!(
        "{} is there, and of {}, not of {}\nleave --python out to bring it up to date; to have it of another, remove the folder first",
        folder.display(),
        found.display(),
        wanted.display()
    )
    .into())
}

/// The path that an interpreter prints.
fn said(python: &Path, code: &str) -> Result<PathBuf, CommandError> {
    let output = Command::new(python).args(["-c", code]).output();
    let output = output.map_err(|error| format!("{}: {error}", python.display()))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} ended with {}: {}", python.display(), output.status, why.trim_end()).into());
    }
    Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
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
