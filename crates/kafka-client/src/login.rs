//! Who this side is, at each login: a name with its password, or a token that is made or fetched for it.

#[cfg(feature = "kerberos")]
mod kerberos;

use crate::properties::{Bearer, Unsecured};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use delivery::target::Nudge;
use flight::Outcome;
use http_client::proof::{Grant, Tokens};
use http_client::{Network, Url};
use kafka::{Fault, Login};
#[cfg(feature = "kerberos")]
pub use kerberos::Kerberos;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::runtime::Handle;

/// How long a server of tokens may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where the logins of all connections come from.
pub enum Logins {
    /// The same always.
    Password(Login),
    /// Made here; whoever believes it believes everybody.
    Unsecured(Unsecured),
    Fetched(Arc<Fetched>),
    #[cfg(feature = "kerberos")]
    Kerberos(Kerberos),
}

/// Tokens of a server of tokens.
pub struct Fetched {
    tokens: Tokens,
    extensions: Vec<(String, String)>,
    /// Differs where tokens are others.
    described: String,
}

impl Fetched {
    pub fn new(bearer: Bearer, url: &Url, network: Network) -> Fetched {
        let described = format!("{} {bearer:?}", url.authority);
        let extensions = bearer.extensions.clone();
        let client = bearer.client(url.clone());
        // When half of its time is over: so each login again comes with a new one.
        let tokens = Tokens::new(Grant::Client(client), Duration::MAX, Arc::new(network));
        Fetched { tokens, extensions, described }
    }

    async fn login(&self) -> Result<Login, Fault> {
        let value = self.tokens.value(PATIENCE).await.map_err(|outcome| match outcome {
            Outcome::Hold(why) => Fault::Refused(why),
            Outcome::Away(why) | Outcome::Again { why, .. } => Fault::Broken(why),
            _ => Fault::Broken("there is no token".to_owned()),
        })?;
        let token = value.to_str().ok().and_then(|value| value.strip_prefix("Bearer "));
        let token = token.ok_or_else(|| Fault::Refused("what was fetched is no token".to_owned()))?;
        Ok(Login::Token { token: token.to_owned(), extensions: self.extensions.clone() })
    }
}

/// Says what came of a wish.
type Grantor = Box<dyn FnOnce(Result<Login, Fault>) + Send>;

/// A login that somebody waits for.
pub struct Wish(Arc<Mutex<Option<Result<Login, Fault>>>>);

impl Wish {
    fn granted(answer: Result<Login, Fault>) -> Wish {
        Wish(Arc::new(Mutex::new(Some(answer))))
    }

    /// `begin` starts something that grants it.
    fn later(nudge: &Arc<Nudge>, begin: impl FnOnce(Handle, Grantor)) -> Wish {
        let runtime = match guest::handle() {
            Ok(runtime) => runtime,
            Err(error) => return Wish::granted(Err(Fault::Broken(format!("no login: {error}")))),
        };
        let wish = Wish(Arc::default());
        let (place, nudge) = (Arc::clone(&wish.0), Arc::clone(nudge));
        begin(
            runtime,
            Box::new(move |answer| {
                *place.lock() = Some(answer);
                nudge.nudge();
            }),
        );
        wish
    }

    /// Once it is there.
    pub fn take(&self) -> Option<Result<Arc<Login>, Fault>> {
        self.0.lock().take().map(|answer| answer.map(Arc::new))
    }
}

impl Logins {
    /// Asks for one at this broker. Where it is not there at once, the owner is nudged when it is.
    #[cfg_attr(not(feature = "kerberos"), allow(unused_variables))]
    pub fn ask(&self, broker: &str, nudge: &Arc<Nudge>) -> Wish {
        match self {
            Logins::Password(login) => Wish::granted(Ok(login.clone())),
            Logins::Unsecured(wanted) => Wish::granted(Ok(wanted.login(SystemTime::now()))),
            Logins::Fetched(fetched) => {
                let fetched = Arc::clone(fetched);
                Wish::later(nudge, |runtime, grant| {
                    runtime.spawn(async move { grant(fetched.login().await) });
                })
            }
            #[cfg(feature = "kerberos")]
            Logins::Kerberos(kerberos) => {
                let (kerberos, broker) = (kerberos.clone(), broker.to_owned());
                Wish::later(nudge, |runtime, grant| {
                    runtime.spawn_blocking(move || grant(kerberos.login(&broker)));
                })
            }
        }
    }

    /// A broker has refused what was shown: the next one is another, where there is another.
    pub fn refused(&self, login: &Login) {
        let (Logins::Fetched(fetched), Login::Token { token, .. }) = (self, login) else { return };
        let Ok(value) = http_client::HeaderValue::from_str(&format!("Bearer {token}")) else { return };
        let fetched = Arc::clone(fetched);
        if let Ok(runtime) = guest::handle() {
            runtime.spawn(async move { fetched.tokens.forget(&value).await });
        }
    }

    /// Differs where connections have to be made anew.
    pub fn described(&self) -> String {
        match self {
            Logins::Password(Login::Password { mechanism, user, password }) => {
                format!("{mechanism:?} {user:?} {password:?}")
            }
            Logins::Password(Login::Token { token, .. }) => token.clone(),
            // Nobody configures one that has begun.
            Logins::Password(Login::Kerberos(_)) => String::new(),
            Logins::Unsecured(wanted) => format!("{wanted:?}"),
            Logins::Fetched(fetched) => fetched.described.clone(),
            #[cfg(feature = "kerberos")]
            Logins::Kerberos(kerberos) => format!("{kerberos:?}"),
        }
    }
}

impl Unsecured {
    fn login(&self, now: SystemTime) -> Login {
        Login::Token { token: self.token(now), extensions: self.extensions.clone() }
    }

    /// A JWS that nobody has signed, RFC 7515 appendix A.5.
    fn token(&self, now: SystemTime) -> String {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let mut claims = Map::new();
        claims.insert(self.principal_claim.clone(), Value::from(&*self.principal));
        claims.insert("iat".to_owned(), Value::from(now));
        claims.insert("exp".to_owned(), Value::from(now.saturating_add(self.seconds)));
        if !self.scope.is_empty() {
            claims.insert(self.scope_claim.clone(), Value::from(self.scope.clone()));
        }
        let encoded = |text: &str| URL_SAFE_NO_PAD.encode(text);
        format!("{}.{}.", encoded("{\"alg\":\"none\"}"), encoded(&Value::Object(claims).to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_nobody_has_signed() {
        let wanted = Unsecured::read("principal=me scope=a,b lifeSeconds=60").expect("it is well");
        let token = wanted.token(UNIX_EPOCH + Duration::from_secs(1000));
        let parts: Vec<&str> = token.split('.').collect();
        let text =
            |part: &str| String::from_utf8(URL_SAFE_NO_PAD.decode(part).expect("base64")).expect("a text");
        assert_eq!((parts.len(), parts[2]), (3, ""));
        assert_eq!(text(parts[0]), r#"{"alg":"none"}"#);
        let claims: Value = serde_json::from_str(&text(parts[1])).expect("JSON");
        assert_eq!(claims, serde_json::json!({"sub": "me", "iat": 1000, "exp": 1060, "scope": ["a", "b"]}));
    }
}
