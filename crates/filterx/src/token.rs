//! Text to tokens.

use crate::ast::{Extent, Quote};

#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    Word(String),
    /// `$name`
    Message(String),
    /// Its sign is a token of its own.
    Integer(u64),
    Double(f64),
    Text(Vec<u8>, Quote),
    Sign(&'static str),
    End,
}

impl Token {
    pub fn describe(&self) -> String {
        match self {
            Token::Word(word) => format!("`{word}`"),
            Token::Message(name) => format!("`${name}`"),
            Token::Integer(n) => format!("`{n}`"),
            Token::Double(n) => format!("`{n:?}`"),
            Token::Text(..) => "a text".to_owned(),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end of the block".to_owned(),
        }
    }

    /// Whether a value may end with it: then a slash divides, and begins no text.
    fn ends_value(&self) -> bool {
        match self {
            Token::Word(word) => !matches!(
                word.as_str(),
                "or" | "and"
                    | "not"
                    | "in"
                    | "lt"
                    | "le"
                    | "eq"
                    | "ne"
                    | "ge"
                    | "gt"
                    | "case"
                    | "if"
                    | "elif"
            ),
            Token::Sign(sign) => matches!(*sign, ")" | "]" | "}"),
            Token::End => false,
            _ => true,
        }
    }
}

/// Longest first.
const SIGNS: &[&str] = &[
    "=??", "===", "!==", ":??", "==", "!=", "=~", "!~", "<=", ">=", "+=", "??", "?:", "..", "=", "<", ">",
    "+", "-", "*", "/", "%", "?", ":", ".", "(", ")", "[", "]", "{", "}", ",", ";",
];

/// What no token begins with, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrong {
    pub message: String,
    pub at: Extent,
    /// It was meant to be a value.
    pub is_value: bool,
    /// It is a quote or brace without an end.
    pub is_unclosed: bool,
}

pub struct Lexer<'a> {
    text: &'a str,
    at: usize,
    after_value: bool,
    is_unclosed: bool,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, at: 0, after_value: false, is_unclosed: false }
    }

    /// The next token; where there is none, what is wrong: the text before it is passed over.
    pub fn next(&mut self) -> (Result<Token, Wrong>, Extent) {
        self.blanks();
        let start = self.at;
        let is_value =
            self.rest().starts_with(|c: char| c.is_ascii_digit() || matches!(c, '"' | '\'' | '/' | '$'));
        let token = self.token();
        let at = Extent { start: start as u32, end: self.at as u32 };
        self.after_value = token.as_ref().map_or(is_value, Token::ends_value);
        let is_unclosed = self.is_unclosed;
        (token.map_err(|message| Wrong { message, at, is_value, is_unclosed }), at)
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn blanks(&mut self) {
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start().len();
            self.at += blanks;
            if !self.rest().starts_with('#') {
                return;
            }
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    fn token(&mut self) -> Result<Token, String> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(Token::End) };
        match first {
            '"' => self.double_quoted(),
            '\'' => self.quoted('\''),
            '/' if !self.after_value => self.quoted('/'),
            '$' => self.message(),
            '0'..='9' => self.number(),
            c if c.is_ascii_alphabetic() || c == '_' => Ok(Token::Word(self.word().to_owned())),
            _ => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => {
                    self.at += sign.len();
                    Ok(Token::Sign(sign))
                }
                None => {
                    self.at += first.len_utf8();
                    Err(format!("`{first}` means nothing here"))
                }
            },
        }
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let len = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        self.at += len;
        rest.get(..len).unwrap_or_default()
    }

    fn message(&mut self) -> Result<Token, String> {
        self.at += 1;
        if let Some(inside) = self.rest().strip_prefix('{') {
            let Some(end) = inside.find('}') else {
                return Err(self.unclosed("${"));
            };
            self.at += end + 2;
            return match inside.get(..end) {
                Some(name) if !name.is_empty() => Ok(Token::Message(name.to_owned())),
                _ => Err("a name is missing between the braces".to_owned()),
            };
        }
        let blanks = self.rest().len() - self.rest().trim_start().len();
        self.at += blanks;
        match self.word() {
            "" => Err("a name is missing after `$`".to_owned()),
            name if name.starts_with(|c: char| c.is_ascii_digit()) => {
                Err(format!("write `${{{name}}}`: a name without braces begins with a letter"))
            }
            name => Ok(Token::Message(name.to_owned())),
        }
    }

    fn number(&mut self) -> Result<Token, String> {
        let rest = self.rest();
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        if let Some(hex) = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")) {
            let len = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
            self.at += 2 + len;
            let value = u64::from_str_radix(hex.get(..len).unwrap_or_default(), 16).ok();
            return value.filter(|v| *v <= i64::MAX as u64).map(Token::Integer).ok_or_else(out_of_range);
        }
        let whole = digits(rest);
        let behind = rest.get(whole..).unwrap_or_default();
        if let Some(fraction) =
            behind.strip_prefix('.').filter(|f| f.starts_with(|c: char| c.is_ascii_digit()))
        {
            let len = whole + 1 + digits(fraction);
            self.at += len;
            self.no_word_behind()?;
            return rest.get(..len).and_then(|n| n.parse().ok()).map(Token::Double).ok_or_else(out_of_range);
        }
        self.at += whole;
        let text = rest.get(..whole).unwrap_or_default();
        let octal = text.len() > 1 && text.starts_with('0') && !text.contains(['8', '9']);
        let value = u64::from_str_radix(text, if octal { 8 } else { 10 }).map_err(|_| out_of_range())?;
        let suffix = self.word();
        let factor = factor_of(suffix).ok_or_else(|| format!("`{suffix}` is no unit of a number"))?;
        let value = value.checked_mul(factor).filter(|v| *v <= 1 << 63).ok_or_else(out_of_range)?;
        Ok(Token::Integer(value))
    }

    fn no_word_behind(&mut self) -> Result<(), String> {
        match self.word() {
            "" => Ok(()),
            word => Err(format!("`{word}` directly behind a number; there are no exponents")),
        }
    }

    /// `'...'`, where nothing is escaped, and `/.../`, where only a slash is.
    fn quoted(&mut self, quote: char) -> Result<Token, String> {
        let inside = self.rest().get(1..).unwrap_or_default();
        let mut out = Vec::new();
        let mut bytes = inside.bytes().enumerate();
        while let Some((at, byte)) = bytes.next() {
            if byte == quote as u8 {
                self.at += at + 2;
                let quote = if quote == '/' { Quote::Slash } else { Quote::Single };
                return Ok(Token::Text(out, quote));
            }
            if byte == b'\\' && quote == '/' {
                match bytes.next() {
                    Some((_, b'/')) => out.push(b'/'),
                    Some((_, other)) => out.extend_from_slice(&[b'\\', other]),
                    None => out.push(b'\\'),
                }
                continue;
            }
            out.push(byte);
        }
        let quote = if quote == '/' { "/" } else { "'" };
        Err(self.unclosed(quote))
    }

    /// Nothing of the text is left.
    fn unclosed(&mut self, what: &str) -> String {
        self.at = self.text.len();
        self.is_unclosed = true;
        format!("this `{what}` is never closed")
    }

    fn double_quoted(&mut self) -> Result<Token, String> {
        let inside = self.rest().get(1..).unwrap_or_default();
        let mut end = 0;
        let bytes = inside.as_bytes();
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
                None => return Err(self.unclosed("\"")),
            }
        }
        self.at += end + 2;
        let mut out = conf_syntax::unescape(bytes.get(..end).unwrap_or_default());
        // As in AxoSyslog, a zero byte ends the text.
        if let Some(zero) = out.iter().position(|b| *b == 0) {
            out.truncate(zero);
        }
        Ok(Token::Text(out, Quote::Double))
    }
}

fn out_of_range() -> String {
    "a number that does not fit 64 bits".to_owned()
}

/// `k`, `Ki`, `Mb` ...
fn factor_of(suffix: &str) -> Option<u64> {
    let suffix = suffix.strip_suffix(['b', 'B']).unwrap_or(suffix);
    let (unit, base) = match suffix.strip_suffix('i') {
        Some(unit) => (unit, 1024u64),
        None => (suffix, 1000),
    };
    match unit {
        "" if base == 1000 => Some(1),
        "k" | "K" => Some(base),
        "m" | "M" => Some(base.pow(2)),
        "g" | "G" => Some(base.pow(3)),
        _ => None,
    }
}
