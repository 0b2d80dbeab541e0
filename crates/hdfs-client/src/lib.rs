//! Files of HDFS made of batches: written, synced to the disks of the cluster, found again after an outage.
//!
//! A batch is acknowledged when every datanode of its block has it on disk and the namenode knows the length
//! (hsync). When that fails, the lease of the file is taken back, and its length says what of the batch is
//! there: appending goes on behind that; without appending the messages that are there whole are delivered,
//! and the others go into a file of another name. So an outage doubles nothing.

mod batch;
mod cluster;
mod file;
mod judge;
mod landed;
mod name;
mod plan;
mod resources;
mod session;

pub use batch::{Load, load};
pub use cluster::Cluster;
pub use name::readable;
pub use plan::{Login, Plan};
pub use resources::{Properties, parse, read};
pub use session::serve;
