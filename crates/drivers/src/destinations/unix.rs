//! `unix-stream()` and `unix-dgram()`: sends messages to a program on this machine.

use conf_schema::{Component, Context, Cost, Kind, Positional, Preset, Settings};
use delivery::datagram::{DatagramOptions, DatagramSink};
use delivery::dialing::DialOptions;
use delivery::single::{MakeSink, SingleDestination};
use delivery::stream::StreamSink;
use delivery::target::{Connect, Lookup, Route};
use delivery::writing::{self, Layout};
use diag::{Diagnostics, Reported};
use driver_options::output_groups::NO_MARKS;
use driver_options::output_groups::{DESTINATION, TEMPLATE, WRITER};
use driver_options::socket_groups::{CONNECT, SOCKET};
use driver_options::sockets::unix_socket_options;
use engine::Need;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use std::path::PathBuf;
use std::sync::Arc;

pub const PARTS: &[DestinationPart] = &[
    DestinationPart::new(&UNIX_STREAM, unix_stream).needing(needed),
    DestinationPart::new(&UNIX_DGRAM, unix_dgram).needing(needed),
];

const SOCKET_PATH: &[Positional] =
    &[Positional { name: "path", kind: Kind::Path, required: true, help: "the path of the socket" }];

static UNIX_STREAM: Component = Component {
    context: Context::Destination,
    name: "unix-stream",
    aliases: &[],
    positional: SOCKET_PATH,
    groups: &[&WRITER, &TEMPLATE, &DESTINATION, &CONNECT, &SOCKET],
    own: &[],
    presets: &[NO_MARKS, ("so-keepalive", Preset::Bool(false))],
    not_yet: &[],
    summary: "Sends lines to a program on this machine over a unix stream socket.",
    example: "unix-stream(\"/run/app/log\")",
    cost: Some(Cost::elsewhere("As `network()`.")),
};

static UNIX_DGRAM: Component = Component {
    context: Context::Destination,
    name: "unix-dgram",
    aliases: &[],
    positional: SOCKET_PATH,
    groups: &[&WRITER, &TEMPLATE, &DESTINATION, &CONNECT, &SOCKET],
    own: &[],
    presets: &[NO_MARKS, ("so-keepalive", Preset::Bool(false))],
    not_yet: &[],
    summary: "Sends datagrams to a program on this machine over a unix socket.",
    example: "unix-dgram(\"/run/systemd/journal/syslog\")",
    cost: Some(Cost::elsewhere("Many datagrams leave with one system call.")),
};

fn unix_stream(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    build("unix-stream", false, s, cx, diags)
}

fn unix_dgram(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    build("unix-dgram", true, s, cx, diags)
}

fn needed(s: &Settings) -> Vec<Need<'static>> {
    let peer = s.path("path").map(|path| Need::Peer { path: path.to_owned() });
    peer.into_iter().chain([Need::Connects(Vec::new())]).collect()
}

fn build(
    driver: &'static str,
    datagram: bool,
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let path = PathBuf::from(s.path("path").ok_or(Reported)?);
    let mut writer = writing::writer(s, cx, Layout::Network, diags)?;
    let connect = Connect { from: None, socket: unix_socket_options(s) };
    let time_reopen = writing::time_reopen(s);
    let close_on_input = s.bool("close-on-input").unwrap_or(true);
    let instance = path.display().to_string();
    let protocol = if datagram { "dgram" } else { "stream" };
    let key = writing::key(s, &mut writer, || format!("afsocket_dd.({protocol},AF_UNIX({instance}))"));
    let make: MakeSink = if datagram {
        let options = Arc::new(DatagramOptions { connect, time_reopen, spoof_source: false });
        Box::new(move |place| Box::new(DatagramSink::new(place, Lookup::path(&path), Arc::clone(&options))))
    } else {
        let options = Arc::new(DialOptions { connect, time_reopen, failback: None, secure: None });
        Box::new(move |place| {
            let route = Route::new(vec![Lookup::path(&path)]);
            Box::new(StreamSink::new(place, route, Arc::clone(&options), close_on_input))
        })
    };
    let keep_alive = s.bool("keep-alive").unwrap_or(true);
    let destination =
        SingleDestination::new((driver, instance), writer, writing::limits(s), keep_alive, make);
    Ok(DestinationDriver { key, destination: Arc::new(destination) })
}
