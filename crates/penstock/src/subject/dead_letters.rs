//! The dead letters that wait, for whoever wants to see them: destination, reason, text.

use super::secrets::Veil;
use control::Refusal;
use engine::Shared;
use engine::dead_letters::Letter;
use serde_json::{Value, json};

/// Grows when something is removed or changes its meaning.
const VERSION: u32 = 1;
/// Read at a time.
const PIECE_BYTES: usize = 256 << 10;
/// Of each message.
const TEXT_BYTES_MAX: usize = 1024;
/// Gone over in one answer: longer messages make it shorter.
const READ_BYTES_MAX: usize = 16 << 20;

/// The oldest, at most so many.
pub fn answer(shared: &Shared, count_max: usize, veil: &Veil) -> Result<String, Refusal> {
    let queue = shared.durable.known_letters().and_then(|letters| letters.queue());
    let Some(queue) = queue else {
        return Ok(json!({ "version": VERSION, "waiting": 0, "messages": [] }).to_string());
    };
    // What was kept a moment ago cannot be read before it is written.
    shared.durable.state_place().map_err(|fault| fault.said().to_owned())?.log.flush();
    let (mut at, end) = (queue.first_waiting(), queue.end());
    let (mut messages, mut read_bytes) = (Vec::new(), 0);
    while at < end && messages.len() < count_max && read_bytes < READ_BYTES_MAX {
        let read = queue.read(at, PIECE_BYTES).map_err(|error| error.to_string())?;
        if read.seqs.end <= at {
            break;
        }
        at = read.seqs.end;
        read_bytes += read.bytes.len();
        let begins = std::iter::once(0).chain(read.ends.iter().copied());
        let letters = begins
            .zip(&read.ends)
            .filter_map(|(begin, end)| Letter::decode(read.bytes.get(begin as usize..*end as usize)?));
        messages.extend(letters.take(count_max - messages.len()).map(|letter| one(&letter, veil)));
    }
    let waiting = queue.waiting().messages;
    Ok(json!({ "version": VERSION, "waiting": waiting, "messages": messages }).to_string())
}

fn one(letter: &Letter<'_>, veil: &Veil) -> Value {
    let shown = letter.shown();
    let text = shown.get(..TEXT_BYTES_MAX).unwrap_or(shown);
    let text = veil.over_bytes(text, text.len() < shown.len());
    json!({
        "time": letter.time / 1000,
        "destination": String::from_utf8_lossy(letter.destination),
        "reason": String::from_utf8_lossy(letter.reason),
        "text": String::from_utf8_lossy(&text),
        "bytes": letter.message.len(),
    })
}
