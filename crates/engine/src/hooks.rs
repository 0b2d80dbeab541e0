//! `hook-commands()`: commands that are run when a driver comes and goes. A reload that leaves them as they
//! are runs none.

use crate::environment::Environment;
use conf_schema::Settings;
use diag::Fault;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// The commands of one driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hooks {
    /// `<statement>#<n>` and whether it is a source.
    driver: String,
    startup: Option<String>,
    setup: Option<String>,
    teardown: Option<String>,
    shutdown: Option<String>,
}

impl Hooks {
    /// Of a driver's options; `None` when it has none.
    pub fn read(driver: String, settings: &Settings) -> Option<Hooks> {
        let block = settings.block("hook-commands")?;
        let command = |name: &str| block.text(name).filter(|text| !text.is_empty()).map(str::to_owned);
        Some(Hooks {
            driver,
            startup: command("startup"),
            setup: command("setup"),
            teardown: command("teardown"),
            shutdown: command("shutdown"),
        })
    }

    fn run(&self, hook: &str, command: Option<&String>) -> Result<(), Fault> {
        let Some(command) = command else { return Ok(()) };
        oplog::verbose(
            "Running a hook command",
            &[("driver", &self.driver), ("hook", &hook), ("command", command)],
        );
        let mut shell = Command::new("/bin/sh");
        Environment::Listed.give(&mut shell);
        let status = shell.arg("-c").arg(command).stdin(Stdio::null()).status();
        let wrong = match status {
            Ok(status) if status.success() => return Ok(()),
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        oplog::error(
            "A hook command failed",
            &[("driver", &self.driver), ("hook", &hook), ("command", command), ("status", &wrong)],
        );
        Err(Fault::misconfigured(format!("{}: {hook}() of hook-commands() failed: {wrong}", self.driver)))
    }

    fn begin(&self, is_first: bool) -> Result<(), Fault> {
        if is_first {
            self.run("startup", self.startup.as_ref())?;
        }
        self.run("setup", self.setup.as_ref())
    }

    fn end(&self, is_last: bool) {
        // Said already; nothing can be kept from ending.
        let _ = self.run("teardown", self.teardown.as_ref());
        if is_last {
            let _ = self.run("shutdown", self.shutdown.as_ref());
        }
    }
}

/// The commands of all drivers that run.
#[derive(Default)]
pub struct Hooked {
    running: Vec<Arc<Hooks>>,
    started: bool,
}

impl Hooked {
    /// Before the drivers of a plan are opened: what goes away is torn down, what comes is set up. What is
    /// wrong keeps the plan from taking effect, and all is as it was.
    pub fn begin(&self, plan: &[Arc<Hooks>]) -> Result<(), Fault> {
        self.gone(plan).for_each(|hooks| hooks.end(false));
        let mut begun = Vec::new();
        for hooks in self.fresh(plan) {
            if let Err(error) = hooks.begin(!self.started) {
                begun.iter().for_each(|hooks: &&Arc<Hooks>| hooks.end(!self.started));
                self.begin_again(plan);
                return Err(error);
            }
            begun.push(hooks);
        }
        Ok(())
    }

    /// The plan did not take effect for another reason.
    pub fn undo(&self, plan: &[Arc<Hooks>]) {
        self.fresh(plan).for_each(|hooks| hooks.end(!self.started));
        self.begin_again(plan);
    }

    /// The plan has taken effect.
    pub fn replace(&mut self, plan: Vec<Arc<Hooks>>) {
        self.running = plan;
        self.started = true;
    }

    fn fresh<'a>(&'a self, plan: &'a [Arc<Hooks>]) -> impl Iterator<Item = &'a Arc<Hooks>> {
        plan.iter().filter(|hooks| !self.running.contains(hooks))
    }

    fn gone<'a>(&'a self, plan: &'a [Arc<Hooks>]) -> impl Iterator<Item = &'a Arc<Hooks>> {
        self.running.iter().filter(|hooks| !plan.contains(hooks))
    }

    fn begin_again(&self, plan: &[Arc<Hooks>]) {
        // Said already when it fails; the drivers run on.
        self.gone(plan).for_each(|hooks| drop(hooks.begin(false)));
    }

    /// At the end, when all drivers are closed.
    pub fn stop(&mut self) {
        self.running.drain(..).for_each(|hooks| hooks.end(true));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Log(tempfile::TempDir);

    impl Log {
        fn hooks(&self, driver: &str, failing: &str) -> Arc<Hooks> {
            let path = self.0.path().join("log");
            let command = |name: &str| {
                let end = if name == failing { "; exit 3" } else { "" };
                Some(format!("echo {driver} {name} >> '{}'{end}", path.display()))
            };
            Arc::new(Hooks {
                driver: driver.to_owned(),
                startup: command("startup"),
                setup: command("setup"),
                teardown: command("teardown"),
                shutdown: command("shutdown"),
            })
        }

        fn take(&self) -> Vec<String> {
            let path = self.0.path().join("log");
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let _ = std::fs::remove_file(&path);
            text.lines().map(str::to_owned).collect()
        }
    }

    #[test]
    fn commands_run_when_drivers_come_and_go() {
        let log = Log(tempfile::tempdir().expect("folder"));
        let (a, b, c) = (log.hooks("a", ""), log.hooks("b", ""), log.hooks("c", ""));
        let mut hooked = Hooked::default();
        let first = vec![Arc::clone(&a), Arc::clone(&b)];
        hooked.begin(&first).expect("all run");
        hooked.replace(first);
        assert_eq!(log.take(), ["a startup", "a setup", "b startup", "b setup"]);
        let second = vec![log.hooks("a", ""), c];
        hooked.begin(&second).expect("all run");
        assert_eq!(log.take(), ["b teardown", "c setup"]);
        hooked.replace(second);
        let third = vec![log.hooks("d", "setup")];
        assert!(hooked.begin(&third).is_err());
        // All is as it was.
        assert_eq!(log.take(), ["a teardown", "c teardown", "d setup", "a setup", "c setup"]);
        hooked.stop();
        assert_eq!(log.take(), ["a teardown", "a shutdown", "c teardown", "c shutdown"]);
    }

    #[test]
    fn a_command_that_fails_keeps_the_plan_from_taking_effect() {
        let log = Log(tempfile::tempdir().expect("folder"));
        let hooked = Hooked::default();
        let error = hooked.begin(&[log.hooks("a", ""), log.hooks("b", "setup")]).expect_err("a failure");
        assert!(error.said().starts_with("b: setup() of hook-commands() failed"), "{error}");
        assert_eq!(log.take(), ["a startup", "a setup", "b startup", "b setup", "a teardown", "a shutdown"]);
    }
}
