//! Replacing the configuration that runs: a reload, its trial, and the way back.

use super::trial::{self, Before};
use super::{Daemon, ENDING, Running, joined};
use crate::configuration::{Configuration, seconds};
use crate::lookout::bounds::Bounds;
use crate::run::{confinement, notify, privileges};
use conf_schema::Settings;
use control::Refusal;
use control::request::Reload;
use engine::Engine;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

/// During a trial, whether somebody has ended it is looked at so often.
const TRIAL_LOOK: Duration = Duration::from_millis(50);

/// The configuration that ran before the last reload, once there was one.
pub type Previous = Option<Configuration>;

/// Whether a configuration is on trial.
#[derive(Default)]
pub struct OnTrial(Mutex<Trial>);

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Trial {
    #[default]
    No,
    Yes,
    /// Somebody wants what ran before, now.
    Recalled,
}

impl OnTrial {
    fn begin(&self) {
        *self.0.lock() = Trial::Yes;
    }

    /// Whether the one that is on trial, if there is one, will go back.
    fn recall(&self) -> bool {
        let mut state = self.0.lock();
        if *state == Trial::Yes {
            *state = Trial::Recalled;
        }
        *state == Trial::Recalled
    }

    fn is_recalled(&self) -> bool {
        *self.0.lock() == Trial::Recalled
    }

    /// Whether somebody wanted what ran before.
    fn end(&self) -> bool {
        std::mem::take(&mut *self.0.lock()) == Trial::Recalled
    }
}

impl Daemon {
    /// Reads the configuration again and puts it into effect. When that fails, or when the configuration
    /// fails its health check within its trial, what ran before runs on. Both outcomes are sentences.
    pub fn reload(&self, asked: &Reload) -> Result<String, Refusal> {
        let _one = self.reloading.lock();
        notify::reloading();
        oplog::notice("Configuration reload request received, reloading configuration", &[]);
        let outcome = self.replace(&asked.drops).and_then(|(before, old)| {
            match self.try_out(&before, asked.trial.unwrap_or(self.trial)) {
                Ok(()) => {
                    *self.previous.lock() = Some(old);
                    Ok(())
                }
                Err(reason) => self.back_to(old, reason),
            }
        });
        let now = seconds(SystemTime::now());
        self.reloaded.store(now, Ordering::Relaxed);
        match &outcome {
            Ok(()) => {
                self.reloaded_well.store(now, Ordering::Relaxed);
                oplog::notice("New configuration initialized", &[]);
                oplog::notice("Configuration reload finished", &[]);
            }
            Err(error) => {
                oplog::error(
                    "Error initializing configuration, reverting back to the old one",
                    &[("error", error)],
                );
            }
        }
        notify::ready();
        match outcome {
            Ok(()) => Ok("Config reload successful".into()),
            Err(error) => Err(format!("Config reload failed, reverted to previous config: {error}").into()),
        }
    }

    /// Puts what the file says now into effect. What to compare it with, and what ran before.
    fn replace(&self, drops: &[String]) -> Result<(Before, Configuration), Refusal> {
        // Read before the engine is held: whatever reading waits for must not hold up the end.
        let mut configuration = Configuration::read(&self.path);
        let mut slot = self.engine.lock();
        let engine = slot.as_mut().ok_or(ENDING)?;
        let plan = configuration.compile(&self.identity, engine.existing());
        configuration.log_findings();
        let Some(mut plan) = plan else {
            return Err(configuration
                .first_error()
                .unwrap_or_else(|| "the configuration has errors".into())
                .into());
        };
        privileges::suffice(&configuration, &plan, &self.current.lock())?;
        confinement::suffice(&configuration, &plan, self.sandbox)?;
        plan.drops = drops.to_vec();
        let before = Before::new(engine.view());
        let globals = Arc::clone(&plan.globals);
        engine.apply(plan).map_err(|faults| joined(&faults))?;
        Ok((before, self.installed(configuration, engine, &globals)))
    }

    /// Notes what runs from now on, and gives back what ran before.
    fn installed(&self, configuration: Configuration, engine: &Engine, globals: &Settings) -> Configuration {
        let fresh = Arc::new(Running::new(&configuration, engine.view()));
        // Noted first: the ledger of what runs knows what of that it shows itself.
        self.history.replaced(&self.running().view, &fresh.view);
        *self.running.write() = fresh;
        self.apply_log_level(globals);
        Daemon::apply_metrics(globals);
        self.apply_statistics(globals);
        *self.bounds.lock() = Bounds::of(globals);
        self.keep_input.store(globals.size("keep-input").unwrap_or(0), Ordering::Relaxed);
        self.door.replace(configuration.console.as_ref());
        std::mem::replace(&mut *self.current.lock(), configuration)
    }

    /// Waits for the end of the trial. The error is why the configuration has failed.
    fn try_out(&self, before: &Before, trial: Duration) -> Result<(), Refusal> {
        if trial.is_zero() {
            return Ok(());
        }
        self.on_trial.begin();
        let outcome = self.watch(before, Instant::now() + trial);
        // Until here a roll-back is promised to whoever asks for one.
        let is_recalled = self.on_trial.end();
        if is_recalled && self.engine.lock().is_some() {
            return Err("it was rolled back on request".into());
        }
        outcome
    }

    fn watch(&self, before: &Before, until: Instant) -> Result<(), Refusal> {
        while Instant::now() < until {
            std::thread::park_timeout(TRIAL_LOOK.min(until.saturating_duration_since(Instant::now())));
            if self.engine.lock().is_none() {
                return Ok(());
            }
            if self.on_trial.is_recalled() {
                return Ok(());
            }
        }
        Ok(trial::verdict(before, &self.running().view, &self.shared)
            .map_err(|reason| format!("it failed its health check: {reason}"))?)
    }

    /// What ran before is put into effect again: the end of a trial, or a reload backwards. Both outcomes are
    /// sentences. Done twice, it is undone.
    pub fn roll_back(&self) -> Result<String, Refusal> {
        if self.on_trial.recall() {
            return Ok("The configuration on trial is rolled back".to_owned());
        }
        let _one = self.reloading.try_lock().ok_or("a reload is under way")?;
        let mut previous = self.previous.lock();
        if previous.is_none() {
            return Err("nothing ran before: there was no reload since the program began".into());
        }
        notify::reloading();
        oplog::notice("Roll-back request received, going back to the configuration that ran before", &[]);
        let outcome = self.put_back(&mut previous);
        drop(previous);
        notify::ready();
        let file = self.path.display();
        match outcome {
            Ok(()) => {
                self.reloaded.store(seconds(SystemTime::now()), Ordering::Relaxed);
                oplog::notice("Configuration that ran before initialized", &[("file", &file)]);
                Ok(match self.says_the_file() {
                    true => format!("What ran before is in effect again; {file} says the same"),
                    false => format!("What ran before is in effect again; {file} still says something else"),
                })
            }
            Err(error) => {
                oplog::error(
                    "The configuration that ran before cannot be put into effect",
                    &[("error", &error)],
                );
                Err(format!("what ran before cannot be put into effect: {error}").into())
            }
        }
    }

    /// A configuration has failed: what ran before is put into effect again. The error is why it failed.
    fn back_to(&self, old: Configuration, reason: Refusal) -> Result<(), Refusal> {
        match self.put_back(&mut Some(old)) {
            Ok(()) => Err(reason),
            Err(error) => {
                oplog::critical(
                    "The configuration that ran before cannot be put into effect",
                    &[("error", &error)],
                );
                Err(format!("{reason}; and what ran before cannot be put into effect again: {error}").into())
            }
        }
    }

    /// Puts this one into effect; what ran until now is in its place then.
    fn put_back(&self, other: &mut Previous) -> Result<(), Refusal> {
        let mut slot = self.engine.lock();
        let engine = slot.as_mut().ok_or(ENDING)?;
        let plan = other.as_mut().and_then(|other| other.compile(&self.identity, engine.existing()));
        let plan = plan.ok_or("it does not compile any more")?;
        let globals = Arc::clone(&plan.globals);
        engine.apply(plan).map_err(|faults| joined(&faults))?;
        *other = other.take().map(|other| self.installed(other, engine, &globals));
        Ok(())
    }
}
