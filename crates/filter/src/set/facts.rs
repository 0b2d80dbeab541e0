//! What was found out about a message while a set of filters decides.

/// Only what a filter that is still open asks for is looked up.
#[derive(Clone, Copy)]
pub struct Facts {
    /// The patterns that match HOST, PROGRAM, MESSAGE and values, the networks the sender is in, the tests of
    /// tags that hold, a bit for each.
    pub fields: [u64; FIELDS_MAX],
    /// Which text of its table each value is: a number or [`OTHER`].
    pub equals: [u16; VALUES_MAX],
}

/// Texts that patterns of one set look at; patterns on further ones are asked one by one.
pub const FIELDS_MAX: usize = 12;

/// Values of one set that are compared with texts; more of them are compared one by one.
pub const VALUES_MAX: usize = 8;

/// None of the texts of a table, which holds fewer than this.
pub const OTHER: u16 = u16::MAX;

impl Default for Facts {
    fn default() -> Facts {
        Facts { fields: [0; FIELDS_MAX], equals: [OTHER; VALUES_MAX] }
    }
}
