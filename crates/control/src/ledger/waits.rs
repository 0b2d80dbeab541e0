//! Why a destination waits: since when, the last error, the next try, what has room, who waits for whom, and
//! the option that would change it. As a sentence for people, as JSON for scripts.

use serde_json::{Value, json};
use std::fmt::Write;

/// How a destination waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing leaves it.
    StandsStill,
    /// Something leaves it, and less than comes.
    IsSlow,
    /// Its queue is full, and what comes is dropped.
    Drops,
}

impl State {
    const ALL: [State; 3] = [State::StandsStill, State::IsSlow, State::Drops];

    pub fn name(self) -> &'static str {
        match self {
            State::StandsStill => "stands-still",
            State::IsSlow => "slow",
            State::Drops => "drops",
        }
    }

    fn words(self) -> &'static str {
        match self {
            State::StandsStill => "stands still",
            State::IsSlow => "is slower than what comes",
            State::Drops => "stands still, its queue is full and drops messages",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastError {
    pub text: String,
    pub seconds_ago: u64,
    /// One after the other, without success between.
    pub times: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoomUnit {
    /// `log-fifo-size()`.
    Messages,
    /// `capacity-bytes()` of `disk-buffer()`.
    Bytes,
}

impl RoomUnit {
    fn name(self) -> &'static str {
        match self {
            RoomUnit::Messages => "messages",
            RoomUnit::Bytes => "bytes",
        }
    }

    /// The option that says how much it is.
    pub fn option(self) -> &'static str {
        match self {
            RoomUnit::Messages => "log-fifo-size",
            RoomUnit::Bytes => "capacity-bytes",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Headroom {
    pub unit: RoomUnit,
    pub used: u64,
    pub max: u64,
    /// At the rate of the last seconds. `None`: it does not grow.
    pub full_in_seconds: Option<u64>,
}

/// A destination that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    pub destination: String,
    /// Driver and address.
    pub detail: String,
    pub state: State,
    pub since_seconds: u64,
    pub waiting: u64,
    pub oldest_seconds: Option<u64>,
    pub error: Option<LastError>,
    pub next_try_seconds: Option<u64>,
    pub room: Option<Headroom>,
    /// Messages dropped for want of room since that began.
    pub dropped: u64,
    /// Sources that do not read because of it.
    pub holds: Vec<String>,
    /// Destinations that get nothing from those meanwhile.
    pub starves: Vec<String>,
}

impl Wait {
    /// All of it in one sentence, without an end.
    pub fn sentence(&self) -> String {
        let mut out = format!("destination {}", self.destination);
        // Writing to a String does not fail.
        if !self.detail.is_empty() {
            let _ = write!(out, " ({})", self.detail);
        }
        let _ = write!(out, " {} since {}", self.state.words(), span(self.since_seconds));
        if let Some(error) = &self.error {
            let _ = write!(out, ": {}", error.text);
            if error.times > 1 {
                let _ = write!(out, " ({} times, the last {} ago)", error.times, span(error.seconds_ago));
            }
        }
        if let Some(seconds) = self.next_try_seconds {
            let _ = write!(out, "; next try in {}", span(seconds));
        }
        let _ = write!(out, "; {}", stdio::counted(self.waiting, "message waits", "messages wait"));
        if let Some(seconds) = self.oldest_seconds {
            let _ = write!(out, ", the oldest for {}", span(seconds));
        }
        if let Some(room) = &self.room {
            let _ = write!(out, "; {} of {}({}) used", room.used, room.unit.option(), room.max);
            if let Some(seconds) = room.full_in_seconds.filter(|_| self.dropped == 0) {
                let _ = write!(out, ", all of it in {} at this rate", span(seconds));
            }
        }
        if self.dropped > 0 {
            let _ = write!(out, "; {} dropped", stdio::counted(self.dropped, "message", "messages"));
        }
        if !self.holds.is_empty() {
            let _ = write!(out, "; it holds {} back", self.holds.join(", "));
        }
        if !self.starves.is_empty() {
            let _ = write!(out, ", so that {} gets nothing from there", self.starves.join(", "));
        }
        if let Some(remedy) = self.remedy() {
            let _ = write!(out, "; {remedy}");
        }
        out
    }

    /// The option that would change it.
    pub fn remedy(&self) -> Option<String> {
        let name = &self.destination;
        match self.room.map(|room| room.unit) {
            Some(RoomUnit::Messages) => Some(format!(
                "disk-buffer() or a larger log-fifo-size() of {name} keeps more, flags(flow-control) makes the sources wait"
            )),
            Some(RoomUnit::Bytes) if !self.holds.is_empty() || self.dropped > 0 => {
                Some(format!("a larger capacity-bytes() of the disk-buffer() of {name} takes more"))
            }
            Some(RoomUnit::Bytes) => None,
            None if !self.holds.is_empty() => Some(format!(
                "disk-buffer() of {name} lets the sources go on; without flags(flow-control) they go on too, and what \
                 log-fifo-size() has no room for is dropped"
            )),
            None => None,
        }
    }

    pub fn to_json(&self) -> Value {
        let error = self.error.as_ref().map(
            |error| json!({ "text": error.text, "seconds_ago": error.seconds_ago, "times": error.times }),
        );
        let room = self.room.map(|room| {
            json!({
                "unit": room.unit.name(),
                "option": room.unit.option(),
                "used": room.used,
                "max": room.max,
                "full_in_seconds": room.full_in_seconds,
            })
        });
        json!({
            "destination": self.destination,
            "detail": self.detail,
            "state": self.state.name(),
            "since_seconds": self.since_seconds,
            "waiting": self.waiting,
            "oldest_seconds": self.oldest_seconds,
            "error": error,
            "next_try_seconds": self.next_try_seconds,
            "room": room,
            "dropped": self.dropped,
            "holds": self.holds,
            "starves": self.starves,
            "remedy": self.remedy(),
            "sentence": self.sentence(),
        })
    }

    /// What [`Wait::to_json`] has written.
    pub fn from_json(value: &Value) -> Result<Wait, String> {
        let wrong = |key: &str| format!("not a ledger: no '{key}' of what waits");
        let text = |value: &Value, key: &str| {
            value.get(key).and_then(Value::as_str).map(str::to_owned).ok_or_else(|| wrong(key))
        };
        let number =
            |value: &Value, key: &str| value.get(key).and_then(Value::as_u64).ok_or_else(|| wrong(key));
        let some = |value: &Value, key: &str| value.get(key).and_then(Value::as_u64);
        let names = |key: &str| -> Vec<String> {
            let list = value.get(key).and_then(Value::as_array).into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let state = text(value, "state")?;
        let state = State::ALL.into_iter().find(|known| known.name() == state);
        let error = match value.get("error").filter(|error| !error.is_null()) {
            None => None,
            Some(error) => Some(LastError {
                text: text(error, "text")?,
                seconds_ago: number(error, "seconds_ago")?,
                times: number(error, "times")?,
            }),
        };
        let room = match value.get("room").filter(|room| !room.is_null()) {
            None => None,
            Some(room) => {
                let name = text(room, "unit")?;
                let unit = [RoomUnit::Messages, RoomUnit::Bytes].into_iter().find(|u| u.name() == name);
                Some(Headroom {
                    unit: unit.ok_or_else(|| wrong("unit"))?,
                    used: number(room, "used")?,
                    max: number(room, "max")?,
                    full_in_seconds: some(room, "full_in_seconds"),
                })
            }
        };
        Ok(Wait {
            destination: text(value, "destination")?,
            detail: text(value, "detail")?,
            state: state.ok_or_else(|| wrong("state"))?,
            since_seconds: number(value, "since_seconds")?,
            waiting: number(value, "waiting")?,
            oldest_seconds: some(value, "oldest_seconds"),
            error,
            next_try_seconds: some(value, "next_try_seconds"),
            room,
            dropped: number(value, "dropped")?,
            holds: names("holds"),
            starves: names("starves"),
        })
    }
}

/// Seconds as people say them.
pub(super) fn span(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Wait {
        Wait {
            destination: "d#0".into(),
            detail: "network tcp,h:601".into(),
            state: State::StandsStill,
            since_seconds: 130,
            waiting: 7,
            oldest_seconds: Some(131),
            error: Some(LastError { text: "h:601: refused".into(), seconds_ago: 5, times: 3 }),
            next_try_seconds: Some(55),
            room: None,
            dropped: 0,
            holds: vec!["s#0".into()],
            starves: vec!["d_file#0".into()],
        }
    }

    #[test]
    fn everything_in_one_sentence() {
        let expected = "destination d#0 (network tcp,h:601) stands still since 2 min: h:601: refused (3 times, the last 5 s ago); \
             next try in 55 s; 7 messages wait, the oldest for 2 min; it holds s#0 back, so that d_file#0 gets nothing from there; \
             disk-buffer() of d#0 lets the sources go on";
        assert!(sample().sentence().starts_with(expected), "{}", sample().sentence());
        let room = Headroom { unit: RoomUnit::Messages, used: 50, max: 100, full_in_seconds: Some(7200) };
        let wait = Wait { room: Some(room), holds: Vec::new(), starves: Vec::new(), ..sample() };
        let text = wait.sentence();
        assert!(text.contains(
            "50 of log-fifo-size(100) used, all of it in 2 h at this rate; disk-buffer() or a larger"
        ));
        let wait = Wait { state: State::Drops, dropped: 9, ..wait };
        assert!(wait.sentence().contains("100) used; 9 messages dropped"), "{}", wait.sentence());
    }

    #[test]
    fn json_and_back() {
        let room = Headroom { unit: RoomUnit::Bytes, used: 1, max: 2, full_in_seconds: None };
        for wait in [
            sample(),
            Wait { room: Some(room), error: None, next_try_seconds: None, state: State::IsSlow, ..sample() },
        ] {
            assert_eq!(Wait::from_json(&wait.to_json()), Ok(wait));
        }
        assert!(Wait::from_json(&json!({ "destination": "d" })).is_err());
    }
}
