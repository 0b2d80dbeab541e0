//! What runs for one outlet: it takes batches one after the other, asks a server, and says what became of
//! them.

use crate::acks::{self, Acks};
use crate::answer::Answer;
use crate::channel::Way;
use crate::connect::basic;
use crate::exchange::{Connection, Failure, Whole};
use crate::extra;
use crate::judge::Whereabouts;
use crate::plan::{HeaderValueOf, Plan, UrlOf};
use crate::request::{Load, keys};
use crate::url::Url;
use crate::wire::Passed;
use diag::Fault;
use flight::Outcome;
use guest::{Jobs, Order};
use hyper::header::{AUTHORIZATION, CONTENT_ENCODING, HOST, HeaderMap, HeaderValue, PROXY_AUTHORIZATION};
use hyper::{Request, Uri};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Connections that are kept for the next request, each to another server.
const KEPT_MAX: usize = 16;
/// How long a connection may take to be done with a request that is answered.
const DONE_MAX: Duration = Duration::from_millis(200);
/// Redirects of one request.
const REDIRECTS_MAX: usize = 3;

/// Serves an outlet until it is closed.
pub async fn serve(plan: Arc<Plan>, jobs: Jobs<Load>) {
    let acks = plan.acks.map(Acks::new);
    let mut session = Session {
        plan,
        kept: Vec::new(),
        passed: Arc::default(),
        acks,
        way: None,
        said: Vec::new(),
        is_followed: false,
        asked: None,
        places: Vec::new(),
        requests: 0,
    };
    loop {
        let order = match session.acks.as_ref().and_then(Acks::next) {
            None => jobs.next().await,
            Some(at) => match tokio::time::timeout_at(at.into(), jobs.next()).await {
                Ok(order) => order,
                Err(_) => {
                    session.ask_for_acks().await;
                    continue;
                }
            },
        };
        match order {
            None => return,
            Some(Order::Reopen) => session.kept.clear(),
            Some(Order::Send(job)) => {
                session.way = None;
                (session.asked, session.is_followed) = (None, job.answer.is_followed());
                let outcome = session.deliver(job.load).await;
                session.say_where(&job.answer);
                session.say(outcome, job.answer);
            }
        }
    }
}

struct Session {
    plan: Arc<Plan>,
    kept: Vec<Connection>,
    /// Of the connection that the request in hand is on.
    passed: Arc<Passed>,
    /// With `ack(yes)`.
    acks: Option<Acks>,
    /// Then: which way the last request went, and the body of the answer to it.
    way: Option<Way>,
    said: Vec<u8>,
    /// Somebody follows a message of the batch in hand.
    is_followed: bool,
    /// Who answered it last, and the status.
    asked: Option<(Url, u16)>,
    /// Then: where it has put each message, as far as it says that.
    places: Vec<Whereabouts>,
    /// Requests that were answered.
    requests: u64,
}

/// A request as it goes to any server.
struct Ask {
    body: Whole,
    headers: HeaderMap,
}

/// Without timeout(): how long a server may take to say which batches are safe.
const ACKS_MAX: Duration = Duration::from_secs(10);

impl Session {
    /// With acknowledgements, what the server has taken is not yet delivered.
    fn say(&mut self, outcome: Outcome, answer: guest::Answer) {
        let (Some(acks), Outcome::Delivered) = (&mut self.acks, &outcome) else { return answer.say(outcome) };
        match self.way.take().map(|way| (acks::number(&self.said), way)) {
            Some((Some(number), way)) => acks.taken(way, number, answer, Instant::now()),
            _ => {
                let why = "it was taken and will not be acknowledged: acknowledgement is off for this token";
                answer.say(Outcome::Hold(format!("{why}: {}", String::from_utf8_lossy(&self.said))));
            }
        }
    }

    /// Where messages went that somebody follows. What an address asks for may hold a secret.
    fn say_where(&self, answer: &guest::Answer) {
        let Some((url, status)) = &self.asked else { return };
        answer.is_at(|at| {
            let url = url.to_string();
            let url = url.split('?').next().unwrap_or_default();
            let request = [
                ("url", url.into()),
                ("status", u64::from(*status).into()),
                ("request", self.requests.into()),
            ];
            request.into_iter().chain(self.places.get(at).cloned().unwrap_or_default())
        });
    }

    /// Asks which of the batches that were taken are safe.
    async fn ask_for_acks(&mut self) {
        let questions = self.acks.as_ref().map(Acks::questions).unwrap_or_default();
        let patience = self.plan.timeout.unwrap_or(ACKS_MAX);
        for question in questions {
            let (url, headers) = (question.way.asked_at(), question.way.asking());
            let body = Whole::new(question.body.clone());
            let asking = self.ask_once(&url, &body, &headers, false);
            // What cannot be asked now is asked again, for as long as anybody wants to know.
            if let Ok(Ok(answer)) = tokio::time::timeout(patience, asking).await
                && let Some(acks) = &mut self.acks
            {
                acks.hear(&question, &answer);
            }
        }
        if let Some(acks) = &mut self.acks {
            acks.asked(Instant::now());
        }
    }

    async fn deliver(&mut self, load: Load) -> Outcome {
        let plan = Arc::clone(&self.plan);
        let mut parts = keys(&load.key);
        let texts: Vec<Option<&[u8]>> =
            plan.urls.iter().map(|url| if matches!(url, UrlOf::Key) { parts.next() } else { None }).collect();
        let headers = match headers(&plan, &mut parts) {
            Ok(headers) => headers,
            Err(why) => return Outcome::Refused(why),
        };
        let (body, headers) = match extra::add(&plan, load.body, headers).await {
            Ok(whole) => whole,
            Err(outcome) => return outcome,
        };
        let mut ask = match self.packed(body, headers) {
            Ok(ask) => ask,
            Err(why) => return Outcome::Refused(why),
        };
        if let Err(outcome) = self.prove(&mut ask).await {
            return outcome;
        }
        let mut tried = Vec::new();
        let mut last = Outcome::Away("there is no server".to_owned());
        while let Some(turn) = plan.servers.pick(&tried, Instant::now()) {
            tried.push(turn.at);
            let text = texts.get(turn.at).copied().flatten();
            let url = match url_of(&plan, (turn.at, text), self.is_followed) {
                Ok(url) => url,
                Err(why) => return Outcome::Refused(why),
            };
            last = self.outcome(&url, &mut ask, load.messages).await;
            let takes = matches!(
                last,
                Outcome::Delivered
                    | Outcome::Judged { .. }
                    | Outcome::Split(_)
                    | Outcome::LetGo { .. }
                    | Outcome::Refused(_)
            );
            turn.end(takes, Instant::now());
            // Nothing was taken, as far as is known: another server may.
            if !matches!(last, Outcome::Away(_) | Outcome::Again { counts: false, .. } | Outcome::Hold(_)) {
                break;
            }
        }
        last
    }

    fn packed(&self, body: Whole, mut headers: HeaderMap) -> Result<Ask, String> {
        let Some(coding) = self.plan.coding else { return Ok(Ask { body, headers }) };
        let packed = coding.pack(&body.joined()).map_err(|error| format!("cannot be compressed: {error}"))?;
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
        Ok(Ask { body: packed.into(), headers })
    }

    /// Adds what shows who asks.
    async fn prove(&self, ask: &mut Ask) -> Result<(), Outcome> {
        match &self.plan.proof {
            Some(proof) => proof.add(&mut ask.headers, ask.body.bytes(), self.plan.timeout).await,
            None => Ok(()),
        }
    }

    /// What one server says, or why it says nothing.
    async fn outcome(&mut self, url: &Url, ask: &mut Ask, messages: usize) -> Outcome {
        let mut answer = self.answer(url, ask).await;
        if let (Ok(Answer { status: 401, .. }), Some(proof)) = (&answer, &self.plan.proof)
            && proof.refused(&ask.headers).await
        {
            if let Err(outcome) = self.prove(ask).await {
                return outcome;
            }
            answer = self.answer(url, ask).await;
        }
        match answer {
            Ok(answer) => {
                extra::answered(&self.plan, answer.status).await;
                let outcome = self.plan.judge.outcome(&answer, &self.plan.actions, messages);
                self.requests += 1;
                if self.is_followed {
                    self.asked = Some((url.clone(), answer.status));
                    self.places = self.plan.judge.places(&answer);
                }
                self.said = answer.body;
                outcome
            }
            Err(outcome) => outcome,
        }
    }

    async fn answer(&mut self, url: &Url, ask: &Ask) -> Result<Answer, Outcome> {
        self.passed = Arc::default();
        let asked = match self.plan.timeout {
            Some(timeout) => tokio::time::timeout(timeout, self.ask(url, ask)).await,
            None => Ok(self.ask(url, ask).await),
        };
        match asked {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(Failure::Away(why))) => Err(Outcome::Away(why)),
            Ok(Err(Failure::Stale)) => Err(Outcome::Away(format!("{}: the server hung up", url.authority))),
            Ok(Err(Failure::Unknown(why))) => Err(Outcome::Unknown(why)),
            Err(_) => {
                let why = format!("{}: no answer within timeout()", url.authority);
                match self.passed.written() {
                    0 => Err(Outcome::Away(why)),
                    _ => Err(Outcome::Unknown(why)),
                }
            }
        }
    }

    async fn ask(&mut self, url: &Url, ask: &Ask) -> Result<Answer, Failure> {
        let mut url = url.clone();
        let mut headers = ask.headers.clone();
        for _ in 0..=REDIRECTS_MAX {
            let answer = self.ask_once(&url, &ask.body, &headers, self.acks.is_some()).await?;
            let leads = matches!(answer.status, 301 | 302 | 303 | 307 | 308);
            let Some(location) = answer.location.as_deref().filter(|_| leads && self.plan.accepts_redirects)
            else {
                return Ok(answer);
            };
            let to = url.join(location).map_err(Failure::Away)?;
            if !to.is_at(&url) {
                // The password is for the server that was named, and for no other.
                headers.remove(AUTHORIZATION);
            }
            url = to;
        }
        Err(Failure::Away(format!("{}: more than {REDIRECTS_MAX} redirects", url.authority)))
    }

    /// On a connection that was kept, or on a new one where that has ended meanwhile. `is_counted`: in the
    /// channel of the connection.
    async fn ask_once(
        &mut self,
        url: &Url,
        body: &Whole,
        headers: &HeaderMap,
        is_counted: bool,
    ) -> Result<Answer, Failure> {
        loop {
            let mut connection = match self.take(url).await {
                Some(connection) => connection,
                None => self.connect(url).await?,
            };
            self.passed = Arc::clone(&connection.passed);
            let request = match is_counted {
                true => {
                    let way = Way::new(&connection.channel, url, headers);
                    let request = self.request(&way.url, body, &way.headers);
                    self.way = Some(way);
                    request
                }
                false => self.request(url, body, headers),
            };
            match connection.ask(request.map_err(Failure::Away)?, body.bytes() as u64).await {
                Err(Failure::Stale) => {}
                Ok(answer) => {
                    self.keep(connection);
                    return Ok(answer);
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    /// A connection that was kept, as soon as it has done with its last request. One that has not, because it
    /// was answered before all of it was sent, is of no use.
    async fn take(&mut self, url: &Url) -> Option<Connection> {
        while let Some(at) = self.kept.iter().position(|connection| connection.url.is_at(url)) {
            let mut connection = self.kept.swap_remove(at);
            if let Ok(true) = tokio::time::timeout(DONE_MAX, connection.is_ready()).await {
                return Some(connection);
            }
        }
        None
    }

    fn keep(&mut self, connection: Connection) {
        if connection.is_closed() {
            return;
        }
        self.kept.retain(|connection| !connection.is_closed());
        if self.kept.len() >= KEPT_MAX {
            self.kept.remove(0);
        }
        self.kept.push(connection);
    }

    async fn connect(&self, url: &Url) -> Result<Connection, Fault> {
        let passed: Arc<Passed> = Arc::default();
        let wire = self.plan.network.connect(url, &passed).await?;
        Connection::new(wire, passed, url).await
    }

    fn request(&self, url: &Url, body: &Whole, headers: &HeaderMap) -> Result<Request<Whole>, String> {
        // A proxy for what is not encrypted is told the whole address.
        let proxy = self.plan.network.proxy(url).filter(|_| !url.is_secure);
        let target = if proxy.is_some() { url.to_string() } else { url.path.clone() };
        let uri: Uri = target.parse().map_err(|error| format!("`{target}` is no address: {error}"))?;
        let host = HeaderValue::from_str(&url.authority).map_err(|error| error.to_string())?;
        let mut request = Request::new(body.clone());
        *request.method_mut() = self.plan.method.clone();
        *request.uri_mut() = uri;
        *request.headers_mut() = headers.clone();
        if let Some(user) = &url.user_info
            && !headers.contains_key(AUTHORIZATION)
        {
            let (user, password) = user.split_once(':').unwrap_or((user, ""));
            let words = HeaderValue::from_str(&basic(user, password)).map_err(|error| error.to_string())?;
            request.headers_mut().insert(AUTHORIZATION, words);
        }
        request.headers_mut().entry(HOST).or_insert(host);
        if let Some(words) = proxy.and_then(|proxy| proxy.authorization.as_ref()) {
            let words = HeaderValue::from_str(words).map_err(|error| error.to_string())?;
            request.headers_mut().insert(PROXY_AUTHORIZATION, words);
        }
        Ok(request)
    }
}

/// `is_followed`: somebody wants to know where messages of the batch are.
fn url_of(plan: &Plan, (at, text): (usize, Option<&[u8]>), is_followed: bool) -> Result<Url, String> {
    let mut url = match plan.urls.get(at) {
        Some(UrlOf::Fixed(url)) => url.clone(),
        _ => Url::parse(&String::from_utf8_lossy(text.unwrap_or_default()))?,
    };
    plan.judge.ask_for_less(&mut url, is_followed);
    Ok(url)
}

/// The headers of a batch. A value that was expanded and cannot be one is cleaned: what ends a line would
/// begin another header.
fn headers<'a>(plan: &Plan, parts: &mut impl Iterator<Item = &'a [u8]>) -> Result<HeaderMap, String> {
    let mut headers = plan.base.clone();
    for (name, value) in &plan.headers {
        let value = match value {
            HeaderValueOf::Fixed(value) => value.clone(),
            HeaderValueOf::Key => {
                let clean: Vec<u8> = parts
                    .next()
                    .unwrap_or_default()
                    .iter()
                    .map(|byte| if *byte < b' ' || *byte == 0x7f { b' ' } else { *byte })
                    .collect();
                HeaderValue::from_bytes(clean.trim_ascii()).map_err(|error| error.to_string())?
            }
        };
        match plan.base.contains_key(name) {
            true => headers.insert(name.clone(), value).is_some(),
            false => headers.append(name.clone(), value),
        };
    }
    Ok(headers)
}
