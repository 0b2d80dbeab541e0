//! Which names a server may be called by. A page on the web can point a name of its own at 127.0.0.1 and make
//! a browser ask there: what it asks has that name in its `Host`.

use std::net::{IpAddr, SocketAddr};

/// The names under which a server answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// Any: whoever asks shows a secret, or may send anyway.
    Any,
    /// Numbers, `localhost`, and these names.
    Named(Vec<String>),
}

impl Hosts {
    /// Whether this is a `Host` to answer to. `local` is the end of the connection that is ours.
    pub(crate) fn allows(&self, host: &str, local: SocketAddr) -> bool {
        let Some(name) = name_of(host) else { return false };
        let Hosts::Named(names) = self else { return true };
        if let Ok(ip) = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
            // Nobody can give a number to a name server.
            return ip.to_canonical() == local.ip().to_canonical();
        }
        let is_loopback = local.ip().to_canonical().is_loopback();
        (is_loopback && name.eq_ignore_ascii_case("localhost"))
            || names.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// The name without its port: `None` for what is no host.
fn name_of(host: &str) -> Option<&str> {
    let (name, port) = match host.rsplit_once(':') {
        // An IPv6 address in brackets without a port.
        Some(_) if host.ends_with(']') => (host, ""),
        Some((name, port)) => (name, port),
        None => (host, ""),
    };
    let is_number = port.len() <= 5 && port.bytes().all(|b| b.is_ascii_digit());
    let is_bracketed = name.starts_with('[') && name.ends_with(']') && name.len() > 4;
    let is_legal = |b: u8| {
        b.is_ascii_alphanumeric()
            || matches!(b, b'.' | b'-' | b'_')
            || (is_bracketed && matches!(b, b':' | b'[' | b']'))
    };
    (is_number && !name.is_empty() && name.len() <= 255 && name.bytes().all(is_legal)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_are_ours() {
        let named = Hosts::Named(vec!["logs.example.com".to_owned()]);
        let local: SocketAddr = "127.0.0.1:9514".parse().expect("an address");
        for (host, expected) in [
            ("127.0.0.1:9514", true),
            ("127.0.0.1", true),
            ("localhost:9514", true),
            ("LOCALHOST", true),
            ("logs.example.com", true),
            ("Logs.Example.com:443", true),
            ("evil.example.com:9514", false),
            ("127.0.0.2", false),
            ("127.0.0.1.evil.example.com", false),
            ("localhost.evil.example.com", false),
            ("", false),
            (":9514", false),
            ("localhost:http", false),
            ("localhost:95140", true),
            ("localhost:951400", false),
            ("user@localhost", false),
            ("localhost/..", false),
            ("[::1]", false),
        ] {
            assert_eq!(named.allows(host, local), expected, "{host}");
        }
        let six: SocketAddr = "[::1]:9514".parse().expect("an address");
        for (host, expected) in [("[::1]:9514", true), ("[::1]", true), ("::1", false), ("[::2]", false)] {
            assert_eq!(named.allows(host, six), expected, "{host}");
        }
        let outside: SocketAddr = "192.0.2.7:80".parse().expect("an address");
        assert!(!named.allows("localhost", outside));
        assert!(named.allows("192.0.2.7", outside));
        assert!(Hosts::Any.allows("whatever.example.com", outside));
        assert!(!Hosts::Any.allows("what ever", outside));
    }
}
