//! Matching of names: the globs of `trusted-dn()` and the host name in the subject of a certificate without
//! alternative names.

/// `*` is any text, `?` any character.
pub fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where the last star was, and how much of the text it has taken.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || text.get(t) == Some(c) => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    p = at + 1;
                    t = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|c| *c == '*'))
}

/// Whether a common name is that of the host: equal, or with a wildcard as its whole leftmost label.
pub fn is_host(common_name: &str, host: &str) -> bool {
    let host = host.trim_end_matches('.');
    if common_name.eq_ignore_ascii_case(host) {
        return true;
    }
    let numeric = host.parse::<std::net::IpAddr>().is_ok();
    match (common_name.strip_prefix("*."), host.split_once('.')) {
        // A wildcard directly below a top-level domain would be everybody's.
        (Some(domain), Some((_, rest))) => {
            !numeric && domain.contains('.') && domain.eq_ignore_ascii_case(rest)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        for (pattern, text, expected) in [
            ("*, O=x", "CN=a, O=x", true),
            ("*, O=x, *", "CN=a, O=x, C=DE", true),
            ("*, O=x, *", "CN=a, O=xy, C=DE", false),
            ("CN=?", "CN=a", true),
            ("CN=?", "CN=", false),
            ("*", "", true),
            ("", "x", false),
            ("**b*", "aabbc", true),
            ("ä*", "äö", true),
        ] {
            assert_eq!(glob(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn hosts() {
        for (name, host, expected) in [
            ("log.example.com", "LOG.example.com.", true),
            ("*.example.com", "log.example.com", true),
            ("*.example.com", "a.log.example.com", false),
            ("*.example.com", "example.com", false),
            ("*.com", "example.com", false),
            ("l*.example.com", "log.example.com", false),
            ("*.0.2.1", "192.0.2.1", false),
            ("192.0.2.1", "192.0.2.1", true),
        ] {
            assert_eq!(is_host(name, host), expected, "{name} {host}");
        }
    }
}
