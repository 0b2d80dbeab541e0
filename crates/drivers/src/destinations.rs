//! Destination drivers, one file each, and what they share.

mod datagram;
pub mod file;
pub mod network;
mod paced;
mod single;
mod stream;
mod target;
pub mod writing;
