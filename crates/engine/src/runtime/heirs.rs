//! Who gets what waits at a destination that a reload has changed.

use super::Engine;
use crate::driver::Destination;
use crate::outlet::Outlet;
use std::sync::Arc;

impl Engine {
    /// What still waits at a destination that changed goes to its successor, or is given a last chance.
    pub(super) fn hand_over(&self, id: &str, old: &Arc<dyn Destination>) {
        let successor = self.existing.destinations.iter().find(|(key, _)| key.id == id).map(|(_, d)| d);
        let outlets = old.outlets();
        outlets.iter().for_each(|outlet| outlet.pump(&mut Vec::new()));
        if let Some(new) = successor {
            divide(old, new, &outlets);
        }
        outlets.iter().for_each(|outlet| outlet.close(&mut Vec::new()));
    }
}

/// As many outlets as before, for the same messages: each goes on where its predecessor stopped. Otherwise nobody knows which of them
/// the messages that wait would take now, so the first one gets them all, and the others begin after it.
fn divide(old: &Arc<dyn Destination>, new: &Arc<dyn Destination>, outlets: &[Arc<Outlet>]) {
    let spare = &mut Vec::new();
    if new.names_outlets() {
        let same_kind = old.described().0 == new.described().0;
        for outlet in outlets.iter().filter(|outlet| same_kind && outlet.waiting() > 0) {
            if let Some(heir) = new.outlet_named(&outlet.name) {
                heir.inherit(outlet, spare);
            }
        }
        return;
    }
    let heirs = new.outlets();
    let alike = heirs.len() == outlets.len() && (heirs.len() == 1 || old.divides_by() == new.divides_by());
    if alike && !outlets.iter().any(|outlet| outlet.leads()) {
        for (heir, outlet) in heirs.iter().zip(outlets) {
            heir.inherit(outlet, spare);
        }
        return;
    }
    let Some((first, others)) = heirs.split_first() else { return };
    // The last one first: each queue goes in front of what is there.
    let messages = outlets.iter().rev().map(|outlet| first.inherit(outlet, spare)).sum();
    first.lead(others, messages);
}
