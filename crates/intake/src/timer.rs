//! A timer as a descriptor, readable when its time has come: it stands among the others in a worker's
//! readiness loop.

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use std::os::fd::OwnedFd;
use std::time::Duration;

const NEVER: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// Its time never comes before it is set.
pub fn unset() -> rustix::io::Result<OwnedFd> {
    timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)
}

/// Its time comes again and again; `period` is not zero.
pub fn every(period: Duration) -> rustix::io::Result<OwnedFd> {
    let timer = unset()?;
    let period = timespec(period);
    set(&timer, Itimerspec { it_interval: period, it_value: period })?;
    Ok(timer)
}

/// Its time comes once more; `after` is not zero, which would stop it.
pub fn once(timer: &OwnedFd, after: Duration) -> rustix::io::Result<()> {
    set(timer, Itimerspec { it_interval: NEVER, it_value: timespec(after) })
}

fn set(timer: &OwnedFd, value: Itimerspec) -> rustix::io::Result<()> {
    timerfd_settime(timer, TimerfdTimerFlags::empty(), &value).map(drop)
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() }
}
