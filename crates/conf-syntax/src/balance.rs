//! Finds the end of bracketed text without reading it: strings and comments are respected, nothing else is
//! looked at.

use crate::ast::Quote;

/// Feed it bytes, the opening bracket first; it says when the matching closing bracket has come.
#[derive(Clone)]
pub struct Balance {
    open: u8,
    close: u8,
    depth: usize,
    state: State,
    /// Where texts may stand between slashes: what came before.
    before: Option<Before>,
}

/// What stands before a slash: behind a value it divides, else it begins a text.
#[derive(Clone, Copy, Default)]
struct Before {
    is_value: bool,
    /// The last letters of the word that stands there, 0 behind something else.
    word: u64,
    /// The byte before.
    byte: u8,
}

/// Words behind which no value stands.
const OPERATORS: [&[u8]; 13] =
    [b"or", b"and", b"not", b"in", b"lt", b"le", b"eq", b"ne", b"ge", b"gt", b"case", b"if", b"elif"];

impl Before {
    fn note(&mut self, b: u8) {
        self.byte = b;
        if b.is_ascii_alphanumeric() || b == b'_' {
            self.word = self.word << 8 | u64::from(b);
            self.is_value = true;
        } else if !b.is_ascii_whitespace() {
            self.is_value = matches!(b, b')' | b']' | b'}' | b'"' | b'\'' | b'/');
            self.word = 0;
        } else if self.word != 0 {
            let is = |known: &&[u8]| known.iter().fold(0, |sum, b| sum << 8 | u64::from(*b)) == self.word;
            self.is_value = !OPERATORS.iter().any(is);
            self.word = 0;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Plain,
    Comment,
    Double,
    DoubleEscape,
    Single,
    Slash,
    SlashEscape,
    /// `${...}`
    Name,
}

impl Balance {
    pub fn new(open: u8, close: u8) -> Balance {
        Balance { open, close, depth: 0, state: State::Plain, before: None }
    }

    /// Braces around expressions: there are texts between slashes, too.
    pub fn of_expressions() -> Balance {
        Balance { before: Some(Before::default()), ..Balance::new(b'{', b'}') }
    }

    /// Parentheses around expressions.
    pub fn of_arguments() -> Balance {
        Balance { before: Some(Before::default()), ..Balance::new(b'(', b')') }
    }

    /// Not inside a string or comment.
    pub fn is_plain(&self) -> bool {
        self.state == State::Plain
    }

    pub fn is_comment(&self) -> bool {
        self.state == State::Comment
    }

    /// Behind a backslash in double quotes.
    pub fn is_escape(&self) -> bool {
        self.state == State::DoubleEscape
    }

    /// The string it is in.
    pub fn quoting(&self) -> Option<Quote> {
        match self.state {
            State::Double | State::DoubleEscape => Some(Quote::Double),
            State::Single => Some(Quote::Single),
            _ => None,
        }
    }

    pub fn open(&self) -> u8 {
        self.open
    }

    /// True when `b` is the closing bracket that ends the text.
    pub fn feed(&mut self, b: u8) -> bool {
        let begins_name =
            self.state == State::Plain && b == b'{' && self.before.is_some_and(|w| w.byte == b'$');
        let begins_text = self.state == State::Plain && b == b'/' && self.before.is_some_and(|w| !w.is_value);
        if matches!(self.state, State::Plain | State::Name)
            && let Some(before) = &mut self.before
        {
            before.note(b);
        }
        self.state = match (self.state, b) {
            (State::Plain, _) if begins_name => State::Name,
            (State::Name, b'}') => State::Plain,
            (State::Plain, _) if begins_text => State::Slash,
            (State::Slash, b'/') => State::Plain,
            (State::Slash, b'\\') => State::SlashEscape,
            (State::SlashEscape, _) => State::Slash,
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
        !matches!(self.state, State::Plain | State::Comment)
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
    fn texts_between_slashes_hide_everything() {
        let check = |text: &str, expected: Option<usize>| {
            let mut balance = Balance::of_expressions();
            let found = text.bytes().position(|b| balance.feed(b));
            assert_eq!(found.map(|at| at + 1), expected, "{text}");
        };
        check("{ x =~ /}\"'#/; }z", Some(16));
        check("{ x = a / b; } /", Some(14));
        check("{ f(1)/2; [/}/]; }", Some(18));
        check("{ y or /}/; case /\\/}/: }", Some(25));
        check("{ /}", None);
        // Names in braces may have anything in them.
        check("{ ${a\"b} = ${c'd} / ${e#f}; }", Some(29));
        check("{ ${g{h} + $i; /}/ =~ $j{}}", Some(27));
        check("{ ${ }", None);
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
