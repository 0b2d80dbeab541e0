//! Rewrite operations, compiled: `set("$HOST" value("original")); subst("\\.example\\.com$" ""
//! value("HOST"));`.
//!
//! An operation is applied to a selection of a batch's records. Values are spans: copying one copies no text,
//! a literal is put into the batch once for all its messages, and a substitution that finds nothing appends
//! nothing.

mod compile;
mod group;
mod header;
mod op;
mod rewrite;
mod set;
mod subst;
mod time;

#[cfg(test)]
mod tests;

pub use compile::{Example, OPERATIONS, OperationInfo};
pub use rewrite::{Rewrite, Writes};

/// Stable codes of this crate: (code, title, what it means and what to do).
pub const CODES: &[(&str, &str, &str)] = &[
    (
        "R0101",
        "unknown rewrite operation",
        "No rewrite operation has this name. The message names the nearest one.",
    ),
    ("R0102", "unknown option of a rewrite operation", "The operation does not take this option."),
    (
        "R0103",
        "wrong argument of a rewrite operation",
        "The argument is missing, doubled or not of the kind the operation takes.",
    ),
    (
        "R0104",
        "a value that cannot be set",
        "Macros that are computed from the message cannot be set. Names of STRUCTURED-DATA are .SDATA.id.param.",
    ),
    (
        "R0105",
        "wrong pattern in a rewrite operation",
        "The pattern of subst() is not valid, see the X01xx codes; type(glob) cannot be used there.",
    ),
    ("R0106", "wrong template in a rewrite operation", "The template does not compile."),
    (
        "R0107",
        "no such time zone",
        "Zones are names of the time zone database (Europe/Budapest) or offsets (+02:00).",
    ),
    (
        "R0108",
        "a value out of range",
        "set-pri() takes 0 to 1023, set-severity() a name or 0 to 7, set-facility() a name or 0 to 127.",
    ),
    ("R0110", "too many names", "The table of names or tags is full."),
    (
        "R0113",
        "something that does nothing",
        "It is accepted because syslog-ng accepts it, but has no effect here.",
    ),
];
