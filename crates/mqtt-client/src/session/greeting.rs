//! What is said before messages go: CONNECT, and what the server answers.

use super::{MqttSession, ONCE_MAX, ONCE_OR_MORE_MAX, PACKET_BYTES_MAX, Quality, Version, foreign};
use crate::codes;
use crate::packet::{self, Limits, Malformed, Reader};
use dialogue::Loss;
use std::time::Duration;

const CLEAN: u8 = 0x02;

impl MqttSession {
    pub(super) fn begin_greeting(&mut self) {
        let plan = &self.plan;
        let about = (CLEAN, plan.keep_alive, plan.client_id.as_str());
        self.greeting.clear();
        packet::connect(&mut self.greeting, plan.version, &plan.login, about, false);
    }

    pub(super) fn greeted(&mut self, rest: &mut Reader<'_>) -> Result<(), Loss> {
        let is_five = self.plan.version == Version::Five;
        let code = rest.u8().and_then(|_| rest.u8()).map_err(|Malformed| foreign())?;
        if let Some(fault) = codes::of_connection(code, is_five) {
            return Err(fault);
        }
        let limits = match is_five {
            true => packet::limits(rest).map_err(|Malformed| foreign())?,
            false => Limits::default(),
        };
        if limits.quality_max.is_some_and(|most| most < self.plan.quality as u8) {
            return Err(Loss::Refused("the server does not take messages of this qos()".to_owned()));
        }
        let own = match self.plan.quality {
            Quality::Once => ONCE_MAX,
            _ => ONCE_OR_MORE_MAX,
        };
        self.window = limits.receive_max.map_or(own, |most| usize::from(most.max(1)).min(ONCE_OR_MORE_MAX));
        let largest = limits.packet_bytes_max.map_or(PACKET_BYTES_MAX, |most| most as usize);
        self.packet_bytes_max = largest.min(PACKET_BYTES_MAX);
        let keep_alive = limits.keep_alive.unwrap_or(self.plan.keep_alive);
        self.keep_alive = Duration::from_secs(u64::from(keep_alive));
        self.is_open = true;
        self.publish();
        Ok(())
    }
}
