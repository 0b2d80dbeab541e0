//! Destination drivers, one file each.

mod file;
mod network;
mod pipe;
mod program;
mod relp;
mod stdout;
mod unix;
mod usertty;

use engine::driver::DestinationPart;

/// All of them. A new one is its file, and its name here.
pub const PARTS: &[&[DestinationPart]] = &[
    file::PARTS,
    network::PARTS,
    unix::PARTS,
    pipe::PARTS,
    program::PARTS,
    relp::PARTS,
    stdout::PARTS,
    usertty::PARTS,
];

#[cfg(test)]
mod tests;
