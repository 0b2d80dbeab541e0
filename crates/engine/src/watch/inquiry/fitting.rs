//! Which messages of a batch a question is about. Asked of every batch while a question is open, so a whole
//! batch at a time.

use super::{Asked, Inquiry};
use filter::FilterContext;
use record::{Batch, Peer, Record};
use std::net::IpAddr;

/// Places of the records that fit, in their order.
pub fn of(inquiry: &Inquiry, batch: &mut Batch, cx: &mut FilterContext) -> Vec<u32> {
    let asked = &inquiry.asked;
    let mut places: Vec<u32> = (0..).take(batch.records.len()).collect();
    if let Some(from) = asked.from {
        // Messages of one peer have one context.
        let fits: Vec<bool> =
            batch.contexts.iter().map(|context| address(&context.peer) == Some(from)).collect();
        if !fits.contains(&true) {
            return Vec::new();
        }
        retain(&mut places, batch, |record| fits.get(record.context as usize) == Some(&true));
    }
    inquiry.sieve.sift(batch, &mut places);
    if places.is_empty() {
        return places;
    }
    match &asked.filter {
        None => {}
        Some(filter) if filter.is_pure() => filter.select(batch, &mut places, cx),
        // It leaves a trace when it is asked the way log paths ask it.
        Some(filter) => retain(&mut places, batch, |record| filter.holds_for(batch, record, cx)),
    }
    places
}

/// Whether a question is about a message that a parser has made.
pub fn fits(asked: &Asked, batch: &Batch, record: &Record, cx: &mut FilterContext) -> bool {
    let from = || batch.context(record).and_then(|context| address(&context.peer));
    asked.from.is_none_or(|asked| from() == Some(asked))
        && asked.filter.as_ref().is_none_or(|filter| filter.holds_for(batch, record, cx))
}

fn retain(places: &mut Vec<u32>, batch: &Batch, mut fits: impl FnMut(&Record) -> bool) {
    places.retain(|place| batch.records.get(*place as usize).is_some_and(&mut fits));
}

/// The address of a peer; that of the sender behind a proxy.
fn address(peer: &Peer) -> Option<IpAddr> {
    match peer {
        Peer::Local => None,
        Peer::Inet { remote, .. } => Some(remote.ip().to_canonical()),
    }
}
