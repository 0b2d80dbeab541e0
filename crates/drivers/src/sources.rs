//! Source drivers, one file each.

mod elasticsearch_bulk;
mod file;
mod generator;
#[cfg(feature = "grpc")]
mod google_pubsub;
mod hec;
mod internal;
mod journal;
#[cfg(feature = "kafka")]
mod kafka;
#[cfg(feature = "mqtt")]
mod mqtt;
mod network;
#[cfg(feature = "grpc")]
mod opentelemetry;
mod pacct;
mod pipe;
mod program;
#[cfg(feature = "python")]
mod python;
mod relp;
#[cfg(feature = "s3")]
mod s3;
mod stats_exporter;
mod stdin;
mod unix;
mod webhook;
mod wildcard_file;

use engine::driver::SourcePart;

/// All of them. A new one is its file, and its name here.
pub const PARTS: &[&[SourcePart]] = &[
    network::PARTS,
    unix::PARTS,
    file::PARTS,
    wildcard_file::PARTS,
    pacct::PARTS,
    pipe::PARTS,
    program::PARTS,
    journal::PARTS,
    relp::PARTS,
    #[cfg(feature = "mqtt")]
    mqtt::PARTS,
    #[cfg(feature = "kafka")]
    kafka::PARTS,
    hec::PARTS,
    elasticsearch_bulk::PARTS,
    webhook::PARTS,
    stats_exporter::PARTS,
    stdin::PARTS,
    internal::PARTS,
    generator::PARTS,
    #[cfg(feature = "python")]
    python::PARTS,
    #[cfg(feature = "grpc")]
    opentelemetry::PARTS,
    #[cfg(feature = "grpc")]
    google_pubsub::PARTS,
    #[cfg(feature = "s3")]
    s3::PARTS,
];

#[cfg(test)]
mod tests;
