//! Requests of S3, signed, on one connection.

use crate::answer::is_of_account;
use crate::server::Server;
use crate::sign::{Signed, signed_headers};
use bytes::Bytes;
use flight::Outcome;
use http_client::{Answer, Caller, Failure, Method, Question};
use std::sync::Arc;

/// A request as far as S3 has a say in it.
pub struct Ask {
    pub method: Method,
    /// Percent-encoded, from the bucket on.
    pub path: String,
    /// Percent-encoded, names in their order; empty without one.
    pub query: String,
    /// Names are lower case.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl Ask {
    pub fn new(method: Method, path: &str) -> Ask {
        let (query, headers, body) = (String::new(), Vec::new(), Bytes::new());
        Ask { method, path: path.to_owned(), query, headers, body }
    }

    pub fn query(mut self, query: String) -> Ask {
        self.query = query;
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Ask {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn body(mut self, body: Bytes) -> Ask {
        self.body = body;
        self
    }
}

pub struct Speaker {
    server: Arc<Server>,
    caller: Caller,
}

impl Speaker {
    pub fn new(server: &Arc<Server>) -> Speaker {
        let caller = Caller::new(Arc::clone(&server.network), server.url.clone());
        Speaker { server: Arc::clone(server), caller }
    }

    /// For bodies that are objects: whatever headers say of them, they are taken as they are.
    pub fn of_objects(server: &Arc<Server>) -> Speaker {
        let caller = Caller::new(Arc::clone(&server.network), server.url.clone()).raw();
        Speaker { server: Arc::clone(server), caller }
    }

    pub fn reopen(&mut self) {
        self.caller.reopen();
    }

    /// The server's answer, or what it means for the batch that there is none.
    pub async fn ask(&mut self, ask: Ask) -> Result<Answer, Outcome> {
        let server = Arc::clone(&self.server);
        let account = server.credentials.current().await?;
        let mut headers = ask.headers;
        headers.push(("host".to_owned(), server.url.authority.clone()));
        let signed = Signed {
            method: ask.method.as_str(),
            path: &ask.path,
            query: &ask.query,
            region: &server.region,
            service: "s3",
            headers: &headers,
            // Its digest costs as much as everything else that is done for a message.
            body: (!server.url.is_secure).then_some(&*ask.body),
        };
        let unsent = |name| Outcome::Hold(format!("the header {name} cannot be sent"));
        let headers = signed_headers(&signed, &account).map_err(unsent)?;
        let target = if ask.query.is_empty() { ask.path } else { format!("{}?{}", ask.path, ask.query) };
        let question = Question { method: ask.method, target, headers, body: ask.body };
        match self.caller.ask(&question, server.patience).await {
            Ok(answer) => {
                if is_of_account(&answer) {
                    server.credentials.forget().await;
                }
                Ok(answer)
            }
            Err(Failure::Away(why)) => Err(Outcome::Away(why)),
            Err(Failure::Unknown(why)) => Err(Outcome::Unknown(why)),
            Err(Failure::Stale) => {
                Err(Outcome::Away(format!("{}: the server hung up", server.url.authority)))
            }
        }
    }
}
