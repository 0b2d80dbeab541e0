//! Which requests are taken, and what of them becomes part of the message.

use http_server::{Answer, Bytes, Handler, Head, Later, Method, Request, decoded, header, same_secret};
use intake::requests::{Desk, Ends, Fate, Filling, Load};
use parking_lot::Mutex;
use pattern::{Cache, Pattern, PatternError, PatternOptions, Slots};
use record::{Batch, NameId, Record, Span, ValueType};
use serde_json::{Map, Value};
use std::net::IpAddr;
use std::sync::Arc;

/// A value and its name.
type Pair = (String, Vec<u8>);

/// `paths()`.
pub struct Paths {
    patterns: Vec<Pattern>,
    cache: Mutex<Cache>,
}

impl Paths {
    pub fn new(texts: &[&str]) -> Result<Paths, PatternError> {
        let options = PatternOptions { captures: true, ..PatternOptions::default() };
        // For the whole path.
        let compile = |text: &&str| Pattern::compile(&format!("^(?:{text})$"), &options);
        let patterns = texts.iter().map(compile).collect::<Result<Vec<Pattern>, PatternError>>()?;
        Ok(Paths { patterns, cache: Mutex::default() })
    }

    /// What the named groups of the first expression that fits have found; `None` when none fits.
    fn fit(&self, path: &str) -> Option<Vec<Pair>> {
        if self.patterns.is_empty() {
            return Some(Vec::new());
        }
        let (mut cache, mut slots) = (self.cache.lock(), Slots::new());
        let fits = |pattern: &&Pattern| pattern.captures(path.as_bytes(), 0, &mut cache, &mut slots);
        let pattern = self.patterns.iter().find(fits)?;
        let found = pattern.names().iter().enumerate().filter_map(|(group, name)| {
            let (from, to) = slots.get(group)?;
            Some((name.clone()?, decoded(path.get(from..to)?)?))
        });
        Some(found.collect())
    }
}

pub struct Hook {
    pub desk: Arc<Desk>,
    pub paths: Arc<Paths>,
    pub token: Option<String>,
    /// In lower case.
    pub proxy_header: Option<String>,
    /// The name of the value that gets the headers.
    pub headers: Option<NameId>,
}

impl Hook {
    /// Whom a proxy names, last of all.
    fn named(&self, head: &Head) -> Option<IpAddr> {
        let said = head.last(self.proxy_header.as_deref()?)?;
        said.rsplit(',').next()?.trim().parse().ok()
    }
}

impl Handler for Hook {
    fn admit(&self, head: &Head) -> Result<(), Answer> {
        if let Some(token) = &self.token
            && !head.authorization().is_some_and(|(_, shown)| same_secret(shown.as_bytes(), token.as_bytes()))
        {
            return Err(Answer::text(403, "show the token in the header Authorization"));
        }
        if self.paths.fit(head.path()).is_none() {
            return Err(Answer::text(404, "there is nothing here"));
        }
        match *head.method() {
            Method::POST | Method::PUT => Ok(()),
            _ => Err(Answer::text(405, "not with this method").with(header::ALLOW, "POST, PUT")),
        }
    }

    fn answer(&self, request: Request) -> Later {
        let Request { head, body } = request;
        let mut values = self.paths.fit(head.path()).unwrap_or_default();
        values.extend(
            head.query()
                .pairs()
                .map(|(name, value)| (format!("webhook.query.{}", String::from_utf8_lossy(&name)), value)),
        );
        let headers = self.headers.map(|name| (name, headers_of(&head)));
        let message = Message { body, values, headers };
        let ends = Ends { remote: head.remote, local: head.local, named: self.named(&head) };
        let desk = Arc::clone(&self.desk);
        let busy = || Answer::text(503, "the message could not be delivered yet, send it again");
        Box::pin(async move { desk.hand_in(Box::new(message), ends, busy(), busy()).await })
    }
}

/// As JSON: of a header that comes several times, a list.
fn headers_of(head: &Head) -> String {
    let mut all: Map<String, Value> = Map::new();
    for name in head.headers().keys() {
        if matches!(*name, header::AUTHORIZATION | header::COOKIE | header::PROXY_AUTHORIZATION) {
            continue;
        }
        let text =
            |value: &header::HeaderValue| Value::from(String::from_utf8_lossy(value.as_bytes()).into_owned());
        let mut values: Vec<Value> = head.headers().get_all(name).iter().map(text).collect();
        let value = if values.len() == 1 { values.remove(0) } else { Value::from(values) };
        all.insert(name.as_str().to_owned(), value);
    }
    Value::Object(all).to_string()
}

/// The message of a request.
struct Message {
    body: Bytes,
    values: Vec<Pair>,
    headers: Option<(NameId, String)>,
}

impl Load for Message {
    fn fill(&mut self, batch: &mut Batch, filling: &Filling<'_>) -> bool {
        let mut record = Record::new(Span::EMPTY);
        record.message = batch.append(&self.body).set();
        record.host = batch.append(filling.sender.as_bytes());
        record.stamp = filling.now;
        let index = batch.records.len();
        record.origin = index as u32;
        batch.records.push(record);
        for (name, value) in &self.values {
            let known = record::lookup(name).or_else(|| batch.names.id(b"", name.as_bytes()));
            if let Some(name) = known {
                batch.set(index, name, value, ValueType::String);
            }
        }
        if let Some((name, text)) = &self.headers {
            batch.set(index, *name, text.as_bytes(), ValueType::Json);
        }
        false
    }

    fn taken(&mut self) -> Option<Answer> {
        None
    }

    fn settled(self: Box<Self>, fate: Fate) -> Answer {
        match fate {
            Fate::Done => Answer::new(200, "text/plain; charset=utf-8", ""),
            Fate::Undone => Answer::text(503, "the message could not be delivered, send it again"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_fit_whole_and_name_values() {
        let paths = Paths::new(&["/events", "/events/(?P<HOST>[^/]*)/(?P<x>.*)"]).expect("expressions");
        let check = |path: &str, expected: Option<&[(&str, &str)]>| {
            let found = paths.fit(path);
            let found = found.map(|found| {
                found
                    .into_iter()
                    .map(|(n, v)| (n, String::from_utf8_lossy(&v).into_owned()))
                    .collect::<Vec<_>>()
            });
            let expected = expected.map(|expected| {
                expected.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect::<Vec<_>>()
            });
            assert_eq!(found, expected, "{path}");
        };
        check("/events", Some(&[]));
        check("/events/web%201/a/b", Some(&[("HOST", "web 1"), ("x", "a/b")]));
        check("/events/", None);
        check("/eventsx", None);
        check("/x/events", None);
        assert!(Paths::new(&[]).expect("none").fit("/any").is_some());
        assert!(Paths::new(&["("]).is_err());
    }
}
