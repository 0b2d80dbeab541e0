//! Source and destination drivers that need no foreign client library, and the tables of their options.

pub mod destinations;
pub mod options;
mod registry;
pub mod sources;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use driver_options::CODES;
#[cfg(feature = "hdfs")]
pub use guest::wait_for_leaves;
pub use registry::REGISTRY;
