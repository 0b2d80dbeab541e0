//! `http-proxy()`: a proxy through which servers are reached.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    pub host: String,
    pub port: u16,
    /// What it is shown, as `Basic ...`.
    pub authorization: Option<String>,
}

impl Proxy {
    /// `http://user:password@host:port`; without a scheme it is http, without a port 80. The error says what
    /// is wrong.
    pub fn parse(text: &str) -> Result<Proxy, &'static str> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
        if scheme != "http" {
            return Err("no proxy is spoken to but over http://");
        }
        let rest = rest.trim_end_matches('/');
        let (login, rest) = match rest.rsplit_once('@') {
            Some((login, rest)) => (Some(login), rest),
            None => (None, rest),
        };
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) if !host.ends_with(':') && !port.contains(']') => (host, port.parse().ok()),
            _ => (rest, Some(80)),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        match port {
            Some(port) if !host.is_empty() && port > 0 => {
                let authorization = login.map(|login| format!("Basic {}", STANDARD.encode(login)));
                Ok(Proxy { host, port, authorization })
            }
            _ => Err("http-proxy() has no host and port"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_proxies() {
        let check = |text: &str, expected: Result<(&str, u16, Option<&str>), &str>| {
            let found = Proxy::parse(text);
            let found = found.as_ref().map(|p| (p.host.as_str(), p.port, p.authorization.as_deref()));
            assert_eq!(found.map_err(|error| *error), expected, "{text}");
        };
        check("http://proxy:3128", Ok(("proxy", 3128, None)));
        check("proxy", Ok(("proxy", 80, None)));
        check("http://me:a@b@[::1]:8080/", Ok(("::1", 8080, Some("Basic bWU6YUBi"))));
        check("https://proxy", Err("no proxy is spoken to but over http://"));
        check("http://:80", Err("http-proxy() has no host and port"));
        check("http://proxy:x", Err("http-proxy() has no host and port"));
    }
}
