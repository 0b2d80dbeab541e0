//! What a collector says of a request that it has taken: all of it, or not.

use flight::{Outcome, Verdict};
use wire::protobuf::{Malformed, Value, fields};

/// The message of an `ExportLogsServiceResponse`, or its sisters, for a batch of so many messages.
///
/// A collector says how many it has refused, and not which; it must not be asked again (the specification
/// says so). As many of the last ones become dead letters, which say that.
pub fn read(answer: &[u8], messages: usize) -> Outcome {
    let Ok((refused, why)) = partial_success(answer) else {
        return Outcome::Unknown("the answer is no message of OpenTelemetry".to_owned());
    };
    let refused = usize::try_from(refused).unwrap_or(0).min(messages);
    if refused == 0 {
        if !why.is_empty() {
            oplog::limited("otlp", oplog::Level::Warning, "The collector warns", &[("message", &why)]);
        }
        return Outcome::Delivered;
    }
    if refused == messages {
        return Outcome::Refused(why);
    }
    let words = format!("{refused} of the {messages} messages of a batch, it is not said which: {why}");
    oplog::limited("otlp", oplog::Level::Error, "The collector has refused messages", &[("reason", &words)]);
    let mut verdicts = vec![Verdict::Delivered; messages - refused];
    verdicts.resize(messages, Verdict::Refused(words.into()));
    Outcome::Judged { verdicts, after: None }
}

/// How many were refused, and the words.
fn partial_success(answer: &[u8]) -> Result<(i64, String), Malformed> {
    let (mut refused, mut why) = (0, String::new());
    for field in fields(answer) {
        let (1, Value::Bytes(partial)) = field? else { continue };
        for field in fields(partial) {
            match field? {
                (1, Value::Varint(count)) => refused = count as i64,
                (2, Value::Bytes(words)) => why = String::from_utf8_lossy(words).into_owned(),
                _ => {}
            }
        }
    }
    Ok((refused, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(outcome: &Outcome) -> usize {
        match outcome {
            Outcome::Judged { verdicts, .. } => {
                verdicts.iter().filter(|verdict| matches!(verdict, Verdict::Refused(_))).count()
            }
            _ => usize::MAX,
        }
    }

    #[test]
    fn what_is_refused_is_counted() {
        assert_eq!(read(b"", 5), Outcome::Delivered);
        assert_eq!(read(b"\x0a\x04\x12\x02hm", 5), Outcome::Delivered);
        assert_eq!(refused(&read(b"\x0a\x06\x08\x02\x12\x02no", 5)), 2);
        assert_eq!(read(b"\x0a\x06\x08\x05\x12\x02no", 5), Outcome::Refused("no".to_owned()));
        assert_eq!(read(b"\x0a\x06\x08\x63\x12\x02no", 5), Outcome::Refused("no".to_owned()));
        assert!(matches!(read(b"\x0a", 5), Outcome::Unknown(_)));
    }
}
