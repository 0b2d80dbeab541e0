//! What a message of a queue tells of: notifications of S3, as they come from S3 itself, through a topic of
//! SNS, or from EventBridge.

use http_client::percent_decoded;
use serde_json::Value;

/// An object that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    pub bucket: String,
    pub key: String,
    /// Without quotes; empty where it is not said.
    pub tag: String,
    /// `None` where it is not said.
    pub size: Option<u64>,
    pub sequence: String,
}

/// Topics in topics are not followed further.
const DEPTH_MAX: usize = 3;

/// The objects, of which there may be none: a test, or one that was deleted. `None`: it is no such message.
pub fn read(body: &[u8]) -> Option<Vec<Made>> {
    read_at(body, 0)
}

fn read_at(body: &[u8], depth: usize) -> Option<Vec<Made>> {
    let value: Value = serde_json::from_slice(body).ok()?;
    if let Some(records) = value.get("Records").and_then(Value::as_array) {
        let is_of_s3 = |record: &&Value| record.get("s3").is_some();
        let all: Vec<&Value> = records.iter().filter(is_of_s3).collect();
        if all.len() != records.len() {
            return None;
        }
        let is_made = |record: &&Value| text(record, "eventName").starts_with("ObjectCreated:");
        return all.into_iter().filter(is_made).map(record).collect();
    }
    if text(&value, "Event") == "s3:TestEvent" {
        return Some(Vec::new());
    }
    if text(&value, "Type") == "Notification" && depth < DEPTH_MAX {
        return read_at(value.get("Message")?.as_str()?.as_bytes(), depth + 1);
    }
    if text(&value, "source") == "aws.s3" {
        return match text(&value, "detail-type") {
            "Object Created" => bridged(value.get("detail")?).map(|made| vec![made]),
            _ => Some(Vec::new()),
        };
    }
    None
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Names are encoded as in forms.
fn record(record: &Value) -> Option<Made> {
    let s3 = record.get("s3")?;
    let object = s3.get("object")?;
    let key = object.get("key")?.as_str()?.replace('+', " ");
    Some(Made {
        bucket: s3.get("bucket")?.get("name")?.as_str()?.to_owned(),
        key: percent_decoded(key.as_bytes()),
        tag: text(object, "eTag").to_owned(),
        size: object.get("size").and_then(Value::as_u64),
        sequence: text(object, "sequencer").to_owned(),
    })
}

/// Names are as they are.
fn bridged(detail: &Value) -> Option<Made> {
    let object = detail.get("object")?;
    Some(Made {
        bucket: detail.get("bucket")?.get("name")?.as_str()?.to_owned(),
        key: object.get("key")?.as_str()?.to_owned(),
        tag: text(object, "etag").to_owned(),
        size: object.get("size").and_then(Value::as_u64),
        sequence: text(object, "sequencer").to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PUT: &str = r#"{"Records":[{"eventVersion":"2.1","eventSource":"aws:s3","eventName":"ObjectCreated:Put","s3":{"s3SchemaVersion":"1.0",
        "bucket":{"name":"b","arn":"arn:aws:s3:::b"},"object":{"key":"a/x+y%2B%C3%A9","size":7,"eTag":"f0","sequencer":"0055"}}},
        {"eventName":"ObjectRemoved:Delete","s3":{"bucket":{"name":"b"},"object":{"key":"gone"}}}]}"#;

    fn made() -> Made {
        Made {
            bucket: "b".into(),
            key: "a/x y+\u{e9}".into(),
            tag: "f0".into(),
            size: Some(7),
            sequence: "0055".into(),
        }
    }

    #[test]
    fn notifications() {
        assert_eq!(read(PUT.as_bytes()), Some(vec![made()]));
        let wrapped = serde_json::json!({"Type": "Notification", "Message": PUT}).to_string();
        assert_eq!(read(wrapped.as_bytes()), Some(vec![made()]));
        let test = br#"{"Service":"Amazon S3","Event":"s3:TestEvent","Bucket":"b"}"#;
        assert_eq!(read(test), Some(Vec::new()));
        let bridged = serde_json::json!({"source": "aws.s3", "detail-type": "Object Created", "detail":
            {"bucket": {"name": "b"}, "object": {"key": "a/x y+\u{e9}", "size": 7, "etag": "f0", "sequencer": "0055"}}});
        assert_eq!(read(bridged.to_string().as_bytes()), Some(vec![made()]));
        let deleted = br#"{"source":"aws.s3","detail-type":"Object Deleted","detail":{}}"#;
        assert_eq!(read(deleted), Some(Vec::new()));
        for other in [
            &b"x"[..],
            b"{}",
            b"[]",
            br#"{"Records":[{}]}"#,
            br#"{"Records":[{"eventName":"ObjectCreated:Put","s3":{}}]}"#,
        ] {
            assert_eq!(read(other), None, "{}", String::from_utf8_lossy(other));
        }
    }

    proptest! {
        #[test]
        fn names_come_back(key in "[ -~\u{e9}\u{1f600}]{1,30}") {
            let form = crate::name::encoded(key.as_bytes(), true).replace("%20", "+");
            let event = serde_json::json!({"Records": [{"eventName": "ObjectCreated:Copy", "s3": {"bucket": {"name": "b"}, "object": {"key": form}}}]});
            let found = read(event.to_string().as_bytes()).expect("a notification");
            prop_assert_eq!(&found[0].key, &key);
        }
    }
}
