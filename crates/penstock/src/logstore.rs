//! `penstock logstore`, also called as `lgstool` and `logcat`: reads, checks and repairs log stores.

mod cat;
mod inspect;
mod recover;
mod validate;

use clap::{Args, Parser, Subcommand};
use logstore::{Error, Keys, PrivateKey, Reader};
use std::ffi::OsString;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use stdio::CommandError;

/// A larger key file is none.
const KEY_BYTES_MAX: u64 = 1 << 20;

/// Read, check and repair log stores
#[derive(Debug, Parser)]
#[command(
    name = "penstock logstore",
    disable_version_flag = true,
    after_help = "\
Examples:
  penstock logstore cat /var/log/host.lgs
  penstock logstore cat --key reader.key /var/log/host.lgs
  penstock logstore validate --ca-file tsa-ca.pem --require-ts /var/log/host.lgs

Called as lgstool it takes the same commands; called as logcat it is `cat`.
Exit code: 0 all is well, 1 a store is not as it was written, or cannot be read; 2 wrong usage."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print messages
    Cat(CatArgs),
    /// Print the records of a store
    Inspect(InspectArgs),
    /// Print the last messages, and those that come
    Tail(TailArgs),
    /// Say what of a store is not as it was written
    Validate(validate::ValidateArgs),
    /// Put what a kill left in a journal into its store
    Recover(recover::RecoverArgs),
}

#[derive(Debug, Args)]
struct CatArgs {
    /// Private key (PEM) for encrypted stores
    #[arg(short, long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Begin with the message of this number; they count from 1
    #[arg(short, long, value_name = "NUMBER", default_value_t = 1)]
    seek: u32,
    /// Print only messages with this text in them
    #[arg(short, long, value_name = "TEXT")]
    grep: Option<String>,
    #[arg(required = true, value_name = "STORE")]
    files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
struct TailArgs {
    /// Private key (PEM) for encrypted stores
    #[arg(short, long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// How many messages
    #[arg(short, long, value_name = "NUMBER", default_value_t = 10)]
    number: u32,
    /// Go on with what comes
    #[arg(short, long)]
    follow: bool,
    #[arg(value_name = "STORE")]
    file: PathBuf,
}

#[derive(Debug, Args)]
struct InspectArgs {
    #[arg(required = true, value_name = "STORE")]
    files: Vec<PathBuf>,
}

/// Print the messages of log stores
#[derive(Debug, Parser)]
#[command(name = "logcat", disable_version_flag = true)]
struct Logcat {
    #[command(flatten)]
    args: CatArgs,
}

/// Its options, for manual pages and completions.
pub fn command_line() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// Runs the command line; the first of `args` is the program's name.
pub fn run(args: Vec<OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return crate::usage(&error),
    };
    ended(match cli.command {
        Command::Cat(args) => cat::cat(&args),
        Command::Inspect(args) => each(&args.files, inspect::inspect),
        Command::Tail(args) => cat::tail(&args),
        Command::Validate(args) => validate::validate(&args),
        Command::Recover(args) => recover::recover(&args),
    })
}

/// The same as `logcat`.
pub fn run_as_logcat(args: Vec<OsString>) -> ExitCode {
    match Logcat::try_parse_from(args) {
        Ok(logcat) => ended(cat::cat(&logcat.args)),
        Err(error) => crate::usage(&error),
    }
}

/// Whether all is well; the error is said.
fn ended(result: Result<bool, CommandError>) -> ExitCode {
    stdio::finish(result.map_err(|error| error.at("penstock logstore")))
}

/// Every file is looked at, whatever is wrong with the others.
fn each(files: &[PathBuf], work: impl Fn(&Path) -> Result<bool, CommandError>) -> Result<bool, CommandError> {
    let mut all = true;
    for file in files {
        all &= work(file).unwrap_or_else(|error| {
            stdio::err!("penstock logstore: {error}");
            false
        });
    }
    Ok(all)
}

fn open(path: &Path) -> Result<Reader<BufReader<File>>, CommandError> {
    let file = regular::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Reader::new(BufReader::with_capacity(1 << 16, file)).map_err(|error| told(path, &error).into())
}

fn keys(path: Option<&Path>) -> Result<Keys, CommandError> {
    let Some(path) = path else { return Ok(Keys::default()) };
    let pem = regular::read(path, KEY_BYTES_MAX).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(PrivateKey::read(&pem).map(Keys::new).map_err(|error| told(path, &error))?)
}

fn told(path: &Path, error: &Error) -> String {
    format!("{}: {error}", path.display())
}
