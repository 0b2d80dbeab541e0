//! Values of properties. The error says what the value is to be.

use std::time::Duration;

pub fn yes_no(value: &str) -> Result<bool, String> {
    match value {
        "true" | "yes" | "1" | "on" => Ok(true),
        "false" | "no" | "0" | "off" => Ok(false),
        _ => Err("`true` or `false`".to_owned()),
    }
}

pub fn number(value: &str, min: i64, max: i64) -> Result<i64, String> {
    let number = value.parse().ok().filter(|n| (min..=max).contains(n));
    number.ok_or_else(|| format!("a number from {min} to {max}"))
}

/// Milliseconds, with a fraction where the configuration has one.
pub fn duration(value: &str, min: u32, max: u32) -> Result<Duration, String> {
    let ms = value.parse().ok().filter(|n: &f64| (f64::from(min)..=f64::from(max)).contains(n));
    ms.map(|ms| Duration::from_secs_f64(ms / 1000.0))
        .ok_or_else(|| format!("milliseconds from {min} to {max}"))
}

pub fn one_of(words: &[&str]) -> String {
    format!("one of {}", words.join(", "))
}

/// One of some words, in any letters.
pub fn word(value: &str, words: &[&str]) -> Result<String, String> {
    let value = value.to_ascii_lowercase();
    match words.contains(&value.as_str()) {
        true => Ok(value),
        false => Err(one_of(words)),
    }
}
