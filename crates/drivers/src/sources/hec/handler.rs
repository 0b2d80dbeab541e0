//! Who may send, and what is asked for: events, lines, acknowledgements, health.

use super::acks::{AckNumber, Acks};
use super::events::Events;
use super::message::{self, EventFacts, Names};
use super::raw::Lines;
use super::replies::{
    ACK_DISABLED, BUSY, CHANNEL_MISSING, HEALTHY, INVALID_AUTHORIZATION, INVALID_CHANNEL, INVALID_FORMAT,
    INVALID_TOKEN, QUERY_TOKEN, Reply, TOKEN_REQUIRED,
};
use base64::Engine;
use http_server::{Answer, Handler, Head, Later, Method, Request, header, same_secret};
use intake::requests::{Desk, Ends, Load};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Numbers of one question.
const ASKED_MAX: usize = 10_000;
const CHANNEL_BYTES_MAX: usize = 128;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Service {
    Event,
    Raw,
    Ack,
    Health,
}

fn place(path: &str) -> Option<Service> {
    let path = path.strip_suffix('/').unwrap_or(path);
    Some(match path.strip_prefix("/services/collector")? {
        "" | "/event" | "/event/1.0" => Service::Event,
        "/raw" | "/raw/1.0" => Service::Raw,
        "/ack" | "/ack/1.0" => Service::Ack,
        "/health" | "/health/1.0" => Service::Health,
        _ => return None,
    })
}

pub struct Collector {
    desk: Arc<Desk>,
    tokens: Vec<String>,
    /// `ack(yes)`.
    acks: Option<Arc<Acks>>,
    names: Arc<Names>,
}

impl Collector {
    pub fn new(desk: Arc<Desk>, tokens: Vec<String>, ack: bool, names: Arc<Names>) -> Collector {
        Collector { desk, tokens, acks: ack.then(Arc::default), names }
    }

    fn may_send(&self, head: &Head) -> Result<(), Reply> {
        if head.query().get("token").is_some() {
            return Err(QUERY_TOKEN);
        }
        if !head.headers().contains_key(header::AUTHORIZATION) {
            return Err(TOKEN_REQUIRED);
        }
        let (scheme, shown) = head.authorization().ok_or(INVALID_AUTHORIZATION)?;
        let shown = match scheme.to_ascii_lowercase().as_str() {
            "splunk" | "bearer" => shown.to_owned(),
            "basic" => password(shown).ok_or(INVALID_AUTHORIZATION)?,
            _ => return Err(INVALID_AUTHORIZATION),
        };
        let known = self.tokens.iter().any(|token| same_secret(token.as_bytes(), shown.as_bytes()));
        if known { Ok(()) } else { Err(INVALID_TOKEN) }
    }

    /// The number of a request, where acknowledgements are on.
    fn number(&self, head: &Head) -> Result<Option<AckNumber>, Reply> {
        let Some(acks) = &self.acks else { return Ok(None) };
        acks.give(&channel(head)?).map(Some)
    }

    fn acknowledged(&self, request: &Request) -> Result<Answer, Reply> {
        let acks = self.acks.as_ref().ok_or(ACK_DISABLED)?;
        let channel = channel(&request.head)?;
        let asked: Value = serde_json::from_slice(&request.body).map_err(|_| INVALID_FORMAT)?;
        let numbers = asked.get("acks").and_then(Value::as_array).ok_or(INVALID_FORMAT)?;
        if numbers.len() > ASKED_MAX {
            return Err(INVALID_FORMAT);
        }
        let numbers: Option<Vec<u64>> = numbers.iter().map(Value::as_u64).collect();
        let answers = acks.ask(&channel, &numbers.ok_or(INVALID_FORMAT)?);
        let answers: Map<String, Value> =
            answers.into_iter().map(|(number, done)| (number.to_string(), done.into())).collect();
        Ok(Answer::json(200, json!({ "acks": answers }).to_string()))
    }

    fn load(&self, place: Service, request: &Request) -> Result<Box<dyn Load>, Reply> {
        let ack = self.number(&request.head)?;
        let (body, names, facts) = (request.body.clone(), Arc::clone(&self.names), facts(&request.head));
        Ok(match place {
            Service::Raw => Box::new(Lines { body, at: 0, lines: 0, facts, names, ack }),
            _ => Box::new(Events { body, at: 0, events: 0, facts, names, ack, wrong: None }),
        })
    }
}

/// What the address says of all events.
fn facts(head: &Head) -> EventFacts {
    let said = |name: &str| head.query().get(name).filter(|value| !value.is_empty());
    EventFacts {
        host: said("host"),
        index: said("index"),
        source: said("source"),
        sourcetype: said("sourcetype"),
        time: said("time").and_then(|text| message::time(&text)),
    }
}

fn channel(head: &Head) -> Result<String, Reply> {
    let named = head.last("x-splunk-request-channel").map(str::to_owned);
    let channel = named.or_else(|| head.query().get("channel")).filter(|channel| !channel.is_empty());
    let channel = channel.ok_or(CHANNEL_MISSING)?;
    let is_legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    match channel.len() <= CHANNEL_BYTES_MAX && channel.bytes().all(is_legal) {
        true => Ok(channel),
        false => Err(INVALID_CHANNEL),
    }
}

/// Of Basic authentication: the user may be anything.
fn password(encoded: &str) -> Option<String> {
    let pair = base64::engine::general_purpose::STANDARD.decode(encoded).ok()?;
    let pair = String::from_utf8(pair).ok()?;
    pair.split_once(':').map(|(_, password)| password.to_owned())
}

fn at_once(answer: Answer) -> Later {
    Box::pin(std::future::ready(answer))
}

impl Handler for Collector {
    fn admit(&self, head: &Head) -> Result<(), Answer> {
        let Some(place) = place(head.path()) else { return Err(Answer::text(404, "there is nothing here")) };
        let allowed = match place {
            Service::Health => "GET, HEAD, OPTIONS",
            _ => "POST, OPTIONS",
        };
        match (head.method(), place) {
            // Docker asks so, without a token, whether there is a collector, before it starts a container.
            (&Method::OPTIONS, _) => Err(Answer::text(200, allowed).with(header::ALLOW, allowed)),
            (&Method::GET | &Method::HEAD, Service::Health) => Ok(()),
            (&Method::POST, service) if service != Service::Health => {
                self.may_send(head).map_err(Reply::answer)
            }
            _ => Err(Answer::text(405, "not with this method").with(header::ALLOW, allowed)),
        }
    }

    fn answer(&self, request: Request) -> Later {
        let place = place(request.head.path());
        match place {
            Some(Service::Health) => at_once(HEALTHY.answer()),
            Some(Service::Ack) => at_once(self.acknowledged(&request).unwrap_or_else(Reply::answer)),
            None => at_once(Answer::text(404, "there is nothing here")),
            Some(place) => {
                let load = match self.load(place, &request) {
                    Ok(load) => load,
                    Err(reply) => return at_once(reply.answer()),
                };
                let ends = Ends { remote: request.head.remote, local: request.head.local, named: None };
                let desk = Arc::clone(&self.desk);
                Box::pin(async move { desk.hand_in(load, ends, BUSY.answer(), BUSY.answer()).await })
            }
        }
    }
}
