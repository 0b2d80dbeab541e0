//! Certificates and authorities are exchanged on the disk, and the program reloads, under load: a TLS source
//! and a TLS destination, both of which want to see a certificate. A pair of key and certificate that do not
//! belong together comes in between.

use crate::tally::Tally;
use crate::tls::{Generation, Sender, is_refused, put};
use crate::trial::{BUFFER, Chance, HEAD, Plan, Trial, Verdict, reached, reload};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

/// Senders that were there before everything.
const FIRST: usize = 3;
const PATIENCE: Duration = Duration::from_secs(20);

pub fn rotated(plan: &Plan) -> Verdict {
    let files = |name: &str| {
        let path = |ending: &str| format!("\"%dir%/live/{name}.{ending}\"");
        format!("key-file({}) cert-file({}) ca-file(\"%dir%/live/ca.pem\")", path("key"), path("pem"))
    };
    let mut trial = Trial::of(&format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) transport(\"tls\") max-connections(1000)\n\
           tls({} peer-verify(required-trusted))); }};\n\
         destination d {{ network(\"127.0.0.1\" port(%port:out%) transport(\"tls\") time-reopen(0.1)\n\
           tls({} peer-verify(required-trusted)) {BUFFER}); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n",
        files("127.0.0.1"),
        files("client")
    ));
    match rotations(&mut trial, plan) {
        Ok(()) => trial.verdict(plan, plan.rounds),
        Err(why) => {
            trial.problem(why);
            trial.verdict(plan, plan.rounds)
        }
    }
}

fn rotations(trial: &mut Trial, plan: &Plan) -> Result<(), String> {
    let live = trial.lab.path("live");
    std::fs::create_dir(&live).map_err(|e| e.to_string())?;
    let mut now = Generation::make(trial.lab.path("generation-0"))?;
    install(&now, &live);
    trial.target.encrypt(now.server());
    trial.target.up();
    let penstock = trial.begin().ok_or("it does not start")?;
    let port = trial.lab.port("in");
    let mut senders = Vec::new();
    for lane in 0..FIRST {
        senders.push(Sender::start(port, now.client(&now), lane)?);
    }
    let mut chance = Chance(plan.seed);
    for round in 1..=plan.rounds {
        sleep(chance.milliseconds(5, 100));
        let next = Generation::make(trial.lab.path(&format!("generation-{round}")))?;
        // A key that is not that of the certificate: what is in use stays.
        ["127.0.0.1.key", "client.key"].iter().for_each(|name| put(&next.file(name), &live.join(name)));
        let log = penstock.log().len();
        let answer = reload(&penstock);
        let said = penstock.log().split_off(log);
        if answer.starts_with("OK") && !said.contains("annot") {
            trial.problem(format!("round {round}: a wrong pair is taken without a word: {said}"));
        }
        senders.push(new_one(&now, &now, port, senders.len(), round)?);
        install(&next, &live);
        let answer = reload(&penstock);
        if !answer.starts_with("OK") {
            return Err(format!("round {round}: reload: {answer}"));
        }
        senders.push(new_one(&next, &next, port, senders.len(), round)?);
        if !is_refused(port, next.client(&now)) {
            trial.problem(format!("round {round}: a client of the former authority is let in"));
        }
        if trial.target.connections() != round as u64 {
            trial.problem(format!(
                "round {round}: {} connections of the destination",
                trial.target.connections()
            ));
        }
        // The destination has to show the new certificate, and to know the new authority.
        trial.target.down();
        trial.target.encrypt(next.server());
        trial.target.up();
        let target = &trial.target;
        if !reached(PATIENCE, || target.connections() > round as u64) {
            return Err(format!("round {round}: the destination does not come back"));
        }
        now = next;
        trial.round();
    }
    let mut sent = Vec::new();
    for (lane, sender) in senders.into_iter().enumerate() {
        let (count, kept) = sender.finish();
        if !kept {
            trial.problem(format!("connection {lane} was closed"));
        }
        sent.push(count);
    }
    let (all, failed) = (sent.len(), trial.target.failed());
    if !failed.is_empty() {
        trial.problem(format!("handshakes of the destination failed: {}", failed.join(", ")));
    }
    let connections = trial.target.connections();
    if connections != plan.rounds as u64 + 1 {
        trial.problem(format!("{connections} connections of the destination"));
    }
    trial.rest(penstock, |numbers| Tally::of_lanes(&sent, numbers));
    trial.note(format!(
        "{all} connections in, each open from its generation to the end; {connections} handshakes of the destination"
    ));
    Ok(())
}

/// A connection that only a server of this generation can have, once messages go over it.
fn new_one(
    trusts: &Generation,
    shows: &Generation,
    port: u16,
    lane: usize,
    round: usize,
) -> Result<Sender, String> {
    let failed = |why: String| format!("round {round}: a new connection fails: {why}");
    let sender = Sender::start(port, trusts.client(shows), lane).map_err(failed)?;
    match reached(PATIENCE, || sender.sent() > 0) {
        true => Ok(sender),
        false => Err(failed("nothing is taken".to_owned())),
    }
}

fn install(generation: &Generation, live: &Path) {
    for name in ["ca.pem", "127.0.0.1.key", "127.0.0.1.pem", "client.key", "client.pem"] {
        put(&generation.file(name), &live.join(name));
    }
}
