//! The end of a session from this side: what was read is answered, what comes meanwhile is not read, so that
//! the peer knows exactly what it has to send to the next one.

use super::{Phase, RelpPort, send};
use engine::worker::{After, PortContext};
use intake::farewell::Farewell;
use wire::relp;

impl RelpPort {
    /// `false` when there is nothing to say.
    pub(super) fn begin_leaving(&mut self, cx: &PortContext) -> bool {
        if matches!(self.phase, Phase::New | Phase::Closed) {
            return false;
        }
        self.farewell = Some(Farewell::new(&cx.shared));
        self.permit = None;
        true
    }

    pub(super) fn go_on_leaving(&mut self) -> After {
        let Some(farewell) = &mut self.farewell else { return After::Close };
        self.answers.begin();
        let after = farewell.listen(&mut *self.input);
        // What is given up is never answered: the peer brings it again, to whoever listens now, once it is
        // let go.
        let is_last = self.answers.end(&mut self.out) || self.answers.is_undone();
        if is_last && self.phase != Phase::Closed {
            if let Phase::Closing(txnr) = self.phase {
                relp::frame(&mut self.out, txnr, "rsp", &[]);
            }
            relp::serverclose(&mut self.out);
            self.phase = Phase::Closed;
        }
        if !send(&mut *self.input, &mut self.out) {
            return After::Close;
        }
        if self.phase == Phase::Closed && self.out.is_empty() && Farewell::is_out(&mut *self.input) {
            return farewell.shut(&mut *self.input, after);
        }
        after
    }
}
