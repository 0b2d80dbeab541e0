//! Source and destination drivers that need no foreign client library, and the tables of their options.

pub mod destinations;
pub mod options;
mod registry;
pub mod sources;
pub mod writer;

pub use registry::REGISTRY;
