//! The command line of `syslog-ng`: every flag scripts, units and containers start it with.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{ArgAction, Parser};
use oplog::Verbosity;

use super::options::{ProcessMode, RunOptions, SandboxUnsaid, worker_threads};
use super::{LINGER, SYSLOG_NG_CONTROL};

/// Collects, processes and forwards log messages according to a syslog-ng configuration.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(
    name = "syslog-ng",
    disable_version_flag = true,
    args_override_self = true,
    after_help = "\
Exit code: 0 normal, 1 error in the configuration or on the command line, 2 initialisation failed."
)]
pub struct DaemonArgs {
    /// Print version, paths and components as `Key: value` lines and exit; wins over all other flags
    #[arg(short = 'V', long)]
    pub version: bool,
    /// Only parse the configuration and exit with 0 or 1; wins over start-up flags
    #[arg(short, long)]
    pub syntax_only: bool,
    /// Parse, open everything, then exit with 0, 1 or 2
    #[arg(long)]
    pub check_startup: bool,

    /// Configuration file
    #[arg(short = 'f', long, value_name = "FILE", default_value = "/etc/syslog-ng/syslog-ng.conf")]
    pub cfgfile: PathBuf,
    /// Names the persistent state, which is kept in the folder FILE.d
    #[arg(short = 'R', long, value_name = "FILE", default_value = "/var/lib/syslog-ng/syslog-ng.persist")]
    pub persist_file: PathBuf,
    /// File to write the process id to
    #[arg(short, long, value_name = "FILE", default_value = "/var/run/syslog-ng.pid")]
    pub pidfile: PathBuf,
    /// Control socket
    #[arg(short, long, value_name = "FILE", default_value = SYSLOG_NG_CONTROL)]
    pub control: PathBuf,
    /// Number of worker threads; default: as many as processors
    #[arg(long, value_name = "N", value_parser = worker_threads)]
    pub worker_threads: Option<usize>,

    /// Stay in the foreground
    #[arg(short = 'F', long)]
    pub foreground: bool,
    /// Stay in the foreground and log to standard error
    #[arg(short, long)]
    pub interactive: bool,
    /// Foreground, background, or background with a supervisor that restarts after a crash
    #[arg(long, value_name = "MODE")]
    pub process_mode: Option<ProcessMode>,
    /// User to run as
    #[arg(short, long, value_name = "USER")]
    pub user: Option<String>,
    /// Group to run as
    #[arg(short, long, value_name = "GROUP")]
    pub group: Option<String>,
    /// Change the root folder
    #[arg(short = 'C', long, value_name = "FOLDER")]
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

    /// Log own messages to standard error
    #[arg(short = 'e', long)]
    pub stderr: bool,
    /// Say more
    #[arg(short, long)]
    pub verbose: bool,
    /// Say also of each message what came in, what filters and parsers made of it and what went out
    /// (docs/seeing.md)
    #[arg(short, long)]
    pub debug: bool,
    /// Say also each step that a message takes, and each value it gets (docs/seeing.md)
    #[arg(short, long)]
    pub trace: bool,
    /// default, verbose, debug or trace
    #[arg(short = 'L', long, value_name = "LEVEL")]
    pub log_level: Option<Verbosity>,
    /// As --debug until everything is open
    #[arg(short = 'r', long)]
    pub startup_debug: bool,

    /// Take the place of the running program without a pause: its sockets, connections and queues. Starts as
    /// usual when none runs
    #[arg(long, help_heading = "Additions")]
    pub take_over: bool,
    /// With --take-over: seconds the program before may go on for connections that only it can read, those
    /// with TLS
    #[arg(long, value_name = "SECONDS", default_value_t = LINGER, help_heading = "Additions")]
    pub linger: u64,
    /// Seconds for which a configuration is on trial after a reload; it is rolled back when it fails its
    /// health check at their end
    #[arg(long, value_name = "SECONDS", default_value_t = 0, help_heading = "Additions")]
    pub reload_health_time: u64,

    /// Write the configuration after includes, blocks and variables to FILE and exit
    #[arg(long, value_name = "FILE")]
    pub preprocess_into: Option<PathBuf>,
    /// Print the identity of the configuration and exit
    #[arg(long)]
    pub config_id: bool,
    /// Print the components that are built in and exit
    #[arg(long)]
    pub module_registry: bool,
    /// Print the names of the metrics and exit
    #[arg(long)]
    pub metrics_registry: bool,

    /// Accepted without effect: every component is built in
    #[arg(long, value_name = "FOLDERS", help_heading = "Accepted for compatibility")]
    pub module_path: Option<String>,
    /// Accepted without effect: every component is built in
    #[arg(long, help_heading = "Accepted for compatibility")]
    pub no_module_discovery: bool,
    /// Accepted without effect: there is no generated parser to trace
    #[arg(short = 'y', long, help_heading = "Accepted for compatibility")]
    pub yydebug: bool,
    /// Accepted without effect, as in syslog-ng
    #[arg(short = 'S', long, help_heading = "Accepted for compatibility")]
    pub seed: bool,

    #[arg(long, hide = true, action = ArgAction::Help)]
    help_all: Option<bool>,
    #[arg(long, hide = true, action = ArgAction::Help)]
    help_process: Option<bool>,
    #[arg(long, hide = true, action = ArgAction::Help)]
    help_log: Option<bool>,
}

/// What the command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DaemonAction {
    /// Print [`super::version_text`].
    Version,
    /// Print the built-in components.
    ModuleRegistry,
    /// Print the metric names.
    MetricsRegistry,
    /// Parse and exit.
    Parse(ParseOptions),
    /// Open everything and exit.
    CheckStartup(RunOptions),
    Run(RunOptions),
}

/// What to do with a configuration that is only read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseOptions {
    pub config: PathBuf,
    pub preprocess_into: Option<PathBuf>,
    pub print_id: bool,
}

impl DaemonArgs {
    /// Parses a command line whose first argument is the program's name. Help counts as an error: print it
    /// with [`clap::Error::print`]; the exit code is 1 if [`clap::Error::use_stderr`], else 0.
    pub fn parse_args(args: impl IntoIterator<Item = OsString>) -> Result<DaemonArgs, clap::Error> {
        DaemonArgs::try_parse_from(args)
    }

    /// The one thing to do, by the precedence of the original: version, registries, parse only, start-up.
    pub fn action(&self) -> DaemonAction {
        if self.version {
            DaemonAction::Version
        } else if self.module_registry {
            DaemonAction::ModuleRegistry
        } else if self.metrics_registry {
            DaemonAction::MetricsRegistry
        } else if self.syntax_only || self.preprocess_into.is_some() || self.config_id {
            DaemonAction::Parse(ParseOptions {
                config: self.cfgfile.clone(),
                preprocess_into: self.preprocess_into.clone(),
                print_id: self.config_id,
            })
        } else if self.check_startup {
            let foreground = RunOptions { process_mode: ProcessMode::Foreground, ..self.run_options() };
            DaemonAction::CheckStartup(foreground)
        } else {
            DaemonAction::Run(self.run_options())
        }
    }

    fn run_options(&self) -> RunOptions {
        let process_mode = match self.process_mode {
            _ if self.foreground || self.interactive => ProcessMode::Foreground,
            Some(mode) => mode,
            None => ProcessMode::Background,
        };
        RunOptions {
            config: self.cfgfile.clone(),
            state_dir: state_dir(&self.persist_file),
            control: self.control.clone(),
            pid_file: Some(self.pidfile.clone()),
            worker_threads: self.worker_threads,
            process_mode,
            stderr: self.stderr || self.interactive,
            verbosity: self.verbosity(),
            startup_debug: self.startup_debug,
            user: self.user.clone(),
            group: self.group.clone(),
            chroot: self.chroot.clone(),
            fd_limit: self.fd_limit,
            enable_core: self.enable_core,
            caps: self.caps.clone(),
            no_caps: self.no_caps,
            take_over: self.take_over.then_some(Duration::from_secs(self.linger)),
            reload_health_time: Duration::from_secs(self.reload_health_time),
            console: None,
            sandbox: SandboxUnsaid::No,
        }
    }

    /// The most talkative of the flags given.
    fn verbosity(&self) -> Verbosity {
        let flags = [
            (self.verbose, Verbosity::Verbose),
            (self.debug, Verbosity::Debug),
            (self.trace, Verbosity::Trace),
        ];
        let flags = flags.into_iter().filter(|(given, _)| *given).map(|(_, v)| v);
        flags.chain(self.log_level).max().unwrap_or_default()
    }
}

/// Beside the persist file of the original, which is neither read nor touched; two instances that differ in
/// `-R` never share state.
pub fn state_dir(persist_file: &Path) -> PathBuf {
    let mut name = persist_file.as_os_str().to_owned();
    name.push(".d");
    name.into()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parse(line: &str) -> DaemonArgs {
        let args = ["syslog-ng"].into_iter().chain(line.split_whitespace()).map(OsString::from);
        DaemonArgs::parse_args(args).expect(line)
    }

    fn run_options(line: &str) -> RunOptions {
        match parse(line).action() {
            DaemonAction::Run(options) => options,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn the_definition_is_sound() {
        DaemonArgs::command().debug_assert();
    }

    #[test]
    fn without_flags_it_is_a_daemon_with_the_usual_paths() {
        let options = run_options("");
        assert_eq!(options.config, Path::new("/etc/syslog-ng/syslog-ng.conf"));
        assert_eq!(options.state_dir, Path::new("/var/lib/syslog-ng/syslog-ng.persist.d"));
        assert_eq!(options.control, Path::new("/var/lib/syslog-ng/syslog-ng.ctl"));
        assert_eq!(options.pid_file.as_deref(), Some(Path::new("/var/run/syslog-ng.pid")));
        assert_eq!(options.process_mode, ProcessMode::Background);
        assert_eq!((options.stderr, options.verbosity), (false, Verbosity::Default));
    }

    #[test]
    fn a_container_entry_point() {
        let options =
            run_options("-F --no-caps -f /c.conf -R /s/p -p /r/x.pid -c /r/x.ctl --worker-threads=4");
        assert_eq!(options.process_mode, ProcessMode::Foreground);
        assert_eq!(options.state_dir, Path::new("/s/p.d"));
        assert_eq!(options.worker_threads, Some(4));
        assert_eq!(options.control, Path::new("/r/x.ctl"));
    }

    #[test]
    fn modes_and_levels() {
        assert_eq!(run_options("--process-mode=safe-background").process_mode, ProcessMode::SafeBackground);
        let interactive = run_options("-i");
        assert_eq!((interactive.process_mode, interactive.stderr), (ProcessMode::Foreground, true));
        assert_eq!(run_options("-Fevd").verbosity, Verbosity::Debug);
        assert_eq!(run_options("-t").verbosity, Verbosity::Trace);
        assert_eq!(run_options("-L debug -v").verbosity, Verbosity::Debug);
        assert!(run_options("-r").startup_debug);
        assert_eq!(run_options("--fd-limit 4096").fd_limit, Some(4096));
        assert_eq!(run_options("-u log -g adm").user.as_deref(), Some("log"));
    }

    #[test]
    fn version_wins_then_syntax_only() {
        assert_eq!(parse("-s -V -F -f /nonexistent").action(), DaemonAction::Version);
        let all = "-s -F -e -d -v -t -R /p -p /q -c /r --no-caps --enable-core --startup-debug -f /c";
        let parse_only = ParseOptions { config: "/c".into(), preprocess_into: None, print_id: false };
        assert_eq!(parse(all).action(), DaemonAction::Parse(parse_only));
        assert!(matches!(
            parse("--preprocess-into=/o -s").action(),
            DaemonAction::Parse(ParseOptions { preprocess_into: Some(_), .. })
        ));
        assert!(matches!(parse("--config-id").action(), DaemonAction::Parse(p) if p.print_id));
        assert!(matches!(
            parse("--check-startup").action(),
            DaemonAction::CheckStartup(o) if o.process_mode == ProcessMode::Foreground
        ));
        assert_eq!(parse("--module-registry").action(), DaemonAction::ModuleRegistry);
        assert_eq!(parse("--metrics-registry").action(), DaemonAction::MetricsRegistry);
    }

    #[test]
    fn flags_without_effect_are_accepted_and_repeats_forgiven() {
        run_options("--module-path=/a:/b --no-module-discovery -y -S --seed -F -F");
        assert_eq!(run_options("-f /a -f /b").config, Path::new("/b"));
    }

    #[test]
    fn mistakes_are_refused() {
        let check = |line: &str| {
            let args = ["syslog-ng"].into_iter().chain(line.split_whitespace()).map(OsString::from);
            let error = DaemonArgs::parse_args(args).expect_err(line);
            assert!(error.use_stderr(), "{line}");
        };
        check("--bogus");
        check("--worker-threads=0");
        check("--worker-threads=257");
        check("--process-mode=sideways");
        check("-L loud");
        check("stray");
    }

    #[test]
    fn all_forms_of_help_are_help() {
        for flag in ["-h", "--help", "--help-all", "--help-process", "--help-log"] {
            let error = DaemonArgs::parse_args(["syslog-ng".into(), flag.into()]).expect_err(flag);
            assert!(!error.use_stderr(), "{flag}");
        }
    }
}
