//! `ip()` and `port()`: where a network source listens.

use conf_schema::Settings;
use diag::{Diagnostics, Reported};
use driver_options::ports::Way;
use intake::inet;
use std::net::SocketAddr;

/// The address to listen on.
pub fn address(way: Way, ipv6: bool, s: &Settings, diags: &mut Diagnostics) -> Result<SocketAddr, Reported> {
    let port = way.port(s, diags)?;
    Ok(SocketAddr::new(inet::ip(s, ipv6, diags)?, port))
}
