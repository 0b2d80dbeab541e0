//! Destination drivers, one file each.

pub mod file;
pub mod network;
pub mod pipe;
pub mod program;
pub mod relp;
pub mod stdout;
pub mod unix;
pub mod usertty;

#[cfg(test)]
mod tests;
