//! `webhook()`: each request of HTTP is a message. A client hears that it is taken when everything made of it
//! is delivered.

mod handler;

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use diag::{Diagnostic, Diagnostics, Reported};
use driver_options::request_groups::REQUESTS;
use driver_options::source_groups::SOURCE;
use driver_options::tls_groups::SECURE_SOURCE;
use engine::driver::{BuildContext, SourceDriver, SourcePart};
use handler::{Hook, Paths};
use intake::requests::Asked;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tls::{Options, PeerVerify};

pub const PARTS: &[SourcePart] = &[SourcePart::new(&WEBHOOK, build)];

static WEBHOOK: Component = Component {
    context: Context::Source,
    name: "webhook",
    aliases: &[],
    positional: &[],
    groups: &[&REQUESTS, &SOURCE, &SECURE_SOURCE],
    own: &[
        Opt::new(
            "auth-token",
            Kind::Text,
            Preset::None,
            "What a client has to show in its header `Authorization`, behind a scheme such as Bearer or Basic.",
        ),
        Opt::new(
            "paths",
            Kind::TextList,
            Preset::Described("every path"),
            "Paths at which messages are taken, as regular expressions for the whole path. Named groups become values: \
             `\"/events/(?P<HOST>.*)\"`.",
        )
        .sample("\"/events\""),
        Opt::new(
            "proxy-header",
            Kind::Text,
            Preset::None,
            "The header in which a proxy names the client it speaks for, as `x-forwarded-for`. Its last address is the sender then, and the \
             proxy PEERIP. Only for ports that nobody but the proxy reaches: everybody can write a header.",
        )
        .sample("\"x-forwarded-for\""),
        Opt::new(
            "include-request-headers",
            Kind::Bool,
            Preset::Bool(false),
            "Give each message the headers of its request as JSON, in `webhook.headers`; Authorization and Cookie are left out.",
        ),
        Opt::new("tls-key-file", Kind::Path, Preset::None, "As tls(key-file())."),
        Opt::new("tls-cert-file", Kind::Path, Preset::None, "As tls(cert-file())."),
        Opt::new("tls-ca-file", Kind::Path, Preset::None, "As tls(ca-file())."),
        Opt::new("tls-ca-dir", Kind::Path, Preset::None, "As tls(ca-dir())."),
        Opt::new(
            "tls-peer-verify",
            Kind::Bool,
            Preset::Bool(false),
            "Whether clients have to show a certificate that tls-ca-file() or tls-ca-dir() vouches for.",
        ),
        Opt::new(
            "tls-use-system-cert-store",
            Kind::Bool,
            Preset::Bool(false),
            "Let the authorities of the system vouch for clients.",
        ),
    ],
    presets: &[("port", Preset::Described("80, 443 with TLS")), ("keep-hostname", Preset::Bool(true))],
    not_yet: &[],
    summary: "Receives a message with each POST or PUT: the body is MESSAGE, the parameters of the address are \
              `webhook.query.NAME`. The answer is 200 when everything made of the message is delivered; use flags(flow-control) in the \
              log paths. See docs/webhook.md.",
    example: "webhook(port(8181) auth-token(\"secret\") paths(\"/events\", \"/events/(?P<HOST>.*)\"))",
    cost: Some(Cost::elsewhere("A request costs a hand-over to a worker.")),
};

/// Where systems keep the authorities that they trust.
const STORE: [&str; 2] = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"];

/// What syslog-ng has in the place of tls().
const BESIDE: [&str; 6] = [
    "tls-key-file",
    "tls-cert-file",
    "tls-ca-file",
    "tls-ca-dir",
    "tls-peer-verify",
    "tls-use-system-cert-store",
];

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<SourceDriver, Reported> {
    let beside = tls_beside(s, diags)?;
    let tls = match s.block("tls") {
        Some(_) => {
            for name in BESIDE.into_iter().filter(|name| s.is_set(name)) {
                let text = format!("{name}() beside tls() has no effect");
                diags.push(
                    Diagnostic::warning("D0121", text, s.span(name).ok_or(Reported)?)
                        .help("write it in tls()"),
                );
            }
            driver_options::secure::read(s, "", driver_options::secure::Side::Source, diags)?
        }
        None => beside,
    };
    let port = if tls.is_some() { 443 } else { 80 };
    let asked = Asked::read(s, cx, port, tls, diags)?;
    let texts: Vec<&str> = s.list("paths").iter().map(|path| path.text.as_str()).collect();
    let paths = match Paths::new(&texts) {
        Ok(paths) => Arc::new(paths),
        Err(error) => {
            let text = format!("paths() has a wrong expression: {error}");
            diags.push(Diagnostic::error("D0220", text, s.span("paths").ok_or(Reported)?));
            return Err(Reported);
        }
    };
    cx.scope.sets("webhook.query.");
    let token = s.text("auth-token").map(str::to_owned);
    let proxy_header = s.text("proxy-header").map(str::to_ascii_lowercase);
    let headers = s.bool("include-request-headers").unwrap_or(false);
    let what = format!("{texts:?} {token:?} {proxy_header:?} {headers}");
    let headers = if headers { record::intern("webhook.headers") } else { None };
    let make = move |desk| {
        let (paths, token, proxy_header) = (Arc::clone(&paths), token.clone(), proxy_header.clone());
        Arc::new(Hook { desk, paths, token, proxy_header, headers }) as Arc<dyn http_server::Handler>
    };
    Ok(asked.driver("webhook", &what, Arc::new(make)))
}

/// The options of syslog-ng that say what tls() says.
fn tls_beside(s: &Settings, diags: &mut Diagnostics) -> Result<Option<Options>, Reported> {
    let path = |name: &str| s.path(name).map(Path::to_owned);
    let (key_file, cert_file) = (path("tls-key-file"), path("tls-cert-file"));
    let store = s.bool("tls-use-system-cert-store").unwrap_or(false);
    let store = store.then(|| STORE.iter().map(PathBuf::from).find(|path| path.exists())).flatten();
    let verify = if s.bool("tls-peer-verify").unwrap_or(false) { "required-trusted" } else { "none" };
    let options = Options {
        ca_file: path("tls-ca-file").or(store),
        ca_dir: path("tls-ca-dir"),
        peer_verify: PeerVerify::named(verify).unwrap_or(PeerVerify::REQUIRED_TRUSTED),
        key_file,
        cert_file,
        ..Options::default()
    };
    match (&options.key_file, &options.cert_file) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Ok(Some(options)),
        _ => {
            let finding = Diagnostic::error(
                "D0220",
                "a certificate and its key belong together",
                s.call_span().ok_or(Reported)?,
            );
            diags.push(finding.help("give both tls-key-file() and tls-cert-file()"));
            Err(Reported)
        }
    }
}
