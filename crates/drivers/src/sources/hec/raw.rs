//! `/services/collector/raw`: lines of text, what goes with them in the address.

use super::acks::AckNumber;
use super::message::{self, EventFacts, Names};
use super::replies::{BUSY, NO_DATA, SUCCESS};
use http_server::{Answer, Bytes};
use intake::requests::{Fate, Filling, Load};
use record::Batch;
use std::sync::Arc;

pub struct Lines {
    pub body: Bytes,
    /// Read up to here.
    pub at: usize,
    pub lines: usize,
    pub facts: EventFacts,
    pub names: Arc<Names>,
    pub ack: Option<AckNumber>,
}

impl Load for Lines {
    fn fill(&mut self, batch: &mut Batch, filling: &Filling<'_>) -> bool {
        while !filling.is_full(batch) {
            let rest = self.body.get(self.at..).unwrap_or_default();
            if rest.is_empty() {
                return false;
            }
            let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            self.at += end + 1;
            let line = rest.get(..end).unwrap_or_default();
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if !line.is_empty() {
                message::append(batch, line, &self.facts, &self.names, filling);
                self.lines += 1;
            }
        }
        true
    }

    fn taken(&mut self) -> Option<Answer> {
        let number = self.ack.as_ref()?.number;
        (self.lines > 0).then(|| SUCCESS.numbered(number))
    }

    fn settled(self: Box<Self>, fate: Fate) -> Answer {
        match fate {
            Fate::Undone => BUSY.answer(),
            Fate::Done if self.lines == 0 => NO_DATA.answer(),
            Fate::Done => {
                if let Some(self_ack) = self.ack {
                    AckNumber::done(self_ack)
                }
                SUCCESS.answer()
            }
        }
    }
}
