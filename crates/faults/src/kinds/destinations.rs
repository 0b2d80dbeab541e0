//! Every destination that is answered, with a server that is not ours (`testkit::receivers`): server and
//! collector are killed over and over, and what was acknowledged is counted where another client reads it.

use crate::tally::Tally;
use crate::trial::{Plan, Verdict};
use std::panic::{AssertUnwindSafe, catch_unwind};
use testkit::receivers::{self, Destination, Killed, Trial};

pub fn server_killed(plan: &Plan) -> Verdict {
    each(plan, Trial::ServerKilled, receivers::server_killed)
}

pub fn collector_killed(plan: &Plan) -> Verdict {
    each(plan, Trial::CollectorKilled, receivers::collector_killed)
}

/// A note for each destination: what was acknowledged, and how much of it came twice.
fn each(plan: &Plan, trial: Trial, kill: fn(&Destination, usize) -> Option<Killed>) -> Verdict {
    let (mut tally, mut problems, mut notes) = (Tally::default(), Vec::new(), Vec::new());
    for destination in receivers::all() {
        if destination.reason_against(trial).is_some() {
            continue;
        }
        // Whoever takes long to start is killed less often in all but the long run.
        let kills = if plan.long { plan.rounds } else { plan.rounds.min(destination.kills) };
        let name = destination.name;
        match catch_unwind(AssertUnwindSafe(|| kill(destination, kills))) {
            Ok(Some(killed)) => {
                tally.sent += killed.acknowledged as u64;
                tally.acknowledged += killed.acknowledged as u64;
                tally.doubled += killed.doubled as u64;
                tally.delivered += killed.acknowledged as u64;
                tally.rounds += kills;
                notes.push(format!(
                    "{name}: {} acknowledged, {} doubled",
                    killed.acknowledged, killed.doubled
                ));
            }
            Ok(None) => notes.push(format!("{name}: {}", destination.missing)),
            Err(_) => problems.push(format!("{name}: failed, see above")),
        }
    }
    Verdict::Ran { tally, restart_ms: 0, problems, notes }
}
