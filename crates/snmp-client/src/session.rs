//! What runs for one outlet: traps are sent, informs are sent and answered.

use crate::engine::Engine;
use crate::load::{Load, with_uptime};
use crate::message::{self, Answer, Secured, discovery, unit, with_community, with_user};
use crate::user::{Keys, User};
use flight::{Outcome, Verdict};
use guest::net;
use guest::{Jobs, Order};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::UdpSocket;
use tokio::time::timeout_at;

/// The most of a datagram over IPv4.
const DATAGRAM_BYTES_MAX: usize = 65_507;
/// Times that an inform is sent before it counts as not answered.
const TRIES: u32 = 3;

pub enum Version {
    /// 2c, with its community.
    Community(String),
    /// 3. The engine is ours: that of traps.
    User { user: User, engine: Vec<u8> },
}

pub struct Plan {
    pub host: String,
    pub port: u16,
    pub version: Version,
    pub is_inform: bool,
    /// How long an answer may take before an inform is sent again.
    pub patience: Duration,
}

/// Serves an outlet until it is closed.
pub async fn serve(plan: Arc<Plan>, jobs: Jobs<Load>) {
    // Numbers of requests begin anywhere, so that two starts are not taken for one.
    let first = RandomState::new().hash_one(1);
    let mut session =
        Session { plan, open: None, ids: Vec::new(), id: first as u32 & 0x3fff_ffff, salt: first };
    while let Some(order) = jobs.next().await {
        match order {
            Order::Reopen => session.open = None,
            Order::Send(job) => {
                session.ids.clear();
                let outcome = session.deliver(&job.load).await;
                session.say_where(&job.answer);
                job.answer.say(outcome);
            }
        }
    }
}

struct Session {
    plan: Arc<Plan>,
    open: Option<Open>,
    /// The numbers that notifications of the batch in hand went out with, by their places.
    ids: Vec<(usize, u32)>,
    id: u32,
    salt: u64,
}

struct Open {
    socket: UdpSocket,
    /// The engine that messages belong to, and the keys of the user there.
    engine: Option<(Engine, Option<Keys>)>,
}

impl Session {
    /// Of notifications that somebody follows: the receiver, and the number of the request.
    fn say_where(&self, answer: &guest::Answer) {
        answer.is_at(|at| {
            let id = self.ids.iter().find(|(place, _)| *place == at);
            let id = id.map(|(_, id)| ("request_id", u64::from(*id).into()));
            [("server", format!("{}:{}", self.plan.host, self.plan.port).into())].into_iter().chain(id)
        });
    }

    async fn deliver(&mut self, load: &Load) -> Outcome {
        let name = format!("{}:{}", self.plan.host, self.plan.port);
        let open = match self.open.take() {
            Some(open) => Ok(open),
            None => self.open().await,
        };
        let mut open = match open {
            Ok(open) => open,
            Err(outcome) => return named(&name, outcome),
        };
        match self.send_all(&mut open, load).await {
            Ok(verdicts) => {
                self.open = Some(open);
                Outcome::Judged { verdicts, after: None }
            }
            Err(outcome) => named(&name, outcome),
        }
    }

    async fn open(&mut self) -> Result<Open, Outcome> {
        let away = |error: io::Error| Outcome::Away(error.to_string());
        let addresses = net::addresses(&self.plan.host, self.plan.port).await.map_err(away)?;
        let address = addresses.first().ok_or_else(|| Outcome::Away("the name has no address".to_owned()))?;
        let any = if address.is_ipv6() { "[::]:0" } else { "0.0.0.0:0" };
        let socket = UdpSocket::bind(any).await.map_err(away)?;
        socket.connect(address).await.map_err(away)?;
        let plan = Arc::clone(&self.plan);
        let engine = match &plan.version {
            Version::Community(_) => None,
            Version::User { user, engine } => {
                let engine = match plan.is_inform {
                    true => self.discover(&socket).await?,
                    false => Engine::own(engine.clone()),
                };
                let keys = user.keys(&engine.id);
                Some((engine, keys))
            }
        };
        Ok(Open { socket, engine })
    }

    /// The engine of the receiver, which informs belong to.
    async fn discover(&mut self, socket: &UdpSocket) -> Result<Engine, Outcome> {
        for _ in 0..TRIES {
            let id = self.next_id();
            socket.send(&discovery(id)).await.map_err(|error| Outcome::Away(error.to_string()))?;
            let until = Instant::now() + self.plan.patience;
            while let Some(answer) = hear(socket, None, until).await? {
                if let Answer::Report { id: found, engine, .. } = answer
                    && found == i64::from(id)
                {
                    return Ok(engine);
                }
            }
        }
        Err(Outcome::Away("it does not say which engine it is".to_owned()))
    }

    fn next_id(&mut self) -> u32 {
        self.id = (self.id + 1) & 0x7fff_ffff;
        self.id
    }

    async fn send_all(&mut self, open: &mut Open, load: &Load) -> Result<Vec<Verdict>, Outcome> {
        let mut verdicts: Vec<Option<Verdict>> = Vec::new();
        let mut waiting = HashMap::new();
        for (place, bindings) in load.bindings.iter().enumerate() {
            let bindings = match bindings {
                Ok(bindings) => with_uptime(bindings),
                Err(why) => {
                    verdicts.push(Some(Verdict::Refused(why.clone())));
                    continue;
                }
            };
            let id = self.next_id();
            self.ids.push((place, id));
            let datagram = self.datagram(open, id, &bindings)?;
            if datagram.len() > DATAGRAM_BYTES_MAX {
                let why = format!("it has {} bytes, a datagram {DATAGRAM_BYTES_MAX}", datagram.len());
                verdicts.push(Some(Verdict::Refused(why.into())));
                continue;
            }
            if let Err(error) = open.socket.send(&datagram).await {
                return settled(verdicts, &format!("{error}"));
            }
            if self.plan.is_inform {
                waiting.insert(i64::from(id), (place, bindings));
                verdicts.push(None);
            } else {
                verdicts.push(Some(Verdict::Delivered));
            }
        }
        if waiting.is_empty() {
            return Ok(verdicts.into_iter().flatten().collect());
        }
        self.hear_all(open, waiting, verdicts).await
    }

    /// Waits for answers, and sends again what is not answered.
    async fn hear_all(
        &mut self,
        open: &mut Open,
        mut waiting: HashMap<i64, (usize, Vec<u8>)>,
        mut verdicts: Vec<Option<Verdict>>,
    ) -> Result<Vec<Verdict>, Outcome> {
        for attempt in 1..=TRIES {
            let until = Instant::now() + self.plan.patience;
            while !waiting.is_empty() {
                let keys = open.engine.as_ref().and_then(|(_, keys)| keys.as_ref());
                match hear(&open.socket, keys, until).await? {
                    None => break,
                    Some(Answer::Response { id, error }) => {
                        let Some((place, _)) = waiting.remove(&id) else { continue };
                        let verdict = match error {
                            0 => Verdict::Delivered,
                            error => Verdict::Refused(format!("error-status {error}").into()),
                        };
                        if let Some(known) = verdicts.get_mut(place) {
                            *known = Some(verdict);
                        }
                    }
                    Some(Answer::Report { counter, .. }) => return Err(reported(counter)),
                }
            }
            if attempt < TRIES {
                for (id, (_, bindings)) in &waiting {
                    let datagram = self.datagram(open, u32::try_from(*id).unwrap_or_default(), bindings)?;
                    let _ = open.socket.send(&datagram).await;
                }
            }
        }
        settled(verdicts, "informs are not answered")
    }

    fn datagram(&mut self, open: &Open, id: u32, bindings: &[u8]) -> Result<Vec<u8>, Outcome> {
        self.salt = self.salt.wrapping_add(1);
        let unit = unit(id, self.plan.is_inform, bindings);
        match (&self.plan.version, &open.engine) {
            (Version::User { user, .. }, Some((engine, keys))) => {
                let by = Secured { engine, user: &user.name, keys: keys.as_ref(), salt: self.salt };
                with_user(id, self.plan.is_inform, &unit, &by)
                    .ok_or_else(|| Outcome::Hold("the message cannot be encrypted".to_owned()))
            }
            (Version::Community(community), _) => Ok(with_community(community, &unit)),
            (Version::User { .. }, None) => Err(Outcome::Away("the engine is not known".to_owned())),
        }
    }
}

/// What is known of a batch that did not go through: nothing at all is an outage.
fn settled(verdicts: Vec<Option<Verdict>>, why: &str) -> Result<Vec<Verdict>, Outcome> {
    match verdicts.iter().any(Option::is_some) {
        true => Ok(verdicts.into_iter().map(|verdict| verdict.unwrap_or(Verdict::Again)).collect()),
        false => Err(Outcome::Away(why.to_owned())),
    }
}

/// The next answer; `None` when there is none by then. What is none is passed over.
async fn hear(socket: &UdpSocket, keys: Option<&Keys>, until: Instant) -> Result<Option<Answer>, Outcome> {
    let mut bytes = vec![0; DATAGRAM_BYTES_MAX];
    loop {
        match timeout_at(until.into(), socket.recv(&mut bytes)).await {
            Err(_) => return Ok(None),
            Ok(Err(error)) => return Err(Outcome::Away(error.to_string())),
            Ok(Ok(length)) => {
                if let Ok(answer) = message::read(bytes.get(..length).unwrap_or_default(), keys) {
                    return Ok(Some(answer));
                }
            }
        }
    }
}

/// RFC 3414 section 5: what a receiver has against a message.
fn reported(counter: Option<u8>) -> Outcome {
    match counter {
        Some(1) => Outcome::Hold("it does not do this level of security".to_owned()),
        // Its clock is not what we think: it is asked again.
        Some(2) => Outcome::Away("the message is outside of its time window".to_owned()),
        Some(3) => Outcome::Hold("it does not know the user".to_owned()),
        Some(4) => Outcome::Away("it is another engine now".to_owned()),
        Some(5) => Outcome::Hold("wrong digest: it has another auth-password() for the user".to_owned()),
        Some(6) => Outcome::Hold("it cannot decrypt: it has another enc-password() for the user".to_owned()),
        _ => Outcome::Hold("it reports an error".to_owned()),
    }
}

fn named(name: &str, outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Away(why) => Outcome::Away(format!("{name}: {why}")),
        Outcome::Hold(why) => Outcome::Hold(format!("{name}: {why}")),
        outcome => outcome,
    }
}
