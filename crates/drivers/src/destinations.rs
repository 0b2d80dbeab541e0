//! Destination drivers, one file each, and what they share.

mod balanced;
mod datagram;
mod dialing;
mod disk_buffer;
pub mod file;
mod finish;
mod link;
pub mod network;
mod paced;
pub mod pipe;
pub mod program;
pub mod relp;
mod rltp;
mod sealing;
mod single;
pub mod stdout;
mod stream;
mod target;
mod unacked;
pub mod unix;
mod unreachable;
pub mod usertty;
pub mod writing;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
