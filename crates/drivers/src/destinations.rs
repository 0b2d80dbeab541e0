//! Destination drivers, one file each.

pub mod file;
pub mod network;
pub mod pipe;
pub mod program;
pub mod relp;
pub mod stdout;
pub mod unix;
pub mod usertty;

use crate::options::destinations as dt;
use engine::driver::DestinationPart;

/// All of them. A new one is its file, and its name here.
pub const PARTS: &[&[DestinationPart]] = &[
    &[
        DestinationPart::new(&dt::FILE, file::build),
        DestinationPart::new(&dt::NETWORK, network::network),
        DestinationPart::new(&dt::SYSLOG, network::syslog),
        DestinationPart::new(&dt::TCP, network::tcp),
        DestinationPart::new(&dt::TCP6, network::tcp6),
        DestinationPart::new(&dt::UDP, network::udp),
        DestinationPart::new(&dt::UDP6, network::udp6),
        DestinationPart::new(&dt::UNIX_STREAM, unix::unix_stream),
        DestinationPart::new(&dt::UNIX_DGRAM, unix::unix_dgram),
        DestinationPart::new(&dt::PIPE, pipe::build),
        DestinationPart::new(&dt::PROGRAM, program::build),
        DestinationPart::new(&dt::STDOUT, stdout::build),
        DestinationPart::new(&dt::USERTTY, usertty::build),
    ],
    relp::PARTS,
];

#[cfg(test)]
mod tests;
