//! Which capability each statement needs, and why: what `check` says.
//!
//! Files are tried with the rights of whoever runs the check, without the capabilities that open all of them.

use engine::compile::{Configured, Plan};
use engine::driver::Start;
use engine::{Address, Need, Privilege};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

use super::OPENS_ALL;
use super::needed::Needed;
use crate::configuration::Configuration;

/// As systemd writes them.
fn names(set: CapabilitySet) -> String {
    super::text::names(set).to_ascii_uppercase()
}

/// One statement's need.
pub struct Told {
    /// `fw.conf:12 network()`, where the user wrote it.
    pub at: String,
    /// `CAP_NET_BIND_SERVICE`, several with commas between.
    pub capabilities: String,
    pub why: String,
    /// It works without, and does less.
    pub optional: bool,
}

/// What the statements of a configuration need, in the order of the text.
pub fn told(configuration: &Configuration, plan: Option<&Plan>) -> Vec<Told> {
    let needed = without_opening_all(|| Needed::of(configuration, plan));
    let mut all = Vec::new();
    for reason in needed.reasons.iter().filter(|reason| reason.at.is_none()) {
        let at = "the configuration".to_owned();
        all.push(Told { at, capabilities: names(reason.set), why: reason.what_for.clone(), optional: false });
    }
    for driver in &configuration.drivers {
        let at = place(configuration, driver);
        for reason in needed.reasons.iter().filter(|reason| reason.at == Some(driver.span)) {
            let (capabilities, why) = (names(reason.set), reason.what_for.clone());
            all.push(Told { at: at.clone(), capabilities, why, optional: false });
        }
        let opened = plan.and_then(|plan| plan.opened_by(driver)).map_or_else(Vec::new, Start::needs);
        for need in opened.into_iter().chain(driver.needs()) {
            if let Some((set, why)) = better_with(&need) {
                all.push(Told {
                    at: at.clone(),
                    capabilities: names(set),
                    why: why.to_owned(),
                    optional: true,
                });
            }
        }
    }
    all
}

/// What goes with a capability, and less well without.
fn better_with(need: &Need<'_>) -> Option<(CapabilitySet, &'static str)> {
    match need {
        Need::Address(Address { udp: true, .. }) | Need::Privilege(Privilege::LargeBuffers) => {
            Some((CapabilitySet::NET_ADMIN, "receive buffers beyond the system's limit"))
        }
        Need::Privilege(Privilege::Processes) => {
            Some((CapabilitySet::SYS_PTRACE, ".unix.exe of other users' programs"))
        }
        Need::Privilege(Privilege::Commands) => Some((
            CapabilitySet::SETUID | CapabilitySet::SETGID | CapabilitySet::KILL,
            "commands that go on as another user",
        )),
        _ => None,
    }
}

fn place(configuration: &Configuration, driver: &Configured) -> String {
    let sources = &configuration.parsed.sources;
    let location = sources.locate(sources.outermost(driver.span));
    format!("{}:{} {}()", location.file, location.line, driver.component.name)
}

/// Looks with the rights of the user alone. There must be one thread only; where that cannot be done, it
/// looks with all.
fn without_opening_all<R>(look: impl FnOnce() -> R) -> R {
    let Ok(before) = capabilities(None) else { return look() };
    let blind = CapabilitySets { effective: before.effective - OPENS_ALL, ..before };
    let is_blind = set_capabilities(None, blind).is_ok();
    let found = look();
    if is_blind {
        // What was effective is permitted still.
        let _ = set_capabilities(None, before);
    }
    found
}
