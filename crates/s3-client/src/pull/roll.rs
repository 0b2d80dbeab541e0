//! What the state file knows of a bucket: which objects are being read and how far, which are finished, and
//! how far the bucket was listed. Its records are described in docs/state-format.md.
//!
//! Finished objects are not remembered for ever. What a look at the bucket has come by stands in `cursor`;
//! when it has come to the end, everything that was written well before it began is known: it is finished, or
//! open and remembered as such. So only what was written since then is remembered by name.

use super::listing::{Id, Listed};
use state::Store;
use std::collections::HashMap;
use std::sync::Arc;

const VERSION: u8 = 1;
/// Objects that become visible later than they say they were written, as large ones do, are found as long as
/// it is no later than that.
const LATE_MS: u64 = 24 * 3600 * 1000;
/// Finished objects that are remembered by name. With more of them within [`LATE_MS`], that becomes shorter.
pub const DONE_MAX: usize = 50_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Done {
    modified: u64,
    /// It is to be deleted.
    goes: bool,
}

/// What is in one record: where the looks at the bucket are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Looks {
    /// Whatever was written before is finished, or open.
    before: u64,
    /// When the look that is under way began; 0: none is.
    began: u64,
    /// Up to here some finished objects were left out of what is remembered.
    floor: u64,
    /// The look has come so far.
    cursor: String,
}

/// What is different from bucket to bucket.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rule {
    /// Objects that are finished are deleted, so all there are are looked at each time.
    pub goes: bool,
    /// Names come in order: each look goes on behind the one before.
    pub is_ascending: bool,
}

pub struct Roll {
    store: Arc<Store>,
    /// What names in the state file begin with.
    name: Vec<u8>,
    rule: Rule,
    looks: Looks,
    /// What the state file has of them: only that counts when something is not remembered.
    kept: Looks,
    done: HashMap<Id, Done>,
    late_ms: u64,
    done_max: usize,
}

/// How far an open object was dealt with.
#[derive(Debug, PartialEq, Eq)]
pub struct Opened {
    pub id: Id,
    pub found: Listed,
    pub offset: u64,
}

impl Roll {
    /// What the state file says under a name: the roll, objects that are open, and whether it says anything.
    pub fn load(store: &Arc<Store>, name: &[u8]) -> (Roll, Vec<Opened>, bool) {
        Roll::with(store, name, LATE_MS, DONE_MAX)
    }

    fn with(store: &Arc<Store>, name: &[u8], late_ms: u64, done_max: usize) -> (Roll, Vec<Opened>, bool) {
        let name = [name, b"/s3/"].concat();
        let looks = store.get(&[&name[..], b"look"].concat()).and_then(|value| Looks::decode(&value));
        let done = store.with_prefix(&[&name[..], b"d/"].concat());
        let done =
            done.into_iter().filter_map(|(at, value)| Some((*at.last_chunk()?, Done::decode(&value)?)));
        let done = done.collect();
        let open = store.with_prefix(&[&name[..], b"o/"].concat());
        let open = open.iter().filter_map(|(at, value)| Opened::decode(*at.last_chunk()?, value)).collect();
        let is_known = looks.is_some();
        let looks = looks.unwrap_or_default();
        let (store, rule, kept) = (Arc::clone(store), Rule::default(), looks.clone());
        (Roll { store, name, rule, looks, kept, done, late_ms, done_max }, open, is_known)
    }

    pub fn set_rule(&mut self, rule: Rule) {
        self.rule = rule;
    }

    fn at(&self, kind: &[u8], id: &Id) -> Vec<u8> {
        [&self.name, kind, id].concat()
    }

    /// Under which name the place in an open object is remembered.
    pub fn name_of(&self, id: &Id) -> Vec<u8> {
        self.at(b"o/", id)
    }

    fn keep_looks(&mut self) {
        self.store.put(&[&self.name[..], b"look"].concat(), &self.looks.encode());
        self.kept.clone_from(&self.looks);
    }

    /// The first look: what was written before is not read.
    pub fn begin(&mut self, before: u64) {
        self.looks.before = before;
        self.keep_looks();
    }

    /// Where the look that is under way goes on.
    pub fn cursor(&self) -> Option<String> {
        (self.looks.began > 0).then(|| self.looks.cursor.clone())
    }

    /// A look begins now, behind this name.
    pub fn begin_look(&mut self, now: u64, after: &str) {
        after.clone_into(&mut self.looks.cursor);
        (self.looks.began, self.looks.floor) = (now.max(1), 0);
    }

    /// Whether this object is none to be read, as far as is known here.
    pub fn is_done(&self, id: &Id, found: &Listed) -> bool {
        found.modified < self.looks.before || self.done.contains_key(id)
    }

    /// Whether it is finished and has to be deleted.
    pub fn goes(&self, id: &Id) -> bool {
        self.rule.goes && self.done.get(id).is_some_and(|done| done.goes)
    }

    /// Whether this one could be remembered by name when it is finished, should that be needed.
    pub fn has_room(&self, found: &Listed) -> bool {
        self.done.len() < self.done_max || !self.rule.goes && found.modified < self.looks.began
    }

    /// These are open from now on, and the look has come by `last`.
    pub fn open<'a>(&mut self, all: impl Iterator<Item = &'a Listed>, last: Option<&str>) {
        let records: Vec<_> = all.map(|found| (self.name_of(&found.id()), encode_open(found, 0))).collect();
        self.store.put_all(records.iter().map(|(name, value)| (name.as_slice(), value.as_slice())));
        if let Some(last) = last {
            last.clone_into(&mut self.looks.cursor);
        }
        if !records.is_empty() {
            self.keep_looks();
        }
    }

    /// An object is finished. `stays`: it is not to be deleted, whatever becomes of others.
    pub fn finish(&mut self, id: &Id, found: &Listed, stays: bool) {
        let Looks { began, before, ref cursor, .. } = self.kept;
        let is_passed = began > 0 && found.key <= *cursor;
        let is_known = |until: u64| is_passed && found.modified < until || found.modified < before;
        let is_known_soon =
            is_known(began.saturating_sub(self.late_ms)) || self.rule.is_ascending && is_passed;
        if self.rule.goes || !is_known_soon {
            if self.rule.goes || self.done.len() < self.done_max || !is_known(began) {
                self.remember(id, Done { modified: found.modified, goes: !stays });
            } else {
                self.looks.floor = self.looks.floor.max(found.modified + 1);
                self.keep_looks();
            }
        }
        self.forget_open(id);
    }

    fn remember(&mut self, id: &Id, done: Done) {
        self.store.put(&self.at(b"d/", id), &done.encode());
        self.done.insert(*id, done);
    }

    /// It is open no more.
    pub fn forget_open(&self, id: &Id) {
        self.store.remove(&self.name_of(id));
    }

    /// Where nothing is looked through: what was finished long ago is not remembered any more.
    pub fn age(&mut self, now: u64) {
        let mut until = now.saturating_sub(self.late_ms);
        if self.done.len() > self.done_max {
            let mut times: Vec<u64> = self.done.values().map(|done| done.modified).collect();
            times.sort_unstable();
            // A tenth at once: this is not cheap.
            until = until.max(times.get(times.len() - self.done_max * 9 / 10).copied().unwrap_or_default());
        }
        let old: Vec<Id> =
            self.done.iter().filter(|(_, d)| d.modified < until && !d.goes).map(|(id, _)| *id).collect();
        old.iter().for_each(|id| self.forget(id));
    }

    /// It is deleted.
    pub fn forget(&mut self, id: &Id) {
        if self.done.remove(id).is_some() {
            self.store.remove(&self.at(b"d/", id));
        }
    }

    /// The look has come to the end.
    pub fn end_look(&mut self) {
        if self.rule.is_ascending {
            return;
        }
        let before =
            self.looks.began.saturating_sub(self.late_ms).max(self.looks.floor).max(self.looks.before);
        let is_old = |done: &Done| done.modified < before && !self.rule.goes;
        let old: Vec<Id> = self.done.iter().filter(|(_, done)| is_old(done)).map(|(id, _)| *id).collect();
        self.looks = Looks { before: self.looks.before, ..Looks::default() };
        if old.is_empty() && self.kept.began == 0 {
            return;
        }
        if !self.rule.goes {
            self.looks.before = before;
        }
        self.keep_looks();
        old.iter().for_each(|id| self.forget(id));
    }
}

impl Done {
    fn encode(self) -> [u8; 10] {
        let mut out = [VERSION; 10];
        if let Some(place) = out.get_mut(1..9) {
            place.copy_from_slice(&self.modified.to_le_bytes());
        }
        if let Some(last) = out.last_mut() {
            *last = u8::from(self.goes);
        }
        out
    }

    fn decode(value: &[u8]) -> Option<Done> {
        let (version, rest) = value.split_first()?;
        let (modified, goes) = rest.split_first_chunk()?;
        let done = Done { modified: u64::from_le_bytes(*modified), goes: goes == [1] };
        (*version == VERSION && goes.len() == 1).then_some(done)
    }
}

impl Looks {
    fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        for number in [self.before, self.began, self.floor] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(self.cursor.as_bytes());
        out
    }

    fn decode(value: &[u8]) -> Option<Looks> {
        let (version, rest) = value.split_first()?;
        let (before, rest) = rest.split_first_chunk()?;
        let (began, rest) = rest.split_first_chunk()?;
        let (floor, cursor) = rest.split_first_chunk()?;
        let [before, began, floor] = [before, began, floor].map(|number| u64::from_le_bytes(*number));
        let cursor = String::from_utf8(cursor.to_vec()).ok()?;
        (*version == VERSION).then_some(Looks { before, began, floor, cursor })
    }
}

/// The record of an open object.
pub fn encode_open(found: &Listed, offset: u64) -> Vec<u8> {
    let mut out = vec![VERSION];
    for number in [offset, found.size, found.modified, found.tag.len() as u64] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(found.tag.as_bytes());
    out.extend_from_slice(found.key.as_bytes());
    out
}

impl Opened {
    fn decode(id: Id, value: &[u8]) -> Option<Opened> {
        let (version, rest) = value.split_first()?;
        let (offset, rest) = rest.split_first_chunk()?;
        let (size, rest) = rest.split_first_chunk()?;
        let (modified, rest) = rest.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let [offset, size, modified, length] =
            [offset, size, modified, length].map(|number| u64::from_le_bytes(*number));
        let (tag, key) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        let found = Listed { key: text(key)?, tag: text(tag)?, size, modified, sequence: String::new() };
        (*version == VERSION).then_some(Opened { id, found, offset })
    }
}

#[cfg(test)]
mod tests;
