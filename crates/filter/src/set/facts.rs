//! What is known of a message while a set of filters decides, and the decisions remembered for what is known.

/// Facts about a message; `None` where nobody looked.
#[derive(Clone, Copy, PartialEq)]
pub struct Facts {
    pub pri: u16,
    pub fields: [Option<u64>; 3],
    /// Which text of its table each value is: a number, [`OTHER`] or [`UNASKED`].
    pub equals: [u16; VALUES_MAX],
}

/// Values of one set that are compared with texts; more of them are compared one by one.
pub const VALUES_MAX: usize = 4;

/// Nobody looked.
pub const UNASKED: u16 = u16::MAX;
/// None of the texts of the table, which holds fewer than this.
pub const OTHER: u16 = u16::MAX - 1;

impl Facts {
    pub fn of(pri: u16) -> Facts {
        Facts { pri, fields: [None; 3], equals: [UNASKED; VALUES_MAX] }
    }
}

/// What is known so far decides these.
#[derive(Clone, Copy, Default)]
pub struct Row {
    pub yes: u64,
    /// Filters that need more.
    pub open: u64,
    /// Of those: true when no pattern on MESSAGE matches, which is the usual case. Filters that ask for something else as well
    /// are in `other` instead.
    pub quiet: u64,
    pub other: u64,
    /// Patterns on MESSAGE the open ones may ask for.
    pub message: u64,
    /// The open ones may ask for HOST, for PROGRAM.
    pub host: bool,
    pub program: bool,
    /// A bit for each value whose text the open ones may ask for.
    pub equals: u8,
}

/// Rows for facts seen before: a table of fixed size.
pub struct Known {
    places: Vec<(Facts, Row)>,
}

/// A power of two.
const KNOWN: usize = 128;

impl Default for Known {
    fn default() -> Known {
        // No PRI is this large.
        let nobody = Facts::of(u16::MAX);
        Known { places: vec![(nobody, Row::default()); KNOWN] }
    }
}

impl Known {
    #[inline]
    pub fn row(&mut self, facts: &Facts, make: impl FnOnce() -> Row) -> Row {
        const K: u64 = 0x9e37_79b9_7f4a_7c15;
        let [host, program, _] = facts.fields.map(|f| f.unwrap_or(1 << 63));
        let [a, b, c, d] = facts.equals.map(u64::from);
        let equals = (a | b << 16 | c << 32 | d << 48).wrapping_mul(K).rotate_left(23);
        let hash =
            (u64::from(facts.pri) ^ host.rotate_left(17) ^ program.rotate_left(39) ^ equals).wrapping_mul(K);
        match self.places.get_mut((hash >> 57) as usize & (KNOWN - 1)) {
            Some((seen, row)) if seen == facts => *row,
            Some(place) => {
                *place = (*facts, make());
                place.1
            }
            None => make(),
        }
    }
}
