//! `penstock queue`: looks into queues on disk beside the running program, and changes them through it.

mod checking;
mod contents;
pub mod dqtool;
pub mod dropping;
pub mod importing;
mod listing;
pub mod output;
mod progress;

use clap::{Parser, Subcommand};
use control::cli::{CONTROL_FILE_NAME, Running};
use control::client::{self, ClientError, Status};
use control::queues::QueueRequest;
use engine::QueueNames;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use stdio::CommandError;
use store::{QueueInfo, View};

/// Look into queues on disk: what waits for destinations with disk-buffer(), and dead letters
#[derive(Debug, Parser)]
#[command(
    name = "penstock queue",
    disable_version_flag = true,
    after_help = "\
Examples:
  penstock queue ls
  penstock queue cat central | head
  penstock queue grep -i 'out of memory'
  penstock queue drop central --older 7d
  penstock queue replay dead-letters
  penstock queue import /var/lib/syslog-ng/syslog-ng-00000.rqf --to d_central

A queue is named by its name, by a part of it that no other has, or by its number in `ls`.
Everything but drop, replay and import --to only reads files, beside a running program too.
Exit code: 0 done; 1 not done, grep: nothing found, verify: damage; 2 wrong usage."
)]
struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    options: QueueOptions,
}

#[derive(Debug, clap::Args)]
struct QueueOptions {
    #[command(flatten)]
    running: Running,
    /// The folder of the queues, as in dir() of disk-buffer() [default: the state folder, ls and stat: all
    /// that the running program uses]
    #[arg(long, global = true, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// Print JSON, a line each
    #[arg(long, global = true)]
    json: bool,
}

/// Where queues are, and how they are shown.
struct QueueArgs {
    state_dir: PathBuf,
    socket: PathBuf,
    dir: Option<PathBuf>,
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List queues and what waits in them
    Ls,
    /// Show everything that is known of queues, and what their folder takes on disk
    Stat {
        /// Only this one
        queue: Option<String>,
    },
    /// Print the messages of a queue, as they are to leave
    Cat {
        queue: String,
        /// Stop after so many messages
        #[arg(short = 'n', long, value_name = "COUNT")]
        limit: Option<u64>,
    },
    /// Print the messages in which a regular expression is found
    Grep(contents::GrepArgs),
    /// Read everything and say what is damaged
    Verify,
    /// Write the messages of a queue to a file
    Export {
        queue: String,
        /// It must not exist yet
        file: PathBuf,
    },
    /// Forget messages of a queue
    #[command(group(clap::ArgGroup::new("which").required(true)))]
    Drop {
        queue: String,
        /// Those that came longer ago than this: 90s, 15m, 12h, 7d
        #[arg(long, value_name = "AGE", group = "which", value_parser = dropping::age)]
        older: Option<u64>,
        /// All of them
        #[arg(long, group = "which")]
        all: bool,
    },
    /// Give dead letters to their destinations again
    Replay {
        #[arg(value_parser = ["dead-letters"])]
        queue: String,
        /// Give them to this destination instead: DESTINATION or DESTINATION#N
        #[arg(long, value_name = "DESTINATION")]
        to: Option<String>,
    },
    /// Read a queue file of syslog-ng, .rqf or .qf
    Import {
        file: PathBuf,
        /// Give its messages to this destination of the running program, DESTINATION or DESTINATION#N,
        /// instead of printing them
        #[arg(long, value_name = "DESTINATION")]
        to: Option<String>,
    },
}

/// Its options, for manual pages and completions.
pub fn command_line() -> clap::Command {
    <Args as clap::CommandFactory>::command()
}

/// Runs the command line; the first of `args` is the program's name.
pub fn run(args: Vec<OsString>) -> ExitCode {
    let args = match Args::try_parse_from(args) {
        Ok(args) => args,
        Err(error) => return crate::usage(&error),
    };
    stdio::finish(args.options.settle().and_then(|asked| obey(&args.command, &asked)))
}

fn obey(command: &Command, asked: &QueueArgs) -> Result<bool, CommandError> {
    match command {
        Command::Ls => listing::ls(asked),
        Command::Stat { queue } => listing::stat(asked, queue.as_deref()),
        Command::Cat { queue, limit } => contents::cat(asked, queue, *limit),
        Command::Grep(grep) => contents::grep(asked, grep),
        Command::Verify => checking::verify(asked),
        Command::Export { queue, file } => contents::export(asked, queue, file),
        Command::Drop { queue, older, .. } => dropping::drop(asked, queue, *older),
        Command::Replay { to, .. } => dropping::replay(asked, to.clone()),
        Command::Import { file, to } => importing::import(asked, file, to.clone()),
    }
}

impl QueueOptions {
    fn settle(self) -> Result<QueueArgs, CommandError> {
        let state_dir = self.running.folder()?;
        let socket = self.running.control.unwrap_or_else(|| state_dir.join(CONTROL_FILE_NAME));
        Ok(QueueArgs { state_dir, socket, dir: self.dir, json: self.json })
    }
}

impl QueueArgs {
    fn folder(&self) -> &Path {
        self.dir.as_deref().unwrap_or(&self.state_dir)
    }

    fn view(&self) -> Result<View, CommandError> {
        view(self.folder())
    }

    /// Asks the running program. `Ok(None)` when none runs.
    fn ask(&self, request: &QueueRequest) -> Result<Option<String>, CommandError> {
        match client::request(&self.socket, &request.line(), None) {
            Ok(reply) if reply.status == Status::Ok => Ok(Some(reply.text.trim_end().to_owned())),
            Ok(reply) => Err(reply.text.trim_end().into()),
            Err(ClientError::Connect(_, error))
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::NotFound | std::io::ErrorKind::ConnectionRefused
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(error.to_string().into()),
        }
    }

    /// Has the running program do it, and prints what that says. `alone` is the error when none runs.
    fn tell(&self, request: &QueueRequest, alone: &str) -> Result<bool, CommandError> {
        let text = self.ask(request)?.ok_or(alone)?;
        stdio::out!("{text}");
        Ok(true)
    }

    /// The folders of the logs that the running program has open. None when none runs, or it does not say.
    fn open_folders(&self) -> Vec<PathBuf> {
        let Ok(Some(text)) = self.ask(&QueueRequest::Folders) else { return Vec::new() };
        let path = |line: &str| control::queues::bytes(line).ok().map(|b| OsString::from_vec(b).into());
        text.lines().filter_map(path).collect()
    }
}

fn view(folder: &Path) -> Result<View, CommandError> {
    Ok(View::open(folder).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("there are no queues in {}", folder.display()),
        _ => format!("cannot read the queues in {}: {error}", folder.display()),
    })?)
}

/// Whose the queues of a folder are.
fn names(view: &View) -> QueueNames {
    QueueNames::read(view.folder().parent().unwrap_or(view.folder()))
}

/// The queue that is meant: by its name, its number, its destination or a part of its name.
fn find(view: &View, wanted: &str) -> Result<QueueInfo, CommandError> {
    let queues = view.queues();
    let named = |queue: &&QueueInfo| queue.name == wanted.as_bytes();
    if let Some(queue) = queues.iter().find(named) {
        return Ok(queue.clone());
    }
    if let Some(queue) = wanted.parse().ok().and_then(|id: u32| queues.iter().find(|queue| queue.id == id)) {
        return Ok(queue.clone());
    }
    let names = names(view);
    let is_meant = |destination: &str| {
        destination.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
    };
    let of_destination = |queue: &&QueueInfo| names.destination(&queue.name).is_some_and(is_meant);
    let mut found: Vec<&QueueInfo> = queues.iter().filter(of_destination).collect();
    if found.is_empty() {
        found = queues.iter().filter(|queue| output::name(&queue.name).contains(wanted)).collect();
    }
    match found.as_slice() {
        [queue] => Ok((*queue).clone()),
        [] => Err(format!("there is no queue `{wanted}`, `penstock queue ls` lists them").into()),
        many => {
            let names: Vec<String> = many.iter().map(|queue| output::name(&queue.name)).collect();
            Err(format!("`{wanted}` fits several queues:\n  {}", names.join("\n  ")).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Args::command().debug_assert();
        let parse = |line: &str| Args::try_parse_from(line.split(' ')).map(|args| args.command);
        assert!(parse("queue drop q").is_err(), "what to drop has to be said");
        assert!(parse("queue drop q --all --older 1d").is_err());
        assert!(matches!(parse("queue drop q --older 2h"), Ok(Command::Drop { older: Some(7200), .. })));
        assert!(parse("queue replay other").is_err());
    }

    #[test]
    fn a_queue_is_found_by_name_number_destination_and_part() {
        let dir = tempfile::tempdir().expect("folder");
        let log = store::Log::open(store::Options::new(dir.path())).expect("opened").log;
        for name in ["d_one#0", "d_two#0", "7"] {
            log.queue(name.as_bytes(), 1 << 20, Box::new(|| ())).expect("made");
        }
        log.close();
        let names = "PENSTOCK-QUEUES 1\nfirst#0\td_one#0\nmany#0\td_two#0\nmany#1\t7\n";
        std::fs::write(dir.path().join("penstock.queues"), names).expect("written");
        let view = view(dir.path()).expect("there");
        let check = |wanted: &str, expected: Result<u32, &str>| match (find(&view, wanted), expected) {
            (Ok(queue), Ok(id)) => assert_eq!(queue.id, id, "{wanted}"),
            (Err(error), Err(part)) => assert!(error.said().contains(part), "{error}"),
            (found, _) => panic!("{wanted}: {found:?}"),
        };
        check("d_two#0", Ok(1));
        check("two", Ok(1));
        check("0", Ok(0));
        check("7", Ok(2));
        check("first", Ok(0));
        check("many#1", Ok(2));
        check("many", Err("several"));
        check("man", Err("no queue"));
        check("d_", Err("several"));
        check("three", Err("no queue"));
    }
}
