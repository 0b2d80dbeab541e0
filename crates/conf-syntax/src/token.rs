//! The words of the language: what a token is, and how a bare word is told from a number and an operator.

use diag::Span;

use crate::ast::{CompareOp, Quote};

#[derive(Clone, Debug)]
pub struct Token {
    pub kind: Tok,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Tok {
    /// A bare word that is neither number nor operator, as written.
    Word(String),
    Str(String, Quote),
    Int(i64, String),
    Float(f64, String),
    Op(CompareOp),
    /// `=>`
    Arrow,
    /// `..`
    DotDot,
    /// `...`
    Ellipsis,
    Open(Bracket),
    Close(Bracket),
    Semicolon,
    /// Only in pragma lines.
    Colon,
    /// Only in pragma lines.
    Newline,
    Eof,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bracket {
    Round,
    Curly,
    Square,
}

impl Bracket {
    pub fn open(self) -> char {
        match self {
            Bracket::Round => '(',
            Bracket::Curly => '{',
            Bracket::Square => '[',
        }
    }

    pub fn close(self) -> char {
        match self {
            Bracket::Round => ')',
            Bracket::Curly => '}',
            Bracket::Square => ']',
        }
    }
}

impl Tok {
    /// For messages: "expected X, found ...".
    pub fn describe(&self) -> String {
        match self {
            Tok::Word(w) => format!("`{}`", shorten(w)),
            Tok::Str(s, Quote::Double) => format!("the string \"{}\"", shorten(s)),
            Tok::Str(s, Quote::Single) => format!("the string '{}'", shorten(s)),
            Tok::Int(_, t) | Tok::Float(_, t) => format!("the number {}", shorten(t)),
            Tok::Op(op) => format!("`{}`", op.symbol()),
            Tok::Arrow => "`=>`".into(),
            Tok::DotDot => "`..`".into(),
            Tok::Ellipsis => "`...`".into(),
            Tok::Open(b) => format!("`{}`", b.open()),
            Tok::Close(b) => format!("`{}`", b.close()),
            Tok::Semicolon => "`;`".into(),
            Tok::Colon => "`:`".into(),
            Tok::Newline => "the end of the line".into(),
            Tok::Eof => "the end of the file".into(),
        }
    }

    /// The text of anything that can be a name or a plain value.
    pub fn into_text(self) -> Option<String> {
        match self {
            Tok::Word(t) | Tok::Str(t, _) | Tok::Int(_, t) | Tok::Float(_, t) => Some(t),
            _ => None,
        }
    }
}

fn shorten(text: &str) -> String {
    const CHARS_MAX: usize = 40;
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    if text.chars().count() <= CHARS_MAX {
        return text.chars().map(clean).collect();
    }
    let mut short: String = text.chars().take(CHARS_MAX).map(clean).collect();
    short.push_str("...");
    short
}

/// Bytes a bare word is made of; a single `.` between two of them belongs to it too.
pub fn is_word_byte(b: u8) -> bool {
    !matches!(
        b,
        b'#' | b'\''
            | b'"'
            | b'('
            | b')'
            | b'{'
            | b'}'
            | b'['
            | b']'
            | b'\\'
            | b';'
            | b','
            | b'|'
            | b'.'
            | b'@'
            | b':'
            | 0..=0x20 | 0x7f
    )
}

/// A whole bare word as a token; Err when it is a number that does not fit.
pub fn classify(word: String) -> Result<Tok, String> {
    if word == "=>" {
        return Ok(Tok::Arrow);
    }
    if word.starts_with(['<', '=', '!', '>'])
        && let Some((_, op)) = CompareOp::ALL.iter().find(|(symbol, _)| *symbol == word)
    {
        return Ok(Tok::Op(*op));
    }
    match parse_int(&word) {
        Some(Ok(n)) => return Ok(Tok::Int(n, word)),
        Some(Err(TooLarge)) => return Err(word),
        None => {}
    }
    if is_float(&word)
        && let Ok(f) = word.parse::<f64>()
    {
        return Ok(Tok::Float(f, word));
    }
    Ok(Tok::Word(word))
}

/// An integer that does not fit into 64 bits.
struct TooLarge;

/// `None` when it is no integer.
fn parse_int(word: &str) -> Option<Result<i64, TooLarge>> {
    let (negative, digits) = match word.as_bytes().first()? {
        b'-' => (true, &word[1..]),
        b'+' => (false, &word[1..]),
        _ => (false, word),
    };
    let sign = |n: i128| i64::try_from(if negative { -n } else { n }).map_err(|_| TooLarge);
    if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        if hex.is_empty() || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        return Some(i128::from_str_radix(hex, 16).map_err(|_| TooLarge).and_then(sign));
    }
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let (number, suffix) = digits.split_at(count);
    if number.is_empty() {
        return None;
    }
    let octal = number.len() > 1 && number.starts_with('0') && number.bytes().all(|b| b < b'8');
    if octal && suffix.is_empty() {
        return Some(i128::from_str_radix(number, 8).map_err(|_| TooLarge).and_then(sign));
    }
    let multiplier = suffix_multiplier(suffix)?;
    let product = number.parse::<i128>().ok().and_then(|n| n.checked_mul(multiplier));
    Some(product.ok_or(TooLarge).and_then(sign))
}

/// `k m g` by 1000, with `i` by 1024, then an optional `b`; a lone `b` changes nothing.
fn suffix_multiplier(suffix: &str) -> Option<i128> {
    let lower = suffix.to_ascii_lowercase();
    let unit = lower.strip_suffix('b').unwrap_or(&lower);
    let (unit, base) = match unit.strip_suffix('i') {
        Some("") => return None,
        Some(unit) => (unit, 1024),
        None => (unit, 1000),
    };
    match unit {
        "" => Some(1),
        "k" => Some(base),
        "m" => Some(base * base),
        "g" => Some(base * base * base),
        _ => None,
    }
}

fn is_float(word: &str) -> bool {
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    let all_digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    digits.split_once('.').is_some_and(|(a, b)| all_digits(a) && all_digits(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, expected: Tok) {
        assert_eq!(classify(word.into()), Ok(expected), "{word}");
    }

    #[test]
    fn numbers_suffixes_and_bases() {
        for (word, n) in [
            ("0", 0),
            ("514", 514),
            ("-1", -1),
            ("+7", 7),
            ("0640", 0o640),
            ("-010", -8),
            ("089", 89),
            ("0x1F", 31),
            ("10k", 10_000),
            ("10K", 10_000),
            ("10ki", 10_240),
            ("10KiB", 10_240),
            ("10MB", 10_000_000),
            ("10MiB", 10_485_760),
            ("2g", 2_000_000_000),
            ("2GIB", 2 << 30),
            ("5b", 5),
            ("5B", 5),
        ] {
            check(word, Tok::Int(n, word.into()));
        }
        check("3.38", Tok::Float(3.38, "3.38".into()));
        check("-0.5", Tok::Float(-0.5, "-0.5".into()));
        assert!(classify("99999999999999999999".into()).is_err());
        assert!(classify("9999999999999g".into()).is_err());
    }

    #[test]
    fn words_that_look_like_numbers() {
        for word in
            ["10.0.0.1", "10x", "5ib", "1kk", "0x", "0xg", "-", "+", "1.2.3", "%", "*", "/var/log", "5bb"]
        {
            check(word, Tok::Word(word.into()));
        }
    }

    #[test]
    fn operators_are_whole_words() {
        for (symbol, op) in CompareOp::ALL {
            let expected = if symbol.starts_with(|c: char| c.is_alphabetic()) {
                Tok::Word(symbol.into())
            } else {
                Tok::Op(op)
            };
            check(symbol, expected);
        }
        check("=>", Tok::Arrow);
        check("=", Tok::Word("=".into()));
        check("==5", Tok::Word("==5".into()));
    }
}
