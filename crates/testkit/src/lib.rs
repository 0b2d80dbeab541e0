//! What tests of the whole need: the real binary in a folder of its own, fake peers, other receivers, the
//! ledger as oracle.
//!
//! Nothing here sleeps for a time: [`wait_until`] waits for a state. Ports come from [`ports::free_port`] and
//! stay reserved until the test program ends. Shares no code with the program under test, so that it cannot
//! share its mistakes.

pub mod browser;
pub mod collector;
pub mod hdfs;
pub mod hec;
pub mod http;
pub mod kafka;
pub mod kerberos;
pub mod kube;
pub mod lab;
pub mod ledger;
pub mod mariadb;
pub mod mongodb;
pub mod mosquitto;
pub mod otelcol;
pub mod otlp;
pub mod peers;
pub mod penstock;
pub mod ports;
pub mod postgres;
pub mod process;
pub mod proxy;
pub mod pubsub;
pub mod rabbitmq;
pub mod receivers;
pub mod redis;
pub mod relp;
pub mod s3;
pub mod scripted;
pub mod search;
pub mod sender;
pub mod skip;
pub mod snmp;
pub mod sockets;
pub mod sqs;
pub mod tunnels;
mod turns;
pub mod wait;
pub mod web;

pub use browser::Browser;
pub use collector::Collector;
pub use http::{HttpServer, Reply, Request};
pub use kube::ApiServer;
pub use lab::Lab;
pub use ledger::{Ledger, Row};
pub use mariadb::Mariadb;
pub use penstock::{Outcome, Penstock, ask, binary, root, run_command, use_binary};
pub use ports::free_port;
pub use postgres::Postgres;
pub use proxy::Proxy;
pub use relp::RelpSender;
pub use rustix::process::Signal;
pub use sender::Sender;
pub use skip::skip;
pub use tunnels::Tunnels;
pub use wait::{wait_until, wait_while_some};
