//! Selectors as syslogd has them: `*.info;mail.none;auth,authpriv.=err`.

use super::NoCounterpart;
use record::pri::{FACILITIES, SEVERITIES};

/// Levels as bits, the worst lowest.
const ALL: u8 = 0xff;

/// The number of a level's name.
pub fn level(name: &str) -> Option<u8> {
    let name = match name.to_lowercase().as_str() {
        "panic" => "emerg".to_owned(),
        "error" => "err".to_owned(),
        "warn" => "warning".to_owned(),
        other => other.to_owned(),
    };
    let named = SEVERITIES.iter().position(|level| *level == name);
    named.and_then(|at| u8::try_from(at).ok()).or_else(|| name.parse().ok().filter(|number| *number < 8))
}

/// The name of a facility here, by its name there or its number.
pub fn facility(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    let name = if name == "security" { "auth" } else { &name };
    let number = name.parse().ok().filter(|number| *number < FACILITIES.len());
    let at = FACILITIES.iter().position(|known| *known == name).or(number)?;
    FACILITIES.get(at).copied()
}

/// A filter for a selector; empty where every message fits. The error is why it is none.
pub fn filter(selector: &str) -> Result<String, NoCounterpart> {
    let mut table = [0_u8; FACILITIES.len()];
    for part in selector.split(';').map(str::trim).filter(|part| !part.is_empty()) {
        let (facilities, levels) = part.split_once('.').ok_or_else(|| format!("`{part}` has no level"))?;
        let change = change(levels)?;
        for name in facilities.split(',').map(str::trim) {
            let is_all = name == "*";
            let known = facility(name);
            if !is_all && known.is_none() {
                return Err(format!("there is no facility `{name}`").into());
            }
            for (levels, own) in table.iter_mut().zip(FACILITIES) {
                if is_all || known == Some(own) {
                    *levels = change.of(*levels);
                }
            }
        }
    }
    Ok(in_words(&table))
}

/// What a part does to the levels of its facilities.
enum Change {
    Set(u8),
    Take(u8),
}

impl Change {
    fn of(&self, levels: u8) -> u8 {
        match self {
            Change::Set(bits) => levels | bits,
            Change::Take(bits) => levels & !bits,
        }
    }
}

fn change(levels: &str) -> Result<Change, NoCounterpart> {
    let (is_not, levels) = levels.strip_prefix('!').map_or((false, levels), |rest| (true, rest));
    let (is_one, levels) = levels.strip_prefix('=').map_or((false, levels), |rest| (true, rest));
    let bits = match levels.to_lowercase().as_str() {
        "*" => ALL,
        "none" => return Ok(if is_not { Change::Set(ALL) } else { Change::Take(ALL) }),
        name => {
            let number = level(name).ok_or_else(|| format!("there is no level `{name}`"))?;
            if is_one { 1 << number } else { (1_u16 << (number + 1)).wrapping_sub(1) as u8 }
        }
    };
    Ok(if is_not { Change::Take(bits) } else { Change::Set(bits) })
}

/// Facilities of the same levels are told together; the most frequent levels by what does not have them.
fn in_words(table: &[u8; FACILITIES.len()]) -> String {
    let mut kinds: Vec<u8> = table.to_vec();
    kinds.sort_unstable();
    kinds.dedup();
    let count = |bits: u8| table.iter().filter(|levels| **levels == bits).count();
    let most = kinds.iter().copied().filter(|bits| *bits != 0).max_by_key(|bits| count(*bits));
    let mut parts = Vec::new();
    for bits in kinds.iter().copied().filter(|bits| *bits != 0) {
        let names = |has: bool| -> Vec<&str> {
            let with = table.iter().zip(FACILITIES).filter(|(levels, _)| (**levels == bits) == has);
            with.map(|(_, name)| name).collect()
        };
        let facilities = match (most == Some(bits), names(false)) {
            (_, others) if others.is_empty() => String::new(),
            (true, others) if others.len() <= FACILITIES.len() / 2 => {
                format!("not facility({})", others.join(", "))
            }
            _ => format!("facility({})", names(true).join(", ")),
        };
        let both = [facilities, levels(bits)];
        let both: Vec<String> = both.into_iter().filter(|part| !part.is_empty()).collect();
        parts.push(both.join(" and "));
    }
    match parts.as_slice() {
        // Nobody fits.
        [] => "not level(debug..emerg)".to_owned(),
        [one] => one.clone(),
        several => several.iter().map(|part| format!("({part})")).collect::<Vec<_>>().join(" or "),
    }
}

/// `level(info..emerg)`; empty for all of them.
fn levels(bits: u8) -> String {
    if bits == ALL {
        return String::new();
    }
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for at in (0..SEVERITIES.len()).filter(|at| bits & (1 << at) != 0) {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == at => *last = at,
            _ => runs.push((at, at)),
        }
    }
    let name = |at: usize| SEVERITIES.get(at).copied().unwrap_or_default();
    let run = |(worst, mildest): &(usize, usize)| match worst == mildest {
        true => name(*worst).to_owned(),
        false => format!("{}..{}", name(*mildest), name(*worst)),
    };
    format!("level({})", runs.iter().map(run).collect::<Vec<_>>().join(", "))
}

/// A filter for levels by their numbers.
pub fn by_numbers(fits: impl Fn(u8) -> bool) -> String {
    let bits = (0..8).filter(|number| fits(*number)).fold(0_u8, |bits, number| bits | 1 << number);
    match (bits, levels(bits)) {
        (0, _) => "not level(debug..emerg)".to_owned(),
        (_, text) if text.is_empty() => "level(debug..emerg)".to_owned(),
        (_, text) => text,
    }
}

/// A filter for facilities by their numbers.
pub fn facilities(fits: impl Fn(u8) -> bool) -> String {
    let named: Vec<&str> =
        (0_u8..).zip(FACILITIES).filter(|(number, _)| fits(*number)).map(|(_, name)| name).collect();
    match named.len() {
        0 => "not level(debug..emerg)".to_owned(),
        count if count == FACILITIES.len() => "level(debug..emerg)".to_owned(),
        _ => format!("facility({})", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::filter;

    #[test]
    fn selectors_are_filters() {
        for (selector, expected) in [
            ("*.*", ""),
            ("mail.*", "facility(mail)"),
            (
                "*.info;mail.none;authpriv.none;cron.none",
                "not facility(mail, cron, authpriv) and level(info..emerg)",
            ),
            ("*.*;auth,authpriv.none", "not facility(auth, authpriv)"),
            ("*.emerg", "level(emerg)"),
            ("mail.=info", "facility(mail) and level(info)"),
            ("mail.info;mail.!err", "facility(mail) and level(info..warning)"),
            ("kern.warn;local0.*", "(facility(kern) and level(warning..emerg)) or (facility(local0))"),
            ("*.none", "not level(debug..emerg)"),
        ] {
            assert_eq!(filter(selector).as_deref(), Ok(expected), "{selector}");
        }
        assert!(filter("nosuch.info").is_err());
        assert!(filter("mail.nosuch").is_err());
        assert!(filter("mail").is_err());
    }
}
