//! The option tables of every driver and of the global options: what the configuration may say, and the manual.

mod app_parser;
pub mod destinations;
pub mod elements;
mod globals;
mod parallelize;
pub mod sources;
mod unavailable;

pub use app_parser::APP_PARSER;
pub use globals::OPTIONS;
pub use parallelize::PARALLELIZE;
pub use unavailable::UNAVAILABLE;

#[cfg(test)]
mod tests;
