//! What an element of templates, filters and rewrites costs a message, in words: a part of its place in the
//! manual.

/// Told beside every element. The example `element_cost` of the crate `rewrite` measures each element by the
/// example it has in the manual.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    pub note: &'static str,
    /// The case of `penstock bench` that shows it at work.
    pub case: Option<&'static str>,
}

impl Cost {
    pub const fn of(note: &'static str) -> Cost {
        Cost { note, case: None }
    }

    pub const fn shown_by(self, case: &'static str) -> Cost {
        Cost { case: Some(case), ..self }
    }

    pub(crate) const ARGUMENTS: Cost = Cost::of(
        "its arguments are printed into a buffer of the worker and passed over once; with fixed arguments alone it is computed when \
         the configuration is read",
    );
    pub(crate) const PARSED: Cost = Cost::of(
        "its arguments are printed and read as numbers; with fixed arguments alone it is computed when the configuration is read",
    );
    pub(crate) const LIST: Cost = Cost::of(
        "one pass over the list; with fixed arguments alone it is computed when the configuration is read",
    );
    pub(crate) const CONTEXT: Cost = Cost::of("in proportion to the messages of the context");
}
