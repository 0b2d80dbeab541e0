//! Properties of OAUTHBEARER.

use super::Effect::{Moot, Read, Refused};
use super::values::{word, yes_no};
use super::{Table, done};
use http_client::Url;
use http_client::proof::{Client, Shown};
use std::path::PathBuf;

/// What they come to.
#[derive(Clone, Debug, Default)]
pub struct Bearer {
    /// Any of them was given.
    pub is_given: bool,
    /// `sasl.oauthbearer.method=oidc`: tokens are fetched.
    pub is_fetched: bool,
    pub id: Option<String>,
    pub secret: Option<String>,
    pub url: Option<String>,
    pub scope: Option<String>,
    pub extensions: Vec<(String, String)>,
    /// Whom the server of tokens is to be trusted by: a file, or a folder.
    pub ca: Option<PathBuf>,
    /// `enable.sasl.oauthbearer.unsecure.jwt`.
    pub may_be_unsecured: bool,
    pub unsecured: Option<Unsecured>,
}

/// Tokens that are signed by nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsecured {
    pub principal_claim: String,
    pub principal: String,
    pub scope_claim: String,
    pub scope: Vec<String>,
    pub seconds: u64,
    pub extensions: Vec<(String, String)>,
}

impl Bearer {
    pub fn client(self, url: Url) -> Client {
        Client {
            url,
            id: self.id.unwrap_or_default(),
            secret: self.secret.unwrap_or_default(),
            shown: Shown::Basic,
            fields: self.scope.map(|scope| ("scope", scope)).into_iter().collect(),
        }
    }
}

impl Unsecured {
    /// Reads `sasl.oauthbearer.config`: names with values, spaces between.
    pub fn read(text: &str) -> Result<Unsecured, String> {
        let mut found = Unsecured {
            principal_claim: "sub".to_owned(),
            principal: String::new(),
            scope_claim: "scope".to_owned(),
            scope: Vec::new(),
            seconds: 3600,
            extensions: Vec::new(),
        };
        for part in text.split_ascii_whitespace() {
            let (name, value) = part.split_once('=').ok_or_else(|| format!("{CONFIG}, not `{part}`"))?;
            match name {
                "principalClaimName" => value.clone_into(&mut found.principal_claim),
                "principal" => value.clone_into(&mut found.principal),
                "scopeClaimName" => value.clone_into(&mut found.scope_claim),
                "scope" => found.scope = value.split(',').map(str::to_owned).collect(),
                "lifeSeconds" => {
                    let seconds = value.parse().ok().filter(|n| *n > 0 && *n <= u64::from(u32::MAX));
                    found.seconds = seconds.ok_or("`lifeSeconds=3600`, seconds from 1 on")?;
                }
                _ => match name.strip_prefix("extension_") {
                    Some(name) => found.extensions.push(extension(name, value)?),
                    None => return Err(format!("{CONFIG}, not `{part}`")),
                },
            }
        }
        match found.principal.is_empty() || found.principal_claim.is_empty() || found.scope_claim.is_empty() {
            true => Err("`principal=NAME`, and what else is to be in the token".to_owned()),
            false => Ok(found),
        }
    }
}

const CONFIG: &str = "`principal=NAME`, principalClaimName, scope, scopeClaimName, lifeSeconds and extension_NAME with spaces between";

fn extension(name: &str, value: &str) -> Result<(String, String), String> {
    match kafka::is_extension(name, value) {
        true => Ok((name.to_owned(), value.to_owned())),
        false => Err("`name=value` with commas between; names are letters, and not `auth`".to_owned()),
    }
}

fn extensions(text: &str) -> Result<Vec<(String, String)>, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| part.split_once('=').unwrap_or((part, ""))).map(|(n, v)| extension(n, v)).collect()
}

/// What stands in the configuration and means something.
fn text(value: &str) -> Result<Option<String>, String> {
    Some(value.to_owned()).filter(|text| !text.is_empty()).map(Some).ok_or_else(|| "not empty".to_owned())
}

/// Sets a field, and notes that there is something about tokens.
macro_rules! bearer {
    ($field:ident, $read:expr) => {
        Read(|p, v| {
            p.bearer.is_given = true;
            done(&mut p.bearer.$field, $read(v)?)
        })
    };
}

const GRANT: &str =
    "tokens are asked for with `sasl.oauthbearer.client.id` and `sasl.oauthbearer.client.secret`";

pub(super) const OWN: &Table = &[
    (
        &["sasl.oauthbearer.method"],
        bearer!(is_fetched, |v: &str| word(v, &["default", "oidc"]).map(|word| word == "oidc")),
    ),
    (&["sasl.oauthbearer.client.id", "sasl.oauthbearer.client.credentials.client.id"], bearer!(id, text)),
    (
        &["sasl.oauthbearer.client.secret", "sasl.oauthbearer.client.credentials.client.secret"],
        bearer!(secret, text),
    ),
    (
        &["sasl.oauthbearer.token.endpoint.url"],
        bearer!(url, |v: &str| match Url::parse(v) {
            Ok(_) if v.contains("://") => text(v),
            Ok(_) => Err("an address: `https://host/path`".to_owned()),
            Err(why) => Err(format!("an address: {why}")),
        }),
    ),
    (&["sasl.oauthbearer.scope"], bearer!(scope, text)),
    (&["sasl.oauthbearer.extensions"], bearer!(extensions, extensions)),
    (&["sasl.oauthbearer.config"], bearer!(unsecured, |v: &str| Unsecured::read(v).map(Some))),
    (&["enable.sasl.oauthbearer.unsecure.jwt"], bearer!(may_be_unsecured, yes_no)),
    (
        &["https.ca.location"],
        Read(|p, v| {
            done(&mut p.bearer.ca, Some(v).filter(|v| !v.is_empty() && *v != "probe").map(PathBuf::from))
        }),
    ),
    (&["https.ca.pem"], Refused("write it to a file, and `https.ca.location`")),
    (
        &["sasl.oauthbearer.grant.type"],
        Read(|_, v| match v {
            "client_credentials" => Ok(()),
            _ => Err(format!("`client_credentials`: {GRANT}")),
        }),
    ),
    (&["sasl.oauthbearer.sub.claim.name"], Moot("the broker reads the token, nobody else does")),
    (
        &["sasl.oauthbearer.metadata.authentication.type"],
        Read(|_, v| match v {
            "none" => Ok(()),
            _ => Err(format!("`none`: {GRANT}")),
        }),
    ),
    (
        &[
            "sasl.oauthbearer.assertion.algorithm",
            "sasl.oauthbearer.assertion.private.key.file",
            "sasl.oauthbearer.assertion.private.key.passphrase",
            "sasl.oauthbearer.assertion.private.key.pem",
            "sasl.oauthbearer.assertion.file",
            "sasl.oauthbearer.assertion.claim.aud",
            "sasl.oauthbearer.assertion.claim.exp.seconds",
            "sasl.oauthbearer.assertion.claim.iss",
            "sasl.oauthbearer.assertion.claim.jti.include",
            "sasl.oauthbearer.assertion.claim.nbf.seconds",
            "sasl.oauthbearer.assertion.claim.sub",
            "sasl.oauthbearer.assertion.jwt.template.file",
        ],
        Refused(GRANT),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_a_token() {
        let all = "principalClaimName=azp principal=admin scopeClaimName=roles scope=role1,role2 lifeSeconds=600 \
                   extension_traceId=123";
        let expected = Unsecured {
            principal_claim: "azp".to_owned(),
            principal: "admin".to_owned(),
            scope_claim: "roles".to_owned(),
            scope: vec!["role1".to_owned(), "role2".to_owned()],
            seconds: 600,
            extensions: vec![("traceId".to_owned(), "123".to_owned())],
        };
        assert_eq!(Unsecured::read(all), Ok(expected));
        for wrong in [
            "",
            "scope=a",
            "principal",
            "principal=a lifeSeconds=0",
            "principal=a life=1",
            "principal=a extension_auth=b",
        ] {
            assert!(Unsecured::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_the_broker_is_told_beside_it() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let found = extensions("supportFeatureX=true,organizationId=sales-emea");
        assert_eq!(found, Ok(vec![pair("supportFeatureX", "true"), pair("organizationId", "sales-emea")]));
        for wrong in ["a", "a=", "=b", "auth=b", "a1=b", "a=\u{1}"] {
            assert!(extensions(wrong).is_err(), "{wrong}");
        }
    }
}
