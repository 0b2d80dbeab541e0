//! The error of who has said already what is wrong.

/// What is wrong stands in the [`Diagnostics`](crate::Diagnostics): whoever gets this stops, and says nothing
/// more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported;
