//! What whoever speaks to brokers of Kafka needs, to write there or to read: connections with logins and TLS,
//! and properties by librdkafka's names.

mod connection;
mod connections;
mod dial;
mod login;
mod properties;
mod renewal;

pub use connection::{Connection, Dial, News};
pub use connections::{Broker, Connections};
pub use dial::{dial, servers};
pub use properties::{Properties, Reads, Role};

/// A broker, as the configuration names it: host and port.
pub type Server = (String, u16);
