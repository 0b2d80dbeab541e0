//! What brings messages to a source that senders cannot speak to: another penstock, which takes them over
//! TCP.

use crate::cases::{Case, Intake};
use crate::place::Place;
use crate::process::Process;
use crate::receiver::Programs;
use crate::second;
use stdio::CommandError;

/// Which of a place's ports the feeder listens on.
const ENTRY: usize = 1;

/// Replaces the names of ports.
pub fn with_ports(text: &str, place: &Place) -> String {
    text.replace("PORT", &place.port.to_string()).replace("BETWEEN", &place.sink_port.to_string())
}

pub fn entry(place: &Place) -> u16 {
    place.sink_port_of(ENTRY)
}

/// Starts it; the measured one listens already.
pub fn start(
    case: &Case,
    intake: &Intake,
    place: &Place,
    programs: &Programs,
) -> Result<Process, CommandError> {
    let port = entry(place);
    let window = case
        .input
        .window
        .map(|window| format!(" max-connections({}) log-iw-size({})", window.connections, window.messages));
    let config = format!(
        "@version: 4.11\n@include \"scl.conf\"\noptions {{ keep-hostname(yes); use-dns(no); }};\n\
         source s_in {{ network(ip(\"127.0.0.1\") port({port}){}); }};\n\
         destination d_out {{ {}; }};\n\
         log {{ source(s_in); destination(d_out); flags(flow-control); }};\n",
        window.unwrap_or_default(),
        with_ports(intake.feeder, place)
    );
    second::start("feeder", &config, port, place, programs)
}
