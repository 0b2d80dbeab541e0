//! Option tables and their types: the configuration is data.
//!
//! A component (driver, parser, the global options ...) declares one [`Component`] table. [`read`] turns a
//! call of the configuration into typed [`Settings`] and reports everything that is wrong with it; the manual
//! and the editor schema come from the same table, so none of them can say anything else than the program
//! does.

mod catalogue;
mod codes;
mod cost;
mod effective;
mod encoding;
pub mod manual;
mod read;
pub mod sample;
mod settings;
mod spec;
mod value;

pub use catalogue::{Catalogue, INCLUDE_LIBRARY, Unavailable};
pub use codes::CODES;
pub use cost::{Cost, Measured};
pub use effective::{Effective, Source};
pub use encoding::{Decoder, Encoding};
pub use read::{ReadContext, read, read_options};
pub use settings::Settings;
pub use spec::{Component, Context, Group, Kind, OptionSpec, Positional, Preset, State, Table, Word};
pub use value::{Change, Pair, Port, Switch, TemplateText, Text, Value};
