//! Rules of the house that are checked instead of written down: in prose they rot, in `cargo test` they hold.

pub mod dependencies;
pub mod fuzz;
pub mod layers;
pub mod leaves;
pub mod licences;
pub mod limits;
pub mod shipped;
pub mod sources;
pub mod tables;
pub mod words;
pub mod workspace;
