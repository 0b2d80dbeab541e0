//! Which messages of a batch a question is about. Asked of every batch while a question is open, so a whole
//! batch at a time.

use super::Asked;
use filter::FilterContext;
use record::{Batch, Peer, Record};
use std::net::IpAddr;

/// Places of the records that fit, in their order.
pub fn of(asked: &Asked, batch: &mut Batch, cx: &mut FilterContext) -> Vec<u32> {
    let mut places: Vec<u32> = (0..).take(batch.records.len()).collect();
    if let Some(from) = asked.from {
        retain(&mut places, batch, |record| address(batch, record) == Some(from));
    }
    match &asked.filter {
        None => {}
        Some(filter) if filter.is_pure() => filter.select(batch, &mut places, cx),
        // It leaves a trace when it is asked the way log paths ask it.
        Some(filter) => retain(&mut places, batch, |record| filter.holds_for(batch, record, cx)),
    }
    places
}

fn retain(places: &mut Vec<u32>, batch: &Batch, mut fits: impl FnMut(&Record) -> bool) {
    places.retain(|place| batch.records.get(*place as usize).is_some_and(&mut fits));
}

/// The address a message came from; that of the sender behind a proxy.
fn address(batch: &Batch, record: &Record) -> Option<IpAddr> {
    match &batch.context(record)?.peer {
        Peer::Local => None,
        Peer::Inet { remote, .. } => Some(remote.ip().to_canonical()),
    }
}
