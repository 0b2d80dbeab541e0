//! What Elasticsearch answers, as far as clients of `_bulk` read it.

use http_server::Answer;
use serde_json::{Value, json};
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
    pub index: String,
    pub id: String,
    pub refusal: Option<Refusal>,
}

impl Told {
    pub fn new(action: &str, index: String) -> Option<Told> {
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

    fn said(&self, is_terse: bool) -> Value {
        let result = match self.refusal {
            None if is_terse => json!({ "status": 201 }),
            None => json!({
                "_index": self.index, "_id": self.id, "_version": 1, "result": "created", "status": 201,
                "_shards": { "total": 1, "successful": 1, "failed": 0 }, "_seq_no": 0, "_primary_term": 1,
            }),
            Some(refusal) => {
                let (kind, reason) = match refusal {
                    Refusal::Action => ("illegal_argument_exception", "only index and create are taken here"),
                    Refusal::Index => ("illegal_argument_exception", "an index is missing"),
                    Refusal::Document => ("document_parsing_exception", "the document is no JSON object"),
                };
                let error = json!({ "type": kind, "reason": reason });
                json!({ "_index": self.index, "_id": self.id, "status": 400, "error": error })
            }
        };
        json!({ self.action: result })
    }
}

/// An answer that says by its header what it comes from.
fn product(status: u16, value: &Value) -> Answer {
    Answer::json(status, value.to_string()).with_named("x-elastic-product", "Elasticsearch")
}

pub fn items(items: &[Told], took: Duration, is_terse: bool) -> Answer {
    let errors = items.iter().any(|item| item.refusal.is_some());
    let said: Vec<Value> = items.iter().map(|item| item.said(is_terse)).collect();
    product(200, &json!({ "took": took.as_millis() as u64, "errors": errors, "items": said }))
}

fn error(status: u16, kind: &str, reason: &str) -> Answer {
    let cause = json!({ "type": kind, "reason": reason });
    let mut whole = cause.clone();
    if let Some(whole) = whole.as_object_mut() {
        whole.insert("root_cause".to_owned(), json!([cause]));
    }
    product(status, &json!({ "error": whole, "status": status }))
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
        &json!({
            "name": "penstock", "cluster_name": "penstock", "cluster_uuid": "penstock",
            "version": {
                "number": VERSION, "build_flavor": "default", "build_type": "tar", "build_hash": "0", "build_snapshot": false,
                "lucene_version": "9.12.0", "minimum_wire_compatibility_version": "7.17.0",
                "minimum_index_compatibility_version": "7.0.0",
            },
            "tagline": "You Know, for Search",
        }),
    )
}

/// Beats and Logstash look whether the licence lets them send.
pub fn license() -> Answer {
    product(
        200,
        &json!({
            "license": { "status": "active", "uid": "penstock", "type": "basic", "mode": "basic" },
            "features": {},
        }),
    )
}
