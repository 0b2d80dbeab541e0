//! The options `cloud-auth()` and `azure-auth-header()`, and what they come to.

mod tables;

pub use tables::{CLOUD_AUTH, PROOFS};

use super::account::{Account, Claim};
use super::shared_key::Signed;
use super::{Client, Grant, Proof, SharedKey, Shown, Tokens};
use crate::connect::Network;
use crate::url::Url;
use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics, Reported, Span};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tables::{AUDIENCE, LOGIN, METADATA, MONITOR_SCOPE};

/// Where the server of metadata has its accounts.
const ACCOUNTS: &str = "/computeMetadata/v1/instance/service-accounts";
/// Before its end a token of Azure or of a machine is fetched anew.
const AHEAD: Duration = Duration::from_secs(60);

/// A proof as it is configured, without the connections that it needs.
pub enum Wanted {
    Tokens { grant: Grant, ahead: Duration },
    SharedKey(Box<SharedKey>),
}

impl Wanted {
    /// It is asked for over TLS.
    pub fn is_secure(&self) -> bool {
        matches!(self, Wanted::Tokens { grant: Grant::Client(client), .. } if client.url.is_secure)
    }

    /// Differs where other tokens would be had. No secret can be read from it.
    pub fn mark(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        match self {
            Wanted::Tokens { grant: Grant::Account(account, claim), .. } => {
                (account.mark(), claim).hash(&mut hasher);
            }
            Wanted::Tokens { grant: Grant::Metadata(url), .. } => {
                (&url.authority, &url.path).hash(&mut hasher);
            }
            Wanted::Tokens { grant: Grant::Client(client), ahead } => {
                (&client.url.authority, &client.url.path, &client.id, &client.secret).hash(&mut hasher);
                (client.shown, &client.fields, client.url.is_secure, ahead).hash(&mut hasher);
            }
            Wanted::SharedKey(_) => {}
        }
        hasher.finish()
    }

    pub fn over(self, network: &Arc<Network>) -> Proof {
        match self {
            Wanted::Tokens { grant, ahead } => {
                Proof::Tokens(Box::new(Tokens::new(grant, ahead, Arc::clone(network))))
            }
            Wanted::SharedKey(key) => Proof::SharedKey(key),
        }
    }
}

/// Google's default credentials: those that the environment names, those that its tools have left in the home
/// of the user, or those of the machine.
pub fn default_credentials(variable: &dyn Fn(&str) -> Option<String>) -> Result<Wanted, String> {
    let variable = |name: &str| variable(name).filter(|text| !text.is_empty());
    let folder = variable("CLOUDSDK_CONFIG").map(PathBuf::from);
    let folder = folder.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".config/gcloud")));
    let left = folder.map(|folder| folder.join("application_default_credentials.json"));
    let named = variable("GOOGLE_APPLICATION_CREDENTIALS").map(PathBuf::from);
    let grant = match named.or_else(|| left.filter(|path| path.is_file())) {
        Some(path) => {
            let account = Account::read(&path, Duration::from_secs(3600))?;
            Grant::Account(Box::new(account), Claim::Audience(AUDIENCE.to_owned()))
        }
        None => {
            let host = variable("GCE_METADATA_HOST").unwrap_or_else(|| "metadata.google.internal".to_owned());
            Grant::Metadata(Url::parse(&format!("http://{host}{ACCOUNTS}/default/token"))?)
        }
    };
    Ok(Wanted::Tokens { grant, ahead: AHEAD })
}

/// Reads `cloud-auth()`.
pub fn read_cloud(s: &Settings, diags: &mut Diagnostics) -> Result<Option<Wanted>, Reported> {
    match s.block("cloud-auth") {
        Some(cloud) => Ok(Some(Reader { diags }.cloud(cloud)?)),
        None => Ok(None),
    }
}

/// Reads the options of [`PROOFS`].
pub fn read(s: &Settings, diags: &mut Diagnostics) -> Result<Option<Wanted>, Reported> {
    let cloud = read_cloud(s, diags)?;
    let mut reader = Reader { diags };
    let signed = match s.block("azure-auth-header") {
        Some(block) => Some(reader.shared_key(block)?),
        None => None,
    };
    match (cloud, signed) {
        (Some(_), Some(_)) => reader.wrong(
            "cloud-auth() and azure-auth-header() both make the header Authorization".to_owned(),
            s.span("azure-auth-header"),
            "leave one of them out",
        ),
        (cloud, signed) => Ok(cloud.or(signed)),
    }
}

struct Reader<'a> {
    diags: &'a mut Diagnostics,
}

impl Reader<'_> {
    fn wrong<T>(&mut self, text: String, at: Option<Span>, help: &str) -> Result<T, Reported> {
        if let Some(at) = at {
            self.diags.push(Diagnostic::error("D0170", text, at).help(help.to_owned()));
        }
        Err(Reported)
    }

    /// The text of an option that has to be given.
    fn needed(&mut self, block: &Settings, name: &str) -> Result<String, Reported> {
        match block.text(name).filter(|text| !text.is_empty()) {
            Some(text) => Ok(text.to_owned()),
            None => {
                let text = format!("{}() needs {name}()", block.component());
                self.wrong(text, block.call_span(), &format!("add `{name}(\"...\")`"))
            }
        }
    }

    fn url(&mut self, block: &Settings, name: &str, text: &str) -> Result<Url, Reported> {
        let help = format!("write `{name}(\"https://host/path\")`");
        Url::parse(text).or_else(|error| self.wrong(error, block.span(name), &help))
    }

    fn cloud(&mut self, cloud: &Settings) -> Result<Wanted, Reported> {
        let gcp = cloud.block("gcp");
        let azure = cloud.block("azure");
        let oauth2 = cloud.block("oauth2");
        // As the block `azure-monitor()` of the library is given it.
        let direct = tables::MONITOR_NAMES.iter().filter(|name| cloud.text(name).is_some());
        let direct = direct.filter(|name| cloud.is_set(name)).count() > 0;
        match (gcp, azure, oauth2) {
            (Some(gcp), None, None) if !direct => self.gcp(gcp),
            (None, Some(azure), None) if !direct => match azure.block("monitor") {
                Some(monitor) => self.monitor(monitor),
                None => self.wrong(
                    "azure() does not say for which service".to_owned(),
                    cloud.span("azure"),
                    "write `azure(monitor(tenant-id(...) app-id(...) app-secret(...)))`",
                ),
            },
            (None, None, Some(oauth2)) if !direct => self.oauth2(oauth2),
            (None, None, None) if direct => self.monitor(cloud),
            _ => self.wrong(
                "cloud-auth() says one way to get tokens".to_owned(),
                cloud.call_span(),
                "write `cloud-auth(gcp(...))`, or azure(...), or oauth2(...)",
            ),
        }
    }

    fn gcp(&mut self, gcp: &Settings) -> Result<Wanted, Reported> {
        match (gcp.block("service-account"), gcp.block("user-managed-service-account")) {
            (Some(account), None) => self.account(account),
            (None, Some(managed)) => self.managed(managed),
            _ => self.wrong(
                "gcp() says one account".to_owned(),
                gcp.call_span(),
                "write `service-account(key(\"FILE\"))` or `user-managed-service-account()`",
            ),
        }
    }

    fn account(&mut self, block: &Settings) -> Result<Wanted, Reported> {
        let key = self.needed(block, "key")?;
        let validity = block.int("token-validity-duration").and_then(|n| u64::try_from(n).ok());
        let validity = Duration::from_secs(validity.filter(|n| *n > 0).unwrap_or(3600));
        let claim = match (block.text("audience"), block.text("scope")) {
            (Some(_), Some(_)) => {
                let help = "leave audience() out for a token that is good for all services";
                return self.wrong("a token has audience() or scope()".to_owned(), block.span("scope"), help);
            }
            (None, Some(scope)) => Claim::Scope(scope.to_owned()),
            (audience, None) => Claim::Audience(audience.unwrap_or(AUDIENCE).to_owned()),
        };
        match Account::read(key.as_ref(), validity) {
            Ok(account) => {
                Ok(Wanted::Tokens { grant: Grant::Account(Box::new(account), claim), ahead: AHEAD })
            }
            Err(why) => {
                let help = "make a key for the account in Google's console, as JSON";
                self.wrong(why, block.span("key"), help)
            }
        }
    }

    fn managed(&mut self, block: &Settings) -> Result<Wanted, Reported> {
        let name = block.text("name").unwrap_or("default").to_owned();
        let text = block.text("metadata-url").unwrap_or(METADATA).to_owned();
        let mut url = self.url(block, "metadata-url", &text)?;
        if url.is_secure {
            let help = "it is on the same machine: write http://";
            let text = "a server of metadata is not spoken to over TLS".to_owned();
            return self.wrong(text, block.span("metadata-url"), help);
        }
        let folder = match url.path.trim_end_matches('/') {
            "" => ACCOUNTS,
            folder => folder,
        };
        url.path = format!("{folder}/{name}/token");
        Ok(Wanted::Tokens { grant: Grant::Metadata(url), ahead: AHEAD })
    }

    fn monitor(&mut self, block: &Settings) -> Result<Wanted, Reported> {
        let tenant = self.needed(block, "tenant-id")?;
        let (id, secret) = (self.needed(block, "app-id")?, self.needed(block, "app-secret")?);
        let scope = block.text("scope").unwrap_or(MONITOR_SCOPE).to_owned();
        let login = block.text("login-url").unwrap_or(LOGIN).trim_end_matches('/').to_owned();
        let url = self.url(block, "login-url", &format!("{login}/{tenant}/oauth2/v2.0/token"))?;
        let client = Client { url, id, secret, shown: Shown::Body, fields: vec![("scope", scope)] };
        Ok(Wanted::Tokens { grant: Grant::Client(client), ahead: AHEAD })
    }

    fn oauth2(&mut self, block: &Settings) -> Result<Wanted, Reported> {
        let (id, secret) = (self.needed(block, "client-id")?, self.needed(block, "client-secret")?);
        let text = self.needed(block, "token-url")?;
        let url = self.url(block, "token-url", &text)?;
        let shown = if block.choice("auth-method") == Some("post-body") { Shown::Body } else { Shown::Basic };
        let mut fields = Vec::new();
        for (option, field) in
            [("scope", "scope"), ("resource", "resource"), ("authorization-details", "authorization_details")]
        {
            fields.extend(block.text(option).map(|text| (field, text.to_owned())));
        }
        let ahead = block.seconds("refresh-offset").unwrap_or(AHEAD);
        let client = Client { url, id, secret, shown, fields };
        Ok(Wanted::Tokens { grant: Grant::Client(client), ahead })
    }

    fn shared_key(&mut self, block: &Settings) -> Result<Wanted, Reported> {
        let workspace = self.needed(block, "workspace-id")?;
        let secret = self.needed(block, "secret")?;
        let text = |name: &str| block.text(name).unwrap_or_default().to_owned();
        let signed = Signed {
            method: text("method").to_ascii_uppercase(),
            path: text("path"),
            content_type: text("content-type"),
        };
        match SharedKey::new(workspace, &secret, signed) {
            Ok(key) => Ok(Wanted::SharedKey(Box::new(key))),
            Err(why) => self.wrong(why, block.span("secret"), "write it as Azure's portal shows it"),
        }
    }
}
