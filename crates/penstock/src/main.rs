//! The program: which of its commands is meant, by the name it was called with and by its arguments.

mod allowed;
mod benchmark;
mod capture;
mod cases;
mod check;
mod components;
mod configuration;
mod console;
mod convert;
mod diff;
mod doctor;
mod explain;
mod expressions;
mod foreign_queue;
mod graph;
mod keep_input;
mod library;
#[cfg(feature = "logstore")]
mod logstore;
mod lookout;
mod lsp;
mod manners;
mod mistaken;
mod outline;
mod pdb;
mod plan;
mod printing;
mod profile;
mod program;
#[cfg(feature = "python")]
mod python_tools;
mod queue;
mod replay;
mod rig;
mod run;
#[cfg(feature = "python")]
mod scripts;
mod sealed;
mod state_file;
mod subject;
mod take_over;
mod test_ca;
mod top;
mod tune;
mod version;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use control::cli::{
    CalledAs, Cli, Command, DaemonAction, DaemonArgs, run_ctl, run_ledger, run_tap, usage_exit,
};

/// The configuration is wrong, or the command line is.
const EXIT_CONFIG: u8 = 1;
/// The command line of `penstock` is wrong; where it is called as another program, the code is that one's.
const EXIT_USAGE: u8 = stdio::EXIT_USAGE;
/// The configuration is right, but something it needs cannot be had.
const EXIT_INIT: u8 = 2;

fn main() -> ExitCode {
    stdio::end(command())
}

/// What is called, by its name or by the arguments.
fn command() -> ExitCode {
    #[cfg(feature = "kubernetes")]
    kubernetes::install();
    let args: Vec<OsString> = std::env::args_os().collect();
    let called = CalledAs::from_program(args.first().map_or("".as_ref(), OsString::as_os_str));
    match called {
        CalledAs::Penstock => native(args),
        CalledAs::SyslogNg => daemon(args),
        CalledAs::SyslogNgCtl => run_ctl(args),
        CalledAs::Loggen => loggen::cli::run(args.into_iter().skip(1)),
        CalledAs::Pdbtool => pdb::run(args),
        CalledAs::Dqtool => queue::dqtool::run(args),
        CalledAs::PersistTool => state_file::run_as_persist_tool(args),
        CalledAs::Slogkey => sealed::slogkey::run(args),
        CalledAs::Slogencrypt => sealed::slogencrypt::run(args),
        CalledAs::Slogverify => sealed::slogverify::run(args),
        CalledAs::Lgstool => stores(args),
        CalledAs::Logcat => logcat(args),
        CalledAs::UpdateVirtualenv => update_virtualenv(args),
    }
}

/// The command line of `penstock`.
fn native(args: Vec<OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return usage_exit(&error, EXIT_USAGE),
    };
    match cli.command {
        Command::Run(args) => run::run(args.options()),
        Command::Check(args) => check::check(&args),
        Command::Version => version::print_version(CalledAs::Penstock),
        Command::Ctl(args) => run_ctl(args.with_program("penstock ctl")),
        Command::Ledger(args) => run_ledger(args.with_program("penstock ledger")),
        Command::Explain(args) => explain::explain(&args),
        Command::Filterx(args) => expressions::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Graph(args) => graph::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Lsp => lsp::run(),
        Command::Test(args) => cases::run(&args),
        Command::Top(args) => top::run(&args),
        Command::Tap(args) => run_tap(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Profile(args) => profile::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Capture(args) => capture::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Loggen(args) => loggen::cli::run(args.args.into_iter()),
        Command::Pdb(args) => pdb::run(args.with_program("penstock pdb")),
        Command::Queue(args) => queue::run(args.with_program("penstock queue")),
        Command::Dqtool(args) => queue::dqtool::run(args.with_program("dqtool")),
        Command::Slogkey(args) => sealed::slogkey::run(args.with_program("slogkey")),
        Command::Slogencrypt(args) => sealed::slogencrypt::run(args.with_program("slogencrypt")),
        Command::Slogverify(args) => sealed::slogverify::run(args.with_program("slogverify")),
        Command::Logstore(args) => stores(args.with_program("penstock logstore")),
        Command::Python(args) => python_tools(&args),
        Command::State(args) => state_file::run(args.with_program("penstock state")),
        Command::TestCa(args) => test_ca::run(&args),
        Command::Completions(args) => manners::completions(&args.shell),
        Command::Man(args) => manners::man(args.folder.as_deref()),
        Command::Bench(args) => bench::cli::run(args.args.into_iter(), benchmark::run),
    }
}

/// The command line of `syslog-ng`.
fn daemon(args: Vec<OsString>) -> ExitCode {
    let args = match DaemonArgs::parse_args(args) {
        Ok(args) => args,
        Err(error) => return usage(&error),
    };
    match args.action() {
        DaemonAction::Version => version::print_version(CalledAs::SyslogNg),
        DaemonAction::ModuleRegistry => version::print_components(),
        DaemonAction::MetricsRegistry => version::print_metrics(),
        DaemonAction::Parse(options) => check::parse_only(&options),
        DaemonAction::CheckStartup(options) => run::check_startup(options),
        DaemonAction::Run(options) => run::run(options),
    }
}

#[cfg(feature = "logstore")]
fn stores(args: Vec<OsString>) -> ExitCode {
    logstore::run(args)
}

#[cfg(feature = "logstore")]
fn logcat(args: Vec<OsString>) -> ExitCode {
    logstore::run_as_logcat(args)
}

#[cfg(not(feature = "logstore"))]
fn stores(_: Vec<OsString>) -> ExitCode {
    stdio::err!("this program was built without log stores: build it with the feature `logstore`");
    ExitCode::from(EXIT_CONFIG)
}

#[cfg(not(feature = "logstore"))]
fn logcat(args: Vec<OsString>) -> ExitCode {
    stores(args)
}

#[cfg(feature = "python")]
fn python_tools(args: &control::cli::PythonArgs) -> ExitCode {
    python_tools::run(args)
}

#[cfg(feature = "python")]
fn update_virtualenv(args: Vec<OsString>) -> ExitCode {
    python_tools::update_virtualenv(args)
}

#[cfg(not(feature = "python"))]
fn python_tools(_: &control::cli::PythonArgs) -> ExitCode {
    stdio::err!("this program was built without Python: build it with the feature `python`");
    ExitCode::from(EXIT_CONFIG)
}

#[cfg(not(feature = "python"))]
fn update_virtualenv(_: Vec<OsString>) -> ExitCode {
    stdio::err!("this program was built without Python: build it with the feature `python`");
    ExitCode::from(EXIT_CONFIG)
}

/// Of a command that other programs have too: where it is called as one of these, the code is that one's.
fn usage(error: &clap::Error) -> ExitCode {
    let program = std::env::args_os().next().unwrap_or_default();
    let is_own = CalledAs::from_program(&program) == CalledAs::Penstock;
    usage_exit(error, if is_own { EXIT_USAGE } else { EXIT_CONFIG })
}
