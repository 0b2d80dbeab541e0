//! Ten thousand connections that say nothing, or a byte now and then, beside one that works.

use crate::trial::{Plan, Trial, Verdict, reached};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

const CONNECTIONS: usize = 10_000;
const COUNT: u64 = 200_000;

pub fn run(plan: &Plan) -> Verdict {
    let limit = getrlimit(Resource::Nofile);
    let wanted = CONNECTIONS as u64 + 1000;
    let raised = Rlimit { current: Some(wanted), maximum: limit.maximum.map(|most| most.max(wanted)) };
    if limit.current.is_some_and(|now| now < wanted) && setrlimit(Resource::Nofile, raised).is_err() {
        return Verdict::Skipped("the limit of open files is too low".to_owned());
    }
    let more = "source many { network(ip(127.0.0.1) port(%port:crowd%) max-connections(20000)); };\n\
                destination many { file(\"%dir%/crowd.log\"); };\nlog { source(many); destination(many); };\n";
    let mut trial = Trial::towards("127.0.0.1", more);
    trial.target.up();
    let Some(penstock) = trial.begin() else { return trial.verdict(plan, 0) };
    let source = trial.exactly(0);
    let port = trial.lab.port("crowd");
    for _ in 0..plan.rounds {
        let connect = || TcpStream::connect(("127.0.0.1", port));
        let mut crowd: Vec<TcpStream> = (0..CONNECTIONS).map_while(|_| connect().ok()).collect();
        if crowd.len() < CONNECTIONS {
            trial.problem(format!("only {} connections are taken", crowd.len()));
        }
        source.raise(COUNT);
        let mut at = 0;
        let all = reached(Duration::from_secs(60), || {
            // Every tenth speaks, in single bytes.
            if let Some(slow) = crowd.get_mut(at % CONNECTIONS) {
                let _ = slow.write_all(b"<");
            }
            at += 10;
            source.is_finished()
        });
        if !all {
            trial.problem(format!(
                "{} of {} acknowledged beside the crowd",
                source.acknowledged(),
                source.sent()
            ));
        }
        trial.round();
    }
    trial.settle(&source, penstock);
    trial.verdict(plan, 0)
}
