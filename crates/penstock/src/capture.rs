//! `penstock capture`: what comes to sources of the running program, as it comes, into a file.

use control::capture::{CaptureRequest, Taken};
use control::cli::CaptureArgs;
use control::client;
use recording::HEAD;
use serde_json::json;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use stdio::CommandError;

/// Grows when something is removed or changes its meaning.
const VERSION: u32 = 1;
/// Time given to the program to answer, beyond that for which it waits.
const ANSWER_MAX: Duration = Duration::from_secs(30);
/// How long one question waits for messages.
const PATIENCE: Duration = Duration::from_millis(500);

pub fn run(args: &CaptureArgs) -> ExitCode {
    stdio::finish(capture(args))
}

/// Whether something came.
fn capture(args: &CaptureArgs) -> Result<bool, CommandError> {
    let path = args.output.display();
    let opened = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&args.output);
    let mut file = opened.map_err(|error| format!("cannot write {path}: {error}"))?;
    let write = |file: &mut std::fs::File, bytes: &[u8]| {
        file.write_all(bytes).map_err(|error| format!("cannot write {path}: {error}"))
    };
    let socket = args.running.socket().inspect_err(|_| remove(&args.output))?;
    let begun = ask(&socket, &CaptureRequest::Begin { source: args.source.clone() });
    let begun = begun.inspect_err(|_| remove(&args.output));
    let number = begun?.trim().parse().map_err(|_| "not an answer: no number")?;
    write(&mut file, &HEAD)?;
    let began = Instant::now();
    let until = began + Duration::from_secs(args.timeout);
    let (mut messages, mut missed, mut left) = (0, 0, args.size.saturating_sub(HEAD.len() as u64));
    while args.limit.is_none_or(|limit| messages < limit) && left > 0 {
        let patience = PATIENCE.min(until.saturating_duration_since(Instant::now()));
        if patience.is_zero() {
            break;
        }
        let taken = Taken::parse(&ask(&socket, &CaptureRequest::Take { number, patience })?)?;
        missed += taken.missed;
        let wanted = args.limit.map_or(u64::MAX, |limit| limit - messages);
        let (part, count) = fitting(&taken.entries, left, wanted)?;
        write(&mut file, part)?;
        (messages, left) = (messages + count, left - part.len() as u64);
        if count < taken.messages {
            break;
        }
    }
    // The program forgets it when nobody asks.
    let _ = ask(&socket, &CaptureRequest::End { number });
    if args.json {
        let file = (messages > 0).then(|| path.to_string());
        let report = json!({ "version": VERSION, "messages": messages, "missed": missed, "file": file });
        stdio::out_text!("{report}\n");
        if messages == 0 {
            remove(&args.output);
        }
        return Ok(messages > 0);
    }
    let lost = if missed > 0 { format!(", {missed} more came too fast") } else { String::new() };
    if messages == 0 {
        remove(&args.output);
        stdio::err!("nothing came in {} s, and no file is left{lost}", began.elapsed().as_secs());
        return Ok(false);
    }
    stdio::err!("{} in {path}{lost}", stdio::counted(messages, "message", "messages"));
    Ok(true)
}

/// Nothing stands in it.
fn remove(file: &Path) {
    let _ = std::fs::remove_file(file);
}

/// Of entries those that have room, and how many they are.
fn fitting(entries: &[u8], bytes_max: u64, count_max: u64) -> Result<(&[u8], u64), CommandError> {
    let mut all = HEAD.to_vec();
    all.extend_from_slice(entries);
    let (mut bytes, mut count, mut one) = (0, 0, Vec::new());
    for entry in recording::entries(&all).map_err(|error| error.to_string())? {
        one.clear();
        recording::append(&mut one, &entry.map_err(|error| error.to_string())?);
        if count == count_max || (bytes + one.len()) as u64 > bytes_max {
            break;
        }
        (bytes, count) = (bytes + one.len(), count + 1);
    }
    Ok((entries.get(..bytes).unwrap_or_default(), count))
}

fn ask(socket: &Path, asked: &CaptureRequest) -> Result<String, CommandError> {
    client::ask(socket, &asked.line(), ANSWER_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use recording::{Entry, append};

    #[test]
    fn only_whole_entries_are_written() {
        let mut entries = Vec::new();
        let entry = |text| Entry { time: 0, source: "s", peer: None, text };
        append(&mut entries, &entry(b"one"));
        let first = entries.len();
        append(&mut entries, &entry(b"two"));
        let check = |bytes_max: u64, count_max, expected: (usize, u64)| {
            let (part, count) = fitting(&entries, bytes_max, count_max).expect("entries");
            assert_eq!((part.len(), count), expected);
        };
        check(u64::MAX, u64::MAX, (entries.len(), 2));
        check(entries.len() as u64 - 1, u64::MAX, (first, 1));
        check(u64::MAX, 1, (first, 1));
        check(3, u64::MAX, (0, 0));
    }
}
