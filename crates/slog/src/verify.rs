//! Opens a log and says what is not as it was written: line by line, in bounded memory, whatever the lines
//! are.

mod findings;
mod keys;

pub use findings::{FINDINGS_MAX, Finding, Report};

use crate::entry::Entry;
use crate::key::{Mac, Scheme};
use crate::position::{Position, aggregate};
use findings::Findings;
use keys::Keys;
use std::collections::{BTreeMap, BTreeSet};

/// Entries that may be missing at once without a second thought.
const FAR: u64 = 1024;

pub struct Verifier {
    keys: Keys,
    /// The first entry has no MAC before it.
    begins_anew: bool,
    /// What the log has to end in.
    target: Mac,
    /// Over what was opened so far, in the order of the lines.
    mac: Option<Mac>,
    /// The number after the largest one so far.
    next: u64,
    line: u64,
    /// Ranges of numbers that were passed over: last number and the line before which they are missing, by
    /// first number.
    missing: BTreeMap<u64, (u64, u64)>,
    /// Numbers that damaged lines may have had.
    presumed: BTreeSet<u64>,
    findings: Findings,
    opened: u64,
    /// The line behind which the MAC was the one looked for.
    matched: Option<u64>,
}

impl Verifier {
    /// For a whole log, with the first key of its host.
    pub fn whole(first: &Position, target: Mac) -> Verifier {
        let begins = first.key.scheme() == Scheme::Expanded;
        Verifier::new(first, begins.then_some(first.mac), target)
    }

    /// For the part of a log behind `before`, with the key and the MAC that were in force when it was begun.
    pub fn part(before: &Position, mac: Mac, target: Mac) -> Verifier {
        let continues = before.counter > 0 || before.key.scheme() == Scheme::Expanded;
        Verifier::new(before, continues.then_some(mac), target)
    }

    /// How the chain was made that an entry is of, if the key tells it: the entry must not be far behind the
    /// key.
    pub fn scheme_of(first: &Position, entry: &Entry) -> Option<Scheme> {
        let ahead = entry.counter.checked_sub(first.counter).filter(|ahead| *ahead <= FAR)?;
        [Scheme::Blocks, Scheme::Expanded].into_iter().find(|scheme| {
            let mut key = first.key.clone().with_scheme(*scheme);
            (0..ahead).for_each(|_| key = key.next());
            entry.open(&key.derived(), &mut Vec::new())
        })
    }

    fn new(first: &Position, mac: Option<Mac>, target: Mac) -> Verifier {
        Verifier {
            begins_anew: first.key.scheme() == Scheme::Blocks,
            keys: Keys::new(first.key.clone(), first.counter),
            target,
            mac,
            next: first.counter,
            line: 0,
            missing: BTreeMap::new(),
            presumed: BTreeSet::new(),
            findings: Findings::default(),
            opened: 0,
            matched: None,
        }
    }

    /// Takes the next line, without its end. What it says is appended to `text` when it was opened, and its
    /// number given.
    pub fn line(&mut self, line: &[u8], text: &mut Vec<u8>) -> Option<u64> {
        self.line += 1;
        let entry = match Entry::read(line) {
            Ok(entry) => entry,
            Err(why) => {
                self.findings.push(Finding::NotAnEntry { line: self.line, why });
                self.presume();
                return None;
            }
        };
        if entry.counter < self.keys.first() {
            let (line, first) = (self.line, self.keys.first());
            self.findings.push(Finding::TooOld { line, entry: entry.counter, first });
            return None;
        }
        // Its number may be what was changed. That is tried first where believing it costs much.
        let is_far = entry.counter.saturating_sub(self.next) > FAR;
        if is_far && let Some(entry) = self.renumbered(&entry, text) {
            return Some(entry);
        }
        if self.open(&entry, entry.counter, text) {
            self.place(entry.counter);
            return Some(entry.counter);
        }
        if !is_far
            && entry.counter != self.next
            && let Some(entry) = self.renumbered(&entry, text)
        {
            return Some(entry);
        }
        self.findings.push(Finding::Damaged { line: self.line, entry: entry.counter });
        self.presume();
        None
    }

    /// Opens an entry with the key of the number whose turn it is.
    fn renumbered(&mut self, entry: &Entry, text: &mut Vec<u8>) -> Option<u64> {
        let counter = self.next;
        if !self.open(entry, counter, text) {
            return None;
        }
        self.findings.push(Finding::Renumbered { line: self.line, entry: counter, claims: entry.counter });
        self.next = counter.saturating_add(1);
        Some(counter)
    }

    /// The line that could not be opened was the entry that was its turn, as far as anybody can tell.
    fn presume(&mut self) {
        self.presumed.insert(self.next);
        self.next = self.next.saturating_add(1);
    }

    fn open(&mut self, entry: &Entry, counter: u64, text: &mut Vec<u8>) -> bool {
        let Some(keys) = self.keys.at(counter, self.next) else { return false };
        if !entry.open(&keys, text) {
            return false;
        }
        let before = if counter == 0 && self.begins_anew { None } else { self.mac.as_ref() };
        let mac = aggregate(&keys, before, &entry.sealed);
        self.mac = Some(mac);
        self.opened += 1;
        if mac == self.target {
            self.matched = Some(self.line);
        }
        true
    }

    /// An entry is authentic: is it also where it belongs?
    fn place(&mut self, entry: u64) {
        let line = self.line;
        if entry >= self.next {
            if entry > self.next {
                self.missing.insert(self.next, (entry - 1, line));
            }
            self.next = entry.saturating_add(1);
        } else if self.presumed.remove(&entry) {
            // A strange line stood before it, and did not take its place.
        } else if self.take_missing(entry) {
            self.findings.push(Finding::Moved { line, entry, behind: self.next - 1 });
        } else {
            self.findings.push(Finding::Twice { line, entry });
        }
    }

    /// Takes a number out of what is missing; `false` when it is not.
    fn take_missing(&mut self, entry: u64) -> bool {
        let Some((first, (last, line))) = self.missing.range(..=entry).next_back().map(|(k, v)| (*k, *v))
        else {
            return false;
        };
        if entry > last {
            return false;
        }
        self.missing.remove(&first);
        if first < entry {
            self.missing.insert(first, (entry - 1, line));
        }
        if entry < last {
            self.missing.insert(entry + 1, (last, line));
        }
        true
    }

    /// The log is at its end.
    pub fn finish(mut self) -> Report {
        for (first, (last, line)) in std::mem::take(&mut self.missing) {
            self.findings.push(Finding::Missing { line, first, last });
        }
        if self.line == 0 {
            self.findings.push(Finding::Empty);
        } else if self.mac != Some(self.target) {
            self.findings.push(match self.matched {
                Some(line) => Finding::OldMac { line, more: self.line - line },
                None if self.findings.is_empty() => {
                    Finding::Cut { line: self.line, entry: self.next.saturating_sub(1) }
                }
                None => Finding::MacMismatch,
            });
        }
        self.findings.report(self.line, self.opened)
    }
}

#[cfg(test)]
mod tests;
