//! The inside of a tag: names, attributes, and markup that is passed over. Accepts what GLib's parser
//! accepts.

/// An attribute: where its name and its value stand.
#[derive(Clone, Copy)]
pub struct Attribute {
    pub name: (usize, usize),
    pub value: (usize, usize),
    /// The value is not what it stands for.
    pub escaped: bool,
}

pub enum Next {
    Attribute(Attribute, usize),
    /// `>` or `/>`, and whether it is the latter; `at` stands behind it, or is missing where `/` has no `>`.
    End(bool, Option<usize>),
}

const START: u8 = 1;
const NAME: u8 = 2;
const VALUE: u8 = 4;
const QUOTED: u8 = 8;

/// Classes of bytes: what a name may begin with, what it may contain, and what in a value needs a look, what
/// may need quotes in a list.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        if b.is_ascii_alphabetic() || b == b'_' || b == b':' || b >= 0x80 {
            classes[byte] |= START | NAME;
        }
        if b.is_ascii_digit() || b == b'.' || b == b'-' {
            classes[byte] |= NAME;
        }
        if b < b' ' || b == b'"' || b == b'\'' || b == b'&' {
            classes[byte] |= VALUE;
        }
        if b <= b' ' || matches!(b, b',' | b'"' | b'\'' | b'\\') {
            classes[byte] |= QUOTED;
        }
        byte += 1;
    }
    classes
};

#[inline(always)]
fn class(byte: u8) -> u8 {
    CLASSES[usize::from(byte)]
}

/// Whether a text is the same as an item of a list.
#[inline]
pub fn is_plain_item(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().fold(0, |all, b| all | class(*b)) & QUOTED == 0
}

/// The end of the name at `at`; `None` when there is none.
#[inline(always)]
pub fn name(text: &[u8], at: usize) -> Option<usize> {
    if class(*text.get(at)?) & START == 0 {
        return None;
    }
    let rest = text.get(at + 1..)?;
    Some(at + 1 + rest.iter().position(|b| class(*b) & NAME == 0)?)
}

#[inline(always)]
pub fn blanks(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// What comes next in a start tag, at `at` behind its name or an attribute.
#[inline]
pub fn next(text: &[u8], at: usize) -> Option<Next> {
    let at = blanks(text, at);
    match text.get(at)? {
        b'>' => Some(Next::End(false, Some(at + 1))),
        b'/' => Some(Next::End(true, (text.get(at + 1) == Some(&b'>')).then_some(at + 2))),
        _ => attribute(text, at),
    }
}

fn attribute(text: &[u8], at: usize) -> Option<Next> {
    let end = name(text, at)?;
    let equals = blanks(text, end);
    if text.get(equals) != Some(&b'=') {
        return None;
    }
    let open = blanks(text, equals + 1);
    let quote = *text.get(open).filter(|b| matches!(b, b'"' | b'\''))?;
    let mut escaped = false;
    let mut to = open + 1;
    loop {
        to += text.get(to..)?.iter().position(|b| class(*b) & VALUE != 0)?;
        match text.get(to)? {
            b if *b == quote => break,
            b'&' => {
                escaped = true;
                to = super::entity::end(text, to)?;
            }
            b => {
                escaped |= matches!(b, b'\t' | b'\n' | b'\r');
                to += 1;
            }
        }
    }
    Some(Next::Attribute(Attribute { name: (at, end), value: (open + 1, to), escaped }, to + 1))
}

/// Behind the end of a declaration, comment, CDATA section or processing instruction, whose `<` is at `at`.
pub fn passed_over(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let end = match rest {
        [b'<', b'?', ..] => closed_by(rest, 1, b"?"),
        [b'<', b'!', b'-', b'-', ..] => closed_by(rest, 2, b"--"),
        _ if rest.starts_with(b"<![CDATA[") => closed_by(rest, 7, b"]]"),
        _ if rest.starts_with(b"<!DOCTYPE") => balanced(rest),
        _ => None,
    };
    end.map(|end| at + end)
}

/// Behind the first `>` that has `before` in front of it, beginning at `from` or later.
fn closed_by(text: &[u8], from: usize, before: &[u8]) -> Option<usize> {
    let mut at = from;
    loop {
        at += memchr::memchr(b'>', text.get(at..)?)?;
        if text.get(from..at)?.ends_with(before) {
            return Some(at + 1);
        }
        at += 1;
    }
}

/// Behind the `>` that closes the `<` the text begins with.
fn balanced(text: &[u8]) -> Option<usize> {
    let mut open = 0usize;
    for at in memchr::memchr2_iter(b'<', b'>', text) {
        match text.get(at)? {
            b'<' => open += 1,
            _ if open == 1 => return Some(at + 1),
            _ => open -= 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_that_is_passed_over() {
        for (text, expected) in [
            ("<!-- a > b -->x", Some(14)),
            ("<!-->x", Some(5)),
            ("<!--->x", Some(6)),
            ("<?x?>y", Some(5)),
            ("<?>y", Some(3)),
            ("<?x>y", None),
            ("<![CDATA[a]>]]>y", Some(15)),
            ("<![CDATA[]]>y", Some(12)),
            ("<!DOCTYPE a [<!ENTITY x 'y'>]>z", Some(30)),
            ("<!DOCTYPE a", None),
            ("<!ENTITY x>", None),
            ("<!", None),
            ("<?", None),
        ] {
            assert_eq!(passed_over(text.as_bytes(), 0), expected, "{text}");
        }
    }
}
