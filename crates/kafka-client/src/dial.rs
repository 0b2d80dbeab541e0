//! How brokers are reached, out of the options and properties that say it.

use crate::Server;
use crate::connection::Dial;
#[cfg(feature = "kerberos")]
use crate::login::Kerberos;
use crate::login::{Fetched, Logins};
use crate::properties::{Bearer, KerberosNames, Properties};
use conf_schema::Settings;
use delivery::dialing::Secured;
use delivery::target::Connect;
use diag::{Diagnostic, Diagnostics};
use driver_options::secure::{self, Side};
#[cfg(feature = "kerberos")]
use gssapi::Whom;
use http_client::{Network, Proxies, Url};
use kafka::{Login, Mechanism};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tls::Connector;

const PORT: u16 = 9092;
/// Where authorities stand that the system trusts.
const SYSTEM_CA: &str = "/etc/ssl/certs/ca-certificates.crt";

/// `bootstrap-servers()`, as it is written and as it is meant; `None` after an error was reported.
pub fn servers(s: &Settings, p: &Properties, diags: &mut Diagnostics) -> Option<(String, Vec<Server>)> {
    let at = s.call_span()?;
    let Some(text) = s.text("bootstrap-servers").map(str::to_owned).or_else(|| p.servers.clone()) else {
        let finding = Diagnostic::error("D0162", "kafka() does not say where the brokers are", at);
        diags.push(finding.help("add `bootstrap-servers(\"host:9092\")`"));
        return None;
    };
    let parts = text.split(',').map(str::trim).filter(|server| !server.is_empty());
    let servers: Option<Vec<Server>> = parts.map(server).collect();
    let Some(servers) = servers.filter(|servers| !servers.is_empty()) else {
        let at = s.span("bootstrap-servers").unwrap_or(at);
        let finding = Diagnostic::error("D0162", format!("`{text}` is no list of brokers"), at);
        diags.push(finding.help("write `bootstrap-servers(\"host:9092,other:9092\")`"));
        return None;
    };
    Some((text, servers))
}

fn server(text: &str) -> Option<Server> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.starts_with('[') => (host, port.parse().ok()?),
        _ => (text, PORT),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    (!host.is_empty() && port != 0).then(|| (host.to_owned(), port))
}

/// `None` after an error was reported.
pub fn dial(s: &Settings, p: &Properties, diags: &mut Diagnostics) -> Option<Dial> {
    // The options of a client: a source is one too.
    let own = secure::read(s, "", Side::Destination, diags).ok()?;
    let given = p.secure || p.tls_given;
    let mut options = match own {
        Some(own) => Some(own),
        None => given.then(|| tls::Options { sni: true, ..p.tls.clone() }),
    };
    if let Some(options) = &mut options
        && options.ca_file.is_none()
        && options.ca_dir.is_none()
        && Path::new(SYSTEM_CA).exists()
    {
        options.ca_file = Some(SYSTEM_CA.into());
    }
    let at = s.span("config").or(s.call_span())?;
    let logins = match logins(p) {
        Ok(logins) => logins.map(Arc::new),
        Err((text, help)) => {
            diags.push(Diagnostic::error("D0162", text, at).help(help));
            return None;
        }
    };
    Some(Dial {
        connect: Connect::default(),
        ipv6: p.ipv6,
        secured: options.map(Secured::new),
        logins,
        client_id: p.client_id.as_str().into(),
        pause: p.reconnect.max(Duration::from_millis(10)),
        pause_max: p.reconnect_max.max(p.reconnect),
        answer_max: p.socket_timeout.max(p.request_timeout + Duration::from_secs(1)),
        answer_bytes_max: p.reads.answer_bytes_max,
    })
}

/// What is wrong, and what to do about it.
type Wrong = (String, &'static str);

fn logins(p: &Properties) -> Result<Option<Logins>, Wrong> {
    let mechanism = p.mechanism.unwrap_or(Mechanism::Plain);
    if mechanism == Mechanism::OAuthBearer {
        let wrong = || ("OAUTHBEARER shows no user and no password".to_owned(), TOKENS);
        return match (&p.user, &p.password) {
            (None, None) => tokens(&p.bearer).map(Some),
            _ => Err(wrong()),
        };
    }
    if mechanism == Mechanism::Gssapi {
        return match (&p.user, &p.password) {
            (None, None) => kerberos(&p.kerberos).map(Some),
            _ => Err(("GSSAPI shows no user and no password".to_owned(), KEYS)),
        };
    }
    if p.kerberos != KerberosNames::default() {
        let text = format!("the properties of Kerberos change nothing with {}", mechanism.name());
        return Err((text, "add `\"sasl.mechanism\" => \"GSSAPI\"`"));
    }
    if p.bearer.is_given {
        let text = format!("the properties of OAUTHBEARER change nothing with {}", mechanism.name());
        return Err((text, "add `\"sasl.mechanism\" => \"OAUTHBEARER\"`"));
    }
    match (p.sasl, &p.user, &p.password) {
        (false, None, None) => Ok(None),
        (_, Some(user), Some(password)) => {
            let (user, password) = (user.clone(), password.clone());
            Ok(Some(Logins::Password(Login::Password { mechanism, user, password })))
        }
        _ => {
            let text = "a login needs both `sasl.username` and `sasl.password`".to_owned();
            Err((text, "with OAUTHBEARER it needs a token instead"))
        }
    }
}

const TOKENS: &str = "write `\"sasl.oauthbearer.method\" => \"oidc\"`, and `sasl.oauthbearer.client.id`, `sasl.oauthbearer.client.secret` and \
                      `sasl.oauthbearer.token.endpoint.url`";

const KEYS: &str = "write `\"sasl.kerberos.principal\" => \"name@REALM\"` and `\"sasl.kerberos.keytab\" => \"/path\"`, or none of them where \
                    somebody calls kinit";

#[cfg(feature = "kerberos")]
fn kerberos(names: &KerberosNames) -> Result<Logins, Wrong> {
    let whom = match (&names.principal, &names.keytab) {
        (Some(principal), Some(file)) => {
            // The first login says more; a path that is wrong is best said now.
            std::fs::File::open(file).map_err(|error| (format!("{}: {error}", file.display()), KEYS))?;
            Whom::Keytab { principal: principal.clone(), file: file.clone() }
        }
        (None, None) => Whom::Cached,
        _ => return Err(("Kerberos needs a name and its keys".to_owned(), KEYS)),
    };
    let service = names.service.clone().unwrap_or_else(|| "kafka".to_owned());
    Ok(Logins::Kerberos(Kerberos { service, whom }))
}

#[cfg(not(feature = "kerberos"))]
fn kerberos(_: &KerberosNames) -> Result<Logins, Wrong> {
    let text = "this penstock was built without Kerberos".to_owned();
    Err((text, "build it with `--features kerberos`, or use SCRAM-SHA-512"))
}

fn tokens(bearer: &Bearer) -> Result<Logins, Wrong> {
    let fetches = bearer.id.is_some() || bearer.secret.is_some() || bearer.url.is_some();
    match (bearer.is_fetched, &bearer.unsecured) {
        (true, None) if !bearer.may_be_unsecured => fetched(bearer),
        (true, _) => {
            let text = "tokens are fetched, or made here".to_owned();
            Err((text, "leave `sasl.oauthbearer.config` and `enable.sasl.oauthbearer.unsecure.jwt` out"))
        }
        (false, _) if fetches || bearer.scope.is_some() || !bearer.extensions.is_empty() => {
            let text = "it is not said that tokens are to be fetched".to_owned();
            Err((text, "add `\"sasl.oauthbearer.method\" => \"oidc\"`"))
        }
        (false, Some(wanted)) if bearer.may_be_unsecured => Ok(Logins::Unsecured(wanted.clone())),
        (false, Some(_)) => {
            let text = "tokens that nobody signs are for tests, and have to be allowed".to_owned();
            Err((text, "add `\"enable.sasl.oauthbearer.unsecure.jwt\" => \"true\"`"))
        }
        (false, None) => Err(("OAUTHBEARER has no token to show".to_owned(), TOKENS)),
    }
}

fn fetched(bearer: &Bearer) -> Result<Logins, Wrong> {
    let (Some(_), Some(_), Some(url)) = (&bearer.id, &bearer.secret, &bearer.url) else {
        return Err(("something is missing that tokens are fetched with".to_owned(), TOKENS));
    };
    let url = Url::parse(url).map_err(|why| (why, TOKENS))?;
    let proxies = Proxies::of_environment(&|name| std::env::var(name).ok());
    let proxies = proxies.map_err(|why| (why, "mend the environment"))?;
    let mut trusted = tls::Options { sni: true, ..tls::Options::default() };
    match &bearer.ca {
        Some(folder) if folder.is_dir() => trusted.ca_dir = Some(folder.clone()),
        Some(file) => trusted.ca_file = Some(file.clone()),
        None => trusted.ca_file = Some(SYSTEM_CA.into()).filter(|file: &PathBuf| file.exists()),
    }
    // Read now, so that what is wrong shows with the first token at the latest.
    let tls = url.is_secure.then(|| Connector::load(&trusted));
    let network = Network::new(tls, None).through(proxies);
    Ok(Logins::Fetched(Arc::new(Fetched::new(bearer.clone(), &url, network))))
}
