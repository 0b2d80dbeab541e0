//! `relp()`: messages to a server that acknowledges each one; what it has not acknowledged is kept and sent again on the next connection.

mod session;
mod sink;

use conf_schema::Settings;
use delivery::balanced::{self, Balance};
use delivery::dialing::{DialOptions, Secured};
use delivery::single::{MakeSink, SingleDestination};
use delivery::target::{Connect, Route, given};
use delivery::writer::Writer;
use delivery::writing::{self, Layout};
use diag::Diagnostics;
use driver_options::ports;
use driver_options::secure;
use driver_options::sockets::socket_options;
use engine::driver::{BuildContext, DestinationDriver};
use sink::RelpSink;
use std::sync::Arc;

/// Messages on the way when window-size() is not given: enough for a fast sender and a peer at the other end of a continent.
const WINDOW: usize = 10_000;

pub fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    let ipv6 = s.choice("ip-protocol") == Some("6");
    let secure = secure::read(s, "", secure::Side::Destination, diags)?;
    let host = s.text("host")?.to_owned();
    given::check_family(&host, ipv6, "host", s, diags)?;
    let port = ports::port(s, "port", ports::RELP, false, diags)?;
    let connect =
        Connect { from: given::local_address(s, ipv6, false, diags)?, socket: socket_options(s, false) };
    let mut writer = writing::writer(s, cx, Layout::Network, diags)?;
    let (servers, failback) = given::servers(s, &host, ipv6, diags)?;
    let balance = Balance::read(s, ipv6, cx, diags)?;
    let failback = if balance.is_some() { Some(Balance::failback(failback)) } else { failback };
    let address = format!("{host}:{port}");
    let key = writing::key(s, &mut writer, || format!("relp_dd.({address})"));
    let time_reopen = writing::time_reopen(s);
    let secure = secure.map(Secured::new);
    let options = Arc::new(DialOptions { connect, time_reopen, failback, secure });
    let window = s.int("window-size").and_then(|n| usize::try_from(n).ok()).unwrap_or(WINDOW).max(1);
    let keep_alive = s.bool("keep-alive").unwrap_or(true);
    let target = |servers: Vec<String>, writer: Writer| {
        let instance = format!("relp,{}:{port}", servers.first().map_or("", String::as_str));
        let options = Arc::clone(&options);
        let make: MakeSink = Box::new(move |place| {
            Box::new(RelpSink::new(place, Route::hosts(&servers, port, ipv6), Arc::clone(&options), window))
        });
        SingleDestination::new(("relp", instance), writer, writing::limits(s), keep_alive, make)
    };
    let destination = balanced::targets(balance.as_ref(), servers, writer, cx.identity, target);
    Some(DestinationDriver { key, destination })
}

#[cfg(test)]
mod tests;
