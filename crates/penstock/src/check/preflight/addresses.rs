//! Ports that need privileges.

use conf_schema::Port;
use diag::Diagnostic;
use engine::Address;
use engine::compile::Configured;
use rustix::thread::{CapabilitySet, capabilities};

/// A port this program may not listen on.
pub fn privileged(address: &Address, driver: &Configured) -> Option<Diagnostic> {
    let port = address.address.port();
    if port == 0 || port >= first_free_port() || may_bind_any() {
        return None;
    }
    let what = match driver.settings.port("port") {
        Some(Port::Service(name)) => format!("port {name} ({port})"),
        Some(Port::Number(_)) => format!("port {port}"),
        None => format!("{port}, the default port of {}(),", driver.component.name),
    };
    let finding = Diagnostic::error("C0103", format!("{what} needs privileges"), driver.at("port"));
    let first = first_free_port();
    Some(finding.help(format!("give the service CAP_NET_BIND_SERVICE, or use a port from {first} on")))
}

/// Ports below this one are for the privileged.
pub fn first_free_port() -> u16 {
    let setting = std::fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start");
    setting.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(1024)
}

fn may_bind_any() -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::NET_BIND_SERVICE))
}
