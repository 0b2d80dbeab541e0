//! How another configuration is put into effect, and what else happens at that very moment.

use super::{REST, Shape, World};
use crate::trial::reached;
use rustix::process::{Pid, Signal, kill_process};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};
use testkit::{Penstock, ask, sockets};

/// Seconds for which a process that was taken over from waits for its RELP connections.
const LINGER: &str = "--linger=1";
/// As long a process answers after the one that was to take over was killed, and it goes on.
const GOES_ON: Duration = Duration::from_millis(500);

/// What a confined process answers to a reload that needs more than what it was allowed at its start: then
/// another takes over, as with the packaged service's reload.
const ASKS_TAKE_OVER: &str = "let another process take over";

/// How a new configuration is put into effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Reload,
    TakeOver,
    Kill,
    Stop,
}

/// What happens beside it, so long after its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    Nothing,
    Target { out: usize, up: bool, after: Duration },
    Killed { victim: Victim, after: Duration },
}

/// Who is killed: the process that runs, or the one that is about to take over from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    Running,
    Next,
}

/// What came of an attempt.
enum Came {
    Done,
    /// What ran before runs on.
    Refused(String),
    /// Nothing runs any more.
    Ended,
}

fn kill(pid: u32) {
    if let Some(pid) = Pid::from_raw(pid as i32) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

impl World {
    /// Puts another configuration into effect. What is not reachable any more is owed nothing from here on,
    /// what comes back is from the moment when it is certainly there. A refused reload changes nothing; the
    /// answer says why.
    pub fn change(&mut self, next: Shape, by: By, beside: Beside) -> Result<(), String> {
        let from = self.acknowledged();
        for (out, _) in
            self.shape.outs.iter().zip(&next.outs).enumerate().filter(|(_, (a, b))| a.there && !b.there)
        {
            self.owed.leaves(out, &from);
        }
        self.tell(match beside {
            Beside::Nothing => format!("{by:?}: {}", self.shape.difference(&next)),
            _ => format!("{by:?}: {}; beside it {beside:?}", self.shape.difference(&next)),
        });
        let before = std::mem::replace(&mut self.shape, next);
        let done = match self.attempt(by, beside) {
            Came::Done => Ok(()),
            Came::Refused(why) => {
                self.refused += 1;
                self.shape = before;
                let config = self.shape.config();
                if let Some(penstock) = &self.penstock {
                    penstock.rewrite(&self.lab, &config);
                }
                Err(why)
            }
            Came::Ended => {
                self.begin();
                self.note_strays();
                Ok(())
            }
        };
        // Also after a refusal: whether the program had begun is not known here.
        let sent = self.sent();
        for (out, _) in self.shape.outs.iter().enumerate().filter(|(_, out)| out.there) {
            self.owed.comes(out, &sent);
        }
        self.look();
        done
    }

    fn attempt(&mut self, by: By, beside: Beside) -> Came {
        self.breaks += 1 + u64::from(beside != Beside::Nothing);
        let targets = std::mem::take(&mut self.targets);
        let came = scope(|scope| {
            if let Beside::Target { out, up, after } = beside {
                let target = &targets[out];
                scope.spawn(move || {
                    sleep(after);
                    if up { target.up() } else { target.down() }
                });
            }
            let victim = match beside {
                Beside::Killed { victim, after } => Some((victim, after)),
                _ => None,
            };
            match by {
                By::Reload => match self.reload(victim.map(|(_, after)| after)) {
                    Came::Refused(why) if why.contains(ASKS_TAKE_OVER) => self.take_over(None),
                    came => came,
                },
                By::TakeOver => self.take_over(victim),
                By::Kill | By::Stop => {
                    self.end(by == By::Kill);
                    Came::Ended
                }
            }
        });
        self.targets = targets;
        came
    }

    fn reload(&mut self, killed: Option<Duration>) -> Came {
        let config = self.shape.config();
        let Some(penstock) = &mut self.penstock else { return Came::Ended };
        penstock.rewrite(&self.lab, &config);
        let (pid, state) = (penstock.id(), self.lab.path("state"));
        let answer = scope(|scope| {
            if let Some(after) = killed {
                scope.spawn(move || {
                    sleep(after);
                    kill(pid);
                });
            }
            ask(&state, "RELOAD")
        });
        match answer {
            _ if killed.is_some() => {
                penstock.wait_end();
                self.penstock = None;
                Came::Ended
            }
            Ok(answer) if answer.starts_with("OK") => Came::Done,
            Ok(answer) => Came::Refused(answer.trim().to_owned()),
            Err(error) => Came::Refused(format!("no answer: {error}")),
        }
    }

    /// Starts, and waits until it answers and has the address of the first source open.
    pub(super) fn begin(&mut self) {
        let mut penstock = Penstock::configure(&self.lab, &self.shape.config()).spawned();
        let mut ended = false;
        let open = reached(REST, || {
            ended = penstock.process().ended().is_some();
            ended || self.is_open()
        });
        if ended || !open {
            self.problem(format!("does not start: {}", penstock.log().lines().last().unwrap_or_default()));
            return;
        }
        self.penstock = Some(penstock);
    }

    fn is_open(&self) -> bool {
        sockets::tcp_listening(self.lab.port("in0")) && self.answers()
    }

    /// What is in the state folder of one that was killed answers nobody. One that runs may say that it is
    /// not well: a receiver is away for long.
    fn answers(&self) -> bool {
        ask(&self.lab.path("state"), "HEALTHCHECK").is_ok()
    }

    fn take_over(&mut self, victim: Option<(Victim, Duration)>) -> Came {
        let Some(mut old) = self.penstock.take() else { return Came::Ended };
        let start = Penstock::configure(&self.lab, &self.shape.config()).arg("--take-over").arg(LINGER);
        let mut new = start.spawned();
        if let Some((victim, after)) = victim {
            sleep(after);
            kill(match victim {
                Victim::Running => old.id(),
                Victim::Next => new.id(),
            });
        }
        let since = Instant::now();
        let mut ended = (false, false);
        let settled = reached(REST, || {
            ended = (old.process().ended().is_some(), new.process().ended().is_some());
            match ended {
                (true, true) => true,
                (true, false) => self.is_open(),
                // What it had given away it may still have to take back, or be about to end.
                (false, true) => since.elapsed() > GOES_ON && self.is_open(),
                (false, false) => false,
            }
        });
        if !settled {
            self.problem(format!("the take-over does not end: {ended:?}"));
        }
        match ended {
            (true, true) if victim.is_some() => Came::Ended,
            (true, true) => {
                self.problem("both processes end at a take-over");
                Came::Ended
            }
            (true, false) => {
                self.penstock = Some(new);
                Came::Done
            }
            (false, _) => {
                self.penstock = Some(old);
                if victim.is_none() {
                    self.problem("the process that takes over ends");
                }
                Came::Refused("the process that was to take over was killed".to_owned())
            }
        }
    }

    pub(super) fn end(&mut self, kill: bool) {
        let Some(mut penstock) = self.penstock.take() else { return };
        if kill {
            let _ = penstock.process().child().kill();
            penstock.wait_end();
        } else if !penstock.process().terminate().success() {
            self.problem("did not end in order");
        }
    }
}
