//! Sockets as the configuration describes them: options, listeners, connections, and names of peers. No
//! message is looked at here.

pub mod descriptors;
pub mod inherited;
pub mod mmsg;
mod names;
mod options;
mod perms;
pub mod receive;
mod resolver;
mod reuseport;
mod room;
mod socket;
mod spoof;
pub mod unix_path;
mod unsent;

pub use names::{host_name_of, local_host_name, service_port};
pub use options::SocketOptions;
pub use perms::{Ownership, apply_ownership, create_parents};
pub use resolver::{DnsOptions, NameUse, Resolver};
pub use room::Room;
pub use socket::{
    bind_udp, bind_unix_datagram, connect_tcp, connect_udp, listen_tcp, listen_unix, resolve_target,
    try_address,
};
pub use spoof::{Spoofer, may_spoof};
pub use unsent::unacknowledged;
