//! Addresses of requests, as far as they are needed to connect and to ask.

use hyper::Uri;
use std::fmt;

/// `http://` or `https://`, a host, a port, and what is asked for there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    pub is_secure: bool,
    /// A name or an address, without brackets.
    pub host: String,
    pub port: u16,
    /// `host:port` as the header says it: without the port where it is the usual one.
    pub authority: String,
    /// Begins with a slash.
    pub path: String,
    /// What stood before an `@`, as Basic authentication wants it.
    pub user_info: Option<String>,
}

impl Url {
    /// The error says what is wrong with the text. Bytes that no address may have are percent-encoded, those
    /// that were expanded from a message say; without a scheme it is `http`.
    pub fn parse(text: &str) -> Result<Url, String> {
        let encoded = encoded(text.trim());
        let whole = if encoded.contains("://") { encoded } else { format!("http://{encoded}") };
        let uri: Uri = whole.parse().map_err(|error| format!("`{text}` is no address: {error}"))?;
        let is_secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            other => {
                return Err(format!("`{}` is neither http nor https", other.unwrap_or_default()));
            }
        };
        let authority = uri.authority().ok_or_else(|| format!("`{text}` names no host"))?;
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(format!("`{text}` names no host"));
        }
        let usual = if is_secure { 443 } else { 80 };
        let port = authority.port_u16().unwrap_or(usual);
        let shown = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let user_info = authority.as_str().rsplit_once('@').map(|(user, _)| percent_decoded(user.as_bytes()));
        let authority = if port == usual { shown } else { format!("{shown}:{port}") };
        Ok(Url { is_secure, host, port, authority, path, user_info })
    }

    /// The first percent sign of path and query with no two hexadecimal digits behind it, and what stands
    /// there. It is sent as it is, as curl does.
    pub fn broken_escape(&self) -> Option<&str> {
        let mut escapes = self.path.match_indices('%').filter_map(|(at, _)| self.path.get(at..));
        let broken = escapes.find(|rest| escaped(rest.as_bytes()).is_none())?;
        // No address has characters of several bytes.
        broken.get(..3).or(Some(broken))
    }

    /// Where a redirect leads to, as this place says it.
    pub fn join(&self, location: &str) -> Result<Url, String> {
        if location.contains("://") {
            return Url::parse(location);
        }
        let scheme = if self.is_secure { "https" } else { "http" };
        if let Some(rest) = location.strip_prefix("//") {
            return Url::parse(&format!("{scheme}://{rest}"));
        }
        let path = match location.starts_with('/') {
            true => location.to_owned(),
            false => {
                let path = self.path.split('?').next().unwrap_or("/");
                let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                format!("{folder}/{location}")
            }
        };
        let mut url = Url::parse(&format!("{scheme}://{}{path}", self.authority))?;
        url.user_info.clone_from(&self.user_info);
        Ok(url)
    }

    /// Whether both are the same server.
    pub fn is_at(&self, other: &Url) -> bool {
        (self.is_secure, self.port) == (other.is_secure, other.port)
            && self.host.eq_ignore_ascii_case(&other.host)
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_secure { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority, self.path)
    }
}

/// Percent-encodes what may stand in no address: controls, blanks, bytes outside ASCII, and the few marks
/// that are excluded.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' | 0..=b' ' | 0x7f.. => {
                out.push_str(&format!("%{byte:02X}"));
            }
            _ => out.push(char::from(byte)),
        }
    }
    out
}

/// As forms and queries have it: all but letters, digits and four marks is percent-encoded.
pub fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The byte that a percent sign at the beginning stands for, with two digits behind it.
fn escaped(text: &[u8]) -> Option<u8> {
    let digits =
        text.strip_prefix(b"%")?.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Takes percent-encoding away.
pub fn percent_decoded(text: &[u8]) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let escaped = escaped(rest);
        out.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = Url::parse(text).map(|url| format!("{url} to {}:{}", url.host, url.port));
        assert_eq!(found.unwrap_or_else(|error| error), expected, "{text}");
    }

    #[test]
    fn what_a_query_may_not_have() {
        assert_eq!(percent_encoded("node-1.example.com"), "node-1.example.com");
        assert_eq!(percent_encoded("a&b=c/d ü"), "a%26b%3Dc%2Fd%20%C3%BC");
    }

    #[test]
    fn addresses() {
        check("http://a.example/x?y=z", "http://a.example/x?y=z to a.example:80");
        check("https://u:p%40@[::1]:9200", "https://[::1]:9200/ to ::1:9200");
        check("localhost:8088/x", "http://localhost:8088/x to localhost:8088");
        check("http://h/a b\u{e9}\n\"", "http://h/a%20b%C3%A9%0A%22 to h:80");
        check("http://h?x=1", "http://h/?x=1 to h:80");
        check("ftp://h/", "`ftp` is neither http nor https");
        assert!(Url::parse("http://").is_err() && Url::parse("").is_err());
        assert_eq!(Url::parse("http://u:p%40@h").expect("good").user_info.as_deref(), Some("u:p@"));
        // What is no escape is what it is.
        assert_eq!(percent_decoded(b"%41%4%zz%+1%"), "A%4%zz%+1%");
        let broken = |url: &str| Url::parse(url).expect("good").broken_escape().map(str::to_owned);
        assert_eq!(broken("http://u:%zz@h/%41/%c3%a9?x=%20\u{e9}"), None);
        assert_eq!(broken("http://h/%41/%zz?x=%4").as_deref(), Some("%zz"));
        assert_eq!(broken("http://h/?x=%4").as_deref(), Some("%4"));
        assert_eq!(broken("http://h/%").as_deref(), Some("%"));
    }

    #[test]
    fn redirects() {
        let url = Url::parse("https://h:8443/a/b?c").expect("good");
        let to = |location| url.join(location).expect("good").to_string();
        assert_eq!(to("/x"), "https://h:8443/x");
        assert_eq!(to("x"), "https://h:8443/a/x");
        assert_eq!(to("//other/x"), "https://other/x");
        assert_eq!(to("http://other:1/x"), "http://other:1/x");
    }
}
