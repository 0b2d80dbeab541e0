//! Reads the text of a template into nodes: text, macros, function calls with their arguments split. Knows no
//! macro and no function.

use crate::TemplateError;

/// Text with the place of each byte in what the user wrote, so that an error inside a quoted argument still
/// points to the right spot.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Text {
    pub bytes: Vec<u8>,
    at: Vec<u32>,
    /// Where the text ends.
    end: u32,
}

impl Text {
    pub fn of(text: &str) -> Text {
        let end = text.len() as u32;
        Text { bytes: text.as_bytes().to_vec(), at: (0..end).collect(), end }
    }

    /// The user's offset of byte `index`.
    pub fn offset(&self, index: usize) -> usize {
        self.at.get(index).copied().unwrap_or(self.end) as usize
    }

    pub fn lossy(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// A part of it, at its place in what the user wrote.
    pub fn slice(&self, from: usize, to: usize) -> Text {
        let part = |all: &[u8]| all.get(from..to).unwrap_or_default().to_vec();
        let at = self.at.get(from..to).unwrap_or_default().to_vec();
        Text { bytes: part(&self.bytes), at, end: self.offset(to) as u32 }
    }

    fn push(&mut self, byte: u8, at: usize) {
        self.bytes.push(byte);
        self.at.push(at as u32);
        self.end = at as u32 + 1;
    }

    fn part(&self, from: usize, to: usize) -> String {
        String::from_utf8_lossy(self.bytes.get(from..to).unwrap_or_default()).into_owned()
    }
}

#[derive(Debug, PartialEq)]
pub(crate) enum Node {
    Text(Vec<u8>),
    Macro {
        name: String,
        offset: usize,
        default: Option<Vec<u8>>,
    },
    Call {
        name: String,
        offset: usize,
        args: Vec<Text>,
    },
    /// `${X}@1`: of the message before the last in a correlation context.
    At {
        back: u32,
        node: Box<Node>,
    },
}

/// Splits a template. `backslash`: before @version 3.5 a backslash took the next character literally.
pub(crate) fn parse(text: &Text, backslash: bool) -> Result<Vec<Node>, TemplateError> {
    let mut reader = Reader { text, at: 0, nodes: Vec::new(), plain: Vec::new() };
    while let Some(byte) = reader.peek(0) {
        match byte {
            b'\\' if backslash => {
                reader.at += 1;
                let next = reader.peek(0).unwrap_or(b'\\');
                reader.plain.push(next);
                reader.at += 1;
            }
            b'$' => reader.dollar()?,
            _ => {
                reader.plain.push(byte);
                reader.at += 1;
            }
        }
    }
    reader.end_text();
    Ok(reader.nodes)
}

struct Reader<'a> {
    text: &'a Text,
    at: usize,
    nodes: Vec<Node>,
    plain: Vec<u8>,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.bytes.get(self.at + ahead).copied()
    }

    fn end_text(&mut self) {
        if !self.plain.is_empty() {
            self.nodes.push(Node::Text(std::mem::take(&mut self.plain)));
        }
    }

    fn error(&self, index: usize, message: &str) -> TemplateError {
        TemplateError::new(self.text.offset(index), message)
    }

    /// At a dollar.
    fn dollar(&mut self) -> Result<(), TemplateError> {
        match self.peek(1) {
            Some(b'$') => {
                self.plain.push(b'$');
                self.at += 2;
                Ok(())
            }
            Some(b'{') => self.braced(),
            Some(b'(') => self.call(),
            Some(b'*') => {
                let offset = self.text.offset(self.at);
                self.at += 2;
                self.named("*".to_owned(), offset, None);
                Ok(())
            }
            Some(b) if is_name_byte(b) => {
                let start = self.at + 1;
                let len = self.text.bytes[start..].iter().take_while(|b| is_name_byte(**b)).count();
                let (name, offset) = (self.text.part(start, start + len), self.text.offset(self.at));
                self.at = start + len;
                self.named(name, offset, None);
                Ok(())
            }
            // A dollar that starts nothing is a dollar.
            _ => {
                self.plain.push(b'$');
                self.at += 1;
                Ok(())
            }
        }
    }

    fn braced(&mut self) -> Result<(), TemplateError> {
        let start = self.at + 2;
        let rest = self.text.bytes.get(start..).unwrap_or_default();
        let Some(len) = rest.iter().position(|b| *b == b'}') else {
            return Err(self
                .error(self.at, "this macro has no closing brace")
                .help("write ${NAME}; a dollar sign is written $$"));
        };
        let inside = &rest[..len];
        let (name_len, default) = match inside.windows(2).position(|w| w == b":-") {
            Some(colon) => (colon, Some(inside[colon + 2..].to_vec())),
            None => (len, None),
        };
        if name_len == 0 {
            // `${}` is a value that nobody can set, as in syslog-ng.
            self.plain.extend(default.unwrap_or_default());
            self.at = start + len + 1;
            return Ok(());
        }
        let (name, offset) = (self.text.part(start, start + name_len), self.text.offset(self.at));
        self.at = start + len + 1;
        self.named(name, offset, default);
        self.reference()
    }

    fn named(&mut self, name: String, offset: usize, default: Option<Vec<u8>>) {
        self.end_text();
        self.nodes.push(Node::Macro { name, offset, default });
    }

    /// What follows `${NAME}` and `$(...)` may be `@N` or `@@`; behind `$NAME` it is text, as in syslog-ng.
    fn reference(&mut self) -> Result<(), TemplateError> {
        if self.peek(0) != Some(b'@') {
            return Ok(());
        }
        match self.peek(1) {
            Some(b'@') => {
                self.plain.push(b'@');
                self.at += 2;
            }
            Some(b) if b.is_ascii_digit() => {
                let digits = self.text.bytes[self.at + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
                let number = self.text.part(self.at + 1, self.at + 1 + digits);
                let Ok(back) = number.parse::<u32>() else {
                    return Err(self.error(self.at, "this number of a message is too large"));
                };
                if let Some(node) = self.nodes.pop() {
                    self.nodes.push(Node::At { back, node: Box::new(node) });
                }
                self.at += 1 + digits;
            }
            _ => {}
        }
        Ok(())
    }

    /// At `$(`: splits the call into name and arguments.
    fn call(&mut self) -> Result<(), TemplateError> {
        let open = self.at;
        let offset = self.text.offset(open);
        self.end_text();
        self.at += 2;
        let mut words: Vec<Text> = Vec::new();
        loop {
            while self.peek(0).is_some_and(|b| b.is_ascii_whitespace()) {
                self.at += 1;
            }
            match self.peek(0) {
                None => return Err(self.unclosed(open)),
                Some(b')') => break,
                Some(_) => words.push(self.word(open)?),
            }
        }
        self.at += 1;
        if words.is_empty() {
            return Err(self
                .error(open, "this template function has no name")
                .help("write $(name argument ...)"));
        }
        let name = words.remove(0).lossy();
        self.nodes.push(Node::Call { name, offset, args: words });
        self.reference()
    }

    fn unclosed(&self, open: usize) -> TemplateError {
        self.error(open, "this template function has no closing parenthesis")
            .help("write $(name argument ...); a quote or parenthesis in it may be open")
    }

    /// One argument. Parentheses in it (nested calls) are taken with everything inside, quotes included.
    fn word(&mut self, open: usize) -> Result<Text, TemplateError> {
        let mut word = Text { end: self.text.offset(self.at) as u32, ..Text::default() };
        let mut depth = 0usize;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\\' => {
                    self.at += 1;
                    if self.peek(0).is_none() {
                        return Err(self.unclosed(open));
                    }
                    self.take(&mut word);
                }
                b'"' | b'\'' => self.quoted(byte, depth > 0, &mut word, open)?,
                b'(' => {
                    depth += 1;
                    self.take(&mut word);
                }
                b')' if depth > 0 => {
                    depth -= 1;
                    self.take(&mut word);
                }
                b')' => return Ok(word),
                b if b.is_ascii_whitespace() && depth == 0 => return Ok(word),
                _ => self.take(&mut word),
            }
        }
        Err(self.unclosed(open))
    }

    /// A quoted part, in which a backslash is one; `keep` leaves the quotes for the call they belong to.
    fn quoted(&mut self, quote: u8, keep: bool, word: &mut Text, open: usize) -> Result<(), TemplateError> {
        let start = self.at;
        if keep {
            self.take(word);
        } else {
            self.at += 1;
        }
        while let Some(byte) = self.peek(0) {
            if byte == quote {
                if keep {
                    self.take(word);
                } else {
                    self.at += 1;
                }
                return Ok(());
            }
            self.take(word);
        }
        Err(self
            .error(start, "this quote is not closed")
            .help(format!("it belongs to the template function at byte {}", self.text.offset(open))))
    }

    fn take(&mut self, word: &mut Text) {
        if let Some(byte) = self.peek(0) {
            word.push(byte, self.text.offset(self.at));
            self.at += 1;
        }
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
