//! The `tls()` block of a driver, checked: what it says becomes the options of a TLS session.

use conf_schema::{Settings, Switch};
use conf_syntax::ArgKind;
use diag::{Diagnostic, Diagnostics, Origin, Reported, Severity, SourceMap, Span};
use tls::{CipherList, Fingerprint, Options, PeerVerify};

/// Which end the driver is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Source,
    Destination,
}

/// Whether the driver encrypts, and how; `None` when it sends in the clear.
/// `transport` is the word of `transport()`, or empty for drivers that have none and encrypt as soon as there
/// is a `tls()`.
pub fn read(
    s: &Settings,
    transport: &str,
    side: Side,
    diags: &mut Diagnostics,
) -> Result<Option<Options>, Reported> {
    let block = s.block("tls");
    match (block, transport) {
        (None, "tls" | "proxied-tls" | "proxied-tls-passthrough") if side == Side::Source => {
            let text = format!("transport({transport}) needs a certificate to show");
            let help = "add `tls(key-file(\"...\") cert-file(\"...\") ca-file(\"...\"))`";
            diags.push(Diagnostic::error("D0120", text, s.span("transport").ok_or(Reported)?).help(help));
            Err(Reported)
        }
        (None, "tls") => {
            let text = "transport(tls) needs to know whom to trust";
            let help = "add `tls(ca-file(\"...\"))`";
            diags.push(Diagnostic::error("D0120", text, s.span("transport").ok_or(Reported)?).help(help));
            Err(Reported)
        }
        (None, _) => Ok(None),
        (Some(block), "tls" | "proxied-tls" | "proxied-tls-passthrough" | "auto" | "") => {
            options(block, s.span("tls").ok_or(Reported)?, side, diags).map(Some)
        }
        (Some(_), other) => {
            let text = format!("tls() is given, and transport({other}) sends in the clear");
            diags.push(
                Diagnostic::error("D0120", text, s.span("tls").ok_or(Reported)?)
                    .help("write transport(\"tls\")"),
            );
            Err(Reported)
        }
    }
}

/// How a client of HTTP encrypts: the block, or the same options beside it.
pub fn read_http(s: &Settings, diags: &mut Diagnostics) -> Result<Options, Reported> {
    let beside = direct(s, diags)?;
    let mut options = match s.block("tls") {
        Some(block) => {
            // Whom to trust is asked for beside the block too.
            let elsewhere = |name: &&str| s.is_set(name) && *name != "use-system-cert-store";
            for name in DIRECT.into_iter().filter(elsewhere) {
                let text = format!("{name}() beside tls() has no effect");
                let finding =
                    Diagnostic::warning("D0121", text, s.span(name).or(s.span("tls")).ok_or(Reported)?);
                diags.push(finding.help("write it in tls()"));
            }
            let (inside, outside) = (block.bool("use-system-cert-store"), s.bool("use-system-cert-store"));
            let store =
                system_store(block, if block.is_set("use-system-cert-store") { inside } else { outside });
            with_store(block, s.span("tls").ok_or(Reported)?, Side::Destination, store, diags)?
        }
        None => beside,
    };
    options.sni = true;
    Ok(options)
}

/// How a client of a server encrypts that is named: `None` when it does not, because there is no tls()
/// and nothing else asks for it. Without authorities those of the system are trusted.
pub fn read_client(
    s: &Settings,
    is_asked: bool,
    diags: &mut Diagnostics,
) -> Result<Option<Options>, Reported> {
    let mut options = match s.block("tls") {
        Some(block) => {
            let store = system_store(block, block.bool("use-system-cert-store"));
            with_store(block, s.span("tls").ok_or(Reported)?, Side::Destination, store, diags)?
        }
        None if !is_asked => return Ok(None),
        None => trusting_system(),
    };
    options.sni = true;
    Ok(Some(options))
}

/// How a client encrypts that was told nothing: authorities of the system are trusted.
pub fn trusting_system() -> Options {
    Options { ca_file: store_file(), sni: true, ..Options::default() }
}

/// Options of a TLS session that http() takes without a block too.
const DIRECT: [&str; 9] = [
    "ca-file",
    "ca-dir",
    "key-file",
    "cert-file",
    "cipher-suite",
    "ssl-version",
    "peer-verify",
    "ocsp-stapling-verify",
    "use-system-cert-store",
];

/// The options that http() has without a block.
fn direct(s: &Settings, diags: &mut Diagnostics) -> Result<Options, Reported> {
    let path = |name: &str| s.path(name).map(std::path::Path::to_owned);
    let call = s.call_span().ok_or(Reported)?;
    let (file, dir) = system_store(s, s.bool("use-system-cert-store"));
    let mut options = Options {
        key_file: path("key-file"),
        cert_file: path("cert-file"),
        ca_file: path("ca-file").or(file),
        ca_dir: path("ca-dir").or(dir),
        peer_verify: peer_verify(s),
        tls12: s.choice("ssl-version") != Some("tlsv1-3"),
        ocsp_stapling_verify: s.bool("ocsp-stapling-verify") == Some(true),
        ..Options::default()
    };
    let mut wrong = |text: &str, help: &str| {
        diags.push(Diagnostic::error("D0120", text.to_owned(), call).help(help.to_owned()));
    };
    if options.key_file.is_some() != options.cert_file.is_some() {
        wrong("a certificate and its key belong together", "give both key-file() and cert-file()");
        return Err(Reported);
    }
    if s.choice("ssl-version").is_some_and(is_old) {
        wrong("this version is too weak and never spoken", "leave it out: TLS 1.2 and 1.3 are spoken");
        return Err(Reported);
    }
    cipher_suites(s, call, &mut options, diags).then_some(options).ok_or(Reported)
}

/// Where systems keep the authorities that they trust.
const STORE_FILES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];
const STORE_DIR: &str = "/etc/ssl/certs";

type Store = (Option<std::path::PathBuf>, Option<std::path::PathBuf>);

fn store_file() -> Option<std::path::PathBuf> {
    STORE_FILES.iter().map(std::path::PathBuf::from).find(|path| path.exists())
}

/// The file or the folder of the system's authorities, whichever of ca-file() and ca-dir() is not given;
/// `asked`: whether they are wanted, where that is said.
fn system_store(s: &Settings, asked: Option<bool>) -> Store {
    let (has_file, has_dir) = (s.is_set("ca-file"), s.is_set("ca-dir"));
    let wanted = asked.unwrap_or(!has_file && !has_dir);
    match (wanted, has_file) {
        (false, _) => (None, None),
        (true, false) => (store_file(), None),
        (true, true) => (None, Some(STORE_DIR.into())),
    }
}

/// Whether a source is to serve TLS with nothing to show: `transport(tls) tls()`, as
/// default-network-drivers() comes to when it is given no certificate. In syslog-ng every handshake at such a
/// port fails; here the port is not opened.
///
/// A block that hands its empty default on asks for nothing: only what stands in the configuration itself is
/// warned about.
pub fn stays_closed(s: &Settings, transport: &str, texts: &SourceMap, diags: &mut Diagnostics) -> bool {
    let (Some(block), Some(at)) = (s.block("tls"), s.span("tls")) else { return false };
    if transport != "tls" || !block.is_blank() {
        return false;
    }
    let is_made = texts.chain(at).iter().any(|(origin, _)| matches!(origin, Origin::Expanded { .. }));
    let severity = if is_made { Severity::Remark } else { Severity::Warning };
    let text = "the port stays closed: there is no certificate to show";
    let finding = Diagnostic::new(severity, "D0121", text).at(at);
    diags.push(finding.help("add tls(key-file(\"...\") cert-file(\"...\")) when peers shall come with TLS"));
    true
}

fn options(s: &Settings, call: Span, side: Side, diags: &mut Diagnostics) -> Result<Options, Reported> {
    with_store(s, call, side, (None, None), diags)
}

fn with_store(
    s: &Settings,
    call: Span,
    side: Side,
    (store_file, store_dir): Store,
    diags: &mut Diagnostics,
) -> Result<Options, Reported> {
    let path = |name: &str| s.path(name).map(std::path::Path::to_owned);
    let words = s.flags("ssl-options");
    let has = |word: &str| words.contains(&word);
    let mut options = Options {
        key_file: path("key-file"),
        cert_file: path("cert-file"),
        pkcs12_file: path("pkcs12-file"),
        ca_file: path("ca-file").or(store_file),
        ca_dir: path("ca-dir").or(store_dir),
        crl_dir: path("crl-dir"),
        peer_verify: peer_verify(s),
        trusted_dn: s.list("trusted-dn").iter().map(|t| t.text.clone()).collect(),
        tls12: !has("no-tlsv12") && s.choice("ssl-version") != Some("tlsv1-3"),
        tls13: !has("no-tlsv13"),
        keylog_file: path("keylog-file"),
        sni: side == Side::Destination && s.bool("sni").unwrap_or(false),
        check_name: !has("ignore-hostname-mismatch"),
        check_validity: !has("ignore-validity-period"),
        extended_key_usage_verify: s.bool("extended-key-usage-verify") == Some(true),
        ocsp_stapling_verify: side == Side::Destination && s.bool("ocsp-stapling-verify") == Some(true),
        ..Options::default()
    };
    let mut good = true;
    for (name, into) in [
        ("trusted-keys", &mut options.trusted_keys),
        ("trusted-fingerprints", &mut options.trusted_fingerprints),
    ] {
        for key in s.list(name) {
            match Fingerprint::parse(&key.text) {
                Ok(key) => into.push(key),
                Err(error) => {
                    let finding = Diagnostic::error("D0120", error, key.span);
                    diags.push(finding.help("`openssl x509 -fingerprint -sha256` shows it"));
                    good = false;
                }
            }
        }
    }
    good &= consistent(s, call, side, &options, diags);
    if good
        && options.peer_verify.trusted
        && options.ca_file.is_none()
        && options.ca_dir.is_none()
        && options.pkcs12_file.is_none()
        && options.trusted_fingerprints.is_empty()
    {
        let finding =
            Diagnostic::warning("D0121", "nobody is trusted: every certificate will be refused", call);
        diags.push(finding.help("add ca-file() or ca-dir(), or write peer-verify(optional-untrusted)"));
    }
    without_effect(s, side, diags);
    good &= cipher_suites(s, call, &mut options, diags);
    good &= names(s, "sigalgs", tls::signature_scheme, &mut options.sigalgs, diags);
    good &= names(s, "client-sigalgs", tls::signature_scheme, &mut options.client_sigalgs, diags);
    good &= names(s, "ecdh-curve-list", tls::group, &mut options.groups, diags);
    good.then_some(options).ok_or(Reported)
}

/// What belongs together, and what excludes each other.
fn consistent(s: &Settings, call: Span, side: Side, options: &Options, diags: &mut Diagnostics) -> bool {
    let mut good = true;
    let mut wrong = |text: &str, help: &str, at: Option<Span>| {
        diags.push(Diagnostic::error("D0120", text.to_owned(), at.unwrap_or(call)).help(help.to_owned()));
        good = false;
    };
    let pair = options.key_file.is_some() || options.cert_file.is_some();
    if options.pkcs12_file.is_some() && pair {
        let help = "leave out key-file() and cert-file(), or pkcs12-file()";
        wrong("pkcs12-file() holds key and certificate already", help, s.span("pkcs12-file"));
    } else if options.key_file.is_some() != options.cert_file.is_some() {
        wrong("a certificate and its key belong together", "give both key-file() and cert-file()", None);
    } else if side == Side::Source && !pair && options.pkcs12_file.is_none() {
        wrong("a TLS source has to show a certificate", "add key-file() and cert-file()", None);
    }
    if side == Side::Destination && s.choice("ssl-version").is_some_and(is_old) {
        let help = "leave it out: TLS 1.2 and 1.3 are spoken, and nothing older";
        wrong("this version is too weak and never spoken", help, s.span("ssl-version"));
    }
    if !options.tls12 && !options.tls13 {
        wrong("no version of TLS is left", "allow TLS 1.2 or 1.3", s.span("ssl-options"));
    }
    good
}

fn is_old(version: &str) -> bool {
    matches!(version, "sslv3" | "tlsv1-0" | "tlsv1-1")
}

/// What is taken from a configuration of syslog-ng and nothing comes of.
fn without_effect(s: &Settings, side: Side, diags: &mut Diagnostics) {
    let warn = |diags: &mut Diagnostics, option: &str, text: &str, help: &str| {
        if let (Some(true), Some(at)) = (s.bool(option), s.span(option)) {
            diags.push(Diagnostic::warning("D0121", text.to_owned(), at).help(help.to_owned()));
        }
    };
    if let (Some(true), Some(at)) = (s.bool("allow-compress"), s.span("allow-compress")) {
        // Nothing is lost by it: no peer can tell.
        let text = "compression is allowed, and no peer will do it: TLS 1.3 has none, and in TLS 1.2 it gives away secrets";
        let help = "leave it out; to send fewer bytes, use transport(\"rltp\") with rltp(compress(yes))";
        diags.push(Diagnostic::remark("D0121", text, at).help(help));
    }
    if side == Side::Source {
        if let (Some(true), Some(at)) = (s.choice("ssl-version").map(is_old), s.span("ssl-version")) {
            let text = "older versions are too weak: TLS 1.2 and 1.3 are spoken, and clients that know neither are refused";
            diags.push(Diagnostic::warning("D0121", text, at).help("leave it out"));
        }
        warn(
            diags,
            "ocsp-stapling-verify",
            "clients bring no OCSP answers, so a source has none to verify",
            "leave it out, or write crl-dir(): revocation lists are looked at for every certificate of the chain",
        );
    }
}

/// A list of algorithms, separated by colons. What is not available is left out with a warning; nothing may
/// be left of it.
fn names<T>(
    s: &Settings,
    option: &str,
    known: fn(&str) -> Option<T>,
    into: &mut Vec<T>,
    diags: &mut Diagnostics,
) -> bool {
    let (Some(list), Some(at)) = (s.text(option), s.span(option)) else { return true };
    let all = list.split(':').map(str::trim).filter(|name| !name.is_empty() && *name != "auto");
    let (good, unknown): (Vec<&str>, Vec<&str>) = all.partition(|name| known(name).is_some());
    if good.is_empty() && !unknown.is_empty() {
        let finding = Diagnostic::error("D0120", format!("none of {option}() is available"), at);
        diags.push(finding.help("leave it out: only what is good enough is used anyway"));
        return false;
    }
    if !unknown.is_empty() {
        let text = format!("these are not available and left out: {}", unknown.join(", "));
        diags.push(Diagnostic::warning("D0121", text, at));
    }
    into.extend(good.into_iter().filter_map(known));
    true
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
        let CipherList { suites, left_out } = tls::cipher_list(list);
        if suites.is_empty() {
            let finding = Diagnostic::error("D0120", "none of these cipher suites is available", arg.span);
            diags.push(
                finding.help("leave cipher-suite() out: only suites that are good enough are used anyway"),
            );
            good = false;
        } else if !left_out.is_empty() {
            let text = format!("these cipher suites are not available and left out: {}", left_out.join(", "));
            diags.push(Diagnostic::warning("D0121", text, arg.span));
        }
        options.cipher_suites.extend(suites);
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
