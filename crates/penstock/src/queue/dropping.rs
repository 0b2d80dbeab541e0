//! `drop` and `replay`: through the running program; without one, `drop` takes the folder for itself.

use super::progress::Bar;
use super::{Place, find, view};
use control::queues::QueueRequest;
use std::time::{SystemTime, UNIX_EPOCH};

/// 90s, 15m, 12h, 7d, in seconds.
pub fn age(text: &str) -> Result<u64, String> {
    let wrong = || "expected a number and s, m, h or d, as in 12h".to_owned();
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return Err(wrong()),
    };
    number.parse::<u64>().ok().and_then(|n| n.checked_mul(unit)).ok_or_else(wrong)
}

/// The moment so many seconds ago, in seconds since 1970.
fn ago(seconds: u64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    now.saturating_sub(seconds)
}

pub fn drop(place: &Place, wanted: &str, older: Option<u64>) -> Result<bool, String> {
    let folder = place.folder();
    let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
    let queue = find(&view(&folder)?, wanted)?;
    let before = older.map(ago);
    let request = QueueRequest::Drop { folder: folder.clone(), queue: queue.name.clone(), before };
    if place.open_folders().contains(&folder) {
        match place.ask(&request)? {
            Some(text) => println!("{text}"),
            None => return Err("the program has ended meanwhile, try again".to_owned()),
        }
        return Ok(true);
    }
    let opened = store::Log::open(store::Options::new(&folder))
        .map_err(|error| format!("cannot change the queues in {}: {error}", folder.display()))?;
    // Nobody changes it any more.
    let view = view(&folder)?;
    let queue = find(&view, wanted)?;
    let (messages, bytes) = match before {
        None => {
            opened.log.remove(&queue.name);
            (queue.waiting.messages, queue.waiting.bytes)
        }
        Some(before) => {
            let mut bar = Bar::new(view.bytes_from(queue.id, queue.first_waiting), false);
            let border =
                view.border(queue.id, queue.first_waiting, before, |position| bar.at(position.bytes));
            let handle = opened.log.queue(&queue.name, u64::MAX, Box::new(|| ()));
            let handle = handle.map_err(|error| error.to_string())?;
            if border.messages > 0 {
                handle.done(border.seq, border.messages, border.bytes);
            }
            (border.messages, border.bytes)
        }
    };
    let safe = opened.log.flush();
    opened.log.close();
    if !safe {
        return Err(format!("cannot write to {}", folder.display()));
    }
    println!("{messages} messages dropped, {bytes} bytes");
    Ok(true)
}

pub fn replay(place: &Place, to: Option<String>) -> Result<bool, String> {
    match place.ask(&QueueRequest::Replay { to })? {
        Some(text) => println!("{text}"),
        None => {
            return Err("no program runs that could give them to a destination: start it first".to_owned());
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages() {
        assert_eq!(
            ["90s", "15m", "12h", "7d"].map(|text| age(text).ok()),
            [90, 900, 43_200, 604_800].map(Some)
        );
        for wrong in ["", "7", "d", "-1d", "1w", "99999999999999999999d", "9999999999999999999d"] {
            assert!(age(wrong).is_err(), "{wrong}");
        }
    }
}
