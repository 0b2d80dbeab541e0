//! What the options of `s3()` come to: a server, a bucket, and what objects are like.

use diag::Reported;
use driver_options::Reading;
use http_client::HeaderValue;
use s3_client::{Packing, Parts, Plan, options};
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// For names of objects whose messages are not on disk: a later one sorts behind an earlier one, and two
/// collectors do not have the same.
pub fn by_time() -> u64 {
    const CHANCE_BITS: u32 = 12;
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let chance = std::collections::hash_map::RandomState::new().build_hasher().finish();
    (since.as_micros() as u64) << CHANCE_BITS | chance >> (u64::BITS - CHANCE_BITS)
}

pub fn plan(r: &mut Reading<'_>) -> Result<Plan, Reported> {
    let server = Arc::new(options::server(r)?);
    let headers = headers(r)?;
    let s = r.s;
    let count = |name: &str, otherwise: i64| s.int(name).unwrap_or(otherwise).max(1);
    let packing = match s.bool("compression").unwrap_or(false) {
        true => Packing::Gzip(s.int("compresslevel").map_or(9, |n| n.clamp(0, 9) as u32)),
        false => Packing::None,
    };
    let size = s.size("chunk-size").and_then(|n| usize::try_from(n).ok());
    Ok(Plan {
        server,
        suffix: s.text("object-key-suffix").unwrap_or(".log").to_owned(),
        packing,
        parts: Parts { bytes: size.unwrap_or(5 << 20), at_once: count("upload-threads", 8) as usize },
        headers,
    })
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
