//! Source drivers, one file each.

pub mod file;
pub mod generator;
pub mod internal;
pub mod journal;
pub mod network;
pub mod pipe;
pub mod program;
pub mod relp;
pub mod stdin;
pub mod unix;
pub mod wildcard_file;

#[cfg(test)]
pub mod tests;
