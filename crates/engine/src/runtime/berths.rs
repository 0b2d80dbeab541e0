//! In which queue each destination keeps its messages on disk, as the state file says it: where dir() or
//! persist-name() has changed at a reload, a take-over or a start, what waits in the old queue is taken
//! along.

use super::Engine;
use crate::compile::DestinationKey;
use crate::driver::Destination;
use crate::outlet::{Berth, Outlet};
use diag::Fault;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Before `<statement>#<n>` and the number of the outlet, in the state file.
const MARK: &[u8] = b"queue-of/";

/// What the state file says of an outlet: texts with a NUL behind each.
struct Known {
    /// [`DestinationKey::place`].
    place: Vec<u8>,
    /// The address, as it is described.
    address: Vec<u8>,
    /// In which form the messages stand.
    form: Vec<u8>,
    dir: PathBuf,
    queue: Vec<u8>,
}

impl Known {
    fn decode(value: &[u8]) -> Option<Known> {
        let mut texts = value.split(|byte| *byte == 0).map(<[u8]>::to_vec);
        let mut next = || texts.next();
        let (place, address, form, dir, queue) = (next()?, next()?, next()?, next()?, next()?);
        let dir = Path::new(std::ffi::OsStr::from_bytes(&dir)).to_owned();
        Some(Known { place, address, form, dir, queue })
    }

    fn encode(&self) -> Vec<u8> {
        [&self.place, &self.address, &self.form, self.dir.as_os_str().as_bytes(), &self.queue].join(&0)
    }

    /// It is the queue of a destination that writes to this place, in a form that the outlet can read.
    fn is_of(&self, key: &DestinationKey, address: &str, outlet: &Outlet) -> bool {
        let is_same = self.place == key.place.as_bytes() || self.address == address.as_bytes();
        is_same && (self.form == form_of(outlet) || outlet.kin(&self.form).is_some())
    }
}

fn form_of(outlet: &Outlet) -> &[u8] {
    outlet.form().map_or(b"", |form| form.name.as_bytes())
}

fn mark(key: &DestinationKey, index: usize) -> Vec<u8> {
    [MARK, key.id.as_bytes(), format!("/{index}").as_bytes()].concat()
}

impl Engine {
    /// The folders in which messages wait on disk, as the entries of a state file say it: also those that no
    /// destination names any more.
    pub fn folders_of_queues(entries: &[(Vec<u8>, Vec<u8>)]) -> impl Iterator<Item = PathBuf> {
        let noted = entries.iter().filter(|(name, _)| name.starts_with(MARK));
        noted.filter_map(|(_, value)| Some(Known::decode(value)?.dir))
    }

    /// What waits in queues that destinations had before goes with them. These are new and held.
    pub(super) fn take_along(&self, fresh: &[Arc<dyn Destination>]) {
        for (key, destination) in &self.existing.destinations {
            if !fresh.iter().any(|new| Arc::ptr_eq(new, destination)) || destination.names_outlets() {
                continue;
            }
            let (address, outlets) = (destination.described().1, destination.outlets());
            for (index, outlet) in outlets.iter().enumerate() {
                self.take_along_to(key, &address, index, outlet);
            }
            if let Some(first) = outlets.first() {
                self.take_from_workers(key, &address, outlets.len(), first);
            }
        }
    }

    fn take_along_to(&self, key: &DestinationKey, address: &str, index: usize, outlet: &Outlet) {
        let state = self.shared.state();
        let mark = mark(key, index);
        let own = state.get(&mark).map(|value| (mark.clone(), value));
        let noted = own.or_else(|| self.noted_by_another_name(key, index));
        let known = noted.as_ref().and_then(|(_, value)| Known::decode(value));
        if let Some(known) = known.filter(|known| known.is_of(key, address, outlet))
            && !self.has_taken(&known, key, outlet)
        {
            // The next start tries again.
            return;
        }
        match outlet.occupied() {
            None => state.remove(&mark),
            Some(Berth { place, name }) => self.note_queue(key, (address, index), outlet, (&place.dir, name)),
        }
        // Not before: whoever is killed while the messages move has to find them again.
        if let Some((at, _)) = noted.filter(|(at, _)| *at != mark) {
            state.remove(&at);
        }
    }

    /// Notes in which queue an outlet has its messages: its destination's address, and its number there.
    pub(super) fn note_queue(
        &self,
        key: &DestinationKey,
        (address, index): (&str, usize),
        outlet: &Outlet,
        (dir, queue): (&Path, Vec<u8>),
    ) {
        let known = Known {
            place: key.place.clone().into_bytes(),
            address: address.as_bytes().to_vec(),
            form: form_of(outlet).to_vec(),
            dir: dir.to_owned(),
            queue,
        };
        let (state, value) = (self.shared.state(), known.encode());
        let mark = mark(key, index);
        if state.get(&mark).as_deref() != Some(value.as_slice()) {
            state.put(&mark, &value);
        }
    }

    /// There were more workers: nobody knows which of those that are left the messages that wait would go to
    /// now, so the first one gets them.
    fn take_from_workers(&self, key: &DestinationKey, address: &str, outlets: usize, first: &Outlet) {
        let state = self.shared.state();
        let prefix = [MARK, key.id.as_bytes(), b"/"].concat();
        for (mark, value) in state.with_prefix(&prefix) {
            let number =
                mark.get(prefix.len()..).and_then(|rest| std::str::from_utf8(rest).ok()?.parse().ok());
            let is_left = number.is_some_and(|number: usize| number >= outlets);
            let known = Known::decode(&value).filter(|known| is_left && known.is_of(key, address, first));
            if known.is_some_and(|known| self.has_taken(&known, key, first)) {
                state.remove(&mark);
            }
        }
    }

    /// Whether nothing is left there. The log says why.
    fn has_taken(&self, known: &Known, key: &DestinationKey, outlet: &Outlet) -> bool {
        let Err(error) = self.take_from(known, key, outlet) else { return true };
        let fields: [oplog::Field<'_>; 3] =
            [("destination", &key.id), ("dir", &known.dir.display()), ("error", &error)];
        oplog::error(
            "What waits for a destination cannot be moved to where it keeps its messages now",
            &fields,
        );
        false
    }

    /// What is known of a destination that is called so now, and where that is noted.
    fn noted_by_another_name(&self, key: &DestinationKey, index: usize) -> Option<(Vec<u8>, Vec<u8>)> {
        let end = format!("/{index}").into_bytes();
        let is_there = |id: &[u8]| self.existing.destinations.keys().any(|key| key.id.as_bytes() == id);
        let mut all = self.shared.state().with_prefix(MARK).into_iter();
        all.find(|(mark, value)| {
            let id = mark.strip_prefix(MARK).and_then(|rest| rest.strip_suffix(end.as_slice()));
            let is_same = |known: Known| known.place == key.place.as_bytes();
            id.is_some_and(|id| !is_there(id)) && Known::decode(value).is_some_and(is_same)
        })
    }

    fn take_from(&self, known: &Known, key: &DestinationKey, outlet: &Outlet) -> Result<(), Fault> {
        let durable = &self.shared.durable;
        let is_same =
            outlet.occupied().is_some_and(|now| now.place.dir == known.dir && now.name == known.queue);
        if is_same || !store::Log::exists(&known.dir) {
            return Ok(());
        }
        let place = durable.place_at(&known.dir)?;
        let berth = Berth { place, name: known.queue.clone() };
        let moved = outlet.take_along(durable, &berth, outlet.kin(&known.form))?;
        if moved > 0 {
            oplog::notice(
                "What waits for a destination goes to where it keeps its messages now",
                &[("destination", &key.id), ("messages", &moved), ("from", &known.dir.display())],
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_read_as_it_was_written() {
        let known = Known {
            place: b"afsocket_dd.(stream)".to_vec(),
            address: Vec::new(),
            form: b"plain".to_vec(),
            dir: PathBuf::from("/a b"),
            queue: b"queue 1".to_vec(),
        };
        let read = Known::decode(&known.encode()).expect("whole");
        assert_eq!((read.place, read.address), (known.place, known.address));
        assert_eq!((read.dir, read.queue), (known.dir, known.queue));
        assert!(Known::decode(b"half").is_none() && Known::decode(b"").is_none());
    }
}
