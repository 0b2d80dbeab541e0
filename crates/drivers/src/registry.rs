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
    ],
    destinations: &[(&dt::FILE, d::file::build)],
    options: &options::OPTIONS,
    catalogue: &options::CATALOGUE,
};
