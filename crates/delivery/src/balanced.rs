//! `load-balance()`: several servers at once, each message to one of them, in turn or by its key. What has
//! the same key takes the same connection, so its order is kept; the others stand in for a server that is
//! away.

mod spread;

pub use spread::{Spread, width};

use super::dialing::Failback;
use super::single::{SingleDestination, alike};
use super::target::given::check_family;
use super::writing;
use crate::writer::Writer;
use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics, Fault, Reported};
use driver_options::templates::compile;
use engine::driver::{BuildContext, Destination};
use engine::ledger::DestinationCounters;
use engine::program::{Format, Scratch};
use engine::{Outbox, Outlet, Shared};
use parking_lot::Mutex;
use record::{Batch, Demand};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use template::{Identity, Template};

/// How often a server that is away is looked for, and how often it has to answer before its messages go there
/// again.
const FAILBACK: Failback = Failback { interval: Duration::from_secs(10), successes: 1 };

/// What `load-balance()` asks for.
pub struct Balance {
    /// Beside the first one.
    pub servers: Vec<String>,
    key: Option<Arc<Template>>,
    /// As it is written; empty without one.
    key_text: String,
    /// Of workers: what is written of it too.
    spread: Option<(Arc<Spread>, String)>,
}

impl Balance {
    /// `load-balance()`, where it is given.
    pub fn read(
        s: &Settings,
        ipv6: bool,
        cx: &BuildContext<'_>,
        diags: &mut Diagnostics,
    ) -> Result<Option<Balance>, Reported> {
        let Some(block) = s.block("load-balance") else { return Ok(None) };
        let at = s.span("load-balance").ok_or(Reported)?;
        let servers: Vec<String> = block.list("servers").iter().map(|t| t.text.clone()).collect();
        if servers.is_empty() {
            let finding = Diagnostic::error("D0110", "load-balance() names no servers", at);
            diags.push(finding.help("write `load-balance(servers(\"b.example.com\"))`"));
            return Err(Reported);
        }
        for host in &servers {
            check_family(host, ipv6, "load-balance", s, diags)?;
        }
        let key = match block.template("key") {
            Some(text) => {
                let options = writing::template_options(s, cx);
                Some(compile(&text.text, text.span, &options, cx, diags)?)
            }
            None => None,
        };
        let key_text = block.template("key").map(|text| text.text.clone()).unwrap_or_default();
        Ok(Some(Balance { servers, key, key_text, spread: None }))
    }

    /// Between outlets that are alike: `workers()`, `worker-partition-key()`, and how many share a key.
    pub fn between_workers(
        key: Option<(Arc<Template>, String)>,
        spread: Option<(Arc<Spread>, String)>,
    ) -> Balance {
        let (key, key_text) = key.map_or((None, String::new()), |(key, text)| (Some(key), text));
        Balance { servers: Vec::new(), key, key_text, spread }
    }

    /// The servers of each connection: its own, then those that stand in for it. `given` is the first one,
    /// and those of failover().
    pub fn routes(&self, given: &[String]) -> Vec<Vec<String>> {
        let (first, others) = given.split_at(given.len().min(1));
        let all = [first, &self.servers].concat();
        (0..all.len())
            .map(|at| {
                let mut route = all.clone();
                route.rotate_left(at);
                route.extend_from_slice(others);
                route
            })
            .collect()
    }

    /// When messages go back to a server that was away: as failover() says, or soon.
    pub fn failback(given: Option<Failback>) -> Failback {
        given.unwrap_or(FAILBACK)
    }
}

/// One target, or one for each server of load-balance(). `make` is given the servers it goes to, in the order
/// in which they are tried.
pub fn targets(
    balance: Option<&Balance>,
    servers: Vec<String>,
    writer: Writer,
    identity: &Identity,
    make: impl Fn(Vec<String>, Writer) -> SingleDestination,
) -> Arc<dyn Destination> {
    match balance {
        Some(balance) => {
            Arc::new(Balanced::new(balance, alike(balance.routes(&servers), writer, identity, make)))
        }
        None => Arc::new(make(servers, writer)),
    }
}

/// What one worker needs while it tells messages apart.
#[derive(Default)]
struct Room {
    parts: Vec<Vec<u32>>,
    keys: Vec<u8>,
    ends: Vec<u32>,
    hashes: Vec<u64>,
    turns: Vec<usize>,
}

pub struct Balanced {
    targets: Vec<SingleDestination>,
    key: Option<Arc<Template>>,
    spread: Option<Arc<Spread>>,
    /// What is written of both.
    key_text: String,
    /// Messages told apart so far.
    turn: AtomicUsize,
    spare: Mutex<Vec<Room>>,
}

impl Balanced {
    /// `targets`: at least one, as [`super::single::alike`] makes them.
    pub fn new(balance: &Balance, targets: Vec<SingleDestination>) -> Balanced {
        let (spread, said) =
            balance.spread.clone().map_or((None, String::new()), |(s, text)| (Some(s), text));
        Balanced {
            targets,
            key: balance.key.clone(),
            spread,
            key_text: balance.key_text.clone() + &said,
            turn: AtomicUsize::new(0),
            spare: Mutex::default(),
        }
    }

    /// Puts each message into the part of its target.
    fn divide(&self, batch: &Batch, selection: &[u32], scratch: &mut Scratch, room: &mut Room) {
        let count = self.targets.len().max(1);
        room.parts.resize_with(count, Vec::new);
        let Some(key) = &self.key else {
            let first = self.turn.fetch_add(selection.len(), Ordering::Relaxed);
            for (at, index) in selection.iter().enumerate() {
                if let Some(part) = room.parts.get_mut(first.wrapping_add(at) % count) {
                    part.push(*index);
                }
            }
            return;
        };
        room.keys.clear();
        room.ends.clear();
        room.hashes.clear();
        key.render_selection(batch, selection, scratch.render(), &mut room.keys, &mut room.ends);
        let mut start = 0;
        for end in &room.ends {
            let end = *end as usize;
            room.hashes.push(hash(room.keys.get(start..end).unwrap_or_default()));
            start = end;
        }
        if let Some(spread) = &self.spread {
            spread.turns((batch, selection), scratch, &room.hashes, count, &mut room.turns);
        }
        for (at, (index, hash)) in selection.iter().zip(&room.hashes).enumerate() {
            let aside = room.turns.get(at).copied().unwrap_or(0);
            if let Some(part) = room.parts.get_mut((place(*hash, count) + aside) % count) {
                part.push(*index);
            }
        }
    }
}

/// FNV-1a, the same one for ever.
fn hash(key: &[u8]) -> u64 {
    key.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Which of `count` targets a key belongs to.
fn place(hash: u64, count: usize) -> usize {
    // The low bits of the product alone depend on the low bits of the input alone.
    ((hash ^ (hash >> 32)) % count.max(1) as u64) as usize
}

impl Format for Balanced {
    fn format(&self, batch: &mut Batch, selection: &[u32], scratch: &mut Scratch, out: &mut Outbox) {
        let mut room = self.spare.lock().pop().unwrap_or_default();
        self.divide(batch, selection, scratch, &mut room);
        for (target, part) in self.targets.iter().zip(&mut room.parts) {
            if !part.is_empty() {
                target.format(batch, part, scratch, out);
                part.clear();
            }
        }
        self.spare.lock().push(room);
    }

    fn preview(&self, batch: &mut Batch, index: u32, scratch: &mut Scratch) -> Vec<(String, Vec<u8>)> {
        let mut room = self.spare.lock().pop().unwrap_or_default();
        self.divide(batch, &[index], scratch, &mut room);
        let mut shown = Vec::new();
        for (target, part) in self.targets.iter().zip(&mut room.parts) {
            if !part.is_empty() {
                shown.append(&mut target.preview(batch, index, scratch));
                part.clear();
            }
        }
        self.spare.lock().push(room);
        shown
    }

    fn reads(&self, demand: &mut Demand) {
        self.targets.iter().for_each(|target| target.reads(demand));
        self.key.iter().for_each(|key| key.reads(demand));
        self.spread.iter().for_each(|spread| spread.reads(demand));
    }
}

impl Destination for Balanced {
    fn counters(&self) -> &Arc<DestinationCounters> {
        // There is at least one.
        self.targets[0].counters()
    }

    fn start(&self, shared: &Arc<Shared>) -> Result<(), Fault> {
        self.targets.iter().try_for_each(|target| target.start(shared))
    }

    fn outlets(&self) -> Vec<Arc<Outlet>> {
        self.targets.iter().flat_map(|target| target.outlets()).collect()
    }

    fn divides_by(&self) -> &str {
        &self.key_text
    }

    fn reloaded(&self) {
        self.targets.iter().for_each(|target| target.reloaded());
    }

    fn described(&self) -> (&'static str, String) {
        self.targets[0].described()
    }
}

#[cfg(test)]
mod tests;
