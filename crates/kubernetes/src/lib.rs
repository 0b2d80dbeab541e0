//! The pods of a cluster, as the API server of Kubernetes tells of them: kept in memory for the parser
//! `kubernetes-pods()`, which asks for nothing over the network itself.
//!
//! Where the node is known, its pods are listed once and then followed by one request that never ends, so
//! they are known before their first message. Where it is not, each pod is asked for when a message of it
//! comes, and now and then again. All of that is done by the threads of [`guest`].

mod asked;
mod cache;
mod client;
mod events;
mod follow;
mod listed;
mod pod;
mod requests;
mod server;
mod trouble;

pub use client::{Statistics, statistics};
pub use server::{Surroundings, surroundings};

/// Lets the parser find pods; before the first configuration is read.
pub fn install() {
    parsers::kubernetes::pods::provide(client::open);
}

/// For the fuzz target: a stream of events in two pieces, a list, the name of a log.
pub fn read_anything(bytes: &[u8]) {
    let (first, rest) = bytes.split_at(bytes.len() / 2);
    let mut reader = events::Reader::default();
    for piece in [first, rest] {
        // What cannot be read ends the request.
        let _ = reader.read(piece, &mut |_| {});
    }
    let _ = listed::read(bytes);
    let _ = parsers::kubernetes::file_name::read(bytes);
}
