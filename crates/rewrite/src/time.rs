//! `set-time-zone()`, `fix-time-zone()`, `guess-time-zone()`: the zone of a message's time stamp, its own or
//! that of its receipt.

use filter::{FilterContext, Workspace};
use record::{Batch, Civil, Demand, Record, Stamp, Zone, ZoneCursor};
use template::{Msg, Template};

pub struct ZoneChange {
    change: Change,
    zone: Option<ZoneSource>,
    which: Which,
}

/// `time-stamp()`: which time is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    Message,
    Receipt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The same moment on another clock.
    Convert,
    /// The same reading of the clock, in another zone.
    Fix,
    /// The zone in which the reading is the time of receipt, if there is one: [`Stamp::in_zone_of_now`].
    Guess,
}

enum ZoneSource {
    Known(ZoneCursor),
    Made(Box<Template>),
}

impl ZoneChange {
    /// `None` when a literal is no time zone.
    pub fn new(change: Change, zone: Option<Template>, which: Which) -> Option<ZoneChange> {
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
        Some(ZoneChange { change, zone, which })
    }

    pub fn apply(&self, batch: &mut Batch, selection: &[u32], cx: &mut FilterContext) {
        let FilterContext { render, work, .. } = cx;
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
            let Some(record) = batch.records.get(*index as usize) else { continue };
            let old = match self.which {
                Which::Message => record.stamp,
                Which::Receipt => batch.received_at(record),
            };
            let new = self.changed(old, &received, known.as_mut(), &text, work);
            if self.which == Which::Receipt {
                batch.set_received(*index as usize, new);
            } else if let Some(record) = batch.records.get_mut(*index as usize) {
                record.stamp = new;
                if wall(&new) != wall(&old) {
                    // The text shows another reading of the clock.
                    record.stamp_text = Record::NO_TEXT;
                }
            }
        }
        work.keep_text(text);
    }

    fn changed(
        &self,
        stamp: Stamp,
        received: &Stamp,
        known: Option<&mut ZoneCursor>,
        name: &[u8],
        work: &mut Workspace,
    ) -> Stamp {
        if self.change == Change::Guess {
            return stamp.in_zone_of_now(received.secs).unwrap_or(stamp);
        }
        let zone = match known {
            Some(zone) => Some(zone),
            None => work.zone(name),
        };
        let Some(zone) = zone else { return stamp };
        match self.change {
            Change::Convert => Stamp { offset: zone.offset_at(stamp.secs), ..stamp },
            _ => {
                let wall = Civil::from_seconds(wall(&stamp));
                zone.resolve(&wall, stamp.usec)
            }
        }
    }

    pub fn changes_message(&self) -> bool {
        self.which == Which::Message
    }

    pub fn reads(&self, demand: &mut Demand) {
        demand.stamp |= self.which == Which::Message;
        if let Some(ZoneSource::Made(template)) = &self.zone {
            template.reads(demand);
        }
    }
}

/// The reading of the clock, as seconds.
fn wall(stamp: &Stamp) -> i64 {
    stamp.secs.saturating_add(i64::from(stamp.offset))
}
