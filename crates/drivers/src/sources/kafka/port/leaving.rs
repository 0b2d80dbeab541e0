//! The end of a reader whose offsets are kept in the cluster: what is under way is waited for and
//! committed, and the group hears that its partitions are free.

use super::KafkaPort;
use engine::worker::{After, Leaving, PortContext};
use std::time::Instant;

pub(in crate::sources::kafka) struct Farewell {
    is_said: bool,
    pub leaving: Leaving,
}

impl KafkaPort {
    /// `false` when there is nothing to say.
    pub(super) fn begin_leaving(&mut self, cx: &PortContext) -> bool {
        if self.brokers.group.is_none() || self.farewell.is_some() {
            return false;
        }
        self.stop_reading();
        self.revoking = None;
        self.farewell = Some(Farewell { is_said: false, leaving: cx.shared.leaving() });
        true
    }

    pub(super) fn go_on_leaving(&mut self, now: Instant) -> After {
        let is_idle = self.is_idle();
        if let Some(farewell) = &mut self.farewell
            && is_idle
            && !std::mem::replace(&mut farewell.is_said, true)
        {
            self.commit();
            self.brokers.group.iter_mut().for_each(kafka::Group::leave);
            self.brokers.drive(0, now);
        }
        match self.brokers.group.as_ref().is_none_or(kafka::Group::has_left) {
            true => After::Close,
            false => After::Idle,
        }
    }
}
