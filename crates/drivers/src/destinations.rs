//! Destination drivers, one file each, and what they share.

pub mod file;
pub mod writing;
