//! Where a server is, as `address()` says it.

use dialogue::Where;

/// Without a scheme it is `tcp://`. The error says what is wrong.
pub fn address(text: &str) -> Result<Where, &'static str> {
    let (scheme, rest) = text.split_once("://").unwrap_or(("tcp", text));
    let secured = match scheme {
        "tcp" | "mqtt" => false,
        "ssl" | "tls" | "mqtts" => true,
        _ => return Err("this kind of connection is not known"),
    };
    let rest = rest.trim_end_matches('/');
    let (host, port) = match rest.rsplit_once(':') {
        Some((host, port)) if !host.ends_with(':') && !port.contains(']') => (host, port.parse().ok()),
        _ => (rest, Some(if secured { 8883 } else { 1883 })),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match port {
        Some(port) if !host.is_empty() && port > 0 => Ok(Where { host: host.to_owned(), port, secured }),
        _ => Err("address() has no host and port"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let check = |text: &str, expected: Option<(&str, u16, bool)>| {
            let found = address(text).ok();
            let found = found.as_ref().map(|to| (to.host.as_str(), to.port, to.secured));
            assert_eq!(found, expected, "{text}");
        };
        check("tcp://mq:1884", Some(("mq", 1884, false)));
        check("ssl://mq/", Some(("mq", 8883, true)));
        check("mq", Some(("mq", 1883, false)));
        check("tcp://[::1]:1", Some(("::1", 1, false)));
        check("ws://mq:1", None);
        check("tcp://mq:x", None);
        check("tcp://", None);
    }
}
