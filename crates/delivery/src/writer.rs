//! How a writer destination makes lines of messages: its template or default layout, and the options that
//! shape the result.

mod columns;
mod fields;
mod keyed;
mod keys;
mod numbers;
mod own;
mod parts;
pub mod sender;
mod shape;
mod suppress;

pub use columns::Columns;
pub use fields::Fields;
pub use keyed::KeyedFields;
pub use keys::Keys;
pub use numbers::Numbers;
pub use own::{MarkMode, Marks};
pub use parts::Parts;
use shape::Room;
pub use shape::{Envelope, PLAIN, TEXT};
pub use suppress::Suppress;

use engine::ledger::Reason;
use engine::program::Scratch;
use engine::{Chunk, DiskBuffer, Form, Outbox, Outlet};
use parking_lot::Mutex;
use record::{Batch, Demand, Flags, Record};
use state::Store;
use std::sync::{Arc, OnceLock};
use template::{Identity, Template};

pub struct Writer {
    pub template: Arc<Template>,
    pub envelope: Envelope,
    /// What each message has beside its text.
    pub parts: Option<Arc<dyn Parts>>,
    /// Forms in which what waits on disk from before may stand: with parts, or without.
    pub kin: &'static [Form],
    /// `flags(no-multi-line)`: line ends inside become blanks.
    pub no_multi_line: bool,
    /// Bytes every message is filled up to with NULs, from the newline's place on; 0 is off.
    pub pad_size: usize,
    /// Bytes after which a message is cut; 0 is off.
    pub truncate_size: usize,
    /// Bytes that the template prints behind each message and that are not part of it: [`Writer::behind`].
    tail: usize,
    /// The most messages in one write; 0 is no limit.
    pub flush_lines: usize,
    /// The most messages a second; 0 is no limit.
    pub throttle: u32,
    pub marks: Marks,
    /// Where messages wait, with `disk-buffer()`; without the key.
    pub disk_buffer: Option<DiskBuffer>,
    pub suppress: Option<Suppress>,
    /// Whether local messages are numbered: `$SEQNUM`, `[meta sequenceId="n"]`.
    pub numbers: bool,
    /// Whether the others are numbered too: `flags(seqnum-all)`.
    pub numbers_all: bool,
    /// The name under which its numbers are found again after a restart; none begins anew.
    pub key: Option<String>,
    identity: Identity,
    given: OnceLock<Arc<Numbers>>,
    /// When a local message came last, for mark-mode(host-idle).
    last_local: own::Moment,
    /// Buffers for shaping, one for each worker that is here at the same time.
    spare: Mutex<Vec<Room>>,
    selections: Mutex<Vec<Vec<u32>>>,
}

impl Writer {
    pub fn new(template: Arc<Template>, identity: &Identity) -> Writer {
        Writer {
            template,
            envelope: Envelope::Plain,
            parts: None,
            kin: &[],
            no_multi_line: false,
            pad_size: 0,
            truncate_size: 0,
            tail: 0,
            flush_lines: 0,
            throttle: 0,
            marks: Marks::default(),
            disk_buffer: None,
            suppress: None,
            numbers: true,
            numbers_all: false,
            key: None,
            identity: identity.clone(),
            given: OnceLock::new(),
            last_local: own::Moment::default(),
            spare: Mutex::default(),
            selections: Mutex::default(),
        }
    }

    /// `template` prints the same and this behind it: where nothing else is done to messages, they lie in
    /// their chunks as they leave one behind the other. Whether that is so.
    pub fn behind(&mut self, template: Arc<Template>, tail: usize) -> bool {
        let is_so = self.is_plain() && self.disk_buffer.is_none();
        if is_so {
            (self.template, self.tail) = (template, tail);
        }
        is_so
    }

    /// Before the first message: finds the numbers of the last run, when any are shown.
    pub fn recall_numbers(&self, store: &Arc<Store>) {
        let mut demand = Demand::default();
        self.reads(&mut demand);
        let Some(key) = &self.key else { return };
        if self.numbers && (demand.sdata || demand.everything) {
            let _ = self.given.set(Numbers::open(store, key));
        }
    }

    /// Adds what it looks at.
    pub fn reads(&self, demand: &mut Demand) {
        self.template.reads(demand);
        self.parts.iter().for_each(|parts| parts.reads(demand));
        if self.suppress.is_some() {
            suppress::REPEATED.iter().for_each(|name| demand.name(*name));
        }
    }

    /// Appends the selected messages of a batch to the buffer of an outlet. A batch comes from one source, so
    /// its first record tells whether its messages are local or our own.
    pub fn deliver(
        &self,
        batch: &Batch,
        selection: &[u32],
        scratch: &mut Scratch,
        out: &mut Outbox,
        outlet: &Arc<Outlet>,
    ) {
        let Some(first) = selection.first().and_then(|i| batch.records.get(*i as usize)) else { return };
        if first.flags.has(Flags::LOCAL) && self.marks.mode == MarkMode::HostIdle {
            self.last_local.set_now();
        }
        let drops_marks = first.flags.has(Flags::INTERNAL) && self.marks.mode != MarkMode::Internal;
        if !drops_marks && self.suppress.is_none() {
            self.write(batch, selection, scratch, outlet, out.buffer(outlet));
            return;
        }
        let mut kept = self.selections.lock().pop().unwrap_or_default();
        kept.clear();
        let is_mark = |i: &u32| batch.records.get(*i as usize).is_some_and(|r| r.flags.has(Flags::MARK));
        kept.extend(selection.iter().filter(|i| !(drops_marks && is_mark(i))));
        match &self.suppress {
            Some(suppress) => self.write_suppressed(suppress, batch, &kept, scratch, out, outlet),
            None => self.write(batch, &kept, scratch, outlet, out.buffer(outlet)),
        }
        self.selections.lock().push(kept);
    }

    /// What it writes for one message; nothing when that is larger than may be.
    pub fn preview(&self, batch: &Batch, index: u32, scratch: &mut Scratch) -> Option<Vec<u8>> {
        let mut chunk = Chunk::default();
        match &self.parts {
            // What stands before the text is between the writer and its sink.
            Some(_) => {
                let (bytes, ends) = (&mut chunk.bytes, &mut chunk.ends);
                self.template.render_selection(batch, &[index], scratch.render(), bytes, ends);
            }
            None => {
                self.append(batch, &[index], scratch, &mut chunk);
            }
        }
        let message = chunk.messages_between(0, 1).next();
        message.map(<[u8]>::to_vec)
    }

    fn write(
        &self,
        batch: &Batch,
        selection: &[u32],
        scratch: &mut Scratch,
        outlet: &Outlet,
        chunk: &mut Chunk,
    ) {
        let truncated = self.append(batch, selection, scratch, chunk);
        outlet.counters.truncated.add(truncated);
        let oversized = scratch.render().oversized.len();
        if oversized > 0 {
            outlet.counters.accepted.add(oversized);
            outlet.counters.dropped.add(Reason::Oversized, oversized);
            let places = scratch.render().oversized.iter();
            let records = places.filter_map(|place| selection.get(*place as usize));
            let records = records.filter_map(|index| batch.records.get(*index as usize));
            outlet.counters.remains.keep_all(
                Reason::Oversized,
                oversized,
                records.map(|r| batch.as_received(r)),
            );
        }
    }

    /// Appends messages; returns how many were cut. Those whose text is larger than the limit are left out,
    /// see [`template::RenderContext::oversized`].
    pub fn append(
        &self,
        batch: &Batch,
        selection: &[u32],
        scratch: &mut Scratch,
        chunk: &mut Chunk,
    ) -> usize {
        if chunk.tail() != self.tail && !chunk.ends.is_empty() {
            // Of an earlier configuration.
            let mut own = Chunk::default();
            let truncated = self.append(batch, selection, scratch, &mut own);
            chunk.append(&own);
            return truncated;
        }
        chunk.set_tail(self.tail);
        chunk.write_max = self.flush_lines;
        if !self.template.chains().is_empty() {
            chunk.seal_with(template::seal);
        }
        let render = scratch.render();
        render.seqnum = self.take_numbers(batch, selection);
        render.number_all = self.numbers_all;
        if self.is_plain() {
            let first = chunk.ends.len();
            self.template.render_selection(batch, selection, render, &mut chunk.bytes, &mut chunk.ends);
            render.seqnum = None;
            leave_out(&mut chunk.ends, first, &render.oversized);
            return 0;
        }
        let mut room = self.spare.lock().pop().unwrap_or_default();
        let number = render.seqnum;
        self.template.render_selection(batch, selection, render, &mut room.bytes, &mut room.ends);
        render.seqnum = None;
        let mut selection = std::borrow::Cow::Borrowed(selection);
        if !render.oversized.is_empty() {
            leave_out(&mut room.ends, 0, &render.oversized);
            leave_out(selection.to_mut(), 0, &render.oversized);
        }
        let selection = &*selection;
        if let Some(parts) = &self.parts {
            scratch.render().seqnum = number;
            self.enclose(&**parts, (batch, selection), &room, scratch.render(), chunk);
            scratch.render().seqnum = None;
            room.clear();
            self.spare.lock().push(room);
            return 0;
        }
        let truncated = match self.envelope {
            Envelope::Sender { ipv6, bytes_max } => {
                self.shape_with_senders((ipv6, bytes_max), batch, selection, &room, chunk)
            }
            _ => self.shape_all(&room, chunk),
        };
        room.clear();
        self.spare.lock().push(room);
        truncated
    }

    /// Numbers for the messages of a batch, when they are local or all are numbered.
    fn take_numbers(&self, batch: &Batch, selection: &[u32]) -> Option<u64> {
        let is_local = |r: &Record| r.flags.has(Flags::LOCAL);
        let local = selection.first().and_then(|i| batch.records.get(*i as usize)).is_some_and(is_local);
        (self.numbers && (local || self.numbers_all))
            .then(|| self.given.get_or_init(|| Arc::new(Numbers::forgotten())).take(selection.len()))
    }

    /// Leaves repetitions out; what is left of them is a line that counts them, in the place of the last one.
    fn write_suppressed(
        &self,
        suppress: &Suppress,
        batch: &Batch,
        selection: &[u32],
        scratch: &mut Scratch,
        out: &mut Outbox,
        outlet: &Arc<Outlet>,
    ) {
        let mut state = suppress.of(outlet.id);
        let mut kept = self.selections.lock().pop().unwrap_or_default();
        kept.clear();
        let mut left_out = 0;
        for index in selection {
            let Some(record) = batch.records.get(*index as usize) else { continue };
            if state.repeats(batch, record, suppress.within) {
                left_out += 1;
                continue;
            }
            if let Some(note) = state.take_note(&self.identity) {
                self.write(batch, &kept, scratch, outlet, out.buffer(outlet));
                kept.clear();
                self.write(&note, &[0], scratch, outlet, out.buffer(outlet));
            }
            state.remember(batch, record);
            kept.push(*index);
        }
        if !kept.is_empty() {
            self.write(batch, &kept, scratch, outlet, out.buffer(outlet));
        }
        self.selections.lock().push(kept);
        outlet.counters.accepted.add(left_out);
        outlet.counters.delivered.add(left_out);
        outlet.counters.suppressed.add(left_out);
    }
}

/// Takes out the items at these places, counted from `first` on.
fn leave_out(items: &mut Vec<u32>, first: usize, places: &[u32]) {
    for place in places.iter().rev() {
        let at = first + *place as usize;
        if at < items.len() {
            items.remove(at);
        }
    }
}

#[cfg(test)]
mod tests;
