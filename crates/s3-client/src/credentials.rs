//! Where accounts come from: the configuration, a profile, the place that the program runs at, and the role
//! that is taken with them. What is given for a time is asked for again before it ends.

use crate::account::Account;
use crate::answer::element;
use crate::name::encoded;
use crate::sign::{Signed, sign};
use bytes::Bytes;
use flight::Outcome;
use http_client::{
    Answer, Caller, Failure, HeaderMap, HeaderName, HeaderValue, Method, Network, Question, Url,
};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::Mutex;

/// Who answers such questions has done so by then.
const ANSWER_MAX: Duration = Duration::from_secs(20);
/// A role is taken for an hour, the least that each may be taken for, and asked for again before that.
const ROLE_SECONDS: u32 = 3600;
const ROLE_KEPT: Duration = Duration::from_secs(50 * 60);
/// Of a machine's own account: it is replaced long before it ends.
const PLACE_KEPT: Duration = Duration::from_secs(5 * 60);

/// Where the keys are.
#[derive(Clone, Debug)]
pub enum Base {
    Fixed(Account),
    /// Of a container: an address that answers with keys, and the header that it wants.
    Container {
        url: Url,
        authorization: Option<String>,
    },
    /// Of a machine in Amazon's cloud: its metadata service, version 2.
    Machine(Url),
}

/// A role that is taken with those keys.
#[derive(Clone, Debug)]
pub struct Role {
    pub arn: String,
    pub region: String,
    /// The service that gives it, STS.
    pub service: Url,
}

pub struct Credentials {
    base: Base,
    role: Option<Role>,
    network: Arc<Network>,
    /// What is given for a time, and until when it is good.
    held: Mutex<Option<(Account, Instant)>>,
}

impl Credentials {
    pub fn new(base: Base, role: Option<Role>, network: Arc<Network>) -> Credentials {
        Credentials { base, role, network, held: Mutex::new(None) }
    }

    /// The account to sign with now.
    pub async fn current(&self) -> Result<Account, Outcome> {
        if let (Base::Fixed(account), None) = (&self.base, &self.role) {
            return Ok(account.clone());
        }
        let mut held = self.held.lock().await;
        if let Some((account, until)) = held.as_ref()
            && *until > Instant::now()
        {
            return Ok(account.clone());
        }
        let (account, kept) = self.fetch().await?;
        *held = Some((account.clone(), Instant::now() + kept));
        Ok(account)
    }

    /// They are not taken: the next ones are asked for anew.
    pub async fn forget(&self) {
        *self.held.lock().await = None;
    }

    async fn fetch(&self) -> Result<(Account, Duration), Outcome> {
        let base = match &self.base {
            Base::Fixed(account) => account.clone(),
            Base::Container { url, authorization } => {
                let headers = authorization.iter().map(|words| ("authorization", words.as_str()));
                let answer = self.get(url, &headers.collect::<Vec<_>>()).await?;
                keys(&answer.body).ok_or_else(|| none(url))?
            }
            Base::Machine(url) => self.of_machine(url).await?,
        };
        match &self.role {
            None => Ok((base, PLACE_KEPT)),
            Some(role) => Ok((self.take_role(role, &base).await?, ROLE_KEPT)),
        }
    }

    /// A token first, then the name of the machine's role, then its keys.
    async fn of_machine(&self, url: &Url) -> Result<Account, Outcome> {
        let at = |path: &str| Url { path: path.to_owned(), ..url.clone() };
        let seconds = [("x-aws-ec2-metadata-token-ttl-seconds", "300")];
        let token = self.ask(&at("/latest/api/token"), Method::PUT, &seconds, Bytes::new()).await?;
        let token = String::from_utf8_lossy(&token.body).trim().to_owned();
        let shown = [("x-aws-ec2-metadata-token", token.as_str())];
        let list = "/latest/meta-data/iam/security-credentials/";
        let names = self.get(&at(list), &shown).await?;
        let names = String::from_utf8_lossy(&names.body).into_owned();
        let name = names.lines().next().unwrap_or_default().trim();
        let one = at(&format!("{list}{}", encoded(name.as_bytes(), false)));
        let answer = self.get(&one, &shown).await?;
        keys(&answer.body).ok_or_else(|| none(&one))
    }

    /// AssumeRole of STS.
    async fn take_role(&self, role: &Role, account: &Account) -> Result<Account, Outcome> {
        let arn = encoded(role.arn.as_bytes(), false);
        let body = format!(
            "Action=AssumeRole&DurationSeconds={ROLE_SECONDS}&RoleArn={arn}&RoleSessionName=penstock&Version=2011-06-15"
        );
        let mut headers = vec![
            ("host".to_owned(), role.service.authority.clone()),
            ("content-type".to_owned(), "application/x-www-form-urlencoded".to_owned()),
        ];
        let signed = Signed {
            method: "POST",
            path: "/",
            query: "",
            region: &role.region,
            service: "sts",
            headers: &headers,
            body: Some(body.as_bytes()),
        };
        let added = sign(&signed, account, SystemTime::now());
        headers.extend(added);
        let headers: Vec<(&str, &str)> = headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let answer = self.ask(&role.service, Method::POST, &headers, body.clone().into()).await?;
        let part = |name| element(&answer.body, name).unwrap_or_default().to_owned();
        Account::new(part("AccessKeyId"), part("SecretAccessKey"), Some(part("SessionToken")))
            .ok_or_else(|| none(&role.service))
    }

    async fn get(&self, url: &Url, headers: &[(&str, &str)]) -> Result<Answer, Outcome> {
        self.ask(url, Method::GET, headers, Bytes::new()).await
    }

    async fn ask(
        &self,
        url: &Url,
        method: Method,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Result<Answer, Outcome> {
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            let pair = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value));
            let (Ok(name), Ok(value)) = pair else {
                return Err(Outcome::Hold(format!("{}: the header {name} cannot be sent", url.authority)));
            };
            all.insert(name, value);
        }
        let question = Question { method, target: url.path.clone(), headers: all, body };
        let mut caller = Caller::new(Arc::clone(&self.network), url.clone());
        match caller.ask(&question, ANSWER_MAX).await {
            Ok(answer) if answer.is_success() => Ok(answer),
            Ok(answer) => Err(Outcome::Hold(format!("no credentials from {url}: {}", answer.words()))),
            Err(Failure::Away(why) | Failure::Unknown(why)) => {
                Err(Outcome::Away(format!("no credentials from {url}: {why}")))
            }
            Err(Failure::Stale) => Err(Outcome::Away(format!("no credentials from {url}: it hung up"))),
        }
    }
}

fn none(url: &Url) -> Outcome {
    Outcome::Hold(format!("no credentials from {url}: its answer has none"))
}

/// Keys as containers and machines say them, in JSON.
pub fn keys(body: &[u8]) -> Option<Account> {
    let value: serde_json::Value = serde_json::from_slice(body).ok()?;
    let part = |name: &str| value.get(name).and_then(|part| part.as_str()).map(str::to_owned);
    Account::new(part("AccessKeyId")?, part("SecretAccessKey")?, part("Token"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_places() {
        let account = keys(br#"{"Code":"Success","AccessKeyId":"A","SecretAccessKey":"S","Token":"T"}"#);
        let account = account.expect("an account");
        let token = account.token.as_ref().map(|token| token.as_str());
        assert_eq!((account.access_key.as_str(), account.secret_key.as_str(), token), ("A", "S", Some("T")));
        assert!(keys(b"{}").is_none() && keys(b"\xff").is_none() && keys(br#"{"AccessKeyId":1}"#).is_none());
    }
}
