//! What an outlet is at, in three words: who attends to it, whether it writes at all, whether anything moves.

/// Whether somebody is writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Attendance {
    #[default]
    Free,
    /// `again`: something happened since. Who writes looks again before he leaves.
    Busy { again: bool },
}

impl Attendance {
    pub fn begin(&mut self) {
        *self = Attendance::Busy { again: false };
    }

    /// Returns whether something happened meanwhile.
    pub fn end(&mut self) -> bool {
        std::mem::take(self) == Attendance::Busy { again: true }
    }

    /// Tells whoever writes to look again. `false`: nobody does.
    pub fn call(&mut self) -> bool {
        let is_busy = self.is_busy();
        if is_busy {
            *self = Attendance::Busy { again: true };
        }
        is_busy
    }

    pub fn is_busy(self) -> bool {
        self != Attendance::Free
    }
}

/// Whether an outlet writes what it gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Service {
    #[default]
    Open,
    /// Another process goes on with everything, the next one or the one that takes over: nothing more is
    /// written here, unless this process goes on after all.
    Parked,
    /// For good.
    Closed,
}

impl Service {
    pub fn park(&mut self) {
        if *self == Service::Open {
            *self = Service::Parked;
        }
    }

    pub fn go_on(&mut self) {
        if *self == Service::Parked {
            *self = Service::Open;
        }
    }

    pub fn is_closed(self) -> bool {
        self == Service::Closed
    }
}

/// Whether waiting for an outlet has a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Flow {
    #[default]
    Moving,
    /// Unreachable, or nothing moved for a while: messages without flow-control no longer hold their sources
    /// back.
    Stalled,
}

impl Flow {
    pub fn is_stalled(self) -> bool {
        self == Flow::Stalled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_called_while_writing_is_told_once() {
        let mut attendance = Attendance::default();
        assert!(!attendance.call());
        attendance.begin();
        assert!(attendance.call());
        assert!(attendance.end());
        assert_eq!(attendance, Attendance::Free);
        attendance.begin();
        assert!(!attendance.end());
    }

    #[test]
    fn what_is_closed_is_neither_parked_nor_opened() {
        let mut service = Service::Closed;
        service.park();
        service.go_on();
        assert_eq!(service, Service::Closed);
    }
}
