//! The lines of a `_bulk`: an action, then its document.

use super::reply::{self, Refusal, Told};
use http_server::{Answer, Bytes};
use intake::json_string::string;
use intake::requests::{Fate, Filling, Load};
use record::{Batch, NameId, Record, Span, ValueType};
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use wire::json_parts::Members;

/// Documents of one request.
const ITEMS_MAX: usize = 1 << 20;

/// How values are called.
pub struct Names {
    index: Option<NameId>,
    id: Option<NameId>,
}

impl Names {
    pub fn new(prefix: &str) -> Names {
        let name = |key: &str| record::intern(&format!("{prefix}{key}"));
        Names { index: name("index"), id: name("id") }
    }
}

pub struct Documents {
    pub body: Bytes,
    /// Read up to here.
    pub at: usize,
    /// Of documents that name none.
    pub index: Arc<str>,
    pub items: Vec<Told>,
    /// The client wants to know the statuses only.
    pub is_terse: bool,
    pub names: Arc<Names>,
    pub began: Instant,
    /// The same in microseconds since 1970.
    pub came: u64,
    /// What is wrong with the request as a whole, from here on.
    pub wrong: Option<String>,
}

impl Documents {
    /// The next line, without its end. `None` at the end.
    fn line(&mut self) -> Option<Bytes> {
        let rest = self.body.get(self.at..).filter(|rest| !rest.is_empty())?;
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = self.body.slice(self.at..self.at + end);
        self.at += end + 1;
        Some(line)
    }

    /// The next action with its document. `None` at the end.
    fn next(&mut self, batch: &mut Batch, filling: &Filling<'_>) -> Result<bool, String> {
        let line = loop {
            match self.line() {
                None => return Ok(false),
                Some(line) if line.trim_ascii().is_empty() => {}
                Some(line) => break line,
            }
        };
        let number = self.items.len() + 1;
        let malformed = || format!("Malformed action/metadata line of item {number}");
        let text = std::str::from_utf8(&line).ok().filter(|text| is_json(text)).ok_or_else(malformed)?;
        let (action, meta) =
            Members::of(text).and_then(|mut members| members.next()).ok_or_else(malformed)?;
        let mut item = Told::new(action, Arc::clone(&self.index)).ok_or_else(malformed)?;
        for (name, raw) in Members::of(meta).ok_or_else(malformed)? {
            match name {
                "_index" => item.index = self.same_as_before(string(raw)),
                "_id" if raw != "null" => item.id = string(raw).into_owned(),
                _ => {}
            }
        }
        if self.items.len() >= ITEMS_MAX {
            return Err(format!("more than {ITEMS_MAX} items in one request"));
        }
        let document = match item.has_document() {
            true => Some(self.line().ok_or_else(malformed)?),
            false => None,
        };
        item.refusal = match document {
            _ if !item.is_taken() => Some(Refusal::Action),
            _ if item.index.is_empty() => Some(Refusal::Index),
            Some(document) => self.append(&mut item, document.trim_ascii(), batch, filling),
            None => Some(Refusal::Document),
        };
        self.items.push(item);
        Ok(true)
    }

    /// Documents of one request mostly go to one index.
    fn same_as_before(&self, index: Cow<'_, str>) -> Arc<str> {
        match self.items.last().filter(|last| *last.index == *index) {
            Some(last) => Arc::clone(&last.index),
            None => index.into(),
        }
    }

    fn append(
        &self,
        item: &mut Told,
        document: &[u8],
        batch: &mut Batch,
        filling: &Filling<'_>,
    ) -> Option<Refusal> {
        let is_object = document.first() == Some(&b'{');
        if !is_object || !std::str::from_utf8(document).is_ok_and(is_json) {
            return Some(Refusal::Document);
        }
        if item.id.is_empty() {
            item.id = fresh_id(self.came);
        }
        let index = batch.records.len();
        let mut record = Record::new(Span::EMPTY);
        record.message = batch.append(document).set();
        record.host = batch.append(filling.sender.as_bytes());
        record.stamp = filling.now;
        record.origin = index as u32;
        batch.records.push(record);
        for (name, value) in [(self.names.index, &*item.index), (self.names.id, &*item.id)] {
            if let Some(name) = name {
                batch.set(index, name, value.as_bytes(), ValueType::String);
            }
        }
        None
    }
}

impl Load for Documents {
    fn fill(&mut self, batch: &mut Batch, filling: &Filling<'_>) -> bool {
        while !filling.is_full(batch) {
            match self.next(batch, filling) {
                Ok(true) => {}
                Ok(false) => return false,
                Err(wrong) => {
                    self.wrong = Some(wrong);
                    return false;
                }
            }
        }
        true
    }

    fn taken(&mut self) -> Option<Answer> {
        None
    }

    fn settled(self: Box<Self>, fate: Fate) -> Answer {
        match (fate, &self.wrong) {
            (Fate::Undone, _) => reply::busy(),
            (Fate::Done, Some(wrong)) => reply::wrong(wrong),
            (Fate::Done, None) if self.items.is_empty() => reply::wrong("request body is required"),
            (Fate::Done, None) => reply::items(&self.items, self.began.elapsed(), self.is_terse),
        }
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// For a document that comes without: when it came, and a number.
fn fresh_id(came: u64) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{came:013x}{:07x}", NEXT.fetch_add(1, Ordering::Relaxed) & 0xfff_ffff)
}

pub fn now_micros() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Stamp;

    fn filled(body: &str, index: Option<&str>) -> (Batch, Documents) {
        let mut documents = Documents {
            body: Bytes::copy_from_slice(body.as_bytes()),
            at: 0,
            index: index.unwrap_or_default().into(),
            items: Vec::new(),
            is_terse: false,
            names: Arc::new(Names::new(".elasticsearch.")),
            began: Instant::now(),
            came: now_micros(),
            wrong: None,
        };
        let mut batch = Batch::default();
        let filling = Filling {
            now: Stamp::default(),
            sender: "sender",
            bytes_max: 1 << 20,
            messages_max: 1000,
            keep_timestamp: true,
        };
        assert!(!documents.fill(&mut batch, &filling));
        (batch, documents)
    }

    #[test]
    fn each_item_is_judged_by_itself() {
        let body = "{\"index\":{\"_index\":\"a\",\"_id\":\"1\"}}\n{\"x\":\"\\n\"}\n{\"create\":{}}\r\n{\"y\":2}\r\n\n\
                    {\"update\":{\"_index\":\"a\",\"_id\":\"1\"}}\n{\"doc\":{}}\n{\"delete\":{\"_index\":\"a\",\"_id\":\"1\"}}\n\
                    {\"index\":{\"_index\":\"a\"}}\n{\"x\":\n{\"index\":{\"_index\":\"a\"}}\n{\"z\":3}";
        let (batch, documents) = filled(body, Some("general"));
        let refusals: Vec<Option<Refusal>> = documents.items.iter().map(|item| item.refusal).collect();
        let action = Some(Refusal::Action);
        assert_eq!(refusals, [None, None, action, action, Some(Refusal::Document), None]);
        assert_eq!(documents.wrong, None);
        let texts: Vec<&[u8]> = batch.records.iter().map(|record| batch.bytes(record.message)).collect();
        assert_eq!(texts, [&b"{\"x\":\"\\n\"}"[..], b"{\"y\":2}", b"{\"z\":3}"]);
        assert_eq!((&*documents.items[1].index, documents.items[0].id.as_str()), ("general", "1"));
        let ids: std::collections::BTreeSet<&str> = documents.items.iter().map(|item| &*item.id).collect();
        assert!(ids.len() >= 4 && documents.items[5].id.len() == 20, "{ids:?}");
    }

    #[test]
    fn a_line_that_is_no_action_ends_the_request() {
        for body in [
            "no\n{}\n",
            "{}\n{}\n",
            "{\"index\":7}\n{}\n",
            "{\"drop\":{}}\n{}\n",
            "{\"index\":{}}",
            "[1]\n",
            "\u{1}",
        ] {
            let (batch, documents) = filled(&format!("{{\"index\":{{}}}}\n{{}}\n{body}"), Some("i"));
            assert!(
                documents.wrong.as_ref().is_some_and(|why| why.contains("item 2")),
                "{body}: {:?}",
                documents.wrong
            );
            assert_eq!(batch.records.len(), 1, "{body}");
        }
        assert_eq!(filled("{\"index\":{}}\n{}\n", None).1.items[0].refusal, Some(Refusal::Index));
    }
}
