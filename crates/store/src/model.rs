//! The store against a model, on a disk that loses, tears, refuses and flips: what was safe is read again, in
//! order, once.

pub mod disk;
mod message;
mod sequence;
mod tests;
