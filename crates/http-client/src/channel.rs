//! The channel of a connection to Splunk's event collector: acknowledgements have numbers, which the indexer
//! behind the connection counts for each channel. Behind a balancer another connection may lead to another
//! indexer, whose numbers mean other batches: so each connection has a channel of its own.

use crate::url::Url;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

const HEADER: HeaderName = HeaderName::from_static("x-splunk-request-channel");
const PARAMETER: &str = "channel=";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel(Arc<str>);

impl Channel {
    /// One that nobody else has: a random UUID, RFC 9562 section 5.4. Whoever guesses it learns nothing.
    pub fn new() -> Channel {
        let [high, low] = [0u8, 1].map(|salt| RandomState::new().hash_one(salt));
        let text = format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            (low >> 48) & 0x3fff | 0x8000,
            low & 0xffff_ffff_ffff
        );
        Channel(text.into())
    }
}

/// The way of a request: what has to be the same when it is asked about later.
#[derive(Clone, Debug)]
pub struct Way {
    pub channel: Channel,
    pub url: Url,
    pub headers: HeaderMap,
}

impl Way {
    /// A request through a channel, whichever its address and headers name.
    pub fn new(channel: &Channel, url: &Url, headers: &HeaderMap) -> Way {
        let mut headers = headers.clone();
        if let Ok(value) = HeaderValue::from_str(&channel.0) {
            headers.insert(HEADER, value);
        }
        Way { channel: channel.clone(), url: channel.in_address(url), headers }
    }

    /// Where the server says what became of it.
    pub fn asked_at(&self) -> Url {
        const COLLECTOR: &str = "/services/collector";
        let path = self.url.path.split('?').next().unwrap_or_default();
        let base = match path.find(COLLECTOR) {
            Some(at) => path.get(..at + COLLECTOR.len()),
            None => path.rsplit_once('/').map(|(base, _)| base),
        };
        let path = format!("{}/ack?{PARAMETER}{}", base.unwrap_or_default(), self.channel.0);
        Url { path, ..self.url.clone() }
    }

    /// The headers of that question.
    pub fn asking(&self) -> HeaderMap {
        let mut headers = self.headers.clone();
        headers.remove(CONTENT_ENCODING);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers
    }
}

impl Channel {
    fn in_address(&self, url: &Url) -> Url {
        let Some((path, query)) = url.path.split_once('?') else { return url.clone() };
        let words: Vec<String> = query
            .split('&')
            .map(|word| match word.starts_with(PARAMETER) {
                true => format!("{PARAMETER}{}", self.0),
                false => word.to_owned(),
            })
            .collect();
        Url { path: format!("{path}?{}", words.join("&")), ..url.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let channel = Channel("C".into());
        let check = |url: &str, expected: [&str; 2]| {
            let url = Url::parse(url).expect("an address");
            let way = Way::new(&channel, &url, &HeaderMap::new());
            assert_eq!([&way.url.path, &way.asked_at().path], expected);
        };
        check(
            "http://h:8088/services/collector/event?",
            ["/services/collector/event?", "/services/collector/ack?channel=C"],
        );
        check(
            "http://h/proxy/services/collector/raw?channel=&index=a",
            ["/proxy/services/collector/raw?channel=C&index=a", "/proxy/services/collector/ack?channel=C"],
        );
        check("http://h/hec/event", ["/hec/event", "/hec/ack?channel=C"]);
        check("http://h", ["/", "/ack?channel=C"]);
    }

    #[test]
    fn each_is_a_uuid_of_its_own() {
        let [one, other] = [Channel::new(), Channel::new()];
        assert_ne!(one, other);
        let lengths: Vec<usize> = one.0.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12], "{one:?}");
    }
}
