//! Requests to a queue of SQS, in its protocol of JSON.

use super::fetch::{Missed, missed};
use super::messages::Told;
use crate::answer::outcome;
use crate::server::Server;
use crate::sign::{Signed, signed_headers};
use http_client::{Answer, Caller, Failure, Method, Question, Url};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// What one request may be about.
pub const ENTRIES_MAX: usize = 10;
/// The server waits so long for a message before it says that there is none.
const WAIT: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Queue {
    /// Where it is asked.
    pub url: Url,
    /// How it is called.
    pub name: String,
    pub region: String,
    /// A message that nothing was heard of for so long is given to somebody else.
    pub ack_deadline: Duration,
}

/// A message that has come.
#[derive(Debug, PartialEq, Eq)]
pub struct Received {
    pub receipt: String,
    pub body: String,
}

pub struct Clerk {
    server: Arc<Server>,
    queue: Arc<Queue>,
    caller: Caller,
}

impl Clerk {
    pub fn new(server: &Arc<Server>, queue: &Arc<Queue>) -> Clerk {
        let caller = Caller::new(Arc::clone(&server.network), queue.url.clone());
        Clerk { server: Arc::clone(server), queue: Arc::clone(queue), caller }
    }

    pub async fn receive(&mut self) -> Result<Vec<Received>, Missed> {
        let body = json!({
            "QueueUrl": self.queue.name,
            "MaxNumberOfMessages": ENTRIES_MAX,
            "WaitTimeSeconds": WAIT.as_secs(),
            "VisibilityTimeout": self.queue.ack_deadline.as_secs(),
        });
        let answer = self.ask("ReceiveMessage", &body).await?;
        received(&answer.body).ok_or_else(|| missed(outcome(&answer)))
    }

    /// Deletes messages; those that it may be asked for again.
    pub async fn delete(&mut self, told: &[Told]) -> Result<Vec<Told>, Missed> {
        self.tell("DeleteMessageBatch", told, None).await
    }

    /// They are to be given to nobody else for so long; 0: to anybody.
    pub async fn extend(&mut self, told: &[Told], time: Duration) -> Result<Vec<Told>, Missed> {
        self.tell("ChangeMessageVisibilityBatch", told, Some(time)).await
    }

    async fn tell(
        &mut self,
        action: &str,
        told: &[Told],
        time: Option<Duration>,
    ) -> Result<Vec<Told>, Missed> {
        let entry = |(at, told): (usize, &Told)| match time {
            None => json!({"Id": at.to_string(), "ReceiptHandle": told.receipt}),
            Some(time) => {
                json!({"Id": at.to_string(), "ReceiptHandle": told.receipt, "VisibilityTimeout": time.as_secs()})
            }
        };
        let entries: Vec<Value> = told.iter().enumerate().map(entry).collect();
        let answer = self.ask(action, &json!({"QueueUrl": self.queue.name, "Entries": entries})).await?;
        let failed = failed(&answer.body).into_iter();
        Ok(failed.filter_map(|at| told.get(at).cloned()).collect())
    }

    async fn ask(&mut self, action: &str, body: &Value) -> Result<Answer, Missed> {
        let account = self.server.credentials.current().await.map_err(missed)?;
        let body = body.to_string();
        let headers = [
            ("content-type".to_owned(), "application/x-amz-json-1.0".to_owned()),
            ("host".to_owned(), self.queue.url.authority.clone()),
            ("x-amz-target".to_owned(), format!("AmazonSQS.{action}")),
        ];
        let signed = Signed {
            method: "POST",
            path: "/",
            query: "",
            region: &self.queue.region,
            service: "sqs",
            headers: &headers,
            body: Some(body.as_bytes()),
        };
        let unsent = |name| Missed::Now { why: format!("the header {name} cannot be sent"), after: None };
        let headers = signed_headers(&signed, &account).map_err(unsent)?;
        let question = Question { method: Method::POST, target: "/".to_owned(), headers, body: body.into() };
        match self.caller.ask(&question, PATIENCE).await {
            Ok(answer) if answer.is_success() && answer.is_whole => Ok(answer),
            Ok(answer) => {
                if is_of_account(&answer) {
                    self.server.credentials.forget().await;
                }
                Err(Missed::Now { after: answer.retry_after, why: answer.words() })
            }
            Err(Failure::Away(why) | Failure::Unknown(why)) => Err(Missed::Now { why, after: None }),
            Err(Failure::Stale) => Err(Missed::Now { why: "the server hung up".to_owned(), after: None }),
        }
    }
}

/// New credentials may mend it.
fn is_of_account(answer: &Answer) -> bool {
    let value: Option<Value> = serde_json::from_slice(&answer.body).ok();
    let kind = value.as_ref().and_then(|value| value.get("__type")?.as_str()).unwrap_or_default();
    ["ExpiredToken", "InvalidClientTokenId", "UnrecognizedClient", "InvalidSecurity"]
        .iter()
        .any(|name| kind.contains(name))
}

/// The messages of an answer. `None`: it is none.
pub fn received(body: &[u8]) -> Option<Vec<Received>> {
    let value: Value = serde_json::from_slice(body).ok()?;
    value.as_object()?;
    let all = value.get("Messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let read = |message: &Value| {
        let part = |name: &str| message.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Received { receipt: part("ReceiptHandle")?, body: part("Body").unwrap_or_default() })
    };
    Some(all.iter().filter_map(read).collect())
}

/// Which entries of a request failed through no fault of ours.
fn failed(body: &[u8]) -> Vec<usize> {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    let all = value.get("Failed").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_ours = |entry: &&Value| entry.get("SenderFault").and_then(Value::as_bool).unwrap_or(false);
    let all = all.iter().filter(|entry| !is_ours(entry));
    all.filter_map(|entry| entry.get("Id")?.as_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_client::HeaderMap;

    #[test]
    fn answers() {
        let body =
            br#"{"Messages":[{"MessageId":"1","ReceiptHandle":"r","Body":"b"},{"Body":"no receipt"}]}"#;
        assert_eq!(received(body), Some(vec![Received { receipt: "r".into(), body: "b".into() }]));
        assert_eq!((received(b"{}"), received(b"<Error/>"), received(b"[]")), (Some(vec![]), None, None));
        let body = br#"{"Successful":[{"Id":"0"}],"Failed":[{"Id":"1","SenderFault":false},{"Id":"2","SenderFault":true},{"Id":"x"}]}"#;
        assert_eq!(failed(body), [1]);
        assert!(failed(b"x").is_empty());
        let expired = Answer::raw(
            403,
            HeaderMap::new(),
            br#"{"__type":"com.amazon#ExpiredTokenException"}"#.to_vec(),
            true,
        );
        assert!(is_of_account(&expired));
    }
}
