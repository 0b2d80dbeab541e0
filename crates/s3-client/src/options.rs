//! The options that everything which speaks with S3 has: the server, the bucket, and whose account it is.

mod account;

use crate::server::Server;
use conf_schema::{Group, Kind, OptionSpec as Opt, Preset};
use diag::Reported;
use driver_options::{Reading, secure};
use http_client::{Network, Url};
use std::sync::Arc;
use std::time::Duration;
use tls::Connector;

/// A server that has said nothing for so long will not.
pub const PATIENCE: Duration = Duration::from_secs(120);

pub static ACCOUNT: Group = Group {
    name: "server and account",
    options: &[
        Opt::new("url", Kind::Text, Preset::Described("`https://s3.REGION.amazonaws.com`"), "The server: `https://host:port`.")
            .sample("\"http://127.0.0.1:9\""),
        Opt::new("bucket", Kind::Text, Preset::None, "The bucket, which has to be there."),
        Opt::new("region", Kind::Text, Preset::Described("that of AWS_REGION, or of the profile, or us-east-1"), "The region that requests are signed for."),
        Opt::new("access-key", Kind::Text, Preset::Described("see docs/s3.md"), "As whom requests are signed. Without it, the account is that of the environment, of `profile()`, or of the container or machine in Amazon's cloud."),
        Opt::new("secret-key", Kind::Text, Preset::Described("see access-key()"), "The key they are signed with."),
        Opt::new("session-token", Kind::Text, Preset::None, "The third part of keys that are given for a time.").sample("\"token\""),
        Opt::new("profile", Kind::Text, Preset::Described("AWS_PROFILE, or `default`"), "The profile in `~/.aws/credentials` and `~/.aws/config` whose keys, role and region are used.").sample("\"logs\""),
        Opt::new("role", Kind::Text, Preset::None, "The role that is taken with the account, by its ARN. STS of the region is asked for it, or the server of AWS_ENDPOINT_URL_STS.").sample("\"arn:aws:iam::123456789012:role/logs\""),
    ],
};

/// Reads the options of [`ACCOUNT`], and `tls()`.
pub fn server(r: &mut Reading<'_>) -> Result<Server, Reported> {
    let bucket = r.s.text("bucket").unwrap_or_default().to_owned();
    if bucket.is_empty() || bucket.contains('/') {
        return r.wrong("bucket", "s3() needs the name of a bucket", "add `bucket(\"logs\")`");
    }
    let found = account::find(r)?;
    let url = url(&found.region, r)?;
    let asked = secure::read_http(r.s, r.diags)?;
    // Read now, so that what is wrong shows with the first request at the latest. Roles are asked for over
    // TLS too.
    let tls = Connector::load(&asked);
    let network = Arc::new(Network::new(Some(tls), None));
    let described = format!("{url} {bucket:?} {} {asked:?} {}", found.region, found.digest());
    Ok(Server {
        described,
        url,
        bucket,
        region: found.region.clone(),
        credentials: found.credentials(Arc::clone(&network)),
        network,
        patience: PATIENCE,
    })
}

fn url(region: &str, r: &mut Reading<'_>) -> Result<Url, Reported> {
    let s = r.s;
    let usual = format!("https://s3.{region}.amazonaws.com");
    let text = s.text("url").filter(|url| !url.is_empty()).unwrap_or(&usual);
    let help = "write `url(\"https://host:port\")`; the bucket goes into bucket()";
    match Url::parse(text) {
        Ok(url) if url.path == "/" => Ok(url),
        Ok(_) => r.wrong("url", "the address of the server has a path", help),
        Err(error) => r.wrong("url", error, help),
    }
}
