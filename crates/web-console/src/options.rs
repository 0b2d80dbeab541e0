//! What the configuration says of the console, checked: beyond this machine it wants proof of who asks.

use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics, Reported, Span};
use driver_options::console_groups::CONSOLE_PORT;
use driver_options::{ports, secure};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// A shorter secret can be guessed.
const TOKEN_BYTES_MIN: usize = 16;

/// Where the console is, and who may ask there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    pub address: SocketAddr,
    /// Names beside the address.
    pub hosts: Vec<String>,
    pub token: Option<String>,
    pub allow_control: bool,
    pub degraded_is_ready: bool,
    /// Messages and lines of the configuration too.
    pub show_messages: bool,
    pub tls: Option<tls::Options>,
}

impl Options {
    /// On this machine, without a token.
    pub fn at(address: SocketAddr) -> Options {
        Options {
            address,
            hosts: Vec::new(),
            token: None,
            allow_control: false,
            degraded_is_ready: true,
            show_messages: false,
            tls: None,
        }
    }

    /// Why it may not be opened so.
    pub fn objection(&self) -> Option<&'static str> {
        if self.address.ip().to_canonical().is_loopback() {
            return None;
        }
        let asks = |tls: &tls::Options| tls.peer_verify.required && tls.peer_verify.trusted;
        match &self.tls {
            None => Some("beyond this machine the console needs tls()"),
            Some(tls) if self.token.is_none() && !asks(tls) => {
                Some("beyond this machine the console needs token(), or tls() that asks for certificates")
            }
            Some(_) => None,
        }
    }
}

/// `console()` of the options, where it is given.
pub fn read(globals: &Settings, diags: &mut Diagnostics) -> Result<Option<Options>, Reported> {
    let Some(block) = globals.block("console") else { return Ok(None) };
    let at = globals.span("console");
    let wrong = |diags: &mut Diagnostics, text: &str, at: Option<Span>, help: &str| {
        diags.push(Diagnostic {
            span: at,
            ..Diagnostic::new(diag::Severity::Error, "D0210", text).help(help)
        });
    };
    let text = block.text("ip").unwrap_or("127.0.0.1");
    let Ok(ip) = text.parse::<IpAddr>() else {
        let help = "write an address of this machine, as 127.0.0.1";
        wrong(diags, &format!("`{text}` is not an address"), block.span("ip").or(at), help);
        return Err(Reported);
    };
    let options = Options {
        address: SocketAddr::new(ip, ports::port(block, "port", false, diags)?),
        hosts: block.list("hosts").iter().map(|host| host.text.clone()).collect(),
        token: block.text("token").map(str::to_owned),
        allow_control: block.bool("allow-control").unwrap_or(false),
        degraded_is_ready: block.bool("degraded-is-ready").unwrap_or(true),
        show_messages: block.bool("show-messages").unwrap_or(block.is_set("token")),
        tls: secure::read(block, "", secure::Side::Source, diags)?,
    };
    if options.token.as_ref().is_some_and(|token| token.len() < TOKEN_BYTES_MIN) {
        let help = "write at least 16 characters that nobody can guess: `openssl rand -hex 16`";
        wrong(diags, "the token is too short", block.span("token").or(at), help);
        return Err(Reported);
    }
    if let Some(objection) = options.objection() {
        let help = "add `token(\"...\") tls(key-file(\"...\") cert-file(\"...\") peer-verify(no))`, or leave ip() out";
        wrong(diags, objection, block.span("ip").or(at), help);
        return Err(Reported);
    }
    Ok(Some(options))
}

/// What `--console` says: an address with a port, or one of them.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let here = IpAddr::from(Ipv4Addr::LOCALHOST);
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(address);
    }
    if let Ok(port) = text.strip_prefix(':').unwrap_or(text).parse::<u16>() {
        return Ok(SocketAddr::new(here, port));
    }
    match text.parse::<IpAddr>() {
        Ok(ip) => Ok(SocketAddr::new(ip, CONSOLE_PORT)),
        Err(_) => Err(format!("expected an address as 127.0.0.1:{CONSOLE_PORT}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_command_line() {
        let check = |text: &str, expected: Option<&str>| {
            let found = address(text).ok().map(|address| address.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        check("127.0.0.1:80", Some("127.0.0.1:80"));
        check("8080", Some("127.0.0.1:8080"));
        check(":8080", Some("127.0.0.1:8080"));
        check("::1", Some("[::1]:9514"));
        check("[::1]:7", Some("[::1]:7"));
        check("localhost", None);
        check("70000", None);
    }

    #[test]
    fn beyond_this_machine_it_wants_proof() {
        let here = Options::at("127.0.0.1:1".parse().expect("an address"));
        assert_eq!(here.objection(), None);
        let out = Options { address: "0.0.0.0:1".parse().expect("an address"), ..here };
        assert!(out.objection().is_some_and(|why| why.contains("tls()")));
        let token = Some("0123456789abcdef".to_owned());
        assert!(Options { token: token.clone(), ..out.clone() }.objection().is_some());
        let tls = tls::Options::default();
        assert_eq!(Options { tls: Some(tls.clone()), ..out.clone() }.objection(), None);
        let nobody = tls::Options { peer_verify: tls::PeerVerify::named("none").expect("a word"), ..tls };
        let open = Options { tls: Some(nobody), ..out };
        assert!(open.objection().is_some_and(|why| why.contains("token()")));
        assert_eq!(Options { token, ..open }.objection(), None);
    }
}
