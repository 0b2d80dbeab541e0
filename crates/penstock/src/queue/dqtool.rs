//! `dqtool`: what syslog-ng's tool of this name tells of queue files, for its own files and for our queues.

use super::contents;
use super::output::{Printer, name};
use super::view;
use crate::foreign_queue::{Foreign, Printing, line};
use crate::printing::{self, written};
use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use stdio::CommandError;
use store::View;

/// Look into queue files of syslog-ng, and into folders of our own queues
#[derive(Debug, Parser)]
#[command(
    name = "dqtool",
    version = crate::version::VERSION,
    propagate_version = true,
    after_help = "\
Examples:
  dqtool info /var/lib/syslog-ng/syslog-ng-00000.rqf
  dqtool cat /var/lib/syslog-ng/syslog-ng-00000.qf
  dqtool info /var/lib/penstock

FILE is a queue file of syslog-ng (.rqf, .qf), or a folder in which this program keeps its queues."
)]
struct Args {
    #[command(subcommand)]
    command: Command,
    /// Accepted, without effect
    #[arg(short, long, global = true)]
    debug: bool,
    /// Accepted, without effect
    #[arg(short, long, global = true)]
    verbose: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Say what is in a queue file
    Info {
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Print the messages of a queue file
    Cat {
        /// Print messages of syslog-ng's files with this template [default: time, host and text]
        #[arg(short, long, value_name = "TEMPLATE")]
        template: Option<String>,
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Not needed here
    #[command(disable_help_flag = true)]
    Relocate(Ignored),
    /// Not needed here
    #[command(disable_help_flag = true)]
    Assign(Ignored),
    /// Not needed here
    #[command(disable_help_flag = true)]
    Truncate(Ignored),
}

#[derive(Debug, clap::Args)]
struct Ignored {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<OsString>,
}

const RELOCATE: &str = "relocate: queues are not bound to a path here. Stop the program, move the folder penstock-store, and set dir() of disk-buffer() to \
     where it is; a queue file of syslog-ng goes in with `penstock queue import FILE --to DESTINATION`";
const ASSIGN: &str = "assign: queues belong to destinations by name here, persist-name() sets it. A queue file of syslog-ng goes to a destination \
     with `penstock queue import FILE --to DESTINATION`";
const OWN_ARE_TEXT: &str = "cat: --template is for queue files of syslog-ng; queues of our own hold what is to leave, which `cat` prints as it is";
const TRUNCATE: &str = "truncate: queues give back their space by themselves here; truncate-size-ratio() of disk-buffer() says how much is kept";

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
    stdio::finish(match &args.command {
        Command::Info { files } => files.iter().try_fold(true, |all, file| Ok(info(file)? && all)),
        Command::Cat { template, files } => cat_all(files, template.as_deref()),
        Command::Relocate(_) => Err(RELOCATE.into()),
        Command::Assign(_) => Err(ASSIGN.into()),
        Command::Truncate(_) => Err(TRUNCATE.into()),
    })
}

fn info(path: &Path) -> Result<bool, CommandError> {
    if path.is_dir() {
        for queue in view(path)?.queues() {
            let (waiting, bytes) = (queue.waiting.messages, queue.waiting.bytes);
            stdio::out!(
                "Disk-buffer state; filename='{}', queue='{}', length='{waiting}', bytes='{bytes}'",
                path.display(),
                name(&queue.name)
            );
        }
        return Ok(true);
    }
    let file = Foreign::open(path).map_err(CommandError::failed)?;
    let header = &file.header;
    let kind = if header.reliable { "reliable" } else { "non-reliable" };
    stdio::out!(
        "Disk-buffer state loaded; filename='{}', type='{kind}', version='{}', length='{}', read_head='{}', write_head='{}', \
         front_cache='{}', backlog='{}', overflow='{}', unacknowledged='{}', messages='{}'",
        path.display(),
        header.version,
        header.length,
        header.read_head,
        header.write_head,
        header.front.count,
        header.backlog.count,
        header.overflow.count,
        header.backlog_length,
        header.messages(),
    );
    Ok(true)
}

fn cat_all(files: &[PathBuf], text: Option<&str>) -> Result<bool, CommandError> {
    let mut template = text.map(printing::template).transpose()?.map(Printing::new);
    files.iter().try_fold(true, |all, file| Ok(cat(file, template.as_mut())? && all))
}

fn cat(path: &Path, mut template: Option<&mut Printing>) -> Result<bool, CommandError> {
    if path.is_dir() {
        if template.is_some() {
            return Err(OWN_ARE_TEXT.into());
        }
        return print_all(&view(path)?, &mut std::io::stdout()).map(|()| true);
    }
    let mut outcome = Ok(());
    let file = Foreign::open(path).map_err(CommandError::failed)?;
    let mut printer = Printer::stdout(b"", false);
    let found = file.messages(|message| {
        outcome = match &mut template {
            Some(template) => printer.bytes(template.print(message)),
            None => printer.line(&line(message)),
        };
        outcome.is_ok()
    });
    written(outcome.and_then(|()| printer.finish().map(drop)))?;
    if found.damaged + found.missing > 0 {
        stdio::err!("{}", super::importing::sentence(&found));
    }
    Ok(found.damaged + found.missing == 0)
}

/// The messages of all queues of a folder.
fn print_all(view: &View, out: &mut impl Write) -> Result<(), CommandError> {
    view.queues().iter().try_for_each(|queue| {
        contents::print(view, queue, Printer::new(&mut *out, &queue.name, false), u64::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::{Log, Options, Safe};

    #[test]
    fn a_queue_named_like_the_number_of_another_is_not_taken_for_it() {
        let dir = tempfile::tempdir().expect("folder");
        let log = Log::open(Options::new(dir.path())).expect("opened").log;
        for (name, text) in [("1", "of the first\n"), ("0", "of the second\n"), ("third", "of the third\n")] {
            let queue = log.queue(name.as_bytes(), 1 << 20, Box::new(|| ())).expect("made");
            let ends = [text.len() as u32];
            queue.append(text.as_bytes(), &ends, Safe::Written, Box::new(())).expect("room");
        }
        log.close();
        let mut out = Vec::new();
        print_all(&view(dir.path()).expect("there"), &mut out).expect("memory");
        assert_eq!(String::from_utf8_lossy(&out), "of the first\nof the second\nof the third\n");
    }
}
