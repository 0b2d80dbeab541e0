//! Who may send, and what clients ask before they do.

use super::documents::{Documents, Names, now_micros};
use super::reply;
use base64::Engine;
use http_server::{Answer, Handler, Head, Later, Method, Request, decoded, same_secret};
use intake::requests::{Desk, Ends};
use std::sync::Arc;
use std::time::Instant;

/// What clients have to show one of; nothing where there is none.
#[derive(Clone, Debug)]
pub struct Keys {
    /// `user:password`
    pub basic: Option<String>,
    pub api_keys: Vec<String>,
}

impl Keys {
    fn fit(&self, head: &Head) -> bool {
        if self.basic.is_none() && self.api_keys.is_empty() {
            return true;
        }
        let Some((scheme, shown)) = head.authorization() else { return false };
        let same = |key: &String, shown: &[u8]| same_secret(key.as_bytes(), shown);
        match scheme.to_ascii_lowercase().as_str() {
            "apikey" => self.api_keys.iter().any(|key| same(key, shown.as_bytes())),
            "basic" => {
                let pair = base64::engine::general_purpose::STANDARD.decode(shown).unwrap_or_default();
                self.basic.iter().any(|basic| same(basic, &pair))
            }
            _ => false,
        }
    }
}

enum Offer {
    Greeting,
    License,
    /// With the index of documents that name none.
    Bulk(Option<String>),
}

fn place(path: &str) -> Option<Offer> {
    match path {
        "/" | "" => return Some(Offer::Greeting),
        "/_license" | "/_xpack" | "/_xpack/license" => return Some(Offer::License),
        "/_bulk" | "/_bulk/" => return Some(Offer::Bulk(None)),
        _ => {}
    }
    // `/INDEX/_bulk`, and with a type as it once was.
    let rest = path.strip_prefix('/')?.strip_suffix("/_bulk")?;
    let index = rest.strip_suffix("/_doc").unwrap_or(rest);
    let index = String::from_utf8(decoded(index)?).ok()?;
    let is_legal = !index.is_empty() && !index.contains('/') && !index.starts_with('_') && index.len() <= 255;
    is_legal.then_some(Offer::Bulk(Some(index)))
}

pub struct Bulk {
    pub desk: Arc<Desk>,
    pub keys: Keys,
    pub names: Arc<Names>,
}

impl Handler for Bulk {
    fn admit(&self, head: &Head) -> Result<(), Answer> {
        let Some(place) = place(head.path()) else { return Err(reply::nothing_here()) };
        if !self.keys.fit(head) {
            return Err(reply::forbidden());
        }
        let fits = match place {
            Offer::Bulk(_) => matches!(*head.method(), Method::POST | Method::PUT),
            Offer::Greeting | Offer::License => matches!(*head.method(), Method::GET | Method::HEAD),
        };
        if fits { Ok(()) } else { Err(reply::not_so()) }
    }

    fn answer(&self, request: Request) -> Later {
        let index = match place(request.head.path()) {
            Some(Offer::Greeting) => return Box::pin(async { reply::greeting() }),
            Some(Offer::License) => return Box::pin(async { reply::license() }),
            None => return Box::pin(async { reply::nothing_here() }),
            Some(Offer::Bulk(index)) => index,
        };
        let is_terse = request.head.query().get("filter_path").is_some();
        let documents = Documents {
            body: request.body,
            at: 0,
            index: index.unwrap_or_default().into(),
            items: Vec::new(),
            is_terse,
            names: Arc::clone(&self.names),
            began: Instant::now(),
            came: now_micros(),
            wrong: None,
        };
        let ends = Ends { remote: request.head.remote, local: request.head.local, named: None };
        let desk = Arc::clone(&self.desk);
        Box::pin(async move { desk.hand_in(Box::new(documents), ends, reply::busy(), reply::busy()).await })
    }
}
