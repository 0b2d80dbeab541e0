//! What Elasticsearch answers, as far as clients of `_bulk` read it.

use http_server::Answer;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// Clients ask which version they speak to, and refuse what is no Elasticsearch.
const VERSION: &str = "8.19.0";

/// Why a document is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    Action,
    Index,
    Document,
}

/// One action of a request.
#[derive(Debug)]
pub struct Told {
    action: &'static str,
    pub index: Arc<str>,
    pub id: String,
    pub refusal: Option<Refusal>,
}

impl Told {
    pub fn new(action: &str, index: Arc<str>) -> Option<Told> {
        let action = ["index", "create", "update", "delete"].into_iter().find(|known| *known == action)?;
        Some(Told { action, index, id: String::new(), refusal: None })
    }

    /// Whether a line with a document follows.
    pub fn has_document(&self) -> bool {
        self.action != "delete"
    }

    /// What was sent is never changed here, and never taken away.
    pub fn is_taken(&self) -> bool {
        matches!(self.action, "index" | "create")
    }

    fn put(&self, out: &mut Vec<u8>, is_terse: bool) {
        put(out, &["{\"", self.action, "\":{"]);
        if is_terse && self.refusal.is_none() {
            return put(out, &["\"status\":201}}"]);
        }
        put(out, &["\"_index\":"]);
        put_string(out, &self.index);
        put(out, &[",\"_id\":"]);
        put_string(out, &self.id);
        let Some(refusal) = self.refusal else { return put(out, &[CREATED]) };
        let (kind, reason) = match refusal {
            Refusal::Action => ("illegal_argument_exception", "only index and create are taken here"),
            Refusal::Index => ("illegal_argument_exception", "an index is missing"),
            Refusal::Document => ("document_parsing_exception", "the document is no JSON object"),
        };
        put(out, &[",\"status\":400,\"error\":{\"type\":\"", kind, "\",\"reason\":\"", reason, "\"}}}"]);
    }
}

/// What an item's answer says behind its id.
const CREATED: &str = ",\"_version\":1,\"result\":\"created\",\"_shards\":{\"total\":1,\"successful\":1,\"failed\":0},\
                       \"_seq_no\":0,\"_primary_term\":1,\"status\":201}}";

fn put(out: &mut Vec<u8>, parts: &[&str]) {
    parts.iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
}

fn put_string(out: &mut Vec<u8>, text: &str) {
    // Text goes into a vector in any case.
    let _ = serde_json::to_writer(out, text);
}

/// An answer that says by its header what it comes from.
fn product(status: u16, body: impl Into<http_server::Bytes>) -> Answer {
    Answer::json(status, body).with_named("x-elastic-product", "Elasticsearch")
}

pub fn items(items: &[Told], took: Duration, is_terse: bool) -> Answer {
    product(200, items_text(items, took, is_terse))
}

fn items_text(items: &[Told], took: Duration, is_terse: bool) -> Vec<u8> {
    let errors = if items.iter().any(|item| item.refusal.is_some()) { "true" } else { "false" };
    let mut out = Vec::with_capacity(64 + items.len() * if is_terse { 32 } else { 256 });
    put(&mut out, &["{\"took\":", &took.as_millis().to_string(), ",\"errors\":", errors, ",\"items\":["]);
    for (at, item) in items.iter().enumerate() {
        put(&mut out, if at == 0 { &[] } else { &[","] });
        item.put(&mut out, is_terse);
    }
    put(&mut out, &["]}"]);
    out
}

fn error(status: u16, kind: &str, reason: &str) -> Answer {
    let cause = json!({ "type": kind, "reason": reason });
    let mut whole = cause.clone();
    if let Some(whole) = whole.as_object_mut() {
        whole.insert("root_cause".to_owned(), json!([cause]));
    }
    product(status, json!({ "error": whole, "status": status }).to_string())
}

pub fn wrong(reason: &str) -> Answer {
    error(400, "illegal_argument_exception", reason)
}

/// Clients send it again.
pub fn busy() -> Answer {
    error(503, "unavailable_shards_exception", "not everything could be delivered")
}

pub fn forbidden() -> Answer {
    error(401, "security_exception", "missing or wrong credentials")
        .with(http_server::header::WWW_AUTHENTICATE, "Basic realm=\"security\"")
}

pub fn nothing_here() -> Answer {
    error(404, "resource_not_found_exception", "there is nothing here but _bulk")
}

pub fn not_so() -> Answer {
    error(405, "method_not_allowed_exception", "not with this method")
}

/// Who answers.
pub fn greeting() -> Answer {
    product(
        200,
        json!({
            "name": "penstock", "cluster_name": "penstock", "cluster_uuid": "penstock",
            "version": {
                "number": VERSION, "build_flavor": "default", "build_type": "tar", "build_hash": "0", "build_snapshot": false,
                "lucene_version": "9.12.0", "minimum_wire_compatibility_version": "7.17.0",
                "minimum_index_compatibility_version": "7.0.0",
            },
            "tagline": "You Know, for Search",
        })
        .to_string(),
    )
}

/// Beats and Logstash look whether the licence lets them send.
pub fn license() -> Answer {
    product(
        200,
        json!({
            "license": { "status": "active", "uid": "penstock", "type": "basic", "mode": "basic" },
            "features": {},
        })
        .to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn items_are_said_in_the_words_of_elasticsearch() {
        let told = |action, id: &str, refusal| {
            let mut told = Told::new(action, "an \"index\"".into()).expect("an action");
            (told.id, told.refusal) = (id.to_owned(), refusal);
            told
        };
        let all = [
            told("index", "1", None),
            told("create", "\n\u{1}", None),
            told("delete", "2", Some(Refusal::Action)),
            told("index", "", Some(Refusal::Document)),
        ];
        let said = |items: &[Told], is_terse| -> Value {
            serde_json::from_slice(&items_text(items, Duration::from_millis(7), is_terse)).expect("JSON")
        };
        let whole = said(&all, false);
        assert_eq!((&whole["took"], &whole["errors"]), (&json!(7), &json!(true)));
        let created = json!({
            "_index": "an \"index\"", "_id": "\n\u{1}", "_version": 1, "result": "created", "status": 201,
            "_shards": { "total": 1, "successful": 1, "failed": 0 }, "_seq_no": 0, "_primary_term": 1,
        });
        assert_eq!(whole["items"][1], json!({ "create": created }));
        let error =
            json!({ "type": "document_parsing_exception", "reason": "the document is no JSON object" });
        let refused = json!({ "_index": "an \"index\"", "_id": "", "status": 400, "error": error });
        assert_eq!(whole["items"][3], json!({ "index": refused }));
        let terse = said(&all[..2], true);
        assert_eq!(terse["errors"], json!(false));
        assert_eq!(terse["items"], json!([{ "index": { "status": 201 } }, { "create": { "status": 201 } }]));
        assert_eq!(said(&all[2..3], true)["items"][0]["delete"]["status"], json!(400));
        assert_eq!(said(&[], false)["items"], json!([]));
    }
}
