//! Dead letters at the end of a storm: each is for a destination as it was called when it left, so each of
//! these names is given back to the destination for a moment, and the letters are tried again.

use super::{Beside, By, REST, World, reached};
use std::collections::BTreeSet;

impl World {
    /// Letters whose destinations are there under their names go first, then those of each other name.
    pub(super) fn replay_letters(&mut self) {
        let names = self.names_of_letters();
        if names.is_empty() {
            return;
        }
        self.replay();
        for name in names {
            let known = self.shape.outs.iter().any(|out| out.name == name);
            let Some(out) = super::shape::number_of(&name).filter(|_| !known) else { continue };
            let mut next = self.shape.clone();
            next.outs[out].name = name;
            if let Err(why) = self.change(next, By::Reload, Beside::Nothing) {
                self.problem(format!("no letters for want of a reload: {why}"));
            }
            self.replay();
        }
        // What was settled is noted on the disk a little later than its receiver has it.
        let mut left = BTreeSet::new();
        let gone = reached(REST, || {
            left = self.names_of_letters();
            left.is_empty()
        });
        if !gone {
            self.problem(format!("letters stay for {left:?}"));
        }
    }

    /// The statements that letters are for.
    fn names_of_letters(&self) -> BTreeSet<String> {
        let shown = self.queue(&["cat", "dead-letters", "--json"]);
        let name = |line: &str| Some(line.split_once("\"destination\":\"")?.1.split_once('#')?.0.to_owned());
        shown.lines().filter_map(name).collect()
    }

    fn replay(&mut self) {
        let said = self.queue(&["replay", "dead-letters"]);
        self.tell(format!("letters: {}", said.trim()));
        self.wait_delivered();
    }

    pub(super) fn queue(&self, args: &[&str]) -> String {
        let state = self.lab.path("state").display().to_string();
        testkit::run_command(&[&["queue", "--state-dir", &state], args].concat()).stdout
    }
}
