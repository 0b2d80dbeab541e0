//! `penstock tap`: messages themselves: those that come by a place, see [`super::look`], and those that
//! destinations dropped, afterwards and while it goes on.

use super::Running;
use crate::client;
use crate::ledger::DropReason;
use crate::tap::TapRequest;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use stdio::CommandError;

/// Between two questions while it goes on.
const EVERY: Duration = Duration::from_millis(200);
/// As in the program's answer.
const VERSION: u32 = 1;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  penstock tap s_net --where 'program(\"sshd\")'
  penstock tap 'filter f_auth' --format '$HOST ${.kv.user}' --limit 10
  penstock tap d_central --rate 1000/s --format json
  penstock tap --dropped --past
  penstock tap --dropped queue-full --destination d_central --limit 20
  penstock tap --dropped refused --past --json
  penstock tap --dropped framing --source s_net --past

What comes by a place is looked at in passing: where more comes than a small part of the time is enough for, messages are left out.
The last 100 dropped messages of each reason are kept at each destination and source, of each the first 1,024 bytes. Without --past those are shown that are dropped from now on; what comes faster than it can be shown is counted as missed.
Exit code: 0 shown; 1 nothing was dropped, or no answer; 2 wrong usage.")]
pub struct TapArgs {
    /// Messages that come by here: a source, a step as explain names it, a destination, or FILE:LINE of
    /// any of them or of a log path
    #[arg(value_name = "PLACE", required_unless_present = "dropped", conflicts_with = "dropped",
          value_parser = NonEmptyStringValueParser::new())]
    pub place: Option<String>,
    /// Only those for which this filter expression holds there
    #[arg(long = "where", value_name = "FILTER", conflicts_with = "dropped")]
    pub filter: Option<String>,
    /// So many a second at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = rate, conflicts_with = "dropped")]
    pub rate: u32,
    /// How they are shown: a template, or json for all values [default: what is written, at
    /// destinations; else time, host, header and text]
    #[arg(long, value_name = "TEMPLATE", conflicts_with = "dropped")]
    pub format: Option<String>,
    /// Messages that were dropped, for this reason or for any
    #[arg(long, value_name = "REASON", num_args = 0..=1, default_missing_value = "")]
    pub dropped: Option<String>,
    /// Show those that were dropped before, and end
    #[arg(long, requires = "dropped")]
    pub past: bool,
    /// The destination: its name, or name#n of one of its drivers
    #[arg(long, value_name = "NAME", requires = "dropped")]
    pub destination: Option<String>,
    /// The source, of what is dropped there: its name, or name#n of one of its drivers
    #[arg(long, value_name = "NAME", requires = "dropped")]
    pub source: Option<String>,
    /// Stop after so many messages; of those before, the last so many
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub limit: u32,
    /// Wait so many seconds at most
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=86_400),
          conflicts_with = "past")]
    pub timeout: u64,
    /// Print JSON, an object for each message in a line of its own
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub running: Running,
}

/// `1000` or `1000/s`.
fn rate(text: &str) -> Result<u32, String> {
    match text.strip_suffix("/s").unwrap_or(text).parse() {
        Ok(count @ 1..=5000) => Ok(count),
        _ => Err("expected a number from 1 to 5000, as in 100/s".to_owned()),
    }
}

pub fn run_tap(args: &TapArgs) -> ExitCode {
    let socket = match args.running.socket() {
        Ok(socket) => socket,
        Err(error) => return error.as_usage().report(),
    };
    if let Some(place) = &args.place {
        return end(super::look::look(args, place, &socket), "no message came by");
    }
    let reason = match args.dropped.as_deref().unwrap_or_default() {
        "" => None,
        name => match name.parse::<DropReason>() {
            Ok(reason) => Some(reason),
            Err(error) => {
                let all = DropReason::ALL.map(DropReason::name).join(", ");
                return CommandError::usage(format!("{error}, there are {all}")).report();
            }
        },
    };
    let asked = TapRequest { reason, destination: args.destination.clone(), source: args.source.clone() };
    let shown = if args.past { past(args, &asked, &socket) } else { live(args, &asked, &socket) };
    let nothing = match args.past {
        true => "no message was dropped".to_owned(),
        false => format!("no message was dropped within {} s; --past shows those of before", args.timeout),
    };
    end(shown, &nothing)
}

fn end(shown: Result<usize, CommandError>, nothing: &str) -> ExitCode {
    stdio::finish(shown.and_then(|count| if count > 0 { Ok(true) } else { Err(nothing.into()) }))
}

fn ask(asked: &TapRequest, socket: &Path) -> Result<Vec<Value>, CommandError> {
    messages(socket, &asked.line(), client::ANSWER_MAX)
}

/// The messages of an answer.
pub(super) fn messages(socket: &Path, line: &str, patience: Duration) -> Result<Vec<Value>, CommandError> {
    let answer = client::ask(socket, line, patience)?;
    let mut answer: Value = serde_json::from_str(&answer).map_err(|e| format!("not an answer: {e}"))?;
    match answer.get_mut("messages").map(Value::take) {
        Some(Value::Array(messages)) => Ok(messages),
        _ => Err("not an answer: no list of messages".into()),
    }
}

fn past(args: &TapArgs, asked: &TapRequest, socket: &Path) -> Result<usize, CommandError> {
    let messages = ask(asked, socket)?;
    let skip = messages.len().saturating_sub(args.limit as usize);
    let shown = messages.iter().skip(skip).inspect(|message| show(message, args.json));
    Ok(shown.count())
}

fn live(args: &TapArgs, asked: &TapRequest, socket: &Path) -> Result<usize, CommandError> {
    let until = Instant::now() + Duration::from_secs(args.timeout);
    // The number of the last one that was seen, of each account.
    let mut seen: HashMap<u64, u64> = HashMap::new();
    for message in ask(asked, socket)? {
        seen.insert(whole(&message, "account"), whole(&message, "number"));
    }
    let mut shown = 0;
    while shown < args.limit as usize && Instant::now() < until {
        std::thread::sleep(EVERY.min(until.saturating_duration_since(Instant::now())));
        for message in ask(asked, socket)? {
            let number = whole(&message, "number");
            let last = seen.entry(whole(&message, "account")).or_default();
            if number <= *last || shown >= args.limit as usize {
                continue;
            }
            let missed = number - *last - 1;
            *last = number;
            if missed > 0 {
                say_missed(&message, missed, args.json);
            }
            show(&message, args.json);
            shown += 1;
        }
    }
    Ok(shown)
}

fn text<'v>(message: &'v Value, key: &str) -> &'v str {
    message.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn whole(message: &Value, key: &str) -> u64 {
    message.get(key).and_then(Value::as_u64).unwrap_or_default()
}

/// Where it was dropped.
fn place(message: &Value) -> String {
    let name = [text(message, "destination"), text(message, "source")].concat();
    let is_removed = message.get("removed").and_then(Value::as_bool).unwrap_or_default();
    if is_removed { name + " (removed)" } else { name }
}

/// In front of `message` others of its account were dropped that nobody has seen.
fn say_missed(message: &Value, missed: u64, json: bool) {
    if json {
        let line = json!({
            "version": VERSION,
            "destination": message.get("destination"),
            "source": message.get("source"),
            "reason": message.get("reason"),
            "missed": missed,
        });
        stdio::out_text!("{line}\n");
    } else {
        let more = stdio::counted(missed, "message", "messages");
        let (place, reason) = (place(message), text(message, "reason"));
        stdio::out_text!("{place} {reason}: {more} more, too fast to be shown\n");
    }
}

fn show(message: &Value, json: bool) {
    if json {
        let mut line = message.clone();
        if let Some(fields) = line.as_object_mut() {
            fields.insert("version".to_owned(), VERSION.into());
        }
        stdio::out_text!("{line}\n");
        return;
    }
    let (place, reason) = (place(message), text(message, "reason"));
    let body = text(message, "text").trim_end_matches('\n');
    let shown: String = body.chars().flat_map(plain).collect();
    let bytes = whole(message, "bytes");
    let cut = if whole(message, "kept") < bytes { format!("... ({bytes} bytes)") } else { String::new() };
    stdio::out_text!("{place} {reason}: {shown}{cut}\n");
}

/// What a terminal does not obey.
pub(super) fn plain(c: char) -> impl Iterator<Item = char> {
    let is_plain = !c.is_control()
        && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let (kept, escaped) = if is_plain { (Some(c), None) } else { (None, Some(c.escape_default())) };
    kept.into_iter().chain(escaped.into_iter().flatten())
}
