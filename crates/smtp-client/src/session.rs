//! What runs for one outlet: it keeps a connection, and sends one mail after the other.

use crate::dialog::Dialog;
use crate::load::Load;
use crate::mail;
use crate::reply::Reply;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use diag::Fault;
use flight::{Outcome, Verdict};
use guest::net::{self, Stream};
use guest::{Answer, Jobs, Order};
use std::sync::Arc;
use std::time::Duration;
use tls::{Connector, Options};
use zeroize::Zeroizing;

/// A connection that is not there by then will not be.
const CONNECT_MAX: Duration = Duration::from_secs(30);

/// When connections are encrypted.
#[derive(Clone, Debug)]
pub enum Security {
    None,
    /// From the beginning, as on port 465.
    Whole(Options),
    /// After STARTTLS; a server that does not offer it gets nothing.
    Begun(Options),
}

#[derive(Clone)]
pub struct Login {
    pub user: String,
    pub password: Zeroizing<String>,
}

pub struct Plan {
    pub host: String,
    pub port: u16,
    pub security: Security,
    pub login: Option<Login>,
    /// How long an answer may take.
    pub patience: Duration,
    pub mail: mail::Plan,
}

/// Serves an outlet until it is closed.
pub async fn serve(plan: Arc<Plan>, jobs: Jobs<Load>) {
    let mut session = Session { plan, open: None, said: Vec::new() };
    while let Some(order) = jobs.next().await {
        match order {
            Order::Reopen => session.leave().await,
            Order::Send(job) => {
                session.said.clear();
                let outcome = session.deliver(&job.load).await;
                session.say_where(&job.answer);
                job.answer.say(outcome);
            }
        }
    }
    session.leave().await;
}

struct Session {
    plan: Arc<Plan>,
    open: Option<Open>,
    /// The last reply to each mail of the batch in hand, in their order: mostly with the number of the mail
    /// in the server's queue.
    said: Vec<String>,
}

/// A connection after the greeting.
struct Open {
    dialog: Dialog,
    /// The most bytes of a mail, where the server says it.
    size_max: Option<usize>,
}

/// What became of one mail, and the words of the server, where the connection is still of use.
enum Sent {
    Verdict(Verdict, String),
    /// Neither this mail nor those behind it now.
    Stop(Outcome),
}

impl Sent {
    fn refused(why: String) -> Sent {
        Sent::Verdict(Verdict::Refused(why.as_str().into()), why)
    }
}

impl Session {
    async fn leave(&mut self) {
        if let Some(open) = self.open.take() {
            open.dialog.leave().await;
        }
    }

    async fn deliver(&mut self, Load(mails): &Load) -> Outcome {
        let mut open = match self.ready().await {
            Ok(open) => open,
            Err(outcome) => return outcome,
        };
        let mut verdicts = Vec::new();
        for mail in mails {
            let stop = match open.send(&self.plan.mail, mail).await {
                Ok(Sent::Verdict(verdict, said)) => {
                    verdicts.push(verdict);
                    self.said.push(said);
                    continue;
                }
                Ok(Sent::Stop(outcome)) => {
                    self.open = Some(open);
                    outcome
                }
                Err(outcome) => self.named(outcome),
            };
            // Those before it are done with; what is said of it is said again with the next attempt.
            return match verdicts.is_empty() {
                true => stop,
                false => Outcome::Judged { verdicts, after: None },
            };
        }
        self.open = Some(open);
        Outcome::Judged { verdicts, after: None }
    }

    /// Of mails that somebody follows: the server, and what it said of the very mail.
    fn say_where(&self, answer: &Answer) {
        answer.is_at(|at| {
            let reply = self.said.get(at).map(|said| ("reply", said.as_str().into()));
            [("server", self.name().into())].into_iter().chain(reply)
        });
    }

    fn name(&self) -> String {
        format!("{}:{}", self.plan.host, self.plan.port)
    }

    fn named(&self, outcome: Outcome) -> Outcome {
        let name = self.name();
        match outcome {
            Outcome::Away(why) => Outcome::Away(format!("{name}: {why}")),
            Outcome::Unknown(why) => Outcome::Unknown(format!("{name}: {why}")),
            outcome => outcome,
        }
    }

    /// The connection that was kept, if the server still answers, or a new one.
    async fn ready(&mut self) -> Result<Open, Outcome> {
        if let Some(mut open) = self.open.take()
            && let Ok(reply) = open.dialog.ask("RSET").await
            && reply.is_good()
        {
            return Ok(open);
        }
        let opened = tokio::time::timeout(CONNECT_MAX, self.connect()).await;
        let opened = opened.unwrap_or_else(|_| Err(Outcome::Away("no connection".to_owned())));
        opened.map_err(|outcome| self.named(outcome))
    }

    async fn connect(&self) -> Result<Open, Outcome> {
        let plan = &self.plan;
        let stream =
            net::tcp(&plan.host, plan.port).await.map_err(|error| Outcome::Away(error.to_string()))?;
        let stream = match &plan.security {
            Security::Whole(options) => {
                let connector = Connector::load(options).map_err(away)?;
                net::secure(stream, &plan.host, &connector).await.map_err(away)?
            }
            _ => Stream::Plain(stream),
        };
        let mut dialog = Dialog::new(stream, plan.patience);
        let greeting = dialog.hear().await.map_err(away)?;
        if !greeting.is_good() {
            return Err(refused(&greeting));
        }
        let mut hello = self.hello(&mut dialog).await?;
        if let Security::Begun(options) = &plan.security {
            if hello.offers("STARTTLS").is_none() {
                return Err(Outcome::Hold("the server offers no STARTTLS".to_owned()));
            }
            let reply = dialog.ask("STARTTLS").await.map_err(away)?;
            if !reply.is_good() {
                return Err(refused(&reply));
            }
            let connector = Connector::load(options).map_err(away)?;
            dialog.secure(&plan.host, &connector).await.map_err(away)?;
            hello = self.hello(&mut dialog).await?;
        }
        if let Some(login) = &plan.login {
            log_in(&mut dialog, &hello, login).await?;
        }
        oplog::verbose("Server connected", &[("server", &format!("{}:{}", plan.host, plan.port))]);
        let size_max =
            hello.offers("SIZE").and_then(|size| size.trim().parse().ok()).filter(|size| *size > 0);
        Ok(Open { dialog, size_max })
    }

    async fn hello(&self, dialog: &mut Dialog) -> Result<Reply, Outcome> {
        let name = &self.plan.mail.host;
        let reply = dialog.ask(&format!("EHLO {name}")).await.map_err(away)?;
        if !reply.is_final() {
            return if reply.is_good() { Ok(reply) } else { Err(refused(&reply)) };
        }
        let reply = dialog.ask(&format!("HELO {name}")).await.map_err(away)?;
        if reply.is_good() { Ok(reply) } else { Err(refused(&reply)) }
    }
}

/// Of a connection that ended before anything was certain.
fn away(fault: Fault) -> Outcome {
    Outcome::Away(fault.into())
}

/// Of what has nothing to do with any mail.
fn refused(reply: &Reply) -> Outcome {
    match reply.is_final() {
        true => Outcome::Hold(reply.words()),
        false => again(reply),
    }
}

fn again(reply: &Reply) -> Outcome {
    Outcome::Again { after: None, counts: false, why: reply.words() }
}

async fn log_in(dialog: &mut Dialog, hello: &Reply, login: &Login) -> Result<(), Outcome> {
    let ways = hello.offers("AUTH").unwrap_or_default().to_ascii_uppercase();
    let has = |way: &str| ways.split_whitespace().any(|word| word == way);
    let coded = |text: &str| Zeroizing::new(STANDARD.encode(text));
    let reply = if has("PLAIN") {
        let words = Zeroizing::new(format!("\0{}\0{}", login.user, login.password.as_str()));
        dialog.ask(&format!("AUTH PLAIN {}", coded(&words).as_str())).await.map_err(away)?
    } else if has("LOGIN") {
        for line in ["AUTH LOGIN", coded(&login.user).as_str()] {
            let reply = dialog.ask(line).await.map_err(away)?;
            if reply.code != 334 {
                return Err(refused(&reply));
            }
        }
        dialog.ask(coded(&login.password).as_str()).await.map_err(away)?
    } else {
        return Err(Outcome::Hold(
            "the server offers no login with a password (AUTH PLAIN, AUTH LOGIN)".to_owned(),
        ));
    };
    if reply.is_good() { Ok(()) } else { Err(refused(&reply)) }
}

impl Open {
    /// The error ends the connection.
    async fn send(&mut self, plan: &mail::Plan, mail: &[u8]) -> Result<Sent, Outcome> {
        if let Some(size_max) = self.size_max.filter(|size_max| mail.len() > *size_max) {
            let why = format!("the mail has {} bytes, the server takes {size_max}", mail.len());
            return Ok(Sent::refused(why));
        }
        let from = format!("MAIL FROM:<{}>", plan.envelope_sender());
        let reply = self.dialog.ask(&from).await.map_err(away)?;
        match reply.code {
            _ if reply.is_good() => {}
            // Too large, as the server has it.
            552 => return Ok(Sent::refused(reply.words())),
            _ => return Ok(Sent::Stop(refused(&reply))),
        }
        let mut misses = Vec::new();
        let mut takers = 0;
        for to in plan.recipients() {
            let reply = self.dialog.ask(&format!("RCPT TO:<{}>", to.address)).await.map_err(away)?;
            match () {
                () if reply.is_good() => takers += 1,
                () if reply.is_final() => misses.push(format!("{}: {}", to.address, reply.words())),
                // Nobody gets it twice because somebody cannot have it now.
                () => return self.reset(again(&reply)).await,
            }
        }
        if takers == 0 {
            let _ = self.dialog.ask("RSET").await.map_err(away)?;
            return Ok(Sent::refused(misses.join("; ")));
        }
        let reply = self.dialog.ask("DATA").await.map_err(away)?;
        if reply.code != 354 {
            return match reply.is_final() {
                true => Ok(Sent::refused(reply.words())),
                false => self.reset(again(&reply)).await,
            };
        }
        self.dialog.send(mail).await.map_err(away)?;
        let reply = self.dialog.hear().await.map_err(|fault| Outcome::Unknown(fault.into()))?;
        Ok(match () {
            () if reply.is_good() && misses.is_empty() => Sent::Verdict(Verdict::Delivered, reply.words()),
            () if reply.is_good() => {
                let why = format!("{}; {takers} other recipients have it", misses.join("; "));
                Sent::Verdict(Verdict::Refused(why.into()), reply.words())
            }
            () if reply.is_final() => Sent::refused(reply.words()),
            () => Sent::Stop(again(&reply)),
        })
    }

    /// Takes back what was begun of a mail.
    async fn reset(&mut self, outcome: Outcome) -> Result<Sent, Outcome> {
        let _ = self.dialog.ask("RSET").await.map_err(away)?;
        Ok(Sent::Stop(outcome))
    }
}
