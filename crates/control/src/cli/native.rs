//! The command line of `penstock` itself.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ColorChoice, Parser, Subcommand};
use oplog::Verbosity;

use super::convert::ConvertArgs;
use super::diff::DiffArgs;
use super::doctor::DoctorArgs;
use super::explain::ExplainArgs;
use super::filterx::FilterxArgs;
use super::graph::GraphArgs;
use super::options::{ProcessMode, RunOptions, SandboxUnsaid, worker_threads};
use super::plan::PlanArgs;
use super::profile::ProfileArgs;
use super::python::PythonArgs;
use super::recording::{CaptureArgs, ReplayArgs};
use super::tap::TapArgs;
use super::test::TestArgs;
use super::top::TopArgs;
use super::tune::TuneArgs;
use super::{CONTROL_FILE_NAME, LINGER, PENSTOCK_STATE_DIR};

/// Collects, processes and forwards log messages. Runs syslog-ng configuration files unchanged.
#[derive(Debug, Parser)]
#[command(
    name = "penstock",
    version,
    after_help = "\
Examples:
  penstock check /etc/syslog-ng/syslog-ng.conf
  penstock run --config /etc/syslog-ng/syslog-ng.conf --state-dir /var/lib/penstock
  penstock ledger

Called as syslog-ng, syslog-ng-ctl, loggen, pdbtool, dqtool, persist-tool, slogkey, slogencrypt, slogverify, lgstool, logcat or
syslog-ng-update-virtualenv it takes the command lines of those programs."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a configuration
    Run(RunArgs),
    /// Check a configuration without opening sockets
    Check(CheckArgs),
    /// Print version, paths and components
    Version,
    /// Control a running program: stats, query, reload, stop, healthcheck ...
    #[command(disable_help_flag = true)]
    Ctl(RawArgs),
    /// Show what became of every message
    #[command(disable_help_flag = true)]
    Ledger(RawArgs),
    /// Show what happens to single messages, step by step: on the running program, or in a configuration
    Explain(ExplainArgs),
    /// Try expressions and blocks of FilterX: their values, types and the time they take
    Filterx(FilterxArgs),
    /// Show what another configuration means differently, and does differently with messages
    Diff(DiffArgs),
    /// Draw a configuration: sources, log paths with their steps, destinations
    Graph(GraphArgs),
    /// Write a configuration of rsyslog as one of this program
    Convert(ConvertArgs),
    /// Serve editors: findings, completion, help, definitions, renaming, over standard input and output
    #[command(
        after_help = "Editors start it; docs/lsp.md says how to tell them. It reads and writes the language server protocol."
    )]
    Lsp,
    /// Run the test cases of a configuration: which destination gets what of which message
    Test(TestArgs),
    /// Show messages themselves: what comes by a source, step or destination, or what was dropped
    Tap(TapArgs),
    /// Watch in the terminal what comes, goes, waits and is dropped
    Top(TopArgs),
    /// Say what is well and what is not, each with what cures it
    Doctor(DoctorArgs),
    /// Show where the time goes, what is waited for, and what limits the program
    Profile(ProfileArgs),
    /// Measure what would make a configuration faster on this machine
    Tune(TuneArgs),
    /// Say what an estate of many machines needs for a rate of messages, step by step
    Plan(PlanArgs),
    /// Record what comes to sources, as it comes
    Capture(CaptureArgs),
    /// Send messages of a recording again, or those that keep-input() has kept
    Replay(ReplayArgs),
    /// Generate log messages, and verify what arrived
    #[command(disable_help_flag = true)]
    Loggen(RawArgs),
    /// Try, test, merge and make pattern databases
    #[command(disable_help_flag = true)]
    Pdb(RawArgs),
    /// Look into queues on disk: ls, cat, grep, verify, drop, replay, import ...
    #[command(disable_help_flag = true)]
    Queue(RawArgs),
    /// Look into a queue file as syslog-ng's dqtool does
    #[command(disable_help_flag = true)]
    Dqtool(RawArgs),
    /// Make keys for sealed logs, say how far one has got
    #[command(disable_help_flag = true)]
    Slogkey(RawArgs),
    /// Seal a log that exists
    #[command(disable_help_flag = true)]
    Slogencrypt(RawArgs),
    /// Open a sealed log, say what was changed in it
    #[command(disable_help_flag = true)]
    Slogverify(RawArgs),
    /// Read, check and repair log stores: cat, inspect, tail, validate, recover
    #[command(disable_help_flag = true)]
    Logstore(RawArgs),
    /// Make a virtual environment for Python classes, write the package they import
    Python(PythonArgs),
    /// Look into the state file, change it
    #[command(disable_help_flag = true)]
    State(RawArgs),
    /// Make an authority and certificates for trying TLS
    TestCa(TestCaArgs),
    /// Print what a shell needs to complete command lines of this program
    Completions(CompletionsArgs),
    /// Write the manual pages of all commands
    Man(ManArgs),
    /// Measure this and other receivers side by side
    #[command(disable_help_flag = true)]
    Bench(RawArgs),
}

/// Arguments that belong to a command with a command line of its own.
#[derive(Debug, Args)]
pub struct RawArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub args: Vec<OsString>,
}

impl RawArgs {
    /// With the program's name in front, as parsers expect it.
    pub fn with_program(self, program: &str) -> Vec<OsString> {
        std::iter::once(program.into()).chain(self.args).collect()
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  penstock run --config relay.conf --state-dir ./state
  penstock run --config relay.conf --state-dir ./state --worker-threads 1 --log-level debug

Signals: HUP reloads, USR1 reopens files, TERM and INT stop after delivering what was received.
Exit code: 0 normal, 1 error in the configuration, 2 initialisation failed.")]
pub struct RunArgs {
    /// Configuration file
    #[arg(short = 'f', long, value_name = "FILE", default_value = "/etc/penstock/penstock.conf")]
    pub config: PathBuf,
    /// Folder of everything that has to survive a restart
    #[arg(long, value_name = "FOLDER", default_value = PENSTOCK_STATE_DIR)]
    pub state_dir: PathBuf,
    /// Control socket; default: penstock.ctl in the state folder
    #[arg(short, long, value_name = "FILE")]
    pub control: Option<PathBuf>,
    /// File to write the process id to; default: none
    #[arg(short, long, value_name = "FILE")]
    pub pid_file: Option<PathBuf>,
    /// Number of worker threads; default: as many as processors
    #[arg(long, value_name = "N", value_parser = worker_threads)]
    pub worker_threads: Option<usize>,
    /// Stay in the foreground and log to standard error: the default
    #[arg(short = 'F', long, conflicts_with = "background")]
    pub foreground: bool,
    /// Detach once everything is open
    #[arg(long)]
    pub background: bool,
    /// Do not log to standard error once started
    #[arg(short, long)]
    pub quiet: bool,
    /// default, verbose, debug or trace
    #[arg(short = 'L', long, value_name = "LEVEL", default_value_t)]
    pub log_level: Verbosity,
    /// User to run as
    #[arg(short, long, value_name = "USER")]
    pub user: Option<String>,
    /// Group to run as
    #[arg(short, long, value_name = "GROUP")]
    pub group: Option<String>,
    /// Change the root folder
    #[arg(long, value_name = "FOLDER")]
    pub chroot: Option<PathBuf>,
    /// Limit of open files to ask for; default: as many as the system allows
    #[arg(long, value_name = "N")]
    pub fd_limit: Option<u64>,
    /// Allow core dumps
    #[arg(long)]
    pub enable_core: bool,
    /// Capabilities to keep, as in "cap_net_bind_service,cap_syslog=ep"; default: those that are needed
    #[arg(long, value_name = "CAPS")]
    pub caps: Option<String>,
    /// Leave capabilities alone, and let commands that are started gain privileges; with --user, none is left
    #[arg(long)]
    pub no_caps: bool,
    /// Take the place of the running program without a pause: its sockets, connections and queues. Starts as
    /// usual when none runs
    #[arg(long)]
    pub take_over: bool,
    /// With --take-over: seconds the program before may go on for connections that only it can read, those
    /// with TLS
    #[arg(long, value_name = "SECONDS", default_value_t = LINGER)]
    pub linger: u64,
    /// Seconds for which a configuration is on trial after a reload; it is rolled back when it fails its
    /// health check at their end
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub reload_health_time: u64,
    /// Open the console for people and scrapers here, as 127.0.0.1:9514: docs/console.md. What console() of
    /// the configuration says beside its address stays; without one, only this machine may ask
    #[arg(long, value_name = "ADDRESS")]
    pub console: Option<String>,
    /// What sandbox() is where the configuration does not say it: docs/sandbox.md
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub sandbox: SandboxUnsaid,
}

impl RunArgs {
    pub fn options(self) -> RunOptions {
        let mode = if self.background { ProcessMode::Background } else { ProcessMode::Foreground };
        RunOptions {
            control: self.control.unwrap_or_else(|| self.state_dir.join(CONTROL_FILE_NAME)),
            config: self.config,
            state_dir: self.state_dir,
            pid_file: self.pid_file,
            worker_threads: self.worker_threads,
            process_mode: mode,
            stderr: !self.background && !self.quiet,
            verbosity: self.log_level,
            startup_debug: false,
            user: self.user,
            group: self.group,
            chroot: self.chroot,
            fd_limit: self.fd_limit,
            enable_core: self.enable_core,
            caps: self.caps,
            no_caps: self.no_caps,
            take_over: self.take_over.then_some(Duration::from_secs(self.linger)),
            reload_health_time: Duration::from_secs(self.reload_health_time),
            console: self.console,
            sandbox: self.sandbox,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  penstock check syslog-ng.conf
  penstock check --json syslog-ng.conf
  penstock check --explain syslog-ng.conf
  penstock check --unit penstock.conf > /etc/systemd/system/penstock.service.d/configuration.conf
  penstock check - < new.conf

Colours are for terminals, unless NO_COLOR is set or --color says otherwise.
Exit code: 0 the configuration can run, 1 it cannot, 2 wrong usage.")]
pub struct CheckArgs {
    /// Configuration files; - is standard input; of a folder, all files in it that are named *.conf
    #[arg(value_name = "FILE", required = true)]
    pub configs: Vec<PathBuf>,
    /// Colour the findings
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    pub color: ColorChoice,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
    /// List what is harmless too, old options without effect and the like, each with its place
    #[arg(long, short)]
    pub verbose: bool,
    /// Leave out warnings of a code, as L0104; may be given several times. `# allow L0104` in the line, or in
    /// the one before, silences one place
    #[arg(long, value_name = "CODE")]
    pub allow: Vec<String>,
    /// Look at the language only: no references, no types, no files
    #[arg(long)]
    pub syntax_only: bool,
    /// Print what this configuration needs beyond the packaged systemd unit, as a drop-in: each capability,
    /// folder and device with the statement that needs it
    #[arg(long, conflicts_with_all = ["json", "explain", "syntax_only"])]
    pub unit: bool,
    /// Print what each finding means and what to do, at length, and for each log path which fields are
    /// computed and for whom
    #[arg(long)]
    pub explain: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  penstock test-ca ./certificates
  penstock test-ca ./certificates --server log.example.com --server 192.0.2.1 --client web1

Writes ca.pem and ca.key, unless they are there, and NAME.pem and NAME.key for each name. The authority's key lies
beside the certificates, readable by its owner: good for trying, not for a network one depends on.")]
pub struct TestCaArgs {
    /// Folder to write to; made when it is not there
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
    /// Host names or addresses to make a server's certificate for [default: localhost, when no client is
    /// named either]
    #[arg(long, value_name = "NAME")]
    pub server: Vec<String>,
    /// Names to make a client's certificate for [default: client, when no server is named either]
    #[arg(long, value_name = "NAME")]
    pub client: Vec<String>,
    /// Days the certificates are valid
    #[arg(long, default_value_t = 365, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    pub days: u32,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  penstock completions bash > /usr/share/bash-completion/completions/penstock
  penstock completions fish > ~/.config/fish/completions/penstock.fish")]
pub struct CompletionsArgs {
    /// The shell: bash, zsh, fish, elvish or powershell
    #[arg(value_name = "SHELL", value_parser = ["bash", "zsh", "fish", "elvish", "powershell"])]
    pub shell: String,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  penstock man | man -l -
  penstock man --folder /usr/share/man/man8")]
pub struct ManArgs {
    /// Write a page for each command into this folder, instead of printing the first one
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::CommandFactory;

    use super::*;

    fn parse(line: &str) -> Command {
        let args = ["penstock"].into_iter().chain(line.split_whitespace());
        Cli::try_parse_from(args).expect(line).command
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn run_has_defaults_under_its_state_folder() {
        let Command::Run(args) = parse("run --config /c --state-dir /s --worker-threads 2") else {
            panic!("not run")
        };
        let options = args.options();
        assert_eq!(options.control, Path::new("/s/penstock.ctl"));
        assert_eq!((options.process_mode, options.stderr), (ProcessMode::Foreground, true));
        assert_eq!((options.worker_threads, options.pid_file), (Some(2), None));
        let Command::Run(args) = parse("run --background --control /x") else { panic!("not run") };
        let options = args.options();
        assert_eq!((options.process_mode, options.stderr), (ProcessMode::Background, false));
        assert_eq!(options.control, Path::new("/x"));
    }

    #[test]
    fn check_takes_its_flags_anywhere() {
        let Command::Check(args) = parse("check --json f.conf --syntax-only --explain") else {
            panic!("not check")
        };
        assert!(args.json && args.syntax_only && args.explain);
        assert_eq!(args.configs, [Path::new("f.conf")]);
    }

    #[test]
    fn commands_with_their_own_line_get_it_whole() {
        let check = |line: &str, expected: &[&str]| {
            let (Command::Ctl(raw) | Command::Ledger(raw) | Command::Loggen(raw) | Command::Bench(raw)) =
                parse(line)
            else {
                panic!("{line}")
            };
            let all: Vec<OsString> = expected.iter().map(OsString::from).collect();
            assert_eq!(raw.with_program("p"), all, "{line}");
        };
        check("loggen --rate 5 -S -h host 514", &["p", "--rate", "5", "-S", "-h", "host", "514"]);
        check("ctl stats -c /x --help", &["p", "stats", "-c", "/x", "--help"]);
        check("ctl --help", &["p", "--help"]);
        check("ledger --json", &["p", "--json"]);
        check("bench", &["p"]);
    }
}
