//! A destination with several connections. What comes from one sender always takes the same one, so its order
//! is kept.

use delivery::single::SingleDestination;
use diag::Fault;
use engine::driver::Destination;
use engine::ledger::DestinationCounters;
use engine::program::{Format, Scratch};
use engine::{Outbox, Outlet, Shared};
use parking_lot::Mutex;
use record::{Batch, Context, Demand, Peer};
use std::sync::Arc;

pub struct Spread {
    lanes: Vec<SingleDestination>,
    /// Selections of the lanes, for each worker that is here at the same time.
    spare: Mutex<Vec<Vec<Vec<u32>>>>,
}

impl Spread {
    /// `lanes`: at least one.
    pub fn new(lanes: Vec<SingleDestination>) -> Spread {
        Spread { lanes, spare: Mutex::default() }
    }

    /// Which lane the messages of a peer take.
    fn lane(&self, context: Option<&Context>) -> usize {
        // FNV-1a: few bytes, once a batch.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut add = |bytes: &[u8]| {
            for byte in bytes {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            }
        };
        if let Some(context) = context {
            add(context.source.as_bytes());
            match &context.peer {
                Peer::Inet { remote, .. } => match remote.ip().to_canonical() {
                    std::net::IpAddr::V4(ip) => add(&ip.octets()),
                    std::net::IpAddr::V6(ip) => add(&ip.octets()),
                },
                Peer::Local => {}
            }
        }
        // The low bits of the product alone depend on the low bits of the input alone.
        ((hash ^ (hash >> 32)) % self.lanes.len().max(1) as u64) as usize
    }
}

impl Format for Spread {
    fn format(&self, batch: &mut Batch, selection: &[u32], scratch: &mut Scratch, out: &mut Outbox) {
        if let [only] = self.lanes.as_slice() {
            return only.format(batch, selection, scratch, out);
        }
        let contexts = &batch.contexts;
        let mut places = contexts.iter().map(|context| self.lane(Some(context)));
        let first = places.next().unwrap_or_default();
        if places.all(|place| place == first) {
            if let Some(lane) = self.lanes.get(first) {
                lane.format(batch, selection, scratch, out);
            }
            return;
        }
        let mut parts = self.spare.lock().pop().unwrap_or_default();
        parts.resize_with(self.lanes.len(), Vec::new);
        let places: Vec<usize> = contexts.iter().map(|context| self.lane(Some(context))).collect();
        for index in selection {
            let context = batch.records.get(*index as usize).map_or(0, |record| record.context as usize);
            let place = places.get(context).copied().unwrap_or_default();
            if let Some(part) = parts.get_mut(place) {
                part.push(*index);
            }
        }
        for (lane, part) in self.lanes.iter().zip(&mut parts) {
            if !part.is_empty() {
                lane.format(batch, part, scratch, out);
                part.clear();
            }
        }
        self.spare.lock().push(parts);
    }

    fn preview(&self, batch: &mut Batch, index: u32, scratch: &mut Scratch) -> Vec<(String, Vec<u8>)> {
        let context = batch.records.get(index as usize).map_or(0, |record| record.context as usize);
        let place = self.lane(batch.contexts.get(context).map(|context| &**context));
        self.lanes.get(place).map(|lane| lane.preview(batch, index, scratch)).unwrap_or_default()
    }

    fn reads(&self, demand: &mut Demand) {
        self.lanes.iter().for_each(|lane| lane.reads(demand));
    }
}

impl Destination for Spread {
    fn counters(&self) -> &Arc<DestinationCounters> {
        // There is at least one.
        self.lanes[0].counters()
    }

    fn start(&self, shared: &Arc<Shared>) -> Result<(), Fault> {
        self.lanes.iter().try_for_each(|lane| lane.start(shared))
    }

    fn outlets(&self) -> Vec<Arc<Outlet>> {
        self.lanes.iter().flat_map(|lane| lane.outlets()).collect()
    }

    fn divides_by(&self) -> &str {
        "sender"
    }

    fn reloaded(&self) {
        self.lanes.iter().for_each(|lane| lane.reloaded());
    }

    fn described(&self) -> (&'static str, String) {
        self.lanes[0].described()
    }
}
