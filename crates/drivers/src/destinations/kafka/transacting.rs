//! `sync-send(yes)`: every batch a transaction, under which id, and with the position in a queue on disk.

use conf_schema::Settings;
use delivery::disk_buffer;
use delivery::positions::Positions;
use delivery::single::Prepare;
use delivery::writer::Writer;
use diag::{Diagnostic, Diagnostics, Reported};
use kafka::{QueuePosition, TopicPartition, Transacting};
use kafka_client::Properties;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub struct Wish {
    pub id: Arc<str>,
    timeout: Duration,
    /// What the cluster keeps of the queue; known when the destination starts.
    kept: Arc<OnceLock<Arc<QueuePosition>>>,
}

impl Wish {
    /// `None` without sync-send(yes). `otherwise`: the transactional id when nobody gives one. The error was
    /// reported.
    pub fn read(
        s: &Settings,
        properties: &Properties,
        otherwise: impl FnOnce() -> String,
        diags: &mut Diagnostics,
    ) -> Result<Option<Wish>, Reported> {
        let given = properties.transaction.as_deref();
        let report = |name: &str, text: &str, help: &str, diags: &mut Diagnostics| {
            let span = s.span(name).or_else(|| s.call_span());
            span.into_iter().for_each(|span| diags.push(Diagnostic::error("D0162", text, span).help(help)));
            Err(Reported)
        };
        if !s.bool("sync-send").unwrap_or(false) {
            return match given {
                Some(_) => report(
                    "config",
                    "`transactional.id` is given, and there are no transactions",
                    "add `sync-send(yes)`",
                    diags,
                ),
                None => Ok(None),
            };
        }
        if !properties.is_numbered() {
            return report(
                "sync-send",
                "sync-send(yes) needs batches with numbers, and config() switches them off",
                "leave out `acks` and `enable.idempotence`",
                diags,
            );
        }
        let id = given.or(s.text("persist-name")).map_or_else(otherwise, str::to_owned);
        Ok(Some(Wish { id: id.into(), timeout: properties.transaction_timeout, kept: Arc::default() }))
    }

    /// With a queue on disk that keeps its numbers: what there is to do before the first message. `topic`:
    /// one that is there, for whose first partition the cluster keeps the position.
    pub fn keep(&self, writer: &Writer, topic: &str) -> Option<Prepare> {
        writer.disk_buffer.as_ref().filter(|queue| queue.reliable)?;
        let queue = disk_buffer::of(writer)?;
        let (kept, topic): (_, Arc<[u8]>) = (Arc::clone(&self.kept), topic.as_bytes().into());
        Some(Box::new(move |shared| {
            let positions = Positions::recall(shared, &queue)?;
            let place = TopicPartition { topic: Arc::clone(&topic), partition: 0 };
            let (queue, run) = (positions.name.clone(), positions.run);
            let is_own = Box::new(move |run| positions.is_own(run));
            let _ = kept.set(Arc::new(QueuePosition { place, queue, run, is_own }));
            Ok(())
        }))
    }

    pub fn plan(&self) -> Transacting {
        Transacting { id: Arc::clone(&self.id), timeout: self.timeout, kept: self.kept.get().cloned() }
    }
}
