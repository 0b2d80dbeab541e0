//! Destinations that several paths reach: what is for them is parked and delivered at the end, in the order
//! of the messages.

use super::Run;
use crate::plan_map::StepId;
use crate::profile::{self, Doing};
use crate::program::{Program, Step};
use crate::watch::At;

impl Run<'_, '_> {
    pub(super) fn park(&mut self, by: StepId, index: usize, selection: &[u32]) {
        let Some(parked) = self.machine.ordered.get_mut(index) else { return };
        for i in selection {
            if let Some(record) = self.batch.records.get(*i as usize).copied() {
                parked.push(self.batch.records.len() as u32);
                if self.watch.is_some() {
                    self.machine.parked_by.push((self.batch.records.len() as u32, by));
                }
                self.batch.records.push(record);
            }
        }
    }

    pub(super) fn deliver_ordered(&mut self, program: &Program) {
        for (index, ordered) in program.ordered.iter().enumerate() {
            let mut parked = std::mem::take(&mut self.machine.ordered[index]);
            if !parked.is_empty() {
                let batch = &*self.batch;
                parked.sort_by_key(|i| batch.records.get(*i as usize).map_or(0, |r| batch.rank(r)));
                self.out.flow_control = ordered.flow_control;
                profile::mark(Doing::Steps, ordered.step.id.number());
                #[cfg(feature = "python")]
                let called = self.call(&ordered.step, &parked);
                self.deliver(&ordered.step, &*ordered.destination, &parked);
                #[cfg(feature = "python")]
                self.forget_calls(&ordered.step, called);
            }
            parked.clear();
            self.machine.ordered[index] = parked;
        }
        self.machine.parked_by.clear();
    }

    /// How the step that delivers a message is told: of a destination that several reach, the one that
    /// parked it.
    pub(super) fn delivering<'p>(&self, step: &'p Step, index: usize) -> At<'p> {
        let parked = self.machine.parked_by.iter().find(|(parked, _)| *parked as usize == index);
        parked.map_or_else(|| step.at(), |(_, id)| At { id: *id, statement: &step.from })
    }
}
