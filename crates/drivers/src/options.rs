//! The option tables of what is no driver: the global options, parallelize(), app-parser(); and what is
//! refused by name.

mod app_parser;
mod app_transform;
pub mod elements;
mod globals;
mod gone;
mod parallelize;
mod unavailable;

pub use app_parser::APP_PARSER;
pub use app_transform::APP_TRANSFORM;
pub use globals::OPTIONS;
pub use parallelize::PARALLELIZE;
pub use unavailable::UNAVAILABLE;

#[cfg(test)]
mod tests;
