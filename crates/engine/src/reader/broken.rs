//! A stream whose frames cannot be told apart any more.

use super::StreamPort;
use crate::ledger::{Reason, TransportError};
use record::Batch;
use wire::FrameError;

impl StreamPort {
    /// The bytes behind the last whole frame can be looked at afterwards.
    pub(super) fn note_broken(&self, batch: &Batch) {
        let whole = batch.records.iter().map(|record| record.frame.end()).max().unwrap_or_default();
        let rest = batch.text.get(whole..).unwrap_or_default();
        self.feed.source.counters.remains.keep(Reason::Framing, 1, std::iter::once(rest));
    }

    /// What followed the error cannot be told apart: it counts as one message.
    pub(super) fn broken(&mut self, error: &FrameError) {
        let counters = &self.feed.source.counters;
        counters.received.add(1);
        counters.dropped.add(Reason::Framing, 1);
        counters.transport_errors.add(match error {
            FrameError::BadCount(_) => TransportError::InvalidFrameHeader,
            FrameError::TooLong { .. } => TransportError::FrameTooLong,
            FrameError::Unfinished { .. } => TransportError::UnfinishedFrame,
        });
        let client = self.options.described.as_ref().map_or("", |d| &d.client);
        oplog::limited(
            "framing",
            oplog::Level::Error,
            "Invalid frame, closing the connection",
            &[("client", &client), ("error", error)],
        );
        self.failure = Some(error.to_string());
    }
}
