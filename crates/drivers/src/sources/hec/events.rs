//! `/services/collector/event`: JSON objects, one behind the other.

use super::acks::AckNumber;
use super::message::{self, EventFacts, Names};
use super::replies::{
    BUSY, EVENT_BLANK, EVENT_REQUIRED, INDEXED_FIELDS, INVALID_FORMAT, NO_DATA, Reply, SUCCESS,
};
use http_server::{Answer, Bytes};
use intake::json_string::string;
use intake::requests::{Fate, Filling, Load};
use record::Batch;
use serde::de::IgnoredAny;
use std::sync::Arc;
use wire::json_parts::{Members, blanks};

pub struct Events {
    pub body: Bytes,
    /// Read up to here.
    pub at: usize,
    pub events: usize,
    /// What events that say nothing of it have.
    pub facts: EventFacts,
    pub names: Arc<Names>,
    pub ack: Option<AckNumber>,
    pub wrong: Option<Reply>,
}

impl Events {
    /// The text of the next event. `None` at the end; the error is what is wrong with it.
    fn next(&mut self) -> Result<Option<&str>, Reply> {
        let at = blanks(&self.body, self.at);
        let rest = self.body.get(at..).unwrap_or_default();
        if rest.is_empty() {
            return if self.events == 0 { Err(NO_DATA) } else { Ok(None) };
        }
        if rest.first() != Some(&b'{') {
            return Err(INVALID_FORMAT);
        }
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<IgnoredAny>();
        let Some(Ok(_)) = values.next() else { return Err(INVALID_FORMAT) };
        let end = values.byte_offset();
        self.at = at + end;
        let text = rest.get(..end).and_then(|text| std::str::from_utf8(text).ok());
        text.map(Some).ok_or(INVALID_FORMAT)
    }
}

/// Appends an event as a message.
fn append(
    text: &str,
    general: &EventFacts,
    names: &Names,
    batch: &mut Batch,
    filling: &Filling<'_>,
) -> Result<(), Reply> {
    let mut facts = general.clone();
    let (mut event, mut fields) = (None, None);
    for (name, raw) in Members::of(text).into_iter().flatten() {
        let said = || Some(string(raw).into_owned()).filter(|_| raw != "null");
        match name {
            "event" => event = Some(raw),
            "fields" => fields = Some(raw),
            "host" => facts.host = said(),
            "index" => facts.index = said(),
            "source" => facts.source = said(),
            "sourcetype" => facts.sourcetype = said(),
            "time" => facts.time = message::time(&string(raw)),
            _ => {}
        }
    }
    let event = event.filter(|raw| *raw != "null").ok_or(EVENT_REQUIRED)?;
    let text = string(event);
    if text.is_empty() {
        return Err(EVENT_BLANK);
    }
    let fields = fields.filter(|raw| *raw != "null");
    if let Some(fields) = fields {
        let mut members = Members::of(fields).ok_or(INDEXED_FIELDS)?;
        if members.any(|(_, raw)| raw.starts_with('{')) {
            return Err(INDEXED_FIELDS);
        }
    }
    let index = message::append(batch, text.as_bytes(), &facts, names, filling);
    for (name, raw) in fields.and_then(Members::of).into_iter().flatten() {
        let quoted = format!("\"{name}\"");
        let key = if name.contains('\\') { string(&quoted) } else { name.into() };
        message::set_field(batch, index, names, &key, raw);
    }
    Ok(())
}

impl Load for Events {
    fn fill(&mut self, batch: &mut Batch, filling: &Filling<'_>) -> bool {
        let (names, facts) = (Arc::clone(&self.names), self.facts.clone());
        while !filling.is_full(batch) {
            let outcome = match self.next() {
                Ok(None) => return false,
                Ok(Some(text)) => append(text, &facts, &names, batch, filling),
                Err(wrong) => Err(wrong),
            };
            if let Err(wrong) = outcome {
                self.wrong = Some(wrong);
                return false;
            }
            self.events += 1;
        }
        true
    }

    fn taken(&mut self) -> Option<Answer> {
        let number = self.ack.as_ref()?.number;
        self.wrong.is_none().then(|| SUCCESS.numbered(number))
    }

    fn settled(self: Box<Self>, fate: Fate) -> Answer {
        match (fate, self.wrong) {
            (Fate::Undone, _) => BUSY.answer(),
            (Fate::Done, Some(NO_DATA)) => NO_DATA.answer(),
            (Fate::Done, Some(wrong)) => wrong.at(self.events),
            (Fate::Done, None) => {
                if let Some(self_ack) = self.ack {
                    AckNumber::done(self_ack)
                }
                SUCCESS.answer()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{NameId, Stamp};

    fn filled(body: &str, messages_max: usize) -> (Batch, Events, usize) {
        let names = Arc::new(Names::new(".splunk."));
        let body = Bytes::copy_from_slice(body.as_bytes());
        let mut events =
            Events { body, at: 0, events: 0, facts: EventFacts::default(), names, ack: None, wrong: None };
        let filling = Filling {
            now: Stamp { secs: 7, ..Stamp::default() },
            sender: "sender",
            bytes_max: 1 << 20,
            messages_max,
            keep_timestamp: true,
        };
        let mut batch = Batch::default();
        let mut turns = 1;
        while events.fill(&mut batch, &Filling { messages_max: messages_max * turns, ..filling }) {
            turns += 1;
        }
        (batch, events, turns)
    }

    fn value(batch: &Batch, index: usize, name: &str) -> String {
        let id = record::lookup(name).or_else(|| batch.names.known(name));
        let value = id.and_then(|id| batch.value(&batch.records[index], id));
        value.map(|value| String::from_utf8_lossy(value.bytes).into_owned()).unwrap_or_default()
    }

    #[test]
    fn half_a_surrogate_pair_costs_no_event() {
        let (batch, events, _) = filled("{\"event\":\"a\\ud800b\"}{\"event\":\"c\"}", 10);
        assert_eq!((events.events, events.wrong), (2, None));
        assert_eq!(value(&batch, 0, "MESSAGE"), "a\u{fffd}b");
    }

    #[test]
    fn events_become_messages() {
        let body = "{\"event\":\"one\",\"time\":1426279439.5,\"host\":\"web1\",\"source\":\"s\",\"sourcetype\":\"t\",\"index\":\"i\",\
                    \"fields\":{\"role\":\"a\\\"b\",\"n\":5}}\n{\"event\":{\"a\":[1,\"}\"]}} {\"time\":\"8\",\"event\":7}";
        let (batch, events, turns) = filled(body, 2);
        assert_eq!((events.events, events.wrong, turns), (3, None, 2));
        let text = |index: usize, name: NameId| {
            batch.value(&batch.records[index], name).map(|v| String::from_utf8_lossy(v.bytes).into_owned())
        };
        assert_eq!(text(0, NameId::MESSAGE).as_deref(), Some("one"));
        assert_eq!(text(1, NameId::MESSAGE).as_deref(), Some("{\"a\":[1,\"}\"]}"));
        assert_eq!(text(2, NameId::MESSAGE).as_deref(), Some("7"));
        assert_eq!([0, 1].map(|index| text(index, NameId::HOST).unwrap_or_default()), ["web1", "sender"]);
        assert_eq!(batch.records.iter().map(|r| r.stamp.secs).collect::<Vec<_>>(), [1_426_279_439, 7, 8]);
        for (name, expected) in
            [("index", "i"), ("source", "s"), ("sourcetype", "t"), ("role", "a\"b"), ("n", "5"), ("x", "")]
        {
            assert_eq!(value(&batch, 0, &format!(".splunk.{name}")), expected, "{name}");
        }
        assert_eq!(value(&batch, 1, ".splunk.index"), "");
    }

    #[test]
    fn what_is_wrong_is_said_of_the_first_wrong_event() {
        let check = |body: &str, expected: (usize, Reply)| {
            let (batch, events, _) = filled(body, 100);
            assert_eq!((events.events, events.wrong), (expected.0, Some(expected.1)), "{body}");
            assert_eq!(batch.records.len(), expected.0, "{body}");
        };
        check("", (0, NO_DATA));
        check(" \n", (0, NO_DATA));
        check("no", (0, INVALID_FORMAT));
        check("[{\"event\":1}]", (0, INVALID_FORMAT));
        check("{\"event\":1}{\"event\":", (1, INVALID_FORMAT));
        check("{\"event\":1}{\"evnt\":2}", (1, EVENT_REQUIRED));
        check("{\"event\":null}", (0, EVENT_REQUIRED));
        check("{\"event\":\"\"}", (0, EVENT_BLANK));
        check("{\"event\":1,\"fields\":7}", (0, INDEXED_FIELDS));
        check("{\"event\":1,\"fields\":{\"a\":{\"b\":1}}}", (0, INDEXED_FIELDS));
        check(&"{\"a\":".repeat(10_000), (0, INVALID_FORMAT));
    }
}
