//! Options that every client of gRPC has: the address, how one proves who one is, what statuses mean.

pub mod schema;
mod tables;

pub use tables::{ADDRESS, FETCHING, GRPC, HEADERS};

use crate::judge::Actions;
use crate::plan::{KeepAlive, Plan};
use crate::status::Code;
use conf_schema::Settings;
use diag::Reported;
use driver_options::{Reading, secure};
use flight::Outcome;
use http_client::proof::account::Account;
use http_client::proof::options::{self as proof, Wanted};
use http_client::proof::{Grant, Proof};
use http_client::{Action, HeaderName, HeaderValue, HeaderValueOf, Network, Proxies, Url, Version};
use std::sync::Arc;
use std::time::Duration;
use template::Template;
use tls::Connector;

const TIMEOUT: Duration = Duration::from_secs(60);
/// As in other clients of gRPC.
const ANSWER_BYTES_MAX: usize = 4 << 20;
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(20);
/// A server takes it for an attack when it is asked more often.
const KEEP_ALIVE_MIN: Duration = Duration::from_secs(1);

/// What a driver says of its calls.
pub struct Calls {
    /// The option that says the address, and what it is without that.
    pub address: (&'static str, &'static str),
    /// Parts of the key that stand before those of the headers.
    pub headers_from: usize,
    pub read: fn(&[u8], usize) -> Outcome,
}

/// The plan, and the templates of headers in the order in which it reads their expansions.
pub struct Called {
    pub plan: Plan,
    pub headers: Vec<Arc<Template>>,
}

/// Names with their values, or where these stand in keys.
type Headers = Vec<(HeaderName, HeaderValueOf)>;

/// Reads the address and the options of [`GRPC`] and [`HEADERS`].
pub fn read(calls: &Calls, r: &mut Reading<'_>) -> Result<Called, Reported> {
    let Caller { plan, .. } = caller(calls.address, r)?;
    let (headers, templates) = headers(r)?;
    let plan = Plan {
        headers,
        headers_from: calls.headers_from,
        compresses: r.s.bool("compression").unwrap_or(false),
        actions: actions(r)?,
        read: calls.read,
        ..plan
    };
    Ok(Called { plan, headers: templates })
}

/// Who calls about no batch.
pub struct Caller {
    pub plan: Plan,
    /// Differs where a reload has to begin anew.
    pub described: String,
}

/// Reads an address and the options of [`FETCHING`].
pub fn caller(address: (&str, &str), r: &mut Reading<'_>) -> Result<Caller, Reported> {
    let cloud = proof::read_cloud(r.s, r.diags)?;
    let default = default_credentials(r)?;
    let account = account(r)?;
    let by_auth = account.is_some() || default.is_some();
    if by_auth && cloud.is_some() || account.is_some() && default.is_some() {
        let at = r.s.span("cloud-auth").or(r.s.span("auth"));
        return r.wrong_at(at, "there are two ways to get tokens", "leave one of them out");
    }
    let secure = auth(r, by_auth, cloud.is_some())?;
    let wanted = cloud.or(default);
    let url = url(r, address, secure.is_some())?;
    let s = r.s;
    let mark = wanted.as_ref().map(Wanted::mark);
    let mut described = format!("{} {secure:?} {} {mark:?}", url.authority, account_described(s));
    let (account, proof) = match wanted {
        // Without a word of what its tokens are good for, they are for the service that is called.
        Some(Wanted::Tokens { grant: Grant::Account(account, _), .. }) if !says_what_for(s) => {
            (Some(*account), None)
        }
        Some(wanted) => (account, Some(proof_of(wanted, secure.as_ref(), r)?)),
        None => (account, None),
    };
    // Read now, so that what is wrong shows with the first call at the latest.
    let tls = secure.map(|options| Connector::load(&options));
    let mut plan = Plan {
        name: r.cx.id(),
        url,
        network: Network::new(tls, None).speaking(Version::Http2),
        user_agent: format!("penstock/{}", env!("CARGO_PKG_VERSION")),
        authority: None,
        headers: Vec::new(),
        headers_from: 0,
        account,
        proof,
        compresses: false,
        timeout: s.seconds("timeout").filter(|timeout| !timeout.is_zero()).unwrap_or(TIMEOUT),
        keep_alive: keep_alive(s),
        answer_bytes_max: ANSWER_BYTES_MAX,
        actions: Actions::default(),
        read: |_, _| Outcome::Delivered,
        ids: None,
    };
    channel_args(r, &mut plan)?;
    let Plan { user_agent, authority, timeout, keep_alive, answer_bytes_max, .. } = &plan;
    described += &format!(" {user_agent} {authority:?} {timeout:?} {keep_alive:?} {answer_bytes_max}");
    Ok(Caller { plan, described })
}

/// `cloud-auth(gcp(service-account()))` has audience() or scope().
fn says_what_for(s: &Settings) -> bool {
    let account = s.block("cloud-auth").and_then(|cloud| cloud.block("gcp"));
    let account = account.and_then(|gcp| gcp.block("service-account"));
    account.is_some_and(|account| ["audience", "scope"].iter().any(|name| account.text(name).is_some()))
}

/// Tokens, and the connections to their server.
fn proof_of(wanted: Wanted, secure: Option<&tls::Options>, r: &mut Reading<'_>) -> Result<Proof, Reported> {
    let options = wanted.is_secure().then(|| secure.cloned().unwrap_or_else(secure::trusting_system));
    let tls = options.map(|options| Connector::load(&options));
    let proxies = match Proxies::of_environment(&|name| std::env::var(name).ok()) {
        Ok(proxies) => proxies,
        Err(error) => return r.wrong_at(r.s.span("cloud-auth"), error, "mend the environment"),
    };
    Ok(wanted.over(&Arc::new(Network::new(tls, None).through(proxies))))
}

fn account_described(s: &Settings) -> String {
    let account = s.block("auth").and_then(|auth| auth.block("service-account"));
    let said = account.map(|account| (account.path("key"), account.int("token-validity-duration")));
    format!("{said:?}")
}

fn url(r: &mut Reading<'_>, (option, otherwise): (&str, &str), is_secure: bool) -> Result<Url, Reported> {
    let text = r.s.text(option).unwrap_or(otherwise).to_owned();
    let at = r.s.span(option);
    let plain = text.strip_prefix("dns:///").or(text.strip_prefix("dns:")).unwrap_or(&text);
    let help = "write `url(\"host:port\")`";
    let whole = match plain.split_once("://") {
        None => format!("{}://{plain}", if is_secure { "https" } else { "http" }),
        Some(("http", _)) if !is_secure => plain.to_owned(),
        Some(("https", _)) if is_secure => plain.to_owned(),
        // As Arrow writes them.
        Some(("grpc" | "grpc+tcp", place)) if !is_secure => format!("http://{place}"),
        Some(("grpc+tls", place)) if is_secure => format!("https://{place}"),
        Some((scheme @ ("https" | "grpc+tls"), _)) => {
            let help = format!("add `auth(tls())`, or leave {scheme}:// out");
            return r.wrong_at(at, format!("{scheme}:// is encrypted"), &help);
        }
        Some((scheme @ ("http" | "grpc" | "grpc+tcp"), _)) => {
            let help = format!("leave {scheme}:// out, or auth()");
            return r.wrong_at(at, format!("{scheme}:// is not encrypted"), &help);
        }
        Some(_) => return r.wrong_at(at, format!("`{text}` is no address of a server"), help),
    };
    match Url::parse(&whole) {
        Ok(url) if url.path == "/" && url.user_info.is_none() => Ok(url),
        Ok(_) => r.wrong_at(at, format!("`{text}` is more than an address of a server"), help),
        Err(error) => r.wrong_at(at, error, help),
    }
}

/// `adc()`, where it is asked for.
fn default_credentials(r: &mut Reading<'_>) -> Result<Option<Wanted>, Reported> {
    let Some(auth) = r.s.block("auth") else { return Ok(None) };
    let Some(block) = auth.block("adc") else { return Ok(None) };
    let named = block.path("service-account-key").map(|path| path.display().to_string());
    let variable = |name: &str| match name {
        "GOOGLE_APPLICATION_CREDENTIALS" if named.is_some() => named.clone(),
        name => std::env::var(name).ok(),
    };
    match proof::default_credentials(&variable) {
        Ok(wanted) => Ok(Some(wanted)),
        Err(why) => {
            let help = "let GOOGLE_APPLICATION_CREDENTIALS name the key of a service account, or write service-account()";
            r.wrong_at(auth.span("adc"), why, help)
        }
    }
}

/// `service-account()`, where it is asked for.
fn account(r: &mut Reading<'_>) -> Result<Option<Account>, Reported> {
    let Some(auth) = r.s.block("auth") else { return Ok(None) };
    let Some(block) = auth.block("service-account") else { return Ok(None) };
    let at = auth.span("service-account");
    let validity =
        block.int("token-validity-duration").and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0);
    let validity = Duration::from_secs(validity.unwrap_or(3600));
    let Some(path) = block.path("key") else {
        return r.wrong_at(
            at,
            "service-account() needs key()",
            "the file that Google gives out for the account",
        );
    };
    match Account::read(path, validity) {
        Ok(account) => Ok(Some(account)),
        Err(why) => r.wrong_at(at, why, "make a key for the account in Google's console, as JSON"),
    }
}

/// How sessions are encrypted, where they are: with an account always, with other tokens unless insecure() is
/// written.
fn auth(r: &mut Reading<'_>, has_account: bool, has_tokens: bool) -> Result<Option<tls::Options>, Reported> {
    let Some(auth) = r.s.block("auth") else { return Ok(has_tokens.then(secure::trusting_system)) };
    let at = r.s.span("auth");
    let _ = auth.args("alts");
    if auth.is_set("alts") {
        let text = "auth(alts()) is not available in this version of penstock";
        return r.wrong_at(at, text, "ALTS works inside Google's cloud only: write `auth(tls())`");
    }
    let is_plain = auth.is_set("insecure");
    let _ = auth.args("insecure");
    let is_asked = has_account || has_tokens && !is_plain;
    let secure = secure::read_client(auth, is_asked, r.diags)?;
    match (is_plain, secure) {
        (true, Some(_)) => r.wrong_at(at, "auth() is insecure(), and asks for more", "leave insecure() out"),
        (_, secure) => Ok(secure),
    }
}

fn headers(r: &mut Reading<'_>) -> Result<(Headers, Vec<Arc<Template>>), Reported> {
    let (mut headers, mut templates) = (Vec::new(), Vec::new());
    for pair in r.s.pairs("headers") {
        let name = pair.key.text.to_ascii_lowercase();
        let is_ours = name.starts_with("grpc-") || matches!(name.as_str(), "te" | "content-type");
        let Some(name) = HeaderName::from_bytes(name.as_bytes()).ok().filter(|_| !is_ours) else {
            let text = format!("`{}` is no header of one's own", pair.key.text);
            return r.wrong_at(Some(pair.key.span), text, "write `headers(\"name\" => \"value\")`");
        };
        let template = r.compile(&pair.value.text, pair.value.span)?;
        let fixed = template.literal().filter(|_| !name.as_str().ends_with("-bin"));
        let value = match fixed.map(HeaderValue::from_bytes) {
            Some(Ok(value)) => HeaderValueOf::Fixed(value),
            Some(Err(error)) => {
                return r.wrong_at(Some(pair.value.span), error.to_string(), "it is one line of text");
            }
            None => {
                templates.push(template);
                HeaderValueOf::Key
            }
        };
        headers.push((name, value));
    }
    Ok((headers, templates))
}

fn keep_alive(s: &Settings) -> Option<KeepAlive> {
    let block = s.block("keep-alive")?;
    let ms = |name: &str| {
        let ms = block.int(name).and_then(|ms| u64::try_from(ms).ok()).filter(|ms| *ms > 0);
        ms.map(Duration::from_millis)
    };
    let (time, timeout) = (ms("time"), ms("timeout"));
    let pings = block.int("max-pings-without-data");
    Some(KeepAlive {
        time: time?.max(KEEP_ALIVE_MIN),
        timeout: timeout.unwrap_or(KEEP_ALIVE_TIMEOUT),
        without_calls: pings == Some(0),
    })
}

fn actions(r: &mut Reading<'_>) -> Result<Actions, Reported> {
    let mut actions = Vec::new();
    for pair in r.s.pairs("response-action") {
        let (Some(code), Some(action)) = (Code::named(&pair.key.text), Action::named(&pair.value.text))
        else {
            let text = format!("`{} => {}` is no action", pair.key.text, pair.value.text);
            let help = "write `unavailable => drop`, or success, retry, disconnect";
            return r.wrong_at(Some(pair.value.span), text, help);
        };
        actions.push((code, action));
    }
    Ok(Actions(actions))
}

/// What of grpc's own arguments has a meaning here.
fn channel_args(r: &mut Reading<'_>, plan: &mut Plan) -> Result<(), Reported> {
    for pair in r.s.pairs("channel-args") {
        let (name, text, at) = (pair.key.text.as_str(), pair.value.text.trim(), Some(pair.value.span));
        let number = text.parse::<u64>().ok();
        let mut keep = plan.keep_alive.unwrap_or(KeepAlive {
            time: Duration::from_secs(7200),
            timeout: KEEP_ALIVE_TIMEOUT,
            without_calls: false,
        });
        match (name, number) {
            ("grpc.primary_user_agent", _) => plan.user_agent = format!("{text} {}", plan.user_agent),
            ("grpc.default_authority", _) => plan.authority = Some(text.to_owned()),
            ("grpc.max_receive_message_length", Some(bytes)) => plan.answer_bytes_max = bytes as usize,
            // A batch is as large as batch-bytes() says.
            ("grpc.max_send_message_length", _) => {}
            ("grpc.keepalive_time_ms", Some(ms)) => {
                keep.time = Duration::from_millis(ms).max(KEEP_ALIVE_MIN);
                plan.keep_alive = Some(keep);
            }
            ("grpc.keepalive_timeout_ms", Some(ms)) => {
                keep.timeout = Duration::from_millis(ms);
                plan.keep_alive = Some(keep);
            }
            ("grpc.keepalive_permit_without_calls", Some(flag)) => {
                keep.without_calls = flag != 0;
                plan.keep_alive = Some(keep);
            }
            _ => {
                let text = format!("nothing is known of the argument `{name}` with the value `{text}`");
                let help = "known are grpc.primary_user_agent, grpc.default_authority, grpc.max_receive_message_length, \
                            grpc.max_send_message_length, grpc.keepalive_time_ms, grpc.keepalive_timeout_ms and \
                            grpc.keepalive_permit_without_calls";
                return r.wrong_at(at, text, help);
            }
        }
    }
    Ok(())
}
