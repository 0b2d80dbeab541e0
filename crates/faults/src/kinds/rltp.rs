//! Two programs with rltp between them, which numbers what it sends: the sender is killed, the receiver, the connection is cut. Everything
//! is on the sender's disk before the fault, so that nothing but rltp and the two queues can double a message.

use crate::tally::Tally;
use crate::trial::{BUFFER, Chance, HEAD, Plan, Trial, Verdict, gaps, reached};
use std::thread::sleep;
use std::time::Duration;
use testkit::{Lab, Penstock, Proxy, Signal};

/// Messages of a round.
const COUNT: u64 = 100_000;
const PATIENCE: Duration = Duration::from_secs(60);
/// What comes while the receiver's disk is written, in batches of 256 KiB, over all rounds: 2 MiB each.
const GROUP_BATCHES: usize = 8;

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Sender,
    Receiver,
    Link,
}

pub fn sender_killed(plan: &Plan) -> Verdict {
    run(plan, Fault::Sender)
}

pub fn receiver_killed(plan: &Plan) -> Verdict {
    run(plan, Fault::Receiver)
}

pub fn link_cut(plan: &Plan) -> Verdict {
    run(plan, Fault::Link)
}

/// The second program: writes to a file, by way of its disk.
struct Receiver {
    lab: Lab,
    running: Penstock,
}

impl Receiver {
    fn start(lab: Lab) -> Receiver {
        let config = format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:rltp%) transport(\"rltp\")); }};\n\
             destination d {{ file(\"%dir%/out\" {BUFFER}); }};\n\
             log {{ source(s); destination(d); flags(flow-control); }};\n"
        );
        let running = Penstock::configure(&lab, &config).ready();
        Receiver { lab, running }
    }

    fn killed(mut self) -> Receiver {
        self.running.signal(Signal::KILL);
        self.running.wait_end();
        Receiver::start(self.lab)
    }
}

fn run(plan: &Plan, fault: Fault) -> Verdict {
    let lab = Lab::new();
    let proxy = Proxy::to(lab.port("rltp"));
    let mut receiver = Receiver::start(lab);
    let mut trial = Trial::of(&format!(
        "{HEAD}source s {{ relp(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ network(\"127.0.0.1\" port({}) transport(\"rltp\") time-reopen(0.1) {BUFFER}); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n",
        proxy.port()
    ));
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
            Fault::Receiver => {
                receiver = receiver.killed();
                trial.round();
            }
            Fault::Link => {
                proxy.cut();
                trial.round();
            }
        }
    }
    let mut ledger = sender.ledger();
    let mut emptied = |penstock: &Penstock| {
        let empty = reached(PATIENCE, || {
            ledger = penstock.ledger();
            ledger.waiting() == 0
        });
        (empty, gaps(&ledger))
    };
    for (name, penstock) in [("the sender", &sender), ("the receiver", &receiver.running)] {
        let (empty, gaps) = emptied(penstock);
        if !empty || gaps > 0 {
            trial.problem(format!("at {name} messages wait for ever, or {gaps} are unaccounted for"));
        }
    }
    let twice = receiver.running.ledger().received();
    receiver.running.stop();
    let torn = trial.target.count_file(&receiver.lab.path("out"));
    let (sent, acknowledged) = (source.sent(), source.acknowledged());
    trial.rest(sender, |numbers| Tally::of(sent, acknowledged, numbers));
    if fault != Fault::Receiver {
        trial.note(format!("received by the second program: {twice}"));
    } else {
        trial.note(format!("{torn} beginnings of lines left in the file"));
    }
    // The receiver's disk may have got a group of messages of which nobody was told yet. The file has no numbers: a kill of whoever writes
    // it may double a batch, and leave the beginning of a line.
    let (batches, lines) = match fault {
        Fault::Receiver => (plan.rounds * (GROUP_BATCHES + 1), plan.rounds),
        Fault::Sender | Fault::Link => (0, 0),
    };
    if torn > lines {
        trial.problem(format!("{torn} lines are not whole"));
    }
    trial.verdict(plan, batches)
}
