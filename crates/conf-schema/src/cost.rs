//! What a component costs on the message path, in words, and the benchmark that shows it.

/// What the cost of a component depends on, and what measures it.
#[derive(Debug)]
pub struct Cost {
    pub note: &'static str,
    pub measured: Measured,
}

#[derive(Debug)]
pub enum Measured {
    /// Cases of `penstock bench`, with commas between them.
    Bench(&'static str),
    /// The inputs under the component's name in the example `parser_cost` of the parsers.
    Example,
    /// No case of its own: the component is there for small numbers of messages, or does what another one
    /// does.
    Elsewhere,
}

impl Cost {
    pub const fn bench(note: &'static str, cases: &'static str) -> Cost {
        Cost { note, measured: Measured::Bench(cases) }
    }

    pub const fn example(note: &'static str) -> Cost {
        Cost { note, measured: Measured::Example }
    }

    pub const fn elsewhere(note: &'static str) -> Cost {
        Cost { note, measured: Measured::Elsewhere }
    }
}
