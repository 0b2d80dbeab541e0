//! Output for several queues of one log is given to them at once, by one worker at a time: what is the same
//! is then stored once.

use crate::durable::LogFolder;
use crate::outlet::Outlet;
use std::sync::Arc;

/// To be held while these outlets are given their output. Empty, and free of charge, unless two of them keep
/// it in the same log.
pub(crate) fn together<'a>(outlets: impl Iterator<Item = &'a Arc<Outlet>> + Clone) -> Vec<store::Together> {
    let mut shared: Vec<&Arc<LogFolder>> = Vec::new();
    let places = outlets.filter_map(|outlet| outlet.place());
    for (index, place) in places.clone().enumerate() {
        let is_same = |other: &&Arc<LogFolder>| Arc::ptr_eq(other, place);
        if !shared.iter().any(is_same) && places.clone().skip(index + 1).any(|other| is_same(&other)) {
            shared.push(place);
        }
    }
    // Everybody takes them in the same order, so that none waits for one who waits for it.
    shared.sort_by_key(|place| Arc::as_ptr(place));
    shared.into_iter().map(|place| place.log.together()).collect()
}
