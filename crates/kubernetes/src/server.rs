//! Which API server is asked and what is shown to it: what the options say, or what every pod of a cluster
//! finds in its environment.

use http_client::{Network, Url};
use parsers::kubernetes::pods::{self, Wrong};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tls::Connector;

/// Where a pod finds the account it runs as.
const ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// Authorities of the system, where no others are named.
const SYSTEM: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// A server, found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiServer {
    pub url: Url,
    pub token_file: Option<PathBuf>,
    pub ca_file: Option<PathBuf>,
    pub node: Option<String>,
}

impl ApiServer {
    /// `None` where no server is named and the program runs in no cluster.
    pub fn find(
        asked: &pods::Server,
        variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Option<ApiServer>, Wrong> {
        let word = |name: &str| {
            let word = variable(name).and_then(|word| word.into_string().ok());
            word.filter(|word| !word.is_empty())
        };
        let node = asked.node.clone().or_else(|| word("NODE_NAME"));
        let account = |name: &str| Path::new(ACCOUNT).join(name);
        let (url, token_file, ca_file) = match &asked.url {
            Some(text) => {
                let url = address(text)?;
                if asked.ca_file.is_some() && !url.is_secure {
                    return Err(Wrong {
                        option: "ca-file",
                        text: "ca-file() has no effect where url() is not https".to_owned(),
                        help: "write `url(\"https://host:6443\")`, or leave ca-file() out".to_owned(),
                    });
                }
                (url, asked.token_file.clone(), asked.ca_file.clone())
            }
            None => {
                let Some(host) = word("KUBERNETES_SERVICE_HOST") else { return Ok(None) };
                let host = if host.contains(':') { format!("[{host}]") } else { host };
                let port = word("KUBERNETES_SERVICE_PORT").unwrap_or_else(|| "443".to_owned());
                let token = asked.token_file.clone().unwrap_or_else(|| account("token"));
                let ca = asked.ca_file.clone().unwrap_or_else(|| account("ca.crt"));
                (address(&format!("https://{host}:{port}"))?, Some(token), Some(ca))
            }
        };
        Ok(Some(ApiServer { url, token_file, ca_file, node }))
    }

    /// How it is connected to. A file of certificates that the configuration names has to be there; that of
    /// the account may still come, and is said when it is needed.
    pub fn network(&self, is_named: bool) -> Result<Arc<Network>, Wrong> {
        let system = || SYSTEM.iter().map(PathBuf::from).find(|path| path.exists());
        let ca_file = self.ca_file.clone().or_else(system);
        let options = tls::Options { ca_file, sni: true, ..tls::Options::default() };
        let tls = self.url.is_secure.then(|| Connector::load(&options));
        match tls {
            Some(Err(fault)) if is_named => Err(Wrong {
                option: "ca-file",
                text: format!(
                    "the certificates of who signs for {} cannot be used: {fault}",
                    self.url.authority
                ),
                help: "name the file with the authority of the cluster, such as ca.crt of a service account"
                    .to_owned(),
            }),
            tls => Ok(Arc::new(Network::new(tls, None))),
        }
    }
}

fn address(text: &str) -> Result<Url, Wrong> {
    let wrong = |why: String| Wrong {
        option: "url",
        text: why,
        help: "write `url(\"https://host:6443\")`".to_owned(),
    };
    let mut url = Url::parse(text).map_err(wrong)?;
    if url.path.contains('?') {
        return Err(wrong(format!("`{text}` has a query")));
    }
    // Behind a gateway the API is below a path.
    url.path.truncate(url.path.trim_end_matches('/').len());
    Ok(url)
}

/// What a sandbox has to leave open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    pub ports: BTreeSet<u16>,
    /// Files that may be replaced by others in their folders.
    pub files: BTreeSet<PathBuf>,
}

/// Of all servers that are asked now.
pub fn surroundings() -> Surroundings {
    let mut all = Surroundings::default();
    for place in crate::client::places() {
        all.ports.insert(place.url.port);
        all.files.extend(place.token_file.into_iter().chain(place.ca_file));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(asked: pods::Server, environment: &[(&str, &str)], expected: &str) {
        let variable =
            |name: &str| environment.iter().find(|(known, _)| *known == name).map(|(_, word)| word.into());
        let found = ApiServer::find(&asked, &variable).map(|place| {
            place.map(|p| {
                let path =
                    |path: Option<PathBuf>| path.map_or("-".to_owned(), |path| path.display().to_string());
                let (token, ca) = (path(p.token_file), path(p.ca_file));
                format!("{} {token} {ca} {}", p.url, p.node.unwrap_or_else(|| "-".to_owned()))
            })
        });
        let told = match found {
            Ok(place) => place.unwrap_or_else(|| "nobody".to_owned()),
            Err(wrong) => format!("{}: {}", wrong.option, wrong.text),
        };
        assert_eq!(told, expected);
    }

    #[test]
    fn which_server() {
        let none = pods::Server::default;
        let url = |text: &str| pods::Server { url: Some(text.to_owned()), ..none() };
        let inside = [("KUBERNETES_SERVICE_HOST", "10.0.0.1"), ("KUBERNETES_SERVICE_PORT", "6443")];
        check(none(), &[("NODE_NAME", "n1")], "nobody");
        check(none(), &inside, &format!("https://10.0.0.1:6443 {ACCOUNT}/token {ACCOUNT}/ca.crt -"));
        let named = [("KUBERNETES_SERVICE_HOST", "fd00::1"), ("NODE_NAME", "n1")];
        let own = pods::Server { token_file: Some("/t".into()), node: Some("n2".to_owned()), ..none() };
        check(none(), &named, &format!("https://[fd00::1] {ACCOUNT}/token {ACCOUNT}/ca.crt n1"));
        check(own, &named, &format!("https://[fd00::1] /t {ACCOUNT}/ca.crt n2"));
        check(url("http://127.0.0.1:8001/k8s/c1/"), &inside, "http://127.0.0.1:8001/k8s/c1 - - -");
        let plain = pods::Server { ca_file: Some("/ca".into()), ..url("http://h") };
        check(plain, &[], "ca-file: ca-file() has no effect where url() is not https");
        check(url("ftp://x"), &[], "url: `ftp` is neither http nor https");
        check(url("https://h/?a"), &[], "url: `https://h/?a` has a query");
    }
}
