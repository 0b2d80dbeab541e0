//! Destination drivers, one file each.

#[cfg(feature = "amqp")]
mod amqp;
#[cfg(feature = "arrow-flight")]
mod arrow_flight;
#[cfg(feature = "grpc")]
mod bigquery;
#[cfg(feature = "grpc")]
mod clickhouse;
mod file;
#[cfg(feature = "grpc")]
mod google_pubsub_grpc;
#[cfg(feature = "hdfs")]
mod hdfs;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "kafka")]
mod kafka;
#[cfg(feature = "logstore")]
mod logstore;
#[cfg(feature = "grpc")]
mod loki;
#[cfg(feature = "mongodb")]
mod mongodb;
#[cfg(feature = "mqtt")]
mod mqtt;
mod network;
#[cfg(feature = "grpc")]
mod opentelemetry;
mod pipe;
mod program;
mod pseudofile;
#[cfg(feature = "python")]
mod python;
#[cfg(feature = "redis")]
mod redis;
mod relp;
#[cfg(feature = "riemann")]
mod riemann;
#[cfg(feature = "s3")]
mod s3;
#[cfg(feature = "smtp")]
mod smtp;
#[cfg(feature = "snmp")]
mod snmp;
#[cfg(feature = "sql")]
mod sql;
mod stdout;
#[cfg(feature = "stomp")]
mod stomp;
mod unix;
mod usertty;

use engine::driver::DestinationPart;

/// All of them. A new one is its file, and its name here.
pub const PARTS: &[&[DestinationPart]] = &[
    file::PARTS,
    #[cfg(feature = "http")]
    http::PARTS,
    network::PARTS,
    unix::PARTS,
    pipe::PARTS,
    program::PARTS,
    pseudofile::PARTS,
    relp::PARTS,
    stdout::PARTS,
    usertty::PARTS,
    #[cfg(feature = "kafka")]
    kafka::PARTS,
    #[cfg(feature = "sql")]
    sql::PARTS,
    #[cfg(feature = "redis")]
    redis::PARTS,
    #[cfg(feature = "amqp")]
    amqp::PARTS,
    #[cfg(feature = "mqtt")]
    mqtt::PARTS,
    #[cfg(feature = "stomp")]
    stomp::PARTS,
    #[cfg(feature = "mongodb")]
    mongodb::PARTS,
    #[cfg(feature = "python")]
    python::PARTS,
    #[cfg(feature = "grpc")]
    opentelemetry::PARTS,
    #[cfg(feature = "grpc")]
    loki::PARTS,
    #[cfg(feature = "grpc")]
    clickhouse::PARTS,
    #[cfg(feature = "grpc")]
    bigquery::PARTS,
    #[cfg(feature = "arrow-flight")]
    arrow_flight::PARTS,
    #[cfg(feature = "grpc")]
    google_pubsub_grpc::PARTS,
    #[cfg(feature = "logstore")]
    logstore::PARTS,
    #[cfg(feature = "s3")]
    s3::PARTS,
    #[cfg(feature = "hdfs")]
    hdfs::PARTS,
    #[cfg(feature = "smtp")]
    smtp::PARTS,
    #[cfg(feature = "riemann")]
    riemann::PARTS,
    #[cfg(feature = "snmp")]
    snmp::PARTS,
];

#[cfg(test)]
mod tests;
