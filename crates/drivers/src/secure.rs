//! The `tls()` block of a driver, checked: what it says becomes the options of a TLS session.

use conf_schema::{Settings, Switch};
use conf_syntax::ArgKind;
use diag::{Diagnostic, Diagnostics, Span};
use tls::{Fingerprint, Options, PeerVerify};

/// Which end the driver is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Source,
    Destination,
}

/// Whether the driver encrypts, and how: `Some(None)` when it sends in the clear, `None` after an error. `transport` is the word of
/// `transport()`, or empty for drivers that have none and encrypt as soon as there is a `tls()`.
pub fn read(s: &Settings, transport: &str, side: Side, diags: &mut Diagnostics) -> Option<Option<Options>> {
    let block = s.block("tls");
    match (block, transport) {
        (None, "tls") if side == Side::Source => {
            let text = "transport(tls) needs a certificate to show";
            let help = "add `tls(key-file(\"...\") cert-file(\"...\") ca-file(\"...\"))`";
            diags.push(Diagnostic::error("D0120", text, s.span("transport")?).help(help));
            None
        }
        (None, "tls") => {
            let text = "transport(tls) needs to know whom to trust";
            let help = "add `tls(ca-file(\"...\"))`";
            diags.push(Diagnostic::error("D0120", text, s.span("transport")?).help(help));
            None
        }
        (None, _) => Some(None),
        (Some(block), "tls" | "auto" | "") => options(block, s.span("tls")?, side, diags).map(Some),
        (Some(_), other) => {
            let text = format!("tls() is given, and transport({other}) sends in the clear");
            diags.push(Diagnostic::error("D0120", text, s.span("tls")?).help("write transport(\"tls\")"));
            None
        }
    }
}

fn options(s: &Settings, call: Span, side: Side, diags: &mut Diagnostics) -> Option<Options> {
    let path = |name: &str| s.path(name).map(std::path::Path::to_owned);
    let words = s.flags("ssl-options");
    let has = |word: &str| words.contains(&word);
    let mut options = Options {
        key_file: path("key-file"),
        cert_file: path("cert-file"),
        ca_file: path("ca-file"),
        ca_dir: path("ca-dir"),
        crl_dir: path("crl-dir"),
        peer_verify: peer_verify(s),
        trusted_keys: Vec::new(),
        trusted_dn: s.list("trusted-dn").iter().map(|t| t.text.clone()).collect(),
        tls12: !has("no-tlsv12") && s.choice("ssl-version") != Some("tlsv1-3"),
        tls13: !has("no-tlsv13"),
        cipher_suites: Vec::new(),
        keylog_file: path("keylog-file"),
        sni: side == Side::Destination && s.bool("sni").unwrap_or(false),
        check_name: !has("ignore-hostname-mismatch"),
    };
    let mut wrong = |text: &str, help: &str, at: Option<Span>| {
        let at = at.unwrap_or(call);
        diags.push(Diagnostic::error("D0120", text.to_owned(), at).help(help.to_owned()));
    };
    let mut good = true;
    for key in s.list("trusted-keys") {
        match Fingerprint::parse(&key.text) {
            Ok(key) => options.trusted_keys.push(key),
            Err(error) => {
                wrong(&error, "`openssl x509 -fingerprint -sha1` shows it", Some(key.span));
                good = false;
            }
        }
    }
    if options.key_file.is_some() != options.cert_file.is_some() {
        wrong("a certificate and its key belong together", "give both key-file() and cert-file()", None);
        good = false;
    } else if side == Side::Source && options.key_file.is_none() {
        wrong("a TLS source has to show a certificate", "add key-file() and cert-file()", None);
        good = false;
    }
    if !options.tls12 && !options.tls13 {
        wrong("no version of TLS is left", "allow TLS 1.2 or 1.3", s.span("ssl-options"));
        good = false;
    }
    if good && options.peer_verify.trusted && options.ca_file.is_none() && options.ca_dir.is_none() {
        let finding =
            Diagnostic::warning("D0121", "nobody is trusted: every certificate will be refused", call);
        diags.push(finding.help("add ca-file() or ca-dir(), or write peer-verify(optional-untrusted)"));
    }
    good &= cipher_suites(s, call, &mut options, diags);
    good.then_some(options)
}

fn peer_verify(s: &Settings) -> PeerVerify {
    let word = match s.switch("peer-verify") {
        Some(Switch::No) => "optional-untrusted",
        Some(Switch::Word(word)) => word,
        Some(Switch::Yes) | None => "required-trusted",
    };
    PeerVerify::named(word).unwrap_or(PeerVerify::REQUIRED_TRUSTED)
}

/// `cipher-suite("A:B")` or `cipher-suite(tls12-and-older("A:B") tls13("C"))`.
fn cipher_suites(s: &Settings, call: Span, options: &mut Options, diags: &mut Diagnostics) -> bool {
    let args = s.args("cipher-suite");
    let mut good = true;
    for arg in args {
        let list = match &arg.kind {
            ArgKind::Call(inner) if inner.is("tls12-and-older") || inner.is("tls13") => {
                match inner.args.as_slice() {
                    [only] => only.text(),
                    _ => None,
                }
            }
            _ => arg.text(),
        };
        let Some(list) = list else {
            let finding = Diagnostic::error("D0120", "not a list of cipher suites", arg.span);
            diags.push(finding.help("write `cipher-suite(\"ECDHE-RSA-AES256-GCM-SHA384:...\")`"));
            good = false;
            continue;
        };
        let (known, unknown): (Vec<&str>, Vec<&str>) = list
            .split(':')
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .partition(|name| tls::cipher_suite(name).is_some());
        if known.is_empty() {
            let finding = Diagnostic::error("D0120", "none of these cipher suites is available", arg.span);
            diags.push(
                finding.help("leave cipher-suite() out: only suites that are good enough are used anyway"),
            );
            good = false;
        } else if !unknown.is_empty() {
            let text = format!("these cipher suites are not available and left out: {}", unknown.join(", "));
            diags.push(Diagnostic::warning("D0121", text, arg.span));
        }
        options.cipher_suites.extend(known.iter().filter_map(|name| tls::cipher_suite(name)));
    }
    if s.is_set("cipher-suite") && args.is_empty() {
        diags.push(Diagnostic::error(
            "D0120",
            "cipher-suite() is empty",
            s.span("cipher-suite").unwrap_or(call),
        ));
        good = false;
    }
    good
}
