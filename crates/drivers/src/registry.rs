//! The list of all drivers. A new one is its file, its table in `options`, and a line here.

use crate::options::{self, destinations as dt, sources as st};
use crate::{destinations as d, sources as s};
use engine::driver::Registry;

pub static REGISTRY: Registry = Registry {
    sources: &[
        (&st::NETWORK, s::network::network),
        (&st::SYSLOG, s::network::syslog),
        (&st::TCP, s::network::tcp),
        (&st::TCP6, s::network::tcp6),
        (&st::UDP, s::network::udp),
        (&st::UDP6, s::network::udp6),
        (&st::UDP_BALANCER, s::network::udp_balancer),
        (&st::UNIX_STREAM, s::unix::unix_stream),
        (&st::UNIX_DGRAM, s::unix::unix_dgram),
        (&st::FILE, s::file::build),
        (&st::WILDCARD_FILE, s::wildcard_file::build),
        (&st::PIPE, s::pipe::build),
        (&st::PROGRAM, s::program::build),
        (&st::SYSTEMD_JOURNAL, s::journal::build),
        (&st::RELP, s::relp::build),
        (&st::STDIN, s::stdin::build),
        (&st::INTERNAL, s::internal::build),
        (&st::EXAMPLE_MSG_GENERATOR, s::generator::build),
    ],
    destinations: &[
        (&dt::FILE, d::file::build),
        (&dt::NETWORK, d::network::network),
        (&dt::SYSLOG, d::network::syslog),
        (&dt::TCP, d::network::tcp),
        (&dt::TCP6, d::network::tcp6),
        (&dt::UDP, d::network::udp),
        (&dt::UDP6, d::network::udp6),
        (&dt::UNIX_STREAM, d::unix::unix_stream),
        (&dt::UNIX_DGRAM, d::unix::unix_dgram),
        (&dt::PIPE, d::pipe::build),
        (&dt::PROGRAM, d::program::build),
        (&dt::RELP, d::relp::build),
        (&dt::STDOUT, d::stdout::build),
        (&dt::USERTTY, d::usertty::build),
    ],
    options: &options::OPTIONS,
    catalogue: &options::CATALOGUE,
};
