//! Finds the end of bracketed text without reading it: strings and comments are respected, nothing else is
//! looked at.

/// Feed it bytes, the opening bracket first; it says when the matching closing bracket has come.
pub struct Balance {
    open: u8,
    close: u8,
    depth: usize,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Plain,
    Comment,
    Double,
    DoubleEscape,
    Single,
}

impl Balance {
    pub fn new(open: u8, close: u8) -> Balance {
        Balance { open, close, depth: 0, state: State::Plain }
    }

    /// True when `b` is the closing bracket that ends the text.
    pub fn feed(&mut self, b: u8) -> bool {
        self.state = match (self.state, b) {
            (State::Plain, b'#') => State::Comment,
            (State::Plain, b'"') => State::Double,
            (State::Plain, b'\'') => State::Single,
            (State::Comment, b'\n') | (State::Double, b'"') | (State::Single, b'\'') => State::Plain,
            (State::Double, b'\\') => State::DoubleEscape,
            (State::DoubleEscape, _) => State::Double,
            (State::Plain, _) if b == self.open => {
                self.depth += 1;
                State::Plain
            }
            (State::Plain, _) if b == self.close => {
                self.depth = self.depth.saturating_sub(1);
                return self.depth == 0;
            }
            (state, _) => state,
        };
        false
    }

    /// The text ended inside a string.
    pub fn in_string(&self) -> bool {
        matches!(self.state, State::Double | State::DoubleEscape | State::Single)
    }
}

/// Index after the bracket that closes the one at `start`, if it is closed.
pub fn balanced_end(text: &[u8], start: usize, open: u8, close: u8) -> Option<usize> {
    let mut balance = Balance::new(open, close);
    text.iter().enumerate().skip(start).find(|(_, b)| balance.feed(**b)).map(|(i, _)| i + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<usize>) {
        assert_eq!(balanced_end(text.as_bytes(), 0, b'(', b')'), expected, "{text}");
    }

    #[test]
    fn strings_and_comments_hide_brackets() {
        check("()x", Some(2));
        check("(a(b)c)", Some(7));
        check("(\")\")", Some(5));
        check("(\"\\\")\")", Some(7));
        check("(')')", Some(5));
        check("('\\')", Some(5));
        check("(# )\n)", Some(6));
        check("(", None);
        check("(\")", None);
    }
}
