//! What the options of `s3()` come to: a server, a bucket, and what objects are like.

use super::account;
use diag::Reported;
use driver_options::{Reading, secure};
use http_client::{HeaderValue, Network, Url};
use s3_client::{Packing, Parts, Plan};
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tls::Connector;

/// A server that has said nothing for so long will not.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// For names of objects whose messages are not on disk: a later one sorts behind an earlier one, and two
/// collectors do not have the same.
pub fn by_time() -> u64 {
    const CHANCE_BITS: u32 = 12;
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let chance = std::collections::hash_map::RandomState::new().build_hasher().finish();
    (since.as_micros() as u64) << CHANCE_BITS | chance >> (u64::BITS - CHANCE_BITS)
}

pub fn plan(r: &mut Reading<'_>) -> Result<Plan, Reported> {
    let s = r.s;
    let bucket = s.text("bucket").unwrap_or_default().to_owned();
    if bucket.is_empty() || bucket.contains('/') {
        return r.wrong("bucket", "s3() needs the name of a bucket", "add `bucket(\"logs\")`");
    }
    let found = account::find(r)?;
    let url = url(&found.region, r)?;
    let asked = secure::read_http(s, r.diags)?;
    // Read now, so that what is wrong shows with the first request at the latest. Roles are asked for over
    // TLS too.
    let tls = Connector::load(&asked).map_err(|error| error.to_string());
    let network = Arc::new(Network::new(Some(tls), None));
    let headers = headers(r)?;
    let count = |name: &str, otherwise: i64| s.int(name).unwrap_or(otherwise).max(1);
    let packing = match s.bool("compression").unwrap_or(false) {
        true => Packing::Gzip(s.int("compresslevel").map_or(9, |n| n.clamp(0, 9) as u32)),
        false => Packing::None,
    };
    let size = s.size("chunk-size").and_then(|n| usize::try_from(n).ok());
    Ok(Plan {
        url,
        bucket,
        region: found.region.clone(),
        credentials: found.credentials(Arc::clone(&network)),
        suffix: s.text("object-key-suffix").unwrap_or(".log").to_owned(),
        packing,
        parts: Parts { bytes: size.unwrap_or(5 << 20), at_once: count("upload-threads", 8) as usize },
        headers,
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

/// What each object is given on its way.
fn headers(r: &mut Reading<'_>) -> Result<Vec<(String, String)>, Reported> {
    let s = r.s;
    let mut headers = Vec::new();
    for (option, header) in HEADERS {
        let value = match option {
            "storage-class" => s.choice(option).map(|class| class.to_ascii_uppercase().replace('-', "_")),
            "canned-acl" => s.choice(option).map(str::to_owned),
            _ => s.text(option).map(str::to_owned),
        };
        let Some(value) = value.filter(|value| !value.is_empty() && s.is_set(option)) else { continue };
        if HeaderValue::from_str(&value).is_err() {
            return r.wrong(option, format!("{option}() cannot be sent"), "it is one line of text");
        }
        headers.push((header.to_owned(), value));
    }
    Ok(headers)
}

const HEADERS: [(&str, &str); 5] = [
    ("content-type", "content-type"),
    ("storage-class", "x-amz-storage-class"),
    ("canned-acl", "x-amz-acl"),
    ("server-side-encryption", "x-amz-server-side-encryption"),
    ("kms-key", "x-amz-server-side-encryption-aws-kms-key-id"),
];
