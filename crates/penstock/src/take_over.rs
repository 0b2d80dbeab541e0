//! One process takes the place of another: planned restarts that refuse no connection and lose nothing.
//! docs/restart.md.

pub mod giver;
pub mod taker;
mod words;
