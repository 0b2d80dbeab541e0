//! What parsers read texts with, for those that make other things of what is found.

/// Keys and values.
pub mod kv {
    pub use crate::kv::outlined::{each as by_outline, read as some_by_outline};
    pub use crate::kv::scan::{Key, Scanner, Text, unescape};
}

/// Keys that are looked for.
pub mod names {
    pub use crate::names::Table;
}

/// Fields between delimiters.
pub mod csv {
    pub use crate::csv::scan::{Escape, Field, Scanner, Take};
}

/// Events of ArcSight and QRadar.
pub mod event {
    pub use crate::event_format::scan::{delimited, delimiter, pairs, unescape};
}

/// The inside of tags, and what texts stand for.
pub mod xml {
    pub use crate::xml::entity::{end as reference_end, resolve};
    pub use crate::xml::tag::{Attribute, Next, blanks, name, next, passed_over};
}

/// Dates by the directives of strptime.
pub mod date {
    pub use crate::date::format::Format;
    pub use crate::date::read::Fields;
}

/// Counters by name and labels.
pub mod metrics {
    pub use crate::metrics_probe::registry::{Cell, cell, left_out, level};
}
