//! Requests to one server, one after the other, for clients that make them themselves.

use crate::answer::Answer;
use crate::connect::Network;
use crate::exchange::{Connection, Failure, Whole};
use crate::streamed::Streamed;
use crate::url::Url;
use crate::wire::Passed;
use hyper::body::Bytes;
use hyper::header::{HOST, HeaderMap, HeaderValue};
use hyper::{Method, Request, Uri};
use std::sync::Arc;
use std::time::Duration;

/// A request as it goes to the server: no header is added but `Host` and the length of the body.
#[derive(Clone, Debug)]
pub struct Question {
    pub method: Method,
    /// Path and query, encoded.
    pub target: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// Whoever asks, with the connection that it keeps.
pub struct Caller {
    network: Arc<Network>,
    url: Url,
    kept: Option<Connection>,
    /// Bodies are left as they come, compressed or not.
    is_raw: bool,
}

impl Caller {
    pub fn new(network: Arc<Network>, url: Url) -> Caller {
        Caller { network, url, kept: None, is_raw: false }
    }

    /// Whatever `Content-Encoding` says belongs to the body: it is one that somebody stored so, or a part of
    /// one.
    pub fn raw(mut self) -> Caller {
        self.is_raw = true;
        self
    }

    /// The next request goes over a new connection.
    pub fn reopen(&mut self) {
        self.kept = None;
    }

    /// Asks, and waits for the answer no longer than that.
    pub async fn ask(&mut self, question: &Question, patience: Duration) -> Result<Answer, Failure> {
        match tokio::time::timeout(patience, self.ask_anew(question)).await {
            Ok(answer) => answer,
            Err(_) => Err(Failure::Unknown(format!("{}: no answer", self.url.authority))),
        }
    }

    /// On a new connection where the one that was kept has ended meanwhile.
    async fn ask_anew(&mut self, question: &Question) -> Result<Answer, Failure> {
        if let Some(mut kept) = self.kept.take()
            && !kept.is_closed()
            && kept.is_ready().await
        {
            match self.ask_on(&mut kept, question).await {
                Err(Failure::Stale) => {}
                Ok(answer) => {
                    self.kept = answer.is_whole.then_some(kept);
                    return Ok(answer);
                }
                failed => return failed,
            }
        }
        let passed: Arc<Passed> = Arc::default();
        let wire = self.network.connect(&self.url, &passed).await?;
        let mut connection = Connection::new(wire, passed, &self.url).await?;
        let answer = self.ask_on(&mut connection, question).await?;
        self.kept = answer.is_whole.then_some(connection);
        Ok(answer)
    }

    async fn ask_on(&self, connection: &mut Connection, question: &Question) -> Result<Answer, Failure> {
        let request = self.request(question)?;
        connection.ask_for(request, question.body.len() as u64, self.is_raw).await
    }

    /// Asks on a connection of its own for what is read as it comes. The head of the answer has to be there
    /// within that time.
    pub async fn listen(&self, question: &Question, patience: Duration) -> Result<Streamed, Failure> {
        let begin = async {
            let passed: Arc<Passed> = Arc::default();
            let wire = self.network.connect(&self.url, &passed).await?;
            let mut connection = Connection::new(wire, passed, &self.url).await?;
            let begun = connection.begin(self.request(question)?, question.body.len() as u64).await?;
            Ok(Streamed::new(begun, connection))
        };
        match tokio::time::timeout(patience, begin).await {
            Ok(streamed) => streamed,
            Err(_) => Err(Failure::Unknown(format!("{}: no answer", self.url.authority))),
        }
    }

    fn request(&self, question: &Question) -> Result<Request<Whole>, Failure> {
        let wrong = |error: &dyn std::fmt::Display| Failure::Away(format!("`{}`: {error}", question.target));
        let mut request = Request::new(Whole::new(question.body.clone()));
        *request.method_mut() = question.method.clone();
        *request.uri_mut() = question.target.parse::<Uri>().map_err(|error| wrong(&error))?;
        *request.headers_mut() = question.headers.clone();
        let host = HeaderValue::from_str(&self.url.authority).map_err(|error| wrong(&error))?;
        request.headers_mut().entry(HOST).or_insert(host);
        Ok(request)
    }
}
