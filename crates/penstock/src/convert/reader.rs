//! The text of a configuration of rsyslog, read from the front: words, strings, parameters, lines.

use std::collections::BTreeMap;

/// Parameters of an object by their names in small letters; of a list, all values.
#[derive(Clone, Debug, Default)]
pub struct Params {
    values: BTreeMap<String, Vec<String>>,
}

impl Params {
    pub fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name)?.first().map(String::as_str)
    }

    pub fn list(&self, name: &str) -> &[String] {
        self.values.get(name).map_or(&[], Vec::as_slice)
    }

    pub fn is_on(&self, name: &str) -> Option<bool> {
        self.text(name).map(|text| matches!(text.to_lowercase().as_str(), "on" | "yes" | "1" | "true"))
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    pub fn set(&mut self, name: &str, value: &str) {
        self.values.insert(name.to_owned(), vec![value.to_owned()]);
    }

    /// Those of another object, where this one does not have them.
    pub fn or(mut self, other: &Params) -> Params {
        for (name, value) in &other.values {
            self.values.entry(name.clone()).or_insert_with(|| value.clone());
        }
        self
    }
}

pub struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// Where a comment begins that does not end.
    open_comment: Option<usize>,
}

impl<'t> Reader<'t> {
    pub fn new(text: &'t str) -> Reader<'t> {
        Reader { text, at: 0, open_comment: None }
    }

    pub fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub fn open_comment(&self) -> Option<usize> {
        self.open_comment
    }

    pub fn place(&self) -> usize {
        self.at
    }

    /// The text between a place and here.
    pub fn since(&self, place: usize) -> &'t str {
        self.text.get(place..self.at).unwrap_or_default()
    }

    /// The line of a place, from 1.
    pub fn line_of(&self, place: usize) -> usize {
        self.text.get(..place).unwrap_or_default().matches('\n').count() + 1
    }

    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub fn skip(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.text.len());
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
    }

    /// White space, comments and line ends that are continued.
    pub fn space(&mut self) {
        loop {
            let rest = self.rest();
            let white = rest.len() - rest.trim_start().len();
            self.skip(white);
            let rest = self.rest();
            if rest.starts_with('#') {
                self.skip(rest.find('\n').unwrap_or(rest.len()));
            } else if rest.starts_with("/*") {
                let end = rest.find("*/");
                self.open_comment = self.open_comment.or(end.is_none().then_some(self.at));
                self.skip(end.map_or(rest.len(), |end| end + 2));
            } else if rest.starts_with("\\\n") {
                self.skip(2);
            } else if white == 0 {
                return;
            }
        }
    }

    /// Takes a text that stands here.
    pub fn take(&mut self, text: &str) -> bool {
        let is_here = self.rest().get(..text.len()).is_some_and(|here| here.eq_ignore_ascii_case(text));
        if is_here {
            self.skip(text.len());
        }
        is_here
    }

    /// Takes a word that stands here, whole.
    pub fn take_word(&mut self, word: &str) -> bool {
        let place = self.at;
        if self.word().eq_ignore_ascii_case(word) {
            return true;
        }
        self.at = place;
        false
    }

    /// Letters, digits and what else stands in names; empty where none does.
    pub fn word(&mut self) -> &'t str {
        let rest = self.rest();
        let is_in = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | '!');
        let end = rest.find(|c: char| !is_in(c)).unwrap_or(rest.len());
        self.skip(end);
        rest.get(..end).unwrap_or_default()
    }

    /// What stands here up to a blank. A backslash at the end of a line continues it behind the next blanks.
    pub fn continued_word(&mut self) -> String {
        let mut out = String::new();
        loop {
            let rest = self.rest();
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            self.skip(end);
            let goes_on = behind.starts_with('\n') || behind.starts_with("\r\n");
            match word.strip_suffix('\\') {
                Some(begin) if goes_on => {
                    out.push_str(begin);
                    self.skip(behind.len() - behind.trim_start().len());
                }
                _ => {
                    out.push_str(word);
                    return out;
                }
            }
        }
    }

    /// The rest of the line, which a backslash at its end continues.
    pub fn line(&mut self) -> String {
        let mut out = String::new();
        loop {
            let rest = self.rest();
            let end = rest.find('\n').unwrap_or(rest.len());
            let line = rest.get(..end).unwrap_or_default().trim_end_matches('\r');
            self.skip((end + 1).min(rest.len()));
            match line.strip_suffix('\\') {
                Some(begin) if self.at < self.text.len() => out.push_str(begin),
                _ => {
                    out.push_str(line);
                    return out.trim().to_owned();
                }
            }
        }
    }

    /// A string in single or double quotes that begins here, its escapes resolved.
    pub fn string(&mut self) -> Option<String> {
        let quote = self.peek().filter(|c| matches!(c, '"' | '\''))?;
        let mut out = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => {
                    let (_, escaped) = chars.next()?;
                    match escaped {
                        'n' => out.push('\n'),
                        't' => out.push('\t'),
                        'r' => out.push('\r'),
                        '"' | '\'' | '\\' | '$' => out.push(escaped),
                        // Of patterns, which have backslashes of their own.
                        other => out.extend(['\\', other]),
                    }
                }
                c if c == quote => {
                    self.skip(at + 1);
                    return Some(out);
                }
                c => out.push(c),
            }
        }
        None
    }

    /// `(name="value" name=["a", "b"])`
    pub fn params(&mut self) -> Option<Params> {
        self.space();
        if !self.take("(") {
            return None;
        }
        let mut params = Params::default();
        loop {
            self.space();
            if self.take(")") {
                return Some(params);
            }
            if self.take(",") || self.take(";") {
                continue;
            }
            let name = self.word().to_lowercase();
            self.space();
            if name.is_empty() || !self.take("=") {
                return None;
            }
            self.space();
            let values = self.values()?;
            params.values.insert(name, values);
        }
    }

    /// A string, a word, or a list of them.
    pub fn values(&mut self) -> Option<Vec<String>> {
        if !self.take("[") {
            return Some(vec![self.value()?]);
        }
        let mut values = Vec::new();
        loop {
            self.space();
            if self.take("]") {
                return Some(values);
            }
            if !self.take(",") {
                values.push(self.value()?);
            }
        }
    }

    fn value(&mut self) -> Option<String> {
        if let Some(text) = self.string() {
            return Some(text);
        }
        let rest = self.rest();
        let end = rest.find(|c: char| c.is_whitespace() || ",)]".contains(c)).unwrap_or(rest.len());
        self.skip(end);
        (end > 0).then(|| rest.get(..end).unwrap_or_default().to_owned())
    }

    /// Goes behind the bracket that closes the one that stands here.
    pub fn balanced(&mut self, open: char, close: char) -> &'t str {
        let place = self.at;
        let mut depth = 0_usize;
        while let Some(c) = self.peek() {
            if matches!(c, '"' | '\'') && self.string().is_some() {
                continue;
            }
            self.skip(c.len_utf8());
            if c == open {
                depth += 1;
            } else if c == close {
                depth = depth.saturating_sub(1);
            }
            if depth == 0 {
                break;
            }
        }
        self.since(place)
    }
}
