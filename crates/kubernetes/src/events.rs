//! The events of a watch: a JSON object a line, which may come in any pieces.

use crate::pod;
use parsers::kubernetes::pods::Pod;
use serde_json::Value;

/// The largest event; what the API server stores of one object is smaller.
pub const EVENT_BYTES_MAX: usize = 8 << 20;

/// What has happened, with the version that a later watch begins behind.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    Changed(Pod, String),
    Deleted(Pod, String),
    /// Nothing but a version.
    Bookmark(String),
    /// The watch cannot go on from where it was: everything is to be listed again.
    Gone(String),
    /// Something else is wrong, in the server's words.
    Failed(String),
}

/// Why a stream is no stream of events.
#[derive(Debug, PartialEq, Eq)]
pub enum Malformed {
    TooLarge,
    NoEvent(String),
}

#[derive(Default)]
pub struct Reader {
    /// The beginning of a line whose end has not come.
    rest: Vec<u8>,
}

impl Reader {
    /// Gives `take` the events that end in this piece.
    pub fn read(&mut self, piece: &[u8], take: &mut dyn FnMut(Event)) -> Result<(), Malformed> {
        let mut lines = piece.split_inclusive(|byte| *byte == b'\n');
        if !self.rest.is_empty()
            && let Some(first) = lines.next()
        {
            self.keep(first)?;
            if !first.ends_with(b"\n") {
                return Ok(());
            }
            let whole = std::mem::take(&mut self.rest);
            event(&whole, take)?;
        }
        for line in lines {
            match line.ends_with(b"\n") {
                true => event(line, take)?,
                false => self.keep(line)?,
            }
        }
        Ok(())
    }

    fn keep(&mut self, part: &[u8]) -> Result<(), Malformed> {
        if self.rest.len() + part.len() > EVENT_BYTES_MAX {
            return Err(Malformed::TooLarge);
        }
        self.rest.extend_from_slice(part);
        Ok(())
    }
}

fn event(line: &[u8], take: &mut dyn FnMut(Event)) -> Result<(), Malformed> {
    if line.trim_ascii().is_empty() {
        return Ok(());
    }
    let event: Value = serde_json::from_slice(line).map_err(|error| Malformed::NoEvent(error.to_string()))?;
    let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
    let object = event.get("object").unwrap_or(&Value::Null);
    let version = || {
        let version = object.get("metadata").and_then(|about| about.get("resourceVersion"));
        version.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let pod = || {
        pod::of(object).map(|(pod, _)| pod).ok_or_else(|| Malformed::NoEvent("no pod is in it".to_owned()))
    };
    take(match kind {
        "ADDED" | "MODIFIED" => Event::Changed(pod()?, version()),
        "DELETED" => Event::Deleted(pod()?, version()),
        "BOOKMARK" => Event::Bookmark(version()),
        "ERROR" => {
            let word = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
            let words = format!("{} {}", word("reason"), word("message")).trim().to_owned();
            match object.get("code").and_then(Value::as_u64) {
                Some(410) => Event::Gone(words),
                _ => Event::Failed(words),
            }
        }
        other => return Err(Malformed::NoEvent(format!("its type is `{other}`"))),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As the API server sends them; some of it, such as managedFields, is of no interest.
    const STREAM: &str = concat!(
        r#"{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"1","resourceVersion":"10","labels":{"x":"ü\n"},"managedFields":[{"manager":"kubelet"}]},"spec":{"containers":[{"name":"c","image":"i"}]}}}"#,
        "\n",
        r#"{"type":"MODIFIED","object":{"metadata":{"name":"a","namespace":"n","uid":"1","resourceVersion":"11"}}}"#,
        "\r\n\n",
        r#"{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"12","creationTimestamp":null},"spec":{"containers":null}}}"#,
        "\n",
        r#"{"type":"DELETED","object":{"metadata":{"name":"a","namespace":"n","uid":"1","resourceVersion":"13"}}}"#,
        "\n",
        r#"{"type":"ERROR","object":{"kind":"Status","status":"Failure","message":"too old resource version: 1 (9)","reason":"Expired","code":410}}"#,
        "\n",
        r#"{"type":"ERROR","object":{"kind":"Status","message":"later","reason":"InternalError","code":500}}"#,
        "\n"
    );

    fn told(event: &Event) -> String {
        match event {
            Event::Changed(pod, version) => format!("changed {} {version} {:?}", pod.name, pod.labels),
            Event::Deleted(pod, version) => format!("deleted {} {version}", pod.name),
            Event::Bookmark(version) => format!("bookmark {version}"),
            Event::Gone(words) => format!("gone: {words}"),
            Event::Failed(words) => format!("failed: {words}"),
        }
    }

    const TOLD: [&str; 6] = [
        "changed a 10 [(\"x\", \"ü\\n\")]",
        "changed a 11 []",
        "bookmark 12",
        "deleted a 13",
        "gone: Expired too old resource version: 1 (9)",
        "failed: InternalError later",
    ];

    proptest! {
        #[test]
        fn events_do_not_depend_on_how_their_bytes_come(mut cuts in proptest::collection::vec(0..STREAM.len(), 0..12)) {
            cuts.sort_unstable();
            let (mut reader, mut events, mut from) = (Reader::default(), Vec::new(), 0);
            for to in cuts.into_iter().chain([STREAM.len()]) {
                reader.read(&STREAM.as_bytes()[from..to], &mut |event| events.push(told(&event))).expect("events");
                from = to;
            }
            prop_assert_eq!(events, TOLD);
            prop_assert!(reader.rest.is_empty());
        }

        #[test]
        fn no_stream_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300), text in "[{}\\[\\]\":,a-zA-Z0-9\\n ]{0,200}") {
            crate::read_anything(&bytes);
            crate::read_anything(text.as_bytes());
        }
    }

    #[test]
    fn what_is_no_event() {
        let mut reader = Reader::default();
        let mut wrong = |text: &str| match reader.read(text.as_bytes(), &mut |event| panic!("{event:?}")) {
            Err(Malformed::NoEvent(why)) => why,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(wrong("{\"type\":\"SOMETHING\",\"object\":{}}\n"), "its type is `SOMETHING`");
        assert_eq!(wrong("{\"type\":\"ADDED\",\"object\":{}}\n"), "no pod is in it");
        assert!(wrong("<html>\n").contains("expected value"));
    }

    #[test]
    fn a_line_without_an_end_is_bounded() {
        let mut reader = Reader::default();
        let piece = vec![b' '; 1 << 20];
        let mut pieces = 0;
        while reader.read(&piece, &mut |event| panic!("{event:?}")).is_ok() {
            pieces += 1;
            assert!(pieces <= EVENT_BYTES_MAX >> 20);
        }
        assert_eq!(pieces, EVENT_BYTES_MAX >> 20);
    }
}
