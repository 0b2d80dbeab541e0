//! Tokens that are shown as `Bearer ...`: made here with the key of an account, or fetched from a server of
//! tokens, and fetched anew before they end.

use super::account::{Account, Claim};
use super::secret;
use crate::action::again;
use crate::answer::Answer;
use crate::caller::{Caller, Question};
use crate::connect::{Network, basic};
use crate::exchange::Failure;
use crate::url::{Url, percent_encoded};
use flight::Outcome;
use hyper::Method;
use hyper::body::Bytes;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::Mutex;

/// Of a token whose server does not say how long it is good.
const VALIDITY: Duration = Duration::from_secs(3600);
/// Beyond it the clock could not count.
const VALIDITY_MAX: Duration = Duration::from_secs(366 * 86_400);
/// While a token is still good, a server that did not answer is left alone for so long.
const PAUSE: Duration = Duration::from_secs(10);

/// Where tokens come from.
pub enum Grant {
    /// Signed here; nobody is asked.
    Account(Box<Account>, Claim),
    /// The server of metadata of a machine in Google's cloud.
    Metadata(Url),
    /// `client_credentials`, RFC 6749 section 4.4.
    Client(Client),
}

/// Who asks a server of tokens.
pub struct Client {
    pub url: Url,
    pub id: String,
    pub secret: String,
    pub shown: Shown,
    /// Further fields of the form.
    pub fields: Vec<(&'static str, String)>,
}

/// Where name and password of the client stand, RFC 6749 section 2.3.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shown {
    Basic,
    Body,
}

/// The tokens of a destination, for all its workers.
pub struct Tokens {
    grant: Grant,
    /// `refresh-offset()`: so long before its end a token is fetched anew.
    ahead: Duration,
    state: Mutex<State>,
}

struct State {
    caller: Option<Caller>,
    kept: Option<Token>,
    /// Not before that.
    asks_again: Option<Instant>,
}

struct Token {
    value: HeaderValue,
    /// From then on another one is fetched.
    fresh_until: Instant,
    until: Instant,
}

impl Tokens {
    pub fn new(grant: Grant, ahead: Duration, network: Arc<Network>) -> Tokens {
        let caller = match &grant {
            Grant::Account(..) => None,
            // It is on the same machine, in front of every proxy.
            Grant::Metadata(url) => Some(Caller::new(Arc::new(Network::new(None, None)), url.clone())),
            Grant::Client(client) => Some(Caller::new(network, client.url.clone())),
        };
        Tokens { grant, ahead, state: Mutex::new(State { caller, kept: None, asks_again: None }) }
    }

    /// The value of `Authorization`.
    pub async fn value(&self, patience: Duration) -> Result<HeaderValue, Outcome> {
        if let Grant::Account(account, claim) = &self.grant {
            let value = account.authorization(claim, SystemTime::now()).and_then(|text| secret(&text));
            return value.map_err(Outcome::Hold);
        }
        // One fetches, the others wait for it.
        let mut state = self.state.lock().await;
        let now = Instant::now();
        if let Some(kept) = &state.kept
            && (now < kept.fresh_until || (now < kept.until && state.asks_again.is_some_and(|at| now < at)))
        {
            return Ok(kept.value.clone());
        }
        match self.fetch(&mut state, patience).await {
            Ok(kept) => {
                let value = kept.value.clone();
                (state.kept, state.asks_again) = (Some(kept), None);
                Ok(value)
            }
            Err(outcome) => {
                state.asks_again = Some(Instant::now() + PAUSE);
                let good = state.kept.as_ref().filter(|kept| Instant::now() < kept.until);
                good.map(|kept| kept.value.clone()).ok_or(outcome)
            }
        }
    }

    /// A server has refused the token before its end.
    pub async fn forget(&self, value: &HeaderValue) {
        if let Grant::Account(account, _) = &self.grant {
            return account.forget();
        }
        let mut state = self.state.lock().await;
        // Another worker may have fetched another one meanwhile.
        if state.kept.as_ref().is_some_and(|kept| kept.value == value) {
            state.kept = None;
        }
    }

    async fn fetch(&self, state: &mut State, patience: Duration) -> Result<Token, Outcome> {
        let (url, question) = match &self.grant {
            Grant::Client(client) => (&client.url, client.question().map_err(Outcome::Hold)?),
            Grant::Metadata(url) => (url, about_the_machine(url)),
            Grant::Account(..) => return Err(Outcome::Hold("tokens are made here".to_owned())),
        };
        let Some(caller) = &mut state.caller else { return Err(Outcome::Hold("nobody asks".to_owned())) };
        let asked = Instant::now();
        match caller.ask(&question, patience).await {
            Ok(answer) => read(&answer, &url.authority, asked, self.ahead),
            Err(Failure::Away(why) | Failure::Unknown(why)) => Err(Outcome::Away(format!("no token: {why}"))),
            Err(Failure::Stale) => Err(Outcome::Away(format!("no token: {} hung up", url.authority))),
        }
    }
}

impl Client {
    fn question(&self) -> Result<Question, String> {
        let mut fields = vec![("grant_type", "client_credentials")];
        let mut headers = asking();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        match self.shown {
            Shown::Basic => {
                let words = basic(&percent_encoded(&self.id), &percent_encoded(&self.secret));
                headers.insert(AUTHORIZATION, secret(&words)?);
            }
            Shown::Body => fields.extend([("client_id", &*self.id), ("client_secret", &*self.secret)]),
        }
        fields.extend(self.fields.iter().map(|(name, text)| (*name, text.as_str())));
        let form: Vec<String> =
            fields.iter().map(|(name, text)| format!("{name}={}", percent_encoded(text))).collect();
        let body = Bytes::from(form.join("&"));
        Ok(Question { method: Method::POST, target: self.url.path.clone(), headers, body })
    }
}

fn about_the_machine(url: &Url) -> Question {
    let mut headers = asking();
    headers.insert(HeaderName::from_static("metadata-flavor"), HeaderValue::from_static("Google"));
    Question { method: Method::GET, target: url.path.clone(), headers, body: Bytes::new() }
}

fn asking() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, HeaderValue::from_static(concat!("penstock/", env!("CARGO_PKG_VERSION"))));
    headers
}

/// A token and its time, RFC 6749 section 5.
fn read(answer: &Answer, from: &str, asked: Instant, ahead: Duration) -> Result<Token, Outcome> {
    let failed = |why: &str| format!("no token from {from}: {why}");
    match answer.status {
        200..=299 => {}
        429 | 500..=599 => {
            let words = failed(&answer.words());
            let Outcome::Again { after, counts, .. } = again(answer, false) else {
                return Err(Outcome::Away(words));
            };
            return Err(Outcome::Again { after, counts, why: words });
        }
        _ => return Err(Outcome::Hold(failed(&answer.words()))),
    }
    // What it says instead is for nobody's log: there may be a token in it.
    let none = || Outcome::Hold(failed("its answer has no access_token"));
    let said: Value = serde_json::from_slice(&answer.body).map_err(|_| none())?;
    let token = said.get("access_token").and_then(Value::as_str).filter(|token| !token.is_empty());
    let value = secret(&format!("Bearer {}", token.ok_or_else(none)?)).map_err(Outcome::Hold)?;
    let seconds = said.get("expires_in").and_then(|seconds| match seconds {
        Value::String(text) => text.trim().parse().ok(),
        number => number.as_f64(),
    });
    let validity = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let validity = validity.unwrap_or(VALIDITY).min(VALIDITY_MAX);
    let fresh_until = asked + validity.saturating_sub(ahead.min(validity / 2));
    Ok(Token { value, fresh_until, until: asked + validity })
}

/// Any bytes as what a server of tokens answers.
#[cfg(any(test, feature = "fuzzing"))]
pub fn fuzz(body: &[u8]) {
    let asked = Instant::now();
    if let Ok(kept) = read(&Answer::of(200, body), "", asked, Duration::from_secs(60)) {
        assert!(asked <= kept.fresh_until && kept.fresh_until <= kept.until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(shown: Shown) -> Client {
        Client {
            url: Url::parse("https://login.example.com/token?x=y").expect("an address"),
            id: "me & you".to_owned(),
            secret: "a+b".to_owned(),
            shown,
            fields: vec![("scope", "https://x//.default".to_owned())],
        }
    }

    #[test]
    fn what_a_client_asks() {
        let question = client(Shown::Body).question().expect("a question");
        let form = "grant_type=client_credentials&client_id=me%20%26%20you&client_secret=a%2Bb\
                    &scope=https%3A%2F%2Fx%2F%2F.default";
        assert_eq!((&*question.target, &question.body[..]), ("/token?x=y", form.as_bytes()));
        let question = client(Shown::Basic).question().expect("a question");
        assert_eq!(question.headers[AUTHORIZATION], basic("me%20%26%20you", "a%2Bb"));
        let form = "grant_type=client_credentials&scope=https%3A%2F%2Fx%2F%2F.default";
        assert_eq!(question.body, form);
    }

    #[test]
    fn answers_are_tokens_or_say_why_not() {
        let asked = Instant::now();
        let check = |status: u16, body: &str, expected: Result<(u64, u64), &str>| {
            let found = read(&Answer::of(status, body), "h", asked, Duration::from_secs(60));
            let found = found.map(|kept| {
                assert!(kept.value.is_sensitive() && kept.value == "Bearer t");
                ((kept.fresh_until - asked).as_secs(), (kept.until - asked).as_secs())
            });
            let kind = found.map_err(|outcome| match outcome {
                Outcome::Hold(why) => format!("hold: {why}"),
                Outcome::Again { why, .. } => format!("again: {why}"),
                _ => "other".to_owned(),
            });
            assert_eq!(kind, expected.map_err(str::to_owned), "{body}");
        };
        check(200, r#"{"access_token": "t", "expires_in": 100}"#, Ok((50, 100)));
        check(200, r#"{"access_token": "t", "expires_in": "3599"}"#, Ok((3539, 3599)));
        check(200, r#"{"access_token": "t", "expires_in": -5}"#, Ok((3540, 3600)));
        check(200, r#"{"access_token": "t"}"#, Ok((3540, 3600)));
        check(200, r#"{"access_token": ""}"#, Err("hold: no token from h: its answer has no access_token"));
        check(200, "t", Err("hold: no token from h: its answer has no access_token"));
        check(401, "no", Err("hold: no token from h: 401 Unauthorized: no"));
        check(503, "", Err("again: no token from h: 503 Service Unavailable"));
    }
}
