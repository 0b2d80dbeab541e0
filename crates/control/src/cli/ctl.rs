//! `syslog-ng-ctl`, also `penstock ctl`: commands, options, output and exit codes of the original.

mod credentials;
mod healthcheck;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use oplog::Verbosity;

use super::{CalledAs, Running, SYSLOG_NG_CONTROL, print, usage_exit};
use crate::client::{ANSWER_MAX, Reply, Status, request};
use stdio::CommandError;

/// Controls the running program over its control socket.
#[derive(Debug, Parser)]
#[command(
    disable_version_flag = true,
    args_override_self = true,
    after_help = "\
Examples:
  syslog-ng-ctl stats prometheus
  syslog-ng-ctl query get --sum 'source.*.processed'
  syslog-ng-ctl healthcheck --timeout 5
  syslog-ng-ctl reload

Exit code: 0 done, 1 refused or not reachable, 2 wrong usage; healthcheck: 0 healthy (as syslog-ng-ctl or with --engine: it answers), 1 not healthy, 2 no answer."
)]
struct Ctl {
    #[command(flatten)]
    running: Running,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print the statistics counters
    Stats(Stats),
    /// List or print the counters a pattern selects
    Query(Query),
    /// Query or switch verbose messages
    Verbose(Switch),
    /// Query or switch debug messages: what came in, what filters and parsers made of it, what went out
    Debug(Switch),
    /// Query or switch trace messages: each step that a message takes, and each value it gets
    Trace(Switch),
    /// Print or set how much the program says about itself
    LogLevel {
        /// default, verbose, debug or trace
        level: Option<Verbosity>,
    },
    /// Read the configuration again and wait for the outcome
    Reload {
        /// Seconds for which the new configuration is on trial; the old one comes back when it fails its
        /// health check. Without it, what the program was started with counts
        #[arg(long, value_name = "SECONDS")]
        health_time: Option<u64>,
        /// A destination that the new configuration does not have: what waits there in memory is dropped,
        /// where it would be kept as dead letters, or the reload be refused. May be given several times
        #[arg(long, value_name = "DESTINATION")]
        drop: Vec<String>,
        /// Print first what the configuration on disk means differently from the one that runs
        #[arg(long)]
        diff: bool,
    },
    /// Put what ran before the last reload into effect again, or end a trial that is under way
    RollBack,
    /// Stop the program
    Stop,
    /// Reopen destination files, for logrotate
    Reopen,
    /// Print the running configuration
    Config(Config),
    /// Print the files named in the configuration
    ListFiles,
    /// Print the graph of sources, filters and destinations as JSON
    ExportConfigGraph,
    /// Ask whether the program is healthy
    Healthcheck {
        /// Seconds to wait for the answer
        #[arg(short, long, value_name = "SECONDS", default_value_t = 15)]
        timeout: u64,
        /// Succeed as soon as the program answers, whatever it complains about; syslog-ng-ctl always does
        #[arg(long)]
        engine: bool,
    },
    /// Passphrases of private keys
    Credentials {
        #[command(subcommand)]
        command: Credentials,
    },
    /// Follow the program's messages (not available: the program answers what to use)
    Attach {
        #[arg(hide = true)]
        what: Vec<String>,
        #[arg(long, hide = true)]
        seconds: Option<String>,
        #[arg(long, hide = true)]
        log_level: Option<String>,
    },
    /// Print the licence
    ShowLicenseInfo {
        /// As JSON
        #[arg(short = 'J', long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
struct Stats {
    /// Form of the output
    form: Option<Form>,
    /// The same as the word before
    #[arg(short = 'm', long = "format", value_name = "FORM", conflicts_with = "form")]
    format: Option<Form>,
    /// Reset the counters
    #[arg(short, long)]
    reset: bool,
    /// Remove counters whose object is gone
    #[arg(short = 'o', long, conflicts_with = "reset")]
    remove_orphans: bool,
    /// With prometheus: also counters that have no name of the new form
    #[arg(short = 'l', long)]
    with_legacy_metrics: bool,
    /// Leave out counters whose object is gone
    #[arg(short = 'a', long)]
    without_orphaned_metrics: bool,
    /// With csv: without the first line
    #[arg(short = 'n', long)]
    no_header: bool,
}

#[derive(Debug, Args)]
struct Query {
    action: Action,
    /// Pattern with * and ? over source.id.instance.type; none selects all
    pattern: Vec<String>,
    /// Print only the total
    #[arg(long)]
    sum: bool,
    /// Reset the selected counters after printing
    #[arg(long)]
    reset: bool,
    /// Form of the output
    #[arg(short = 'm', long = "format", value_name = "FORM")]
    format: Option<Form>,
}

#[derive(Debug, Args)]
struct Switch {
    /// Switch the messages on or off; without it: ask
    #[arg(short, long, value_name = "on|off|1|0")]
    set: Option<OnOff>,
}

#[derive(Debug, Args)]
struct Config {
    /// After includes, blocks and variables
    #[arg(short, long, conflicts_with_all = ["verify", "id", "diff"])]
    preprocessed: bool,
    /// Whether the file still is what runs
    #[arg(short, long, conflicts_with_all = ["id", "diff"])]
    verify: bool,
    /// What the file means differently from what runs; nothing is changed
    #[arg(short, long, conflicts_with = "id")]
    diff: bool,
    /// The identity of the running configuration
    #[arg(short, long)]
    id: bool,
}

#[derive(Debug, Subcommand)]
enum Credentials {
    /// Give the passphrase of a key
    #[command(after_help = CREDENTIALS_HELP)]
    Add {
        /// The key's file, as the configuration names it
        #[arg(short, long, value_name = "FILE")]
        id: Option<String>,
        /// The passphrase; without it, it is asked for, or read from standard input
        #[arg(short, long)]
        secret: Option<String>,
        /// The same two without their names
        #[arg(value_name = "FILE SECRET", num_args = 0..=2)]
        words: Vec<String>,
    },
    /// List the keys with a passphrase, and whether it is known
    Status,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Form {
    Csv,
    Kv,
    Prometheus,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Action {
    List,
    Get,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum OnOff {
    #[value(alias = "1")]
    On,
    #[value(alias = "0")]
    Off,
}

const CREDENTIALS_HELP: &str = "\
Examples:
  syslog-ng-ctl credentials add --id /etc/syslog-ng/cert.d/server.key
  pass show log-server | syslog-ng-ctl credentials add --id /etc/syslog-ng/cert.d/server.key

A passphrase on the command line can be seen by everybody on the machine.";

/// Its options, for manual pages and completions.
pub fn command_line() -> clap::Command {
    <Ctl as clap::CommandFactory>::command()
}

/// Runs the command line, whose first argument is the program's name: it also says which socket is meant when
/// none is given.
pub fn run_ctl(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let program = args.first().cloned().unwrap_or_default();
    let called = CalledAs::from_program(&program);
    let ctl = match Ctl::try_parse_from(&args) {
        Ok(ctl) => ctl,
        Err(error) => return usage_exit(&error, if called.is_syslog_ng() { 1 } else { 2 }),
    };
    let socket = match meant(&ctl.running, called) {
        Ok(socket) => socket,
        Err(error) => return error.report(),
    };
    match ctl.command {
        Command::Healthcheck { timeout, engine } => {
            healthcheck::ask(&socket, Duration::from_secs(timeout), engine || called.is_syslog_ng())
        }
        Command::Reload { diff: true, .. } if !shows_difference(&socket) => ExitCode::from(1),
        command => {
            let patience = patience(&command);
            match line(command) {
                Ok(line) => plain(&socket, &line, patience),
                Err(error) => error.report(),
            }
        }
    }
}

/// Under its old name the program asks where syslog-ng would be.
fn meant(running: &Running, called: CalledAs) -> Result<PathBuf, CommandError> {
    match (&running.control, &running.state_dir) {
        (None, None) if called.is_syslog_ng() => Ok(SYSLOG_NG_CONTROL.into()),
        _ => running.socket(),
    }
}

/// How long to wait for the answer. What reads the configuration takes as long as that takes: it is waited
/// for while the program answers other questions.
fn patience(command: &Command) -> Option<Duration> {
    let reads = matches!(
        command,
        Command::Reload { .. }
            | Command::RollBack
            | Command::Config(Config { verify: true, .. } | Config { diff: true, .. })
    );
    (!reads).then_some(ANSWER_MAX)
}

fn plain(socket: &Path, line: &str, patience: Option<Duration>) -> ExitCode {
    match request(socket, line, patience) {
        Ok(reply) => show(&reply),
        Err(error) => CommandError::from(error).report(),
    }
}

/// Prints what a reload would change. `false`: it cannot be told, and the reason has been printed.
fn shows_difference(socket: &Path) -> bool {
    match request(socket, "CONFIG DIFF", None) {
        Ok(reply) => {
            print(&reply.text);
            reply.status == Status::Ok
        }
        Err(error) => {
            CommandError::from(error).report();
            false
        }
    }
}

fn show(reply: &Reply) -> ExitCode {
    print(&reply.text);
    match reply.status {
        Status::Ok => ExitCode::SUCCESS,
        Status::Fail | Status::Retry => ExitCode::from(1),
    }
}

/// The request of a command. Asks for what is missing.
fn line(command: Command) -> Result<String, CommandError> {
    let switch = |word: &str, switch: Switch| match switch.set {
        None => format!("LOG {word}"),
        Some(OnOff::On) => format!("LOG {word} ON"),
        Some(OnOff::Off) => format!("LOG {word} OFF"),
    };
    Ok(match command {
        Command::Stats(options) => stats(&options),
        Command::Query(options) => query(&options),
        Command::Verbose(s) => switch("VERBOSE", s),
        Command::Debug(s) => switch("DEBUG", s),
        Command::Trace(s) => switch("TRACE", s),
        Command::LogLevel { level: None } => "LOG LEVEL".into(),
        Command::LogLevel { level: Some(level) } => format!("LOG LEVEL {level}"),
        Command::Reload { health_time, drop, .. } => {
            let trial = health_time.map(|seconds| format!(" {seconds}")).unwrap_or_default();
            let drops: String = drop.iter().map(|name| format!(" DROP {name}")).collect();
            format!("RELOAD{trial}{drops}")
        }
        Command::RollBack => "ROLL_BACK".into(),
        Command::Stop => "STOP".into(),
        Command::Reopen => "REOPEN".into(),
        Command::Config(Config { preprocessed: true, .. }) => "CONFIG GET PREPROCESSED".into(),
        Command::Config(Config { verify: true, .. }) => "CONFIG VERIFY".into(),
        Command::Config(Config { diff: true, .. }) => "CONFIG DIFF".into(),
        Command::Config(Config { id: true, .. }) => "CONFIG ID".into(),
        Command::Config(_) => "CONFIG GET ORIGINAL".into(),
        Command::ListFiles => "LISTFILES".into(),
        Command::ExportConfigGraph => "EXPORT_CONFIG_GRAPH".into(),
        Command::Healthcheck { .. } => "HEALTHCHECK".into(),
        Command::Credentials { command: Credentials::Add { id, secret, words } } => {
            credentials::request(id, secret, words)?
        }
        Command::Credentials { command: Credentials::Status } => "PWD status".into(),
        Command::Attach { .. } => "ATTACH".into(),
        Command::ShowLicenseInfo { json: false } => "LICENSE".into(),
        Command::ShowLicenseInfo { json: true } => "LICENSE JSON".into(),
    })
}

fn word(form: Form) -> &'static str {
    match form {
        Form::Csv => "CSV",
        Form::Kv => "KV",
        Form::Prometheus => "PROMETHEUS",
    }
}

fn stats(options: &Stats) -> String {
    if options.reset {
        return "RESET_STATS".into();
    }
    if options.remove_orphans {
        return "REMOVE_ORPHANED_STATS".into();
    }
    let mut line = String::from("STATS");
    let flags = [
        (options.form.or(options.format).map(word), true),
        (Some("WITH_LEGACY"), options.with_legacy_metrics),
        (Some("WITHOUT_ORPHANED"), options.without_orphaned_metrics),
        (Some("WITHOUT_HEADER"), options.no_header),
    ];
    for word in flags.into_iter().filter(|(_, given)| *given).filter_map(|(word, _)| word) {
        line.push(' ');
        line.push_str(word);
    }
    line
}

fn query(options: &Query) -> String {
    let mut line = String::from(match options.action {
        Action::List => "QUERY LIST",
        Action::Get if options.sum => "QUERY GET_SUM",
        Action::Get => "QUERY GET",
    });
    if options.reset {
        line.push_str("_RESET");
    }
    if let Some(form) = options.format {
        line.push('_');
        line.push_str(word(form));
    }
    for pattern in &options.pattern {
        line.push(' ');
        line.push_str(pattern);
    }
    line
}

#[cfg(test)]
mod tests;
