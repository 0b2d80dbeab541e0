//! The file systems that the program writes to: how much is free, and when they are full at this rate.

use super::waits::span;
use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Disk {
    /// A folder on it.
    pub folder: String,
    /// What writes there: the state, destinations.
    pub users: Vec<String>,
    /// Bytes.
    pub free: u64,
    pub size: u64,
    /// At the rate of the last minutes. `None`: it does not fill, or nobody has looked for long enough.
    pub full_in_seconds: Option<u64>,
    /// It will be full, or is nearly full, by the bounds of `health()`.
    pub is_low: bool,
}

impl Disk {
    /// All of it in one sentence, without an end.
    pub fn sentence(&self) -> String {
        let Disk { folder, free, size, .. } = self;
        let hundredths = free.saturating_mul(100).checked_div(*size).unwrap_or(0);
        let when = self.full_in_seconds.map(|seconds| format!(", full in {} at this rate", span(seconds)));
        format!(
            "the file system of {folder} ({}) has {} of {} free, {hundredths} %{}; make room there, or move what writes to it",
            self.users.join(", "),
            amount(*free),
            amount(*size),
            when.unwrap_or_default(),
        )
    }

    pub fn to_json(&self) -> Value {
        json!({
            "folder": self.folder,
            "users": self.users,
            "free_bytes": self.free,
            "size_bytes": self.size,
            "full_in_seconds": self.full_in_seconds,
            "is_low": self.is_low,
            "sentence": self.sentence(),
        })
    }

    /// What [`Disk::to_json`] has written.
    pub fn from_json(value: &Value) -> Result<Disk, String> {
        let wrong = |key: &str| format!("not a ledger: no '{key}' of a disk");
        let number = |key: &str| value.get(key).and_then(Value::as_u64).ok_or_else(|| wrong(key));
        let users = value.get("users").and_then(Value::as_array).ok_or_else(|| wrong("users"))?;
        Ok(Disk {
            folder: value.get("folder").and_then(Value::as_str).ok_or_else(|| wrong("folder"))?.to_owned(),
            users: users.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            free: number("free_bytes")?,
            size: number("size_bytes")?,
            full_in_seconds: value.get("full_in_seconds").and_then(Value::as_u64),
            is_low: value.get("is_low").and_then(Value::as_bool).ok_or_else(|| wrong("is_low"))?,
        })
    }
}

/// Bytes as people say them.
pub fn amount(bytes: u64) -> String {
    let units = ["kB", "MB", "GB", "TB"];
    let (mut value, mut unit) = (bytes as f64, "bytes");
    for next in units {
        if value < 1000.0 {
            break;
        }
        (value, unit) = (value / 1000.0, next);
    }
    if unit == "bytes" { format!("{bytes} bytes") } else { format!("{value:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_and_json_and_back() {
        let disk = Disk {
            folder: "/var/lib/penstock".into(),
            users: vec!["state".into(), "d#0".into()],
            free: 1_500_000_000,
            size: 60_000_000_000,
            full_in_seconds: Some(10_800),
            is_low: true,
        };
        let expected = "the file system of /var/lib/penstock (state, d#0) has 1.5 GB of 60.0 GB free, 2 %, full in 3 h at this rate; \
             make room there, or move what writes to it";
        assert_eq!(disk.sentence(), expected);
        assert_eq!(Disk::from_json(&disk.to_json()), Ok(disk));
        assert!(Disk::from_json(&json!({ "folder": "/" })).is_err());
        assert_eq!(amount(999), "999 bytes");
    }
}
