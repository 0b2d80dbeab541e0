//! `penstock replay`: messages of a recording, or those that `keep-input()` has kept, given to the running
//! program again.

mod moment;

use crate::keep_input;
use control::capture::ReplayRequest;
use control::cli::{ReplayArgs, Speed};
use control::client;
use control::server::LINE_BYTES_MAX;
use recording::{Damaged, Entry, Failed, Stream, append};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use stdio::CommandError;

/// Grows when something is removed or changes its meaning.
const VERSION: u32 = 1;
/// Time given to the program for one request: destinations may be slow.
const ANSWER_MAX: Duration = Duration::from_secs(60);
/// Bytes of entries in one request; one that is longer goes alone.
const REQUEST_BYTES: usize = 64 << 10;
/// An entry that does not fit into a request cannot be sent. Base64 makes four bytes of three.
const ENTRY_BYTES_MAX: usize = LINE_BYTES_MAX / 4 * 3 - 4096;

/// From when to when, in microseconds since 1970.
struct Span {
    since: i64,
    until: i64,
}

pub fn run(args: &ReplayArgs) -> ExitCode {
    let moment = |text: &Option<String>, otherwise| text.as_deref().map_or(Ok(otherwise), moment::micros);
    let since = moment(&args.since, i64::MIN);
    let span = since.and_then(|since| Ok(Span { since, until: moment(&args.until, i64::MAX)? }));
    stdio::finish(span.map_err(CommandError::as_usage).and_then(|span| replay(args, &span)))
}

/// Whether all of at least one message were taken.
fn replay(args: &ReplayArgs, span: &Span) -> Result<bool, CommandError> {
    let files = files(args, span)?;
    let is_kept = args.file.is_none();
    let mut sending = Sending::new(args)?;
    for file in files {
        let named = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
        let opened = File::open(&file).map_err(|error| named(&error))?;
        let mut entries = Stream::open(BufReader::new(opened)).map_err(|error| named(&error))?;
        loop {
            match entries.next_entry() {
                Ok(Some(entry)) => sending.add(&entry, span)?,
                Ok(None) => break,
                // What was being written when the program ended, or is being written now.
                Err(Failed::Damaged(Damaged::Cut { .. })) if is_kept => break,
                Err(Failed::Damaged(cut @ Damaged::Cut { .. })) => {
                    stdio::err!("{}; what stands before it is taken", named(&cut));
                    break;
                }
                Err(error) => return Err(format!("{}; sent so far: {}", named(&error), sending.taken).into()),
            }
        }
    }
    sending.flush()?;
    if args.dry_run {
        sending.could_come()?;
    }
    Ok(sending.report(args))
}

fn files(args: &ReplayArgs, span: &Span) -> Result<Vec<PathBuf>, CommandError> {
    if let Some(file) = &args.file {
        return Ok(vec![file.clone()]);
    }
    let folder = args.running.folder()?.join(keep_input::FOLDER);
    let found = keep_input::recordings(&folder).map_err(|error| {
        let folder = folder.display();
        format!("cannot read {folder}: {error}\nname a recording, or keep input with options {{ keep-input(1GiB); }};")
    })?;
    let found = keep_input::since(found, span.since);
    if found.is_empty() {
        return Err(format!("nothing is kept in {}", folder.display()).into());
    }
    Ok(found)
}

/// Messages on their way to the program.
struct Sending<'a> {
    args: &'a ReplayArgs,
    socket: PathBuf,
    speed: Speed,
    /// When the first was sent, and when it came.
    began: Option<(Instant, i64)>,
    entries: Vec<u8>,
    waiting: u64,
    taken: u64,
    too_long: u64,
    by_source: BTreeMap<String, u64>,
    first: Option<i64>,
    last: Option<i64>,
}

impl<'a> Sending<'a> {
    fn new(args: &'a ReplayArgs) -> Result<Sending<'a>, CommandError> {
        let usual = if args.file.is_some() { Speed::Times(1.0) } else { Speed::Max };
        Ok(Sending {
            args,
            socket: args.running.socket()?,
            speed: args.speed.unwrap_or(usual),
            began: None,
            entries: Vec::new(),
            waiting: 0,
            taken: 0,
            too_long: 0,
            by_source: BTreeMap::new(),
            first: None,
            last: None,
        })
    }

    fn add(&mut self, entry: &Entry<'_>, span: &Span) -> Result<(), CommandError> {
        let group = entry.source.rsplit_once('#').map_or(entry.source, |(group, _)| group);
        let is_meant = self.args.only.as_ref().is_none_or(|only| only == entry.source || only == group);
        if !is_meant || entry.time < span.since || entry.time >= span.until {
            return Ok(());
        }
        self.first.get_or_insert(entry.time);
        self.last = Some(entry.time);
        let mut bytes = Vec::new();
        append(&mut bytes, entry);
        if bytes.len() > ENTRY_BYTES_MAX {
            self.too_long += 1;
            return Ok(());
        }
        *self.by_source.entry(entry.source.to_owned()).or_default() += 1;
        if !self.args.dry_run {
            self.wait_for(entry.time)?;
        }
        if self.entries.len() + bytes.len() > REQUEST_BYTES {
            self.flush()?;
        }
        self.entries.extend_from_slice(&bytes);
        self.waiting += 1;
        Ok(())
    }

    /// Waits until it is time for a message.
    fn wait_for(&mut self, time: i64) -> Result<(), CommandError> {
        let Speed::Times(times) = self.speed else { return Ok(()) };
        let (began, first) = *self.began.get_or_insert((Instant::now(), time));
        let after = Duration::try_from_secs_f64(time.saturating_sub(first).max(0) as f64 / 1e6 / times);
        let after = after.map_err(|_| "the recording takes too long at this speed".to_owned())?;
        if after > began.elapsed() {
            self.flush()?;
            std::thread::sleep(after.saturating_sub(began.elapsed()));
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), CommandError> {
        let entries = std::mem::take(&mut self.entries);
        let waiting = std::mem::take(&mut self.waiting);
        if waiting == 0 || self.args.dry_run {
            return Ok(());
        }
        let asked = ReplayRequest { source: self.args.source.clone(), to: self.args.to.clone(), entries };
        let before = self.taken;
        self.taken +=
            ask(&self.socket, &asked).map_err(|error| format!("{error}; taken before: {before}"))?;
        Ok(())
    }

    /// Whether the program has the sources and destinations that are meant.
    fn could_come(&self) -> Result<(), CommandError> {
        let meant: Vec<&String> = match &self.args.source {
            Some(source) => vec![source],
            None => self.by_source.keys().collect(),
        };
        for source in meant {
            let source = Some(source.clone());
            let asked = ReplayRequest { source, to: self.args.to.clone(), entries: Vec::new() };
            ask(&self.socket, &asked)?;
        }
        Ok(())
    }

    /// Says what was sent. Whether that is all, and something.
    fn report(&self, args: &ReplayArgs) -> bool {
        let meant: u64 = self.by_source.values().sum();
        let is_well = meant > 0 && self.too_long == 0 && (args.dry_run || self.taken == meant);
        if args.json {
            let report = json!({
                "version": VERSION,
                "dry_run": args.dry_run,
                "messages": meant,
                "taken": self.taken,
                "too_long": self.too_long,
                "by_source": self.by_source,
                "first": self.first,
                "last": self.last,
                "to": args.to,
            });
            stdio::out_text!("{report}\n");
            return is_well;
        }
        let to = if args.to.is_empty() { String::new() } else { format!(" to {}", args.to.join(", ")) };
        match args.dry_run {
            _ if meant == 0 => {
                stdio::out_text!("no message of that time and those sources is there: nothing to send\n");
            }
            true => {
                stdio::out_text!("{} would be sent{to}\n", stdio::counted(meant, "message", "messages"));
            }
            false => {
                let messages = stdio::counted(meant, "message was", "messages were");
                stdio::out_text!("{} of {messages} taken{to}\n", self.taken);
            }
        }
        for (source, count) in &self.by_source {
            stdio::out_text!("{source}: {count}\n");
        }
        if let Some((first, last)) = self.first.zip(self.last) {
            stdio::out_text!("from {} to {}\n", moment::shown(first), moment::shown(last));
        }
        if self.too_long > 0 {
            let long = stdio::counted(self.too_long, "is", "are");
            stdio::out_text!("{long} longer than {ENTRY_BYTES_MAX} bytes and cannot be sent\n");
        }
        is_well
    }
}

fn ask(socket: &Path, asked: &ReplayRequest) -> Result<u64, CommandError> {
    let taken = client::ask(socket, &asked.line(), ANSWER_MAX)?;
    taken.trim().parse().map_err(|_| "not an answer: no number".into())
}
