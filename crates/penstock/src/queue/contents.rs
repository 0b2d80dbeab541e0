//! `cat`, `grep` and `export`: the messages of a queue.

use super::output::{Printer, name};
use super::progress::Bar;
use super::{QueueArgs, find};
use crate::printing::written;
use pattern::{Cache, Kind, Pattern, PatternOptions};
use std::fs::File;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use stdio::CommandError;
use store::{Message, QueueInfo, View};

#[derive(Debug, clap::Args)]
pub struct GrepArgs {
    /// Regular expression, as in filters
    #[arg(allow_hyphen_values = true)]
    pattern: String,
    /// Only this queue
    queue: Option<String>,
    /// Letters are the same in both cases
    #[arg(short, long)]
    ignore_case: bool,
    /// The pattern is a plain text
    #[arg(short = 'F', long)]
    fixed: bool,
    /// Messages in which it is not found
    #[arg(short = 'v', long)]
    invert: bool,
    /// Only how many there are
    #[arg(long)]
    count: bool,
}

/// Goes over the messages of a queue. An error of `each` ends it.
fn walk(
    view: &View,
    queue: &QueueInfo,
    prints: bool,
    mut each: impl FnMut(Message<'_>) -> io::Result<ControlFlow<()>>,
) -> Result<Walked, CommandError> {
    let mut bar = Bar::new(view.bytes_from(queue.id, queue.first_waiting), prints);
    let mut outcome = Ok(());
    let mut walked = Walked { messages: 0, whole: true };
    let position = view.messages(queue.id, queue.first_waiting, |message, position| {
        bar.at(position.bytes);
        let Some(message) = message else { return ControlFlow::Continue(()) };
        walked.messages += 1;
        let then = each(message).unwrap_or_else(|error| {
            outcome = Err(error);
            ControlFlow::Break(())
        });
        walked.whole &= then.is_continue();
        then
    });
    drop(bar);
    walked.whole &= outcome.is_ok();
    written(outcome)?;
    let missing = queue.waiting.messages.saturating_sub(walked.messages);
    if walked.whole && position.damaged > 0 && missing > 0 {
        let missing = stdio::counted(missing, "message is", "messages are");
        stdio::err!("{}: {missing} damaged and cannot be read", name(&queue.name));
    }
    Ok(walked)
}

struct Walked {
    messages: u64,
    /// Nobody has ended it.
    whole: bool,
}

pub fn cat(asked: &QueueArgs, wanted: &str, limit: Option<u64>) -> Result<bool, CommandError> {
    let view = asked.view()?;
    let queue = find(&view, wanted)?;
    let printer = Printer::stdout(&queue.name, asked.json);
    print(&view, &queue, printer, limit.unwrap_or(u64::MAX)).map(|()| true)
}

/// Prints the first messages of a queue, at most `limit`.
pub fn print<W: Write>(
    view: &View,
    queue: &QueueInfo,
    mut printer: Printer<W>,
    limit: u64,
) -> Result<(), CommandError> {
    let mut left = limit;
    if left > 0 {
        walk(view, queue, true, |message| {
            left -= 1;
            printer.message(&message)?;
            Ok(if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
    }
    written(printer.finish().map(drop))
}

pub fn grep(asked: &QueueArgs, args: &GrepArgs) -> Result<bool, CommandError> {
    let options = PatternOptions {
        kind: if args.fixed { Kind::String } else { Kind::Pcre },
        substring: args.fixed,
        ignore_case: args.ignore_case,
        ..PatternOptions::default()
    };
    let pattern = Pattern::compile(&args.pattern, &options).map_err(|error| error.to_string())?;
    let mut cache = Cache::default();
    let view = asked.view()?;
    let queues = match &args.queue {
        Some(wanted) => vec![find(&view, wanted)?],
        None => view.queues().into_iter().filter(|queue| queue.waiting.messages > 0).collect(),
    };
    let mut found = 0u64;
    for queue in &queues {
        let mut printer = Printer::stdout(&queue.name, asked.json);
        let walked = walk(&view, queue, !args.count, |message| {
            if pattern.is_match(message.bytes, &mut cache) != args.invert {
                found += 1;
                if !args.count {
                    printer.message(&message)?;
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        written(printer.finish().map(drop))?;
        if !walked.whole {
            break;
        }
    }
    if args.count {
        written(writeln!(io::stdout(), "{found}"))?;
    }
    Ok(found > 0)
}

pub fn export(asked: &QueueArgs, wanted: &str, path: &Path) -> Result<bool, CommandError> {
    let wrong = |error: io::Error| format!("cannot write {}: {error}", path.display());
    let view = asked.view()?;
    let queue = find(&view, wanted)?;
    let file = File::create_new(path).map_err(wrong)?;
    let mut printer = Printer::new(file, &queue.name, asked.json);
    let walked = walk(&view, &queue, false, |message| {
        printer.message(&message)?;
        Ok(ControlFlow::Continue(()))
    })?;
    printer.finish().and_then(|file| file.sync_all()).map_err(wrong)?;
    let messages = stdio::counted(walked.messages, "message", "messages");
    stdio::err!("{messages} written to {}", path.display());
    Ok(true)
}
