//! What runs for one outlet: it keeps a connection, and sends one batch after the other.

use crate::answer::{self, Said};
use crate::load::Load;
use diag::Fault;
use flight::{Outcome, Verdict};
use guest::net::{self, Stream};
use guest::{Detail, Jobs, Order};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tls::{Connector, Options};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UdpSocket;
use tokio::time::timeout;

/// A connection that is not there by then will not be.
const CONNECT_MAX: Duration = Duration::from_secs(30);
/// The most of a datagram: what Riemann's server reads.
const DATAGRAM_BYTES_MAX: usize = 16_384;

#[derive(Clone, Debug)]
pub enum Transport {
    Tcp,
    Tls(Box<Options>),
    Udp,
}

pub struct Plan {
    pub host: String,
    pub port: u16,
    pub transport: Transport,
    /// How long an answer may take.
    pub patience: Duration,
}

/// Serves an outlet until it is closed.
pub async fn serve(plan: Arc<Plan>, jobs: Jobs<Load>) {
    let mut session = Session { plan, stream: None, socket: None };
    while let Some(order) = jobs.next().await {
        match order {
            Order::Reopen => (session.stream, session.socket) = (None, None),
            Order::Send(job) => {
                let outcome = session.deliver(&job.load).await;
                if matches!(outcome, Outcome::Judged { .. }) {
                    job.answer.is_at(|_| session.place());
                }
                job.answer.say(outcome);
            }
        }
    }
}

struct Session {
    plan: Arc<Plan>,
    stream: Option<Stream>,
    socket: Option<UdpSocket>,
}

/// Why a batch has no answer.
enum Failure {
    /// The server had ended a connection that was kept, and has none of it.
    Stale(String),
    Unknown(String),
}

impl Session {
    /// Riemann has no name for an event: where it went is all that can be said.
    fn place(&self) -> [(&'static str, Detail); 2] {
        let protocol = match self.plan.transport {
            Transport::Udp => "udp",
            Transport::Tcp => "tcp",
            Transport::Tls(_) => "tls",
        };
        [("server", format!("{}:{}", self.plan.host, self.plan.port).into()), ("protocol", protocol.into())]
    }

    async fn deliver(&mut self, load: &Load) -> Outcome {
        if load.events.is_empty() {
            return Outcome::Judged { verdicts: load.taken(), after: None };
        }
        let name = format!("{}:{}", self.plan.host, self.plan.port);
        let done = match self.plan.transport {
            Transport::Udp => self.shout(load).await,
            _ => self.ask(load).await,
        };
        done.unwrap_or_else(|outcome| match outcome {
            Outcome::Away(why) => Outcome::Away(format!("{name}: {why}")),
            Outcome::Unknown(why) => Outcome::Unknown(format!("{name}: {why}")),
            outcome => outcome,
        })
    }

    async fn ask(&mut self, load: &Load) -> Result<Outcome, Outcome> {
        let mut bytes = Vec::with_capacity(load.events.len() + 4);
        bytes.extend_from_slice(&(load.events.len() as u32).to_be_bytes());
        bytes.extend_from_slice(&load.events);
        let (mut stream, was_kept) = match self.stream.take() {
            Some(stream) => (stream, true),
            None => (self.connect().await?, false),
        };
        let mut said = self.converse(&mut stream, &bytes).await;
        if let Err(Failure::Stale(_)) = said
            && was_kept
        {
            stream = self.connect().await?;
            said = self.converse(&mut stream, &bytes).await;
        }
        let said = said.map_err(|failure| match failure {
            Failure::Stale(why) | Failure::Unknown(why) => Outcome::Unknown(why),
        })?;
        self.stream = Some(stream);
        Ok(match said {
            Said::Taken => Outcome::Judged { verdicts: load.taken(), after: None },
            // It does not say which event it dislikes.
            Said::Refused(why) => Outcome::Again { after: None, counts: true, why: format!("error: {why}") },
        })
    }

    async fn connect(&self) -> Result<Stream, Outcome> {
        let opening = async {
            let (host, port) = (&self.plan.host, self.plan.port);
            let stream = net::tcp(host, port)
                .await
                .map_err(|error| Fault::of_connection(&error, error.to_string()))?;
            match &self.plan.transport {
                Transport::Tls(options) => {
                    let connector = Connector::load(options)?;
                    net::secure(stream, host, &connector).await
                }
                _ => Ok(Stream::Plain(stream)),
            }
        };
        let opened = timeout(CONNECT_MAX, opening).await;
        opened
            .unwrap_or_else(|_| Err(Fault::unreachable("no connection")))
            .map_err(|fault| Outcome::Away(fault.into()))
    }

    async fn converse(&self, stream: &mut Stream, bytes: &[u8]) -> Result<Said, Failure> {
        let mut heard = Vec::new();
        let talk = async {
            let written = async {
                stream.write_all(bytes).await?;
                stream.flush().await
            };
            written.await.map_err(|error| Failure::Stale(error.to_string()))?;
            loop {
                match answer::read(&heard) {
                    Ok(Some((said, _))) => return Ok(said),
                    Ok(None) => {}
                    Err(answer::Malformed) => {
                        return Err(Failure::Unknown("what it says is no answer of Riemann".to_owned()));
                    }
                }
                match stream.read_buf(&mut heard).await {
                    // It may have read all and died before it could say so; most often it has read nothing.
                    Ok(0) => return Err(Failure::Stale("the server has closed the connection".to_owned())),
                    Ok(_) => {}
                    Err(error) => return Err(Failure::Stale(error.to_string())),
                }
            }
        };
        let silent = || Err(Failure::Unknown("the server does not answer".to_owned()));
        timeout(self.plan.patience, talk).await.unwrap_or_else(|_| silent())
    }

    /// Datagrams of as many events as one holds. Nobody says what became of them.
    async fn shout(&mut self, load: &Load) -> Result<Outcome, Outcome> {
        let socket = match self.socket.take() {
            Some(socket) => socket,
            None => self.bind().await.map_err(|error| Outcome::Away(error.to_string()))?,
        };
        let mut verdicts = load.taken();
        let places: Vec<usize> =
            (0..verdicts.len()).filter(|at| load.refused.get(*at).is_some_and(Option::is_none)).collect();
        let mut datagram: Vec<u8> = Vec::new();
        for (event, place) in load.each().zip(places) {
            if event.len() > DATAGRAM_BYTES_MAX {
                let why = format!("the event has {} bytes, a datagram {DATAGRAM_BYTES_MAX}", event.len());
                if let Some(verdict) = verdicts.get_mut(place) {
                    *verdict = Verdict::Refused(why.into());
                }
                continue;
            }
            if datagram.len() + event.len() > DATAGRAM_BYTES_MAX {
                send(&socket, &datagram).await?;
                datagram.clear();
            }
            datagram.extend_from_slice(event);
        }
        if !datagram.is_empty() {
            send(&socket, &datagram).await?;
        }
        self.socket = Some(socket);
        Ok(Outcome::Judged { verdicts, after: None })
    }

    async fn bind(&self) -> io::Result<UdpSocket> {
        let addresses = net::addresses(&self.plan.host, self.plan.port).await?;
        let address = addresses.first().ok_or_else(|| io::Error::other("the name has no address"))?;
        let any = if address.is_ipv6() { "[::]:0" } else { "0.0.0.0:0" };
        let socket = UdpSocket::bind(any).await?;
        socket.connect(address).await?;
        Ok(socket)
    }
}

/// Nobody listens there: that is said of the datagram before it.
async fn send(socket: &UdpSocket, datagram: &[u8]) -> Result<(), Outcome> {
    let sent = socket.send(datagram).await;
    sent.map(|_| ()).map_err(|error| Outcome::Away(error.to_string()))
}
