//! Queues that nobody has: a process that is killed in a reload which renames a destination leaves what
//! waited under the old name. It is said at the next start, and delivered when the name comes back: in its
//! own order, and behind what came later.

use super::World;
use crate::tally;

const SAID: &str = "Messages wait on disk for a destination that the configuration does not have";

impl World {
    /// Notes the messages of such queues: of their place among the others nothing is said.
    pub(super) fn note_strays(&mut self) {
        let log = self.penstock.as_ref().map(testkit::Penstock::log).unwrap_or_default();
        for line in log.lines().filter(|line| line.contains(SAID)) {
            let field = |name: &str| Some(line.split_once(name)?.1.split_once('\'')?.0);
            let (Some(dir), Some(queue)) = (field("dir='"), field("queue='")) else { continue };
            let shown = self.queue(&["cat", queue, "--dir", dir]);
            let numbers: Vec<u64> = shown.lines().filter_map(|line| tally::number(line.as_bytes())).collect();
            if !numbers.is_empty() {
                self.tell(format!("{} messages wait for {queue}, which is not there", numbers.len()));
            }
            self.owed.strays.extend(numbers);
        }
    }
}
