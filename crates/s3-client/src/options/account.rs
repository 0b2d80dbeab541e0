//! As whom `s3()` signs: the keys of the configuration, of the environment, of a profile, of the place that
//! the program runs at, and a role that is taken with them.

use crate::account::Account;
use crate::credentials::{Base, Credentials, Role};
use crate::profile::Profile;
use crate::sign::hex;
use diag::{Diagnostic, Reported};
use driver_options::Reading;
use http_client::{Network, Url};
use ring::digest;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Where machines in Amazon's cloud ask for their own account, and containers for theirs.
const MACHINE: &str = "http://169.254.169.254";
const CONTAINER: &str = "http://169.254.170.2";

pub struct Identity {
    base: Base,
    role: Option<Role>,
    pub region: String,
}

impl Identity {
    /// Tells accounts apart and says nothing of their keys.
    pub fn digest(&self) -> String {
        let secret = match &self.base {
            Base::Fixed(account) => {
                (account.secret_key.as_str(), account.token.as_ref().map(|token| token.as_str()))
            }
            _ => ("", None),
        };
        let text = Zeroizing::new(format!("{:?} {:?} {secret:?}", self.base, self.role));
        hex(digest::digest(&digest::SHA256, text.as_bytes()).as_ref())
    }

    pub fn credentials(self, network: Arc<Network>) -> Credentials {
        Credentials::new(self.base, self.role, network)
    }
}

pub fn find(r: &mut Reading<'_>) -> Result<Identity, Reported> {
    let s = r.s;
    let text = |name: &str| s.text(name).filter(|text| !text.is_empty()).map(str::to_owned);
    let profile = profile(r)?;
    let region = text("region")
        .or_else(|| variable("AWS_REGION"))
        .or_else(|| variable("AWS_DEFAULT_REGION"))
        .or_else(|| profile.region.clone())
        .unwrap_or_else(|| "us-east-1".to_owned());
    let (keys, token) = ((text("access-key"), text("secret-key")), text("session-token"));
    let (base, of_profile) = match (keys, s.is_set("profile")) {
        ((Some(access_key), Some(secret_key)), _) => {
            let account = Account::new(access_key, secret_key, token).ok_or(Reported)?;
            (Base::Fixed(account), None)
        }
        ((None, None), is_asked) => match (Account::of_environment(), profile.account) {
            (Some(account), _) if !is_asked => (Base::Fixed(account), None),
            (_, Some(account)) => (Base::Fixed(account), profile.role),
            _ => (of_place(r)?, profile.role),
        },
        _ => {
            return r.wrong("access-key", "an account has two keys", "give access-key() and secret-key()");
        }
    };
    let role = match text("role").or(of_profile) {
        Some(arn) => Some(Role { arn, service: service(&region, r)?, region: region.clone() }),
        None => None,
    };
    Ok(Identity { base, role, region })
}

/// That of profile(), of AWS_PROFILE, or `default`, with the keys of the profile that it refers to.
fn profile(r: &mut Reading<'_>) -> Result<Profile, Reported> {
    let s = r.s;
    let given = s.text("profile").map(str::to_owned);
    if let (Some(_), Some(at), true) = (&given, s.span("profile"), s.is_set("access-key")) {
        let finding = Diagnostic::warning(r.code, "profile() beside access-key() has no effect", at);
        r.diags.push(finding.help("leave one of them out"));
        return Ok(Profile::default());
    }
    let asked = given.or_else(|| variable("AWS_PROFILE"));
    let name = asked.clone().unwrap_or_else(|| "default".to_owned());
    let help = "profiles stand in `~/.aws/credentials` and `~/.aws/config`";
    let read = Profile::read(&name).and_then(|profile| match profile {
        Some(profile) => match profile.source.as_deref().map(Profile::read).transpose()?.flatten() {
            Some(source) => Ok(Profile { account: source.account, ..profile }),
            None => Ok(profile),
        },
        None if asked.is_some() => Err(format!("there is no profile `{name}`")),
        None => Ok(Profile::default()),
    });
    match read {
        Ok(profile) => Ok(profile),
        Err(error) => r.wrong("profile", error, help),
    }
}

/// The keys of a container or a machine, which are asked for when they are needed.
fn of_place(r: &mut Reading<'_>) -> Result<Base, Reported> {
    let relative =
        variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI").map(|path| format!("{CONTAINER}{path}"));
    let (address, is_container) = match relative.or_else(|| variable("AWS_CONTAINER_CREDENTIALS_FULL_URI")) {
        Some(address) => (address, true),
        None => {
            let service = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
            (service.unwrap_or_else(|| MACHINE.to_owned()), false)
        }
    };
    let is_off = variable("AWS_EC2_METADATA_DISABLED").is_some_and(|word| word.eq_ignore_ascii_case("true"));
    let help =
        "add `access-key(\"...\") secret-key(\"...\")`, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
    match Url::parse(&address) {
        Ok(_) if is_off && !is_container => r.wrong("access-key", "s3() has no account", help),
        Ok(url) if is_container => {
            Ok(Base::Container { url, authorization: variable("AWS_CONTAINER_AUTHORIZATION_TOKEN") })
        }
        Ok(url) => Ok(Base::Machine(url)),
        Err(error) => r.wrong("access-key", format!("s3() has no account: {error}"), help),
    }
}

fn service(region: &str, r: &mut Reading<'_>) -> Result<Url, Reported> {
    let address =
        variable("AWS_ENDPOINT_URL_STS").unwrap_or_else(|| format!("https://sts.{region}.amazonaws.com"));
    match Url::parse(&address) {
        Ok(url) => Ok(Url { path: "/".to_owned(), ..url }),
        Err(error) => r.wrong("role", error, "AWS_ENDPOINT_URL_STS is `https://host:port`"),
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
