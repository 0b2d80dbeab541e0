//! The network between the program and the target is cut: the target is in a network namespace, the link to
//! it goes down under load.

use crate::mount::run;
use crate::target::Target;
use crate::trial::{Chance, Plan, Trial, Verdict};
use std::thread::sleep;

const NEAR: &str = "10.231.77.1/30";
const FAR: &str = "10.231.77.2/30";

/// A namespace and a pair of interfaces, named after this process; gone when dropped.
struct Link {
    namespace: String,
    near: String,
}

impl Link {
    fn new() -> Result<Link, String> {
        let id = std::process::id();
        let link = Link { namespace: format!("pf{id}"), near: format!("pfa{id}") };
        let (name, near, far) = (link.namespace.as_str(), link.near.as_str(), format!("pfb{id}"));
        ip(&["netns", "add", name])?;
        ip(&["link", "add", near, "type", "veth", "peer", "name", &far, "netns", name])?;
        ip(&["addr", "add", NEAR, "dev", near])?;
        ip(&["link", "set", near, "up"])?;
        ip(&["-n", name, "addr", "add", FAR, "dev", &far])?;
        ip(&["-n", name, "link", "set", &far, "up"])?;
        Ok(link)
    }

    fn set(&self, state: &str) -> Result<(), String> {
        ip(&["link", "set", &self.near, state])
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // What was never made cannot be removed.
        let _ = ip(&["link", "del", &self.near]);
        let _ = ip(&["netns", "del", &self.namespace]);
    }
}

fn ip(args: &[&str]) -> Result<(), String> {
    run("ip", args)
}

pub fn cut(plan: &Plan) -> Verdict {
    let link = match Link::new() {
        Ok(link) => link,
        Err(why) => return Verdict::Skipped(why),
    };
    let address = FAR.split('/').next().unwrap_or_default();
    let mut trial = Trial::towards(address, "");
    trial.target = Target::within(trial.lab.port("out"), &link.namespace);
    trial.target.up();
    let mut chance = Chance(plan.seed);
    let Some(penstock) = trial.begin() else { return trial.verdict(plan, 0) };
    let source = trial.source();
    for _ in 0..plan.rounds {
        sleep(chance.milliseconds(20, 200));
        let outcome = link.set("down").and_then(|()| {
            sleep(chance.milliseconds(10, 500));
            link.set("up")
        });
        if let Err(error) = outcome {
            trial.problem(error);
            break;
        }
        trial.round();
    }
    trial.settle(&source, penstock);
    trial.verdict(plan, plan.rounds)
}
