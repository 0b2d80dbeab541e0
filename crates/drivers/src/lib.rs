//! Source and destination drivers that need no foreign client library, and the tables of their options.

mod codes;
pub mod destinations;
mod live;
pub mod options;
mod ports;
mod registry;
mod secure;
pub mod sources;
#[cfg(test)]
mod testing;
pub mod writer;

pub use codes::CODES;
pub use registry::REGISTRY;
