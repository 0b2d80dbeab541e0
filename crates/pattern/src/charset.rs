//! Sets of bytes or characters as sorted ranges.

/// Sorted, merged, inclusive ranges of byte values or code points.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CharSet {
    ranges: Vec<(u32, u32)>,
}

impl CharSet {
    pub fn of(ranges: &[(u32, u32)]) -> CharSet {
        let mut set = CharSet { ranges: ranges.to_vec() };
        set.canonical();
        set
    }

    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    pub fn add(&mut self, from: u32, to: u32) {
        self.ranges.push((from, to));
        self.canonical();
    }

    pub fn union(&mut self, other: &CharSet) {
        self.ranges.extend_from_slice(&other.ranges);
        self.canonical();
    }

    pub fn contains(&self, c: u32) -> bool {
        self.ranges.iter().any(|(a, b)| *a <= c && c <= *b)
    }

    /// Everything up to `max` that is not in the set.
    pub fn negated(&self, max: u32) -> CharSet {
        let mut out = Vec::new();
        let mut next = 0;
        for (from, to) in &self.ranges {
            if *from > next {
                out.push((next, from - 1));
            }
            next = to + 1;
        }
        if next <= max {
            out.push((next, max));
        }
        CharSet { ranges: out }
    }

    /// Adds the other case of every ASCII letter.
    pub fn fold_ascii(&mut self) {
        for c in b'a'..=b'z' {
            let (lower, upper) = (u32::from(c), u32::from(c.to_ascii_uppercase()));
            match (self.contains(lower), self.contains(upper)) {
                (true, false) => self.ranges.push((upper, upper)),
                (false, true) => self.ranges.push((lower, lower)),
                _ => {}
            }
        }
        self.canonical();
    }

    fn canonical(&mut self) {
        self.ranges.sort_unstable();
        let mut out: Vec<(u32, u32)> = Vec::with_capacity(self.ranges.len());
        for (from, to) in self.ranges.drain(..) {
            match out.last_mut() {
                Some(last) if from <= last.1.saturating_add(1) => last.1 = last.1.max(to),
                _ => out.push((from, to)),
            }
        }
        self.ranges = out;
    }
}

pub fn digit() -> CharSet {
    CharSet::of(&[(0x30, 0x39)])
}

/// `\s`: PCRE2 counts the vertical tab.
pub fn space() -> CharSet {
    CharSet::of(&[(0x09, 0x0d), (0x20, 0x20)])
}

pub fn word() -> CharSet {
    CharSet::of(&[(0x30, 0x39), (0x41, 0x5a), (0x5f, 0x5f), (0x61, 0x7a)])
}

/// `\h` among bytes.
pub fn horizontal() -> CharSet {
    CharSet::of(&[(0x09, 0x09), (0x20, 0x20), (0xa0, 0xa0)])
}

/// `\v` among bytes.
pub fn vertical() -> CharSet {
    CharSet::of(&[(0x0a, 0x0d), (0x85, 0x85)])
}

/// `[:name:]` in the C locale.
pub fn posix(name: &str) -> Option<CharSet> {
    Some(match name {
        "alpha" => CharSet::of(&[(0x41, 0x5a), (0x61, 0x7a)]),
        "lower" => CharSet::of(&[(0x61, 0x7a)]),
        "upper" => CharSet::of(&[(0x41, 0x5a)]),
        "alnum" => CharSet::of(&[(0x30, 0x39), (0x41, 0x5a), (0x61, 0x7a)]),
        "ascii" => CharSet::of(&[(0, 0x7f)]),
        "blank" => CharSet::of(&[(0x09, 0x09), (0x20, 0x20)]),
        "cntrl" => CharSet::of(&[(0, 0x1f), (0x7f, 0x7f)]),
        "digit" => digit(),
        "graph" => CharSet::of(&[(0x21, 0x7e)]),
        "print" => CharSet::of(&[(0x20, 0x7e)]),
        "punct" => CharSet::of(&[(0x21, 0x2f), (0x3a, 0x40), (0x5b, 0x60), (0x7b, 0x7e)]),
        "space" => space(),
        "word" => word(),
        "xdigit" => CharSet::of(&[(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)]),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negation_is_an_involution() {
        for set in [digit(), space(), word(), vertical(), CharSet::default(), CharSet::of(&[(0, 255)])] {
            assert_eq!(set.negated(255).negated(255), set);
        }
    }

    #[test]
    fn folding_adds_the_other_case() {
        let mut set = CharSet::of(&[(0x61, 0x63), (0x5a, 0x5a)]);
        set.fold_ascii();
        assert_eq!(set, CharSet::of(&[(0x41, 0x43), (0x5a, 0x5a), (0x61, 0x63), (0x7a, 0x7a)]));
    }
}
