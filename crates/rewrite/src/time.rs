//! `set-time-zone()`, `fix-time-zone()`, `guess-time-zone()`: the zone of the message's own time stamp.

use filter::{FilterContext, Workspace};
use record::{Batch, Civil, Demand, Record, Stamp, Zone, ZoneCursor};
use template::{Msg, Template};

pub struct ZoneChange {
    change: Change,
    zone: Option<ZoneSource>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The same moment on another clock.
    Convert,
    /// The same reading of the clock, in another zone.
    Fix,
    /// The zone in which the reading is nearest to the time of receipt.
    Guess,
}

enum ZoneSource {
    Known(ZoneCursor),
    Made(Box<Template>),
}

/// Zones lie this far from UTC and differ by multiples of this.
const OFFSET_MIN: i64 = -12 * 3600;
const OFFSET_MAX: i64 = 14 * 3600;
const STEP: i64 = 900;

impl ZoneChange {
    /// `None` when a literal is no time zone.
    pub fn new(change: Change, zone: Option<Template>) -> Option<ZoneChange> {
        let zone = match zone {
            None => None,
            Some(template) => match template.literal() {
                None => Some(ZoneSource::Made(Box::new(template))),
                Some(text) => {
                    let name = std::str::from_utf8(text).ok()?;
                    Some(ZoneSource::Known(ZoneCursor::new(Zone::named(name)?)))
                }
            },
        };
        Some(ZoneChange { change, zone })
    }

    pub fn apply(&self, batch: &mut Batch, selection: &[u32], cx: &mut FilterContext) {
        let FilterContext { render, work } = cx;
        let mut known = match &self.zone {
            Some(ZoneSource::Known(cursor)) => Some(cursor.clone()),
            _ => None,
        };
        let mut text = work.text();
        let received = batch.received;
        for index in selection {
            if let Some(ZoneSource::Made(template)) = &self.zone
                && let Some(record) = batch.records.get(*index as usize)
            {
                text.clear();
                template.render(Msg { batch, record }, render, &mut text);
            }
            if let Some(record) = batch.records.get_mut(*index as usize) {
                self.one(record, &received, known.as_mut(), &text, work);
            }
        }
        work.keep_text(text);
    }

    fn one(
        &self,
        record: &mut Record,
        received: &Stamp,
        known: Option<&mut ZoneCursor>,
        name: &[u8],
        work: &mut Workspace,
    ) {
        if self.change == Change::Guess {
            guess(record, received);
            return;
        }
        let zone = match known {
            Some(zone) => Some(zone),
            None => work.zone(name),
        };
        let (Some(zone), stamp) = (zone, record.stamp) else { return };
        match self.change {
            Change::Convert => {
                record.stamp.offset = zone.offset_at(stamp.secs);
                if record.stamp.offset != stamp.offset {
                    // The text shows the clock of the old zone.
                    record.stamp_text = Record::NO_TEXT;
                }
            }
            _ => {
                let wall = Civil::from_seconds(stamp.secs.saturating_add(i64::from(stamp.offset)));
                record.stamp = zone.resolve(&wall, stamp.usec);
            }
        }
    }

    pub fn reads(&self, demand: &mut Demand) {
        demand.stamp = true;
        if let Some(ZoneSource::Made(template)) = &self.zone {
            template.reads(demand);
        }
    }
}

fn guess(record: &mut Record, received: &Stamp) {
    let wall = record.stamp.secs.saturating_add(i64::from(record.stamp.offset));
    let apart = wall.saturating_sub(received.secs);
    let offset = apart.saturating_add(STEP / 2).div_euclid(STEP).saturating_mul(STEP);
    // Too far away for any zone: an old message, nothing to guess from.
    if (OFFSET_MIN..=OFFSET_MAX).contains(&offset) {
        record.stamp.secs = wall - offset;
        record.stamp.offset = offset as i32;
    }
}
