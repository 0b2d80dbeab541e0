//! Source drivers, one file each.

pub mod file;
pub mod generator;
pub mod internal;
pub mod journal;
pub mod network;
pub mod pipe;
pub mod program;
pub mod relp;
pub mod stdin;
pub mod unix;
pub mod wildcard_file;

use crate::options::sources as st;
use engine::driver::SourcePart;

/// All of them. A new one is its file, and its name here.
pub const PARTS: &[&[SourcePart]] = &[
    &[
        SourcePart::new(&st::NETWORK, network::network),
        SourcePart::new(&st::SYSLOG, network::syslog),
        SourcePart::new(&st::TCP, network::tcp),
        SourcePart::new(&st::TCP6, network::tcp6),
        SourcePart::new(&st::UDP, network::udp),
        SourcePart::new(&st::UDP6, network::udp6),
        SourcePart::new(&st::UDP_BALANCER, network::udp_balancer),
        SourcePart::new(&st::UNIX_STREAM, unix::unix_stream),
        SourcePart::new(&st::UNIX_DGRAM, unix::unix_dgram),
        SourcePart::new(&st::FILE, file::build),
        SourcePart::new(&st::WILDCARD_FILE, wildcard_file::build),
        SourcePart::new(&st::PIPE, pipe::build),
        SourcePart::new(&st::PROGRAM, program::build),
        SourcePart::new(&st::SYSTEMD_JOURNAL, journal::build),
        SourcePart::new(&st::STDIN, stdin::build),
        SourcePart::new(&st::INTERNAL, internal::build),
        SourcePart::new(&st::EXAMPLE_MSG_GENERATOR, generator::build),
    ],
    relp::PARTS,
];

#[cfg(test)]
pub mod tests;
