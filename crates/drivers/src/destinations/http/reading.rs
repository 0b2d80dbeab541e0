//! What the options of `http()` come to: a plan for requests, and the templates that make bodies and keys.

use delivery::batching::Batching;
use diag::{Diagnostic, Reported, Span};
use driver_options::{Reading, secure};
use http_client::{
    Action, Actions, Coding, HeaderValueOf, Judge, Network, Plan, Prefix, Proxies, Servers, Url, UrlOf,
    Version,
};
use http_client::{HeaderMap, HeaderName, HeaderValue, Method, basic, header, proof};
use std::sync::Arc;
use std::time::Duration;
use template::Template;
use tls::Connector;

pub struct Request {
    pub plan: Plan,
    pub body: Arc<Template>,
    /// The same with the delimiter behind it, where that can be had.
    pub delimited: Option<Arc<Template>>,
    /// In the order in which the plan reads their expansions.
    pub keys: Vec<Arc<Template>>,
    /// Of the servers in their order, for names; one at least.
    pub addresses: Vec<String>,
}

/// What requests of one message have beside headers().
const MESSAGE_HEADERS: [(&str, &str); 4] = [
    ("x-syslog-host", "${HOST}"),
    ("x-syslog-program", "${PROGRAM}"),
    ("x-syslog-facility", "${FACILITY}"),
    ("x-syslog-level", "${LEVEL}"),
];

struct Reader<'r, 'a> {
    r: &'r mut Reading<'a>,
    keys: Vec<Arc<Template>>,
}

/// Reads everything that is not about batches.
pub fn read(batching: &Batching, r: &mut Reading<'_>) -> Result<Request, Reported> {
    let (s, cx) = (r.s, r.cx);
    let body = r.template_or("body", "${MESSAGE}")?;
    let mut reader = Reader { r, keys: Vec::new() };
    let (urls, addresses) = reader.urls()?;
    let mut headers = reader.headers()?;
    let is_single = batching.limits.lines <= 1 && batching.limits.bytes == 0;
    if s.bool("msg-data-in-header").unwrap_or(true) && is_single {
        for (name, text) in MESSAGE_HEADERS {
            let name = HeaderName::from_static(name);
            let template = reader.r.own_template(text)?;
            reader.keys.push(template);
            headers.push((name, HeaderValueOf::Key));
        }
    }
    let prefix = reader.prefix()?;
    reader.partition_key()?;
    let base = reader.base(&headers)?;
    let proof = proof::options::read(s, reader.r.diags)?;
    let network =
        Arc::new(reader.network(&urls, proof.as_ref().is_some_and(proof::options::Wanted::is_secure))?);
    let timeout = s.seconds("timeout").filter(|timeout| !timeout.is_zero());
    let judge = reader.judge()?;
    let text = |name: &str| s.text(name).unwrap_or_default().as_bytes().to_vec();
    let plan = Plan {
        name: cx.id(),
        method: if s.choice("method") == Some("put") { Method::PUT } else { Method::POST },
        servers: Servers::new(urls.len(), batching.limits.time_reopen),
        urls,
        base,
        headers,
        extras: Vec::new(),
        prefix,
        suffix: text("body-suffix"),
        delimiter: s.text("delimiter").unwrap_or("\n").as_bytes().to_vec(),
        coding: s.choice("content-compression").and_then(Coding::named),
        timeout,
        accepts_redirects: s.bool("accept-redirects").unwrap_or(false),
        judge,
        acks: reader.acks(judge)?,
        actions: reader.actions()?,
        proof: proof.map(|proof| proof.over(&network)),
        network,
    };
    let delimited = reader.delimited(&body, &plan.delimiter)?;
    Ok(Request { plan, body, delimited, keys: reader.keys, addresses })
}

impl Reader<'_, '_> {
    /// The servers, and their names.
    fn urls(&mut self) -> Result<(Vec<UrlOf>, Vec<String>), Reported> {
        let mut texts: Vec<(String, Span)> = Vec::new();
        for text in self.r.s.list("url") {
            match text.text.contains("$(") {
                // A template function has blanks of its own.
                true => texts.push((text.text.clone(), text.span)),
                false => {
                    texts.extend(text.text.split_ascii_whitespace().map(|url| (url.to_owned(), text.span)));
                }
            }
        }
        if texts.is_empty() {
            texts.push(("http://localhost/".to_owned(), self.r.call_span()?));
        }
        let (mut urls, mut names) = (Vec::new(), Vec::new());
        for (text, span) in texts {
            let template = self.r.compile(&text, span)?;
            let Some(literal) = template.literal() else {
                names.push(shown(&text));
                self.keys.push(template);
                urls.push(UrlOf::Key);
                continue;
            };
            let literal = String::from_utf8_lossy(literal);
            names.push(shown(&literal));
            match Url::parse(&literal) {
                Ok(url) => {
                    if let Some(broken) = url.broken_escape() {
                        let text = format!("`{broken}` is no escape of an address, and is sent as it is");
                        let finding = Diagnostic::warning("D0170", text, span);
                        let help = format!("write `{}` for a percent sign", broken.replacen('%', "%25", 1));
                        self.r.diags.push(finding.help(help));
                    }
                    urls.push(UrlOf::Fixed(url));
                }
                Err(error) => {
                    return self.r.wrong_at(Some(span), error, "write `url(\"https://host:port/path\")`");
                }
            }
        }
        Ok((urls, names))
    }

    fn headers(&mut self) -> Result<Vec<(HeaderName, HeaderValueOf)>, Reported> {
        let mut headers = Vec::new();
        for text in self.r.s.list("headers") {
            let split = text.text.split_once(':');
            let name = split.and_then(|(name, _)| HeaderName::from_bytes(name.trim().as_bytes()).ok());
            let (Some((_, value)), Some(name)) = (split, name) else {
                let finding = format!("`{}` is no header", text.text);
                return self.r.wrong_at(Some(text.span), finding, "write `headers(\"Name: value\")`");
            };
            let template = self.r.compile(value.trim(), text.span)?;
            let value = match template.literal().map(HeaderValue::from_bytes) {
                Some(Ok(value)) => HeaderValueOf::Fixed(value),
                Some(Err(error)) => {
                    return self.r.wrong_at(Some(text.span), error.to_string(), "it is one line of text");
                }
                None => {
                    self.keys.push(template);
                    HeaderValueOf::Key
                }
            };
            headers.push((name, value));
        }
        Ok(headers)
    }

    fn prefix(&mut self) -> Result<Prefix, Reported> {
        let Some(text) = self.r.s.template("body-prefix") else { return Ok(Prefix::Fixed(Vec::new())) };
        let template = self.r.compile(&text.text, text.span)?;
        Ok(match template.literal() {
            Some(literal) => Prefix::Fixed(literal.to_vec()),
            None => {
                self.keys.push(template);
                Prefix::Key(self.keys.len() - 1)
            }
        })
    }

    /// Bodies of messages with what stands behind each but the last. The text of the template has to mean
    /// what it meant, so this is had only of a text, and of delimiters that are no part of anything.
    fn delimited(
        &mut self,
        body: &Arc<Template>,
        delimiter: &[u8],
    ) -> Result<Option<Arc<Template>>, Reported> {
        let text = self.r.s.template("body").map_or("${MESSAGE}", |text| text.text.as_str());
        if delimiter.is_empty() {
            return Ok(Some(Arc::clone(body)));
        }
        let is_apart = delimiter.iter().all(|byte| b"\n\r\t ,;|".contains(byte)) && !text.ends_with('$');
        if !is_apart || body.text() != text || !body.chains().is_empty() {
            return Ok(None);
        }
        let text = format!("{text}{}", String::from_utf8_lossy(delimiter));
        self.r.own_template(&text).map(Some)
    }

    /// It stands behind all that the plan reads.
    fn partition_key(&mut self) -> Result<(), Reported> {
        let flushes = self.r.s.bool("flush-on-worker-key-change").unwrap_or(false);
        if let Some(text) = self.r.s.template("worker-partition-key").filter(|_| flushes) {
            let template = self.r.compile(&text.text, text.span)?;
            self.keys.push(template);
        }
        Ok(())
    }

    /// What every request has, unless headers() says otherwise.
    fn base(&mut self, headers: &[(HeaderName, HeaderValueOf)]) -> Result<HeaderMap, Reported> {
        let mut base = HeaderMap::new();
        let agent = format!("penstock/{}", env!("CARGO_PKG_VERSION"));
        let agent = self.r.s.text("user-agent").unwrap_or(&agent).to_owned();
        base.insert(header::ACCEPT, HeaderValue::from_static("*/*"));
        base.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        let mut texts = vec![(header::USER_AGENT, agent, "user-agent")];
        let (user, password) = (self.r.s.text("user"), self.r.s.text("password"));
        if user.is_some() || password.is_some() {
            let words = basic(user.unwrap_or_default(), password.unwrap_or_default());
            texts.push((header::AUTHORIZATION, words, "user"));
        }
        if let Some(codings) = self.r.s.text("accept-encoding") {
            let known =
                |word: &str| matches!(word, "*" | "all" | "identity") || Coding::named(word).is_some();
            let at = self.r.s.span("accept-encoding");
            let words: Vec<String> =
                codings.split(',').map(|word| word.trim().to_ascii_lowercase()).collect();
            if let Some(word) = words.iter().find(|word| !known(word)) {
                return self.r.wrong_at(
                    at,
                    format!("`{word}` cannot be unpacked"),
                    "gzip, deflate and identity can",
                );
            }
            let all = words.iter().any(|word| matches!(word.as_str(), "*" | "all"));
            let words = if all { "gzip, deflate".to_owned() } else { words.join(", ") };
            texts.push((header::ACCEPT_ENCODING, words, "accept-encoding"));
        }
        for (name, text, option) in texts {
            let Ok(value) = HeaderValue::from_str(&text) else {
                let at = self.r.s.span(option);
                return self.r.wrong_at(at, format!("{option}() cannot be sent"), "it is one line of text");
            };
            base.insert(name, value);
        }
        headers.iter().for_each(|(name, _)| {
            base.remove(name);
        });
        Ok(base)
    }

    fn network(&mut self, urls: &[UrlOf], proof_is_secure: bool) -> Result<Network, Reported> {
        let asked = secure::read_http(self.r.s, self.r.diags)?;
        let may_encrypt = proof_is_secure
            || self.r.s.bool("accept-redirects") == Some(true)
            || urls.iter().any(|url| !matches!(url, UrlOf::Fixed(url) if !url.is_secure));
        // Read now, so that what is wrong shows with the first request at the latest.
        let tls = may_encrypt.then(|| Connector::load(&asked));
        let proxies = match self.r.s.text("proxy").map(str::to_owned) {
            None => match Proxies::of_environment(&|name| std::env::var(name).ok()) {
                Ok(proxies) => proxies,
                Err(error) => {
                    let at = self.r.s.call_span();
                    return self.r.wrong_at(
                        at,
                        error,
                        "mend the environment, or write `proxy(\"\")` for none",
                    );
                }
            },
            Some(text) if text.is_empty() => Proxies::default(),
            Some(text) => {
                let at = self.r.s.span("proxy");
                match Url::parse(&text) {
                    Ok(url) if !url.is_secure => Proxies::named(url),
                    Ok(_) => {
                        return self.r.wrong_at(at, "no proxy is spoken to over TLS", "write http://");
                    }
                    Err(error) => return self.r.wrong_at(at, error, "write `proxy(\"http://host:port\")`"),
                }
            }
        };
        let version = match self.r.s.choice("http-version") {
            Some("1.1") => Version::Http1,
            Some("2") => Version::Http2,
            _ => Version::Either,
        };
        Ok(Network::new(tls, None).through(proxies).speaking(version))
    }

    fn judge(&mut self) -> Result<Judge, Reported> {
        let Some(name) = self.r.s.text("response-adapter").map(str::to_owned) else {
            return Ok(Judge::Status);
        };
        let found = Judge::named(&name);
        if found.is_none() {
            let at = self.r.s.span("response-adapter").ok_or(Reported)?;
            let known = Judge::NAMES.iter().map(|(name, _)| *name);
            let finding = Diagnostic::error("D0170", format!("nobody reads answers as `{name}`"), at);
            self.r.diags.push(finding.suggest(diag::nearest(&name, known)));
        }
        found.ok_or(Reported)
    }

    /// How long an acknowledgement may take, where there are any.
    fn acks(&mut self, judge: Judge) -> Result<Option<Duration>, Reported> {
        let patience = self.r.s.seconds("ack-timeout");
        if self.r.s.bool("ack") != Some(true) {
            return Ok(None);
        }
        if judge != Judge::Splunk {
            let at = self.r.s.span("ack");
            let help = "it belongs to `response-adapter(\"splunk\")`";
            return self.r.wrong_at(at, "nobody else acknowledges later", help);
        }
        Ok(patience)
    }

    fn actions(&mut self) -> Result<Actions, Reported> {
        let mut actions = Vec::new();
        for pair in self.r.s.pairs("response-action") {
            let status = pair.key.text.parse::<u16>().ok().filter(|status| (100..1000).contains(status));
            let (Some(status), Some(action)) = (status, Action::named(&pair.value.text)) else {
                let finding = format!("`{} => {}` is no action", pair.key.text, pair.value.text);
                let help = "write `404 => drop`, or success, retry, disconnect";
                return self.r.wrong_at(Some(pair.value.span), finding, help);
            };
            actions.push((status, action));
        }
        Ok(Actions(actions))
    }
}

/// An address without the password in it.
fn shown(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        _ => url.to_owned(),
    }
}
