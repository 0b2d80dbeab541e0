//! Sources, and senders where they are counted, of which nothing comes any more.

use super::Finding;
use super::patient::Patient;

/// Seconds in an hour.
const HOUR: i64 = 3600;

pub fn silent(patient: &Patient) -> Vec<Finding> {
    let Some(Ok(statistics)) = patient.program.as_ref().map(|program| program.ask("STATS CSV")) else {
        return Vec::new();
    };
    let now = crate::configuration::seconds(std::time::SystemTime::now()) as i64;
    let bound = i64::try_from(patient.silent_hours).unwrap_or(i64::MAX / HOUR) * HOUR;
    let mut heard = 0;
    let mut found = Vec::new();
    for (name, last) in statistics.lines().filter_map(last_heard) {
        // Nothing has come yet: nobody has fallen silent.
        if last == 0 {
            continue;
        }
        match now.saturating_sub(last) {
            quiet if quiet >= bound => found.push(Finding::warn(
                format!("nothing has come from {name} for {} hours", quiet / HOUR),
                "look at the sender; penstock explain --source NAME waits for its next message",
            )),
            _ => heard += 1,
        }
    }
    if heard > 0 {
        let heard = stdio::counted(heard, "sender was", "senders were");
        let hours = stdio::counted(patient.silent_hours, "hour", "hours");
        found.push(Finding::ok(format!("{heard} heard within {hours}")));
    }
    found
}

/// `src.network;s_net#0;tcp,0.0.0.0:514;a;stamp;1791756855`, and `src.sender;;192.0.2.1;a;stamp;...`
fn last_heard(line: &str) -> Option<(String, i64)> {
    let mut fields = line.split(';');
    let (kind, id, instance) = (fields.next()?, fields.next()?, fields.next()?);
    let (_, what, value) = (fields.next()?, fields.next()?, fields.next()?);
    if !kind.starts_with("src.") || kind == "src.internal" || what != "stamp" {
        return None;
    }
    let name = if id.is_empty() { instance } else { id };
    Some((name.to_owned(), value.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::last_heard;

    #[test]
    fn lines_of_statistics() {
        let check = |line: &str, expected: Option<(&str, i64)>| {
            let found = last_heard(line);
            assert_eq!(found.as_ref().map(|(name, last)| (name.as_str(), *last)), expected, "{line}");
        };
        check("src.network;s_net#0;tcp,0.0.0.0:514;a;stamp;17", Some(("s_net#0", 17)));
        check("src.sender;;192.0.2.1;d;stamp;17", Some(("192.0.2.1", 17)));
        check("src.network;s_net#0;tcp;a;processed;17", None);
        check("src.internal;s#0;;a;stamp;17", None);
        check("dst.file;d#0;/x;a;stamp;17", None);
        check("", None);
    }
}
