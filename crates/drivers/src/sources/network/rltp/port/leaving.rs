//! The end of a connection from this side: what was read is acknowledged. What is acknowledged here need not
//! be in the state file any more, which another process may have by then.

use super::{Phase, RltpPort};
use engine::worker::{After, PortContext};
use intake::farewell::Farewell;

impl RltpPort {
    /// `false` when there is nothing to say.
    pub(super) fn begin_leaving(&mut self, cx: &PortContext) -> bool {
        if !matches!(self.phase, Phase::Open(_)) {
            return false;
        }
        self.farewell = Some(Farewell::new(&cx.shared));
        self.permit = None;
        true
    }

    pub(super) fn go_on_leaving(&mut self) -> After {
        let Some(farewell) = &mut self.farewell else { return After::Close };
        let after = farewell.listen(&mut *self.input);
        let after = self.answer(after);
        let is_last = self.claim.as_ref().is_none_or(|claim| claim.is_settled());
        if is_last
            && self.out.len() == self.sent
            && Farewell::is_out(&mut *self.input)
            && let Some(farewell) = &mut self.farewell
        {
            return farewell.shut(&mut *self.input, after);
        }
        after
    }
}
