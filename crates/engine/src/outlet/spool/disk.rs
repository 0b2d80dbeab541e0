//! What an outlet is to its queue on disk, and what it is for.

use super::behind::Behind;
use std::sync::Arc;
use store::Queue;

/// Where the messages of an outlet are.
#[derive(Default)]
pub(super) enum Disk {
    /// It has no queue: before the outlet is released, and after its end.
    #[default]
    Detached,
    /// All of them are in memory, some on disk too.
    KeepingUp(Arc<Queue>),
    /// Some are on disk only, and are read back as the outlet gets on.
    Behind(Arc<Queue>, Behind),
}

impl Disk {
    pub fn queue(&self) -> Option<&Arc<Queue>> {
        match self {
            Disk::Detached => None,
            Disk::KeepingUp(queue) | Disk::Behind(queue, _) => Some(queue),
        }
    }

    pub fn behind(&self) -> Option<&Behind> {
        match self {
            Disk::Behind(_, behind) => Some(behind),
            _ => None,
        }
    }

    pub fn behind_mut(&mut self) -> Option<&mut Behind> {
        match self {
            Disk::Behind(_, behind) => Some(behind),
            _ => None,
        }
    }

    pub fn is_attached(&self) -> bool {
        !matches!(self, Disk::Detached)
    }

    pub fn is_behind(&self) -> bool {
        matches!(self, Disk::Behind(..))
    }

    /// An outlet that kept up has messages on disk only.
    pub fn fall_behind(&mut self, behind: Behind) {
        *self = match std::mem::take(self) {
            Disk::KeepingUp(queue) => Disk::Behind(queue, behind),
            other => other,
        };
    }

    /// All that was on disk only is in memory, or lost: what was known of it.
    pub fn catch_up(&mut self) -> Option<Behind> {
        match std::mem::take(self) {
            Disk::Behind(queue, behind) => {
                *self = Disk::KeepingUp(queue);
                Some(behind)
            }
            other => {
                *self = other;
                None
            }
        }
    }

    /// Lets go of the queue.
    pub fn detach(&mut self) -> Option<Behind> {
        match std::mem::take(self) {
            Disk::Behind(_, behind) => Some(behind),
            _ => None,
        }
    }
}

/// What a queue on disk is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Purpose {
    /// What waits for a destination.
    #[default]
    Serving,
    /// What is there is delivered, and nothing more gets there.
    Draining,
    /// Another process finds the messages: they are safe only once the disk has them, whatever `reliable()`
    /// says.
    HandingOver,
}
