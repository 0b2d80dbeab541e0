//! The addresses of one server. A name is looked up in a thread of its own, because the system's resolver
//! blocks.

use super::{Address, Nudge};
use parking_lot::Mutex;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

#[derive(Default)]
enum Answer {
    #[default]
    NotAsked,
    Asked,
    Here(io::Result<Vec<SocketAddr>>),
}

/// A server by name, address or path.
pub struct Lookup {
    host: String,
    port: u16,
    ipv6: bool,
    /// Addresses in use: what the last good answer said.
    addresses: Vec<Address>,
    /// They need no question.
    fresh: bool,
    literal: bool,
    answer: Arc<Mutex<Answer>>,
}

pub enum Found<'a> {
    /// The outlet is nudged when the answer is there.
    Asking,
    Addresses(&'a [Address]),
    Failed(io::Error),
}

impl Lookup {
    pub fn host(host: &str, port: u16, ipv6: bool) -> Lookup {
        let literal = host.parse::<IpAddr>().ok().map(|ip| Address::Inet(SocketAddr::new(ip, port)));
        Lookup {
            host: host.to_owned(),
            port,
            ipv6,
            fresh: literal.is_some(),
            literal: literal.is_some(),
            addresses: literal.into_iter().collect(),
            answer: Arc::default(),
        }
    }

    pub fn path(path: &Path) -> Lookup {
        Lookup {
            host: path.display().to_string(),
            port: 0,
            ipv6: false,
            addresses: vec![Address::Unix(path.into())],
            fresh: true,
            literal: true,
            answer: Arc::default(),
        }
    }

    /// As configured.
    pub fn name(&self) -> &str {
        &self.host
    }

    /// Asks again the next time. Until there is a new answer, and when there is none, the last good one
    /// holds.
    pub fn forget(&mut self) {
        self.fresh = self.literal;
    }

    pub fn find(&mut self, nudge: &Arc<Nudge>) -> Found<'_> {
        if self.fresh {
            return Found::Addresses(&self.addresses);
        }
        let answer = {
            let mut answer = self.answer.lock();
            match std::mem::replace(&mut *answer, Answer::Asked) {
                Answer::Asked => return Found::Asking,
                Answer::NotAsked => None,
                Answer::Here(found) => {
                    *answer = Answer::NotAsked;
                    Some(found)
                }
            }
        };
        let error = match answer {
            Some(Ok(found)) => {
                self.addresses = found.into_iter().map(Address::Inet).collect();
                self.fresh = true;
                return Found::Addresses(&self.addresses);
            }
            Some(Err(error)) => error,
            None => match self.ask(nudge) {
                Ok(()) => return Found::Asking,
                Err(error) => {
                    *self.answer.lock() = Answer::NotAsked;
                    error
                }
            },
        };
        if self.addresses.is_empty() {
            return Found::Failed(error);
        }
        oplog::limited(
            "lookup",
            oplog::Level::Warning,
            "Cannot look up a server, using the addresses it had",
            &[("host", &self.host), ("error", &error)],
        );
        self.fresh = true;
        Found::Addresses(&self.addresses)
    }

    fn ask(&self, nudge: &Arc<Nudge>) -> io::Result<()> {
        let (host, port, ipv6) = (self.host.clone(), self.port, self.ipv6);
        let (answer, nudge) = (Arc::clone(&self.answer), Arc::clone(nudge));
        std::thread::Builder::new().name("lookup".into()).spawn(move || {
            let found = transport::resolve_target(&host, port, ipv6);
            *answer.lock() = Answer::Here(found);
            nudge.nudge();
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_need_no_question() {
        let nudge = Arc::default();
        let mut lookup = Lookup::host("192.0.2.1", 514, false);
        lookup.forget();
        let Found::Addresses(found) = lookup.find(&nudge) else { panic!("asked") };
        assert_eq!(found, [Address::Inet("192.0.2.1:514".parse().expect("address"))]);
    }

    #[test]
    fn names_are_asked_for_and_the_last_good_answer_is_kept() {
        let nudge = Arc::default();
        let mut lookup = Lookup::host("localhost", 5, false);
        let found = loop {
            match lookup.find(&nudge) {
                Found::Asking => std::thread::yield_now(),
                Found::Addresses(found) => break found.to_vec(),
                Found::Failed(error) => panic!("{error}"),
            }
        };
        assert!(!found.is_empty());
        lookup.forget();
        *lookup.answer.lock() = Answer::Here(Err(io::ErrorKind::NotFound.into()));
        let Found::Addresses(again) = lookup.find(&nudge) else { panic!("not kept") };
        assert_eq!(again, found);
    }
}
