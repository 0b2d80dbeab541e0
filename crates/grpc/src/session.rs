//! What runs for one outlet: it takes batches one after the other, calls the server with each, and says what
//! became of them.

use crate::connection::{Connection, Failure, Reply};
use crate::frame;
use crate::judge::{usual, without};
use crate::plan::{Load, Plan};
use crate::status::Code;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use flight::Outcome;
use guest::{Answer, Jobs, Order};
use http_client::proof::account::Claim;
use http_client::{HeaderMap, HeaderValue, HeaderValueOf, Method, header, keys};
use hyper::body::Bytes;
use hyper::{Request, Uri};
use std::sync::Arc;
use std::time::SystemTime;

/// The header that says how long a call may take.
const TIMEOUT: &str = "grpc-timeout";

/// Serves an outlet until it is closed.
pub async fn serve(plan: Arc<Plan>, jobs: Jobs<Load>) {
    let mut caller = Caller::new(plan);
    while let Some(order) = jobs.next().await {
        match order {
            Order::Reopen => caller.reopen(),
            Order::Send(job) => {
                let messages = job.load.messages;
                if !job.load.refused.is_empty() {
                    job.answer.say(without(messages, &job.load.refused));
                    continue;
                }
                let call = Call::of(job.load);
                let path = call.path;
                let outcome = match caller.ask(call).await {
                    Ok(reply) => {
                        caller.say_where(&job.answer, path, &reply);
                        caller.outcome(&reply, messages)
                    }
                    Err(outcome) => outcome,
                };
                job.answer.say(outcome);
            }
        }
    }
}

/// Calls a server, over one connection.
pub struct Caller {
    plan: Arc<Plan>,
    kept: Option<Connection>,
    /// Calls that were answered.
    calls: u64,
}

/// A call before it has its headers.
pub struct Call {
    /// `/package.Service/Method`.
    pub path: &'static str,
    /// In its frame.
    pub message: Vec<u8>,
    /// The expanded templates that its messages have in common.
    pub key: Vec<u8>,
    /// What Google's servers find their way by, where they ask for it.
    pub params: Option<String>,
}

impl Call {
    fn of(load: Load) -> Call {
        Call { path: load.path, message: load.message, key: load.key, params: None }
    }
}

/// A call as it goes out, once or again.
pub struct Ask {
    uri: Uri,
    headers: HeaderMap,
    message: Bytes,
}

impl Caller {
    pub fn new(plan: Arc<Plan>) -> Caller {
        Caller { plan, kept: None, calls: 0 }
    }

    pub fn reopen(&mut self) {
        self.kept = None;
    }

    /// What the server says, or what it means for a batch that it says nothing.
    pub async fn ask(&mut self, call: Call) -> Result<Reply, Outcome> {
        let plan = Arc::clone(&self.plan);
        let mut ask = Ask::of(&plan, call).map_err(Outcome::Refused)?;
        ask.prove(&plan).await?;
        let reply = self.answered(&ask).await?;
        if reply.status.code == Code::UNAUTHENTICATED && ask.is_doubted(&plan).await {
            ask.prove(&plan).await?;
            return self.answered(&ask).await;
        }
        Ok(reply)
    }

    async fn answered(&mut self, ask: &Ask) -> Result<Reply, Outcome> {
        match tokio::time::timeout(self.plan.timeout, self.call(ask)).await {
            Ok(Ok(reply)) => {
                self.calls += 1;
                Ok(reply)
            }
            Ok(Err(Failure::Unknown(why))) => Err(Outcome::Unknown(why)),
            Ok(Err(Failure::Away(why))) => Err(Outcome::Away(why)),
            Ok(Err(Failure::Stale)) => {
                Err(Outcome::Away(format!("{}: the server hung up", self.plan.url.authority)))
            }
            Err(_) => {
                let written = self.kept.take().map_or(0, |connection| connection.passed.written());
                let why = format!("{}: no answer within timeout()", self.plan.url.authority);
                Err(if written == 0 { Outcome::Away(why) } else { Outcome::Unknown(why) })
            }
        }
    }

    /// Where a batch went whose messages somebody follows: the call that brought it, by its number among
    /// those that were answered, and what the server said of it.
    pub fn say_where(&self, answer: &Answer, path: &str, reply: &Reply) {
        let read = self.plan.ids.filter(|_| answer.is_followed());
        let ids = read.map(|ids| self.answer(reply).map(|message| ids(&message)).unwrap_or_default());
        answer.is_at(|at| {
            let id = ids.as_ref().and_then(|ids| ids.get(at)).map(|id| ("id", id.as_str().into()));
            let call = [
                ("server", self.plan.url.authority.as_str().into()),
                ("method", path.into()),
                ("status", reply.status.code.name().into()),
                ("call", self.calls.into()),
            ];
            call.into_iter().chain(id)
        });
    }

    /// The message of an answer that is a success, or what another one means.
    pub fn answer(&self, reply: &Reply) -> Result<Vec<u8>, Outcome> {
        if let Some(outcome) = self.plan.actions.outcome(&reply.status) {
            return Err(outcome);
        }
        if reply.status.code != Code::OK {
            return Err(usual(&reply.status));
        }
        match frame::next(&reply.body, self.plan.answer_bytes_max) {
            Ok(Some((message, _))) => Ok(message.into_bytes()),
            // Nothing is what a message without fields is.
            Ok(None) => Ok(Vec::new()),
            Err(why) => Err(Outcome::Unknown(format!("{}: {why}", self.plan.url.authority))),
        }
    }

    fn outcome(&self, reply: &Reply, messages: usize) -> Outcome {
        match self.answer(reply) {
            Ok(message) => (self.plan.read)(&message, messages),
            Err(outcome) => outcome,
        }
    }

    /// On the connection that was kept, or on a new one where that has ended meanwhile.
    async fn call(&mut self, ask: &Ask) -> Result<Reply, Failure> {
        let plan = Arc::clone(&self.plan);
        loop {
            if self.kept.as_ref().is_none_or(Connection::is_closed) {
                self.kept = Some(Connection::open(&plan).await?);
            }
            let Some(connection) = &mut self.kept else { continue };
            match connection.call(ask.request(ask.message.clone()), &plan).await {
                Ok(reply) => return Ok(reply),
                Err(failure) => {
                    self.kept = None;
                    if !matches!(failure, Failure::Stale) {
                        return Err(failure);
                    }
                }
            }
        }
    }
}

impl Ask {
    pub fn of(plan: &Plan, call: Call) -> Result<Ask, String> {
        let scheme = if plan.url.is_secure { "https" } else { "http" };
        let authority = plan.authority.as_deref().unwrap_or(&plan.url.authority);
        let uri = format!("{scheme}://{authority}{}", call.path);
        let uri = uri.parse().map_err(|error| format!("`{uri}` is no address: {error}"))?;
        let message = if plan.compresses { frame::packed(&call.message) } else { call.message };
        let mut headers = headers(plan, &call.key)?;
        if let Some(account) = &plan.account {
            let service = call.path.rsplit_once('/').map_or("", |(service, _)| service);
            let host = authority.strip_suffix(":443").unwrap_or(authority);
            let claim = Claim::Audience(format!("https://{host}{service}"));
            let words = account.authorization(&claim, SystemTime::now())?;
            let mut words = HeaderValue::from_str(&words).map_err(|error| error.to_string())?;
            words.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, words);
        }
        if let Some(params) = &call.params {
            let params = HeaderValue::from_str(params).map_err(|error| error.to_string())?;
            headers.insert("x-goog-request-params", params);
        }
        Ok(Ask { uri, headers, message: message.into() })
    }

    /// Adds what shows who calls.
    pub async fn prove(&mut self, plan: &Plan) -> Result<(), Outcome> {
        match &plan.proof {
            Some(proof) => proof.add(&mut self.headers, self.message.len(), Some(plan.timeout)).await,
            None => Ok(()),
        }
    }

    /// The server has not believed it. `true`: another proof may do.
    pub async fn is_doubted(&self, plan: &Plan) -> bool {
        match &plan.proof {
            Some(proof) => proof.refused(&self.headers).await,
            None => false,
        }
    }

    /// Without a time by which it has to be over.
    pub fn endless(mut self) -> Ask {
        self.headers.remove(TIMEOUT);
        self
    }

    pub fn request<B>(&self, body: B) -> Request<B> {
        let mut request = Request::new(body);
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        request
    }
}

/// The headers of a call. A value that was expanded and cannot be one is cleaned.
fn headers(plan: &Plan, key: &[u8]) -> Result<HeaderMap, String> {
    let text = |text: &str| HeaderValue::from_str(text).map_err(|error| error.to_string());
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers.insert(header::TE, HeaderValue::from_static("trailers"));
    headers.insert(header::USER_AGENT, text(&plan.user_agent)?);
    headers.insert("grpc-accept-encoding", HeaderValue::from_static("identity,gzip"));
    headers.insert(TIMEOUT, text(&format!("{}S", plan.timeout.as_secs().clamp(1, 99_999_999)))?);
    if plan.compresses {
        headers.insert("grpc-encoding", HeaderValue::from_static("gzip"));
    }
    let mut parts = keys(key).skip(plan.headers_from);
    for (name, value) in &plan.headers {
        let value = match value {
            HeaderValueOf::Fixed(value) => value.clone(),
            HeaderValueOf::Key if name.as_str().ends_with("-bin") => {
                text(&STANDARD_NO_PAD.encode(parts.next().unwrap_or_default()))?
            }
            HeaderValueOf::Key => {
                let clean = |byte: &u8| if matches!(*byte, b' '..=b'~') { *byte } else { b' ' };
                let value: Vec<u8> = parts.next().unwrap_or_default().iter().map(clean).collect();
                HeaderValue::from_bytes(value.trim_ascii()).map_err(|error| error.to_string())?
            }
        };
        headers.append(name.clone(), value);
    }
    Ok(headers)
}
