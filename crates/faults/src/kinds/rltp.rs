//! Two programs with rltp between them, which numbers what it sends: the sender is killed, the receiver, the
//! connection is cut. Everything is on the sender's disk before the fault, so that nothing but rltp and the
//! two queues can double a message; a file behind the receiver, which has no numbers, is a fault of its own.

use crate::tally::Tally;
use crate::trial::{BUFFER, Chance, HEAD, Plan, Trial, Verdict, gaps, ledger, reached};
use std::thread::sleep;
use std::time::Duration;
use testkit::{Lab, Penstock, Proxy, Signal};

/// Messages of a round.
const COUNT: u64 = 100_000;
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Sender,
    /// With everything on its disk.
    Receiver,
    /// While it writes to a file what is on its disk.
    Writer,
    Link,
}

pub fn sender_killed(plan: &Plan) -> Verdict {
    run(plan, Fault::Sender)
}

pub fn receiver_killed(plan: &Plan) -> Verdict {
    run(plan, Fault::Receiver)
}

pub fn writer_killed(plan: &Plan) -> Verdict {
    run(plan, Fault::Writer)
}

pub fn link_cut(plan: &Plan) -> Verdict {
    run(plan, Fault::Link)
}

/// The second program: what it gets goes to its disk first.
struct Receiver {
    lab: Lab,
    destination: String,
    running: Penstock,
}

impl Receiver {
    fn start(lab: Lab, destination: String) -> Receiver {
        let config = format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:rltp%) transport(\"rltp\")); }};\n\
             destination d {{ {destination}; }};\n\
             log {{ source(s); destination(d); flags(flow-control); }};\n"
        );
        let running = Penstock::configure(&lab, &config).ready();
        Receiver { lab, destination, running }
    }

    fn killed(mut self) -> Receiver {
        self.running.signal(Signal::KILL);
        self.running.wait_end();
        Receiver::start(self.lab, self.destination)
    }
}

fn run(plan: &Plan, fault: Fault) -> Verdict {
    let lab = Lab::new();
    let proxy = Proxy::to(lab.port("rltp"));
    let mut trial = Trial::of(&format!(
        "{HEAD}source s {{ relp(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ network(\"127.0.0.1\" port({}) transport(\"rltp\") time-reopen(0.1) {BUFFER}); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n",
        proxy.port()
    ));
    let destination = match fault {
        // Nobody takes what is on its disk before the last round is over.
        Fault::Receiver => {
            let port = trial.lab.port("out");
            format!("network(\"127.0.0.1\" port({port}) time-reopen(0.1) {BUFFER})")
        }
        _ => format!("file(\"%dir%/out\" {BUFFER})"),
    };
    let mut receiver = Receiver::start(lab, destination);
    let mut chance = Chance(plan.seed);
    let Some(mut sender) = trial.begin() else { return trial.verdict(plan, 0) };
    let source = trial.exactly(0);
    for _ in 0..plan.rounds {
        receiver.running.signal(Signal::STOP);
        source.raise(if plan.short { COUNT / 10 } else { COUNT });
        if !reached(PATIENCE, || source.is_finished()) {
            trial.problem(format!("{} of {} acknowledged", source.acknowledged(), source.sent()));
        }
        receiver.running.signal(Signal::CONT);
        sleep(chance.milliseconds(1, 60));
        match fault {
            Fault::Sender => {
                trial.kill(sender);
                sender = match trial.begin() {
                    Some(sender) => sender,
                    None => return trial.verdict(plan, 0),
                };
            }
            Fault::Receiver | Fault::Writer => {
                receiver = receiver.killed();
                trial.round();
            }
            Fault::Link => {
                proxy.cut();
                trial.round();
            }
        }
    }
    trial.target.up();
    let emptied = |penstock: &Penstock| {
        let mut last = None;
        let empty = reached(PATIENCE, || {
            last = ledger(penstock);
            last.as_ref().is_none_or(|ledger| ledger.waiting() == 0)
        });
        // One that does not answer has not said that it is empty.
        (empty && last.is_some(), last.as_ref().map_or(0, gaps))
    };
    for (name, penstock) in [("the sender", &sender), ("the receiver", &receiver.running)] {
        let (empty, gaps) = emptied(penstock);
        if !empty || gaps > 0 {
            trial.problem(format!("at {name} messages wait for ever, or {gaps} are unaccounted for"));
        }
    }
    let twice = ledger(&receiver.running);
    let (twice, here) = twice.map_or((0, 0), |ledger| (ledger.received(), ledger.dropped_for("repeated")));
    receiver.running.stop();
    let torn = match fault {
        Fault::Receiver => 0,
        _ => trial.target.count_file(&receiver.lab.path("out")),
    };
    let (sent, acknowledged) = (source.sent(), source.acknowledged());
    trial.rest(sender, |numbers| Tally::of(sent, acknowledged, numbers));
    trial.note(match fault {
        Fault::Receiver => format!("after the last kill {here} came again, which were on its disk"),
        Fault::Writer => format!("{torn} beginnings of lines left in the file"),
        _ => format!("received by the second program: {twice}"),
    });
    // The file has no numbers: a kill of whoever writes it may double what came last, and leave the beginning
    // of a line.
    let (batches, lines) = match fault {
        Fault::Writer => (plan.rounds, plan.rounds),
        _ => (0, 0),
    };
    if torn > lines {
        trial.problem(format!("{torn} lines are not whole"));
    }
    trial.verdict(plan, batches)
}
