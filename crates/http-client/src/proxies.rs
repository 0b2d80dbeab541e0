//! Which proxy stands in front of a server: the one that is named, else what the environment says, as curl
//! reads it.

use crate::connect::basic;
use crate::url::Url;

/// One proxy for what is encrypted and one for what is not, and the servers that are asked without any.
#[derive(Default)]
pub struct Proxies {
    plain: Option<Proxy>,
    secure: Option<Proxy>,
    /// In lower case, without a dot in front. `*`: all.
    except: Vec<String>,
}

#[derive(Clone)]
pub struct Proxy {
    pub url: Url,
    /// What its user and password become: `Basic ...`.
    pub authorization: Option<String>,
}

impl Proxy {
    fn new(url: Url) -> Proxy {
        let authorization = url.user_info.as_deref().map(|user| {
            let (user, password) = user.split_once(':').unwrap_or((user, ""));
            basic(user, password)
        });
        Proxy { url, authorization }
    }
}

impl Proxies {
    /// The same for all servers.
    pub fn named(url: Url) -> Proxies {
        let proxy = Proxy::new(url);
        Proxies { plain: Some(proxy.clone()), secure: Some(proxy), except: Vec::new() }
    }

    /// From `http_proxy`, which counts in lower case only, `https_proxy`, `all_proxy` and `no_proxy`. The
    /// error says which of them is of no use.
    pub fn of_environment(get: &dyn Fn(&str) -> Option<String>) -> Result<Proxies, String> {
        let one = |names: &[&str]| {
            let set = |name: &&str| get(name).filter(|text| !text.is_empty());
            let Some((name, text)) = names.iter().find_map(|name| Some((name, set(name)?))) else {
                return Ok(None);
            };
            match Url::parse(&text) {
                Ok(url) if !url.is_secure => Ok(Some(Proxy::new(url))),
                Ok(_) => Err(format!("the proxy that `{name}` names is spoken to over TLS")),
                Err(error) => Err(format!("`{name}` names no proxy: {error}")),
            }
        };
        let except = get("no_proxy").or_else(|| get("NO_PROXY")).unwrap_or_default();
        let except = except.split([',', ' ']).map(|name| name.trim_start_matches('.').to_ascii_lowercase());
        Ok(Proxies {
            plain: one(&["http_proxy", "all_proxy", "ALL_PROXY"])?,
            secure: one(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])?,
            except: except.filter(|name| !name.is_empty()).collect(),
        })
    }

    /// The proxy in front of a server.
    pub fn of(&self, url: &Url) -> Option<&Proxy> {
        let proxy = if url.is_secure { &self.secure } else { &self.plain };
        proxy.as_ref().filter(|_| !self.leave_out(url))
    }

    fn leave_out(&self, url: &Url) -> bool {
        let host = url.host.to_ascii_lowercase();
        self.except.iter().any(|name| {
            let (name, port) = match name.rsplit_once(':') {
                Some((name, port)) if !name.contains(':') => (name, Some(port)),
                _ => (name.as_str(), None),
            };
            let domain =
                || host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
            name == "*" || domain() && port.is_none_or(|port| port == url.port.to_string())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy(environment: &[(&str, &str)], url: &str) -> Option<String> {
        let get = |name: &str| {
            environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let url = Url::parse(url).expect("an address");
        Proxies::of_environment(&get).expect("proxies").of(&url).map(|proxy| proxy.url.authority.clone())
    }

    #[test]
    fn the_environment_is_read_as_curl_reads_it() {
        let both =
            [("http_proxy", "a:1"), ("HTTPS_PROXY", "http://b:2/"), ("no_proxy", ".x.org,y.org:81, ::1")];
        let cases = [
            ("http://h/", Some("a:1")),
            ("https://h/", Some("b:2")),
            ("http://x.org/", None),
            ("http://w.x.org/", None),
            ("http://wx.org/", Some("a:1")),
            ("http://y.org/", Some("a:1")),
            ("http://y.org:81/", None),
            ("http://[::1]:81/", None),
        ];
        for (url, expected) in cases {
            assert_eq!(proxy(&both, url).as_deref(), expected, "{url}");
        }
        assert_eq!(proxy(&[("HTTP_PROXY", "a:1")], "http://h/"), None, "a request could set it for a CGI");
        assert_eq!(proxy(&[("ALL_PROXY", "a:1")], "https://h/").as_deref(), Some("a:1"));
        assert_eq!(proxy(&[("http_proxy", ""), ("all_proxy", "c:3")], "http://h/").as_deref(), Some("c:3"));
        assert_eq!(proxy(&[("http_proxy", "a:1"), ("NO_PROXY", "*")], "http://h/"), None);
        let secure = |name: &str| (name == "https_proxy").then(|| "https://p/".to_owned());
        assert!(Proxies::of_environment(&secure).is_err_and(|why| why.contains("https_proxy")));
    }
}
