//! Heavy servers wait for their turn: so many at a time, whatever tests run beside each other.

use std::sync::{Condvar, Mutex, PoisonError};

pub struct Turns {
    free: Mutex<usize>,
    changed: Condvar,
}

/// Seats that are free again when it is dropped.
pub struct Turn {
    turns: &'static Turns,
    seats: usize,
}

impl Turns {
    pub const fn of(seats: usize) -> Turns {
        Turns { free: Mutex::new(seats), changed: Condvar::new() }
    }

    /// Waits for so many seats. There have to be as many at all.
    pub fn take(&'static self, seats: usize) -> Turn {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = |free: &mut usize| *free < seats;
        let mut free = self.changed.wait_while(free, waits).unwrap_or_else(PoisonError::into_inner);
        *free -= seats;
        Turn { turns: self, seats }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *self.turns.free.lock().unwrap_or_else(PoisonError::into_inner) += self.seats;
        self.turns.changed.notify_all();
    }
}
