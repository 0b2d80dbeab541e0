//! STRUCTURED-DATA, RFC 5424 section 6.3: checked in one pass, read in place, written with its escapes.
//!
//! A record keeps its STRUCTURED-DATA as one valid span; nothing is split until somebody asks for a parameter.

pub mod build;
mod quick;

pub use build::Builder;

use crate::word::{self, Lanes, Plain};

/// Bytes a value's name may have, the prefix (`.SDATA.`) and the dot between id and parameter included.
pub const NAME_MAX: usize = 255;
/// Bytes of the longest value, escapes included.
pub const VALUE_MAX: usize = 65_535;
/// What syslog-ng puts in front of the names.
pub const PREFIX: &str = ".SDATA.";

/// The extent of STRUCTURED-DATA that was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    pub end: usize,
    /// It is valid to the letter. Not exact is a `]` within a value that should have been escaped: senders do that, so it is taken,
    /// but must not be passed on as it is.
    pub exact: bool,
}

/// Checks the elements that begin at `text[at]` with `[`. An error is the place where it goes wrong. `prefix` is the length of what
/// is put in front of names.
pub fn check(text: &[u8], at: usize, prefix: usize) -> Result<Checked, usize> {
    check_with::<Plain>(text, at, prefix)
}

/// The same in work run with lanes.
#[inline(always)]
pub(crate) fn check_with<L: Lanes>(text: &[u8], at: usize, prefix: usize) -> Result<Checked, usize> {
    let at = elements::<L>(text, at, prefix);
    if text.get(at) == Some(&b'[') {
        return fields(text, at, prefix);
    }
    Ok(Checked { end: at, exact: true })
}

/// Passes over short plain elements.
#[inline(always)]
fn elements<L: Lanes>(text: &[u8], at: usize, prefix: usize) -> usize {
    let mut at = at;
    while prefix <= NAME_MAX - quick::WINDOW
        && text.get(at) == Some(&b'[')
        && let Some(window) = text.get(at..).and_then(|rest| rest.first_chunk())
        && let Some(size) = quick::element::<L>(window)
    {
        at += size;
    }
    at
}

/// One field after the other.
#[inline(never)]
fn fields(text: &[u8], at: usize, prefix: usize) -> Result<Checked, usize> {
    let mut at = at;
    let mut exact = true;
    let mut marks = Marks::NONE;
    while text.get(at) == Some(&b'[') {
        let id = marks.name_end(text, at + 1);
        let id_size = id - at - 1;
        if id_size == 0 || prefix + id_size > NAME_MAX {
            return Err(at + 1);
        }
        at = id;
        loop {
            match text.get(at) {
                Some(b']') => break,
                Some(b' ') => {}
                _ => return Err(at),
            }
            let name = marks.name_end(text, at + 1);
            let name_size = name - at - 1;
            if name_size == 0 || prefix + id_size + 1 + name_size > NAME_MAX {
                return Err(at + 1);
            }
            if text.get(name) != Some(&b'=') || text.get(name + 1) != Some(&b'"') {
                return Err(name);
            }
            let (end, clean) = marks.value_end(text, name + 2)?;
            exact &= clean;
            at = end + 1;
        }
        at += 1;
    }
    Ok(Checked { end: at, exact })
}

/// The bytes that end names and values in 64 bytes of the text from `base` on: one look serves several fields.
#[derive(Clone, Copy, Debug)]
struct Marks {
    base: usize,
    names: u64,
    values: u64,
}

impl Marks {
    const NONE: Marks = Marks { base: 0, names: 0, values: 0 };

    #[inline(always)]
    fn load(&mut self, text: &[u8], at: usize) -> bool {
        let Some(window) = text.get(at..).and_then(|rest| rest.first_chunk::<64>()) else { return false };
        (self.names, self.values) = word::sdata_marks(window);
        self.base = at;
        true
    }

    /// Where the SD-NAME at `at` ends: printable ASCII but `=`, blank, `]`, `"`.
    #[inline(always)]
    fn name_end(&mut self, text: &[u8], at: usize) -> usize {
        for _ in 0..2 {
            let ahead = at.wrapping_sub(self.base);
            let marks = if ahead < 64 { self.names >> ahead } else { 0 };
            if marks != 0 {
                return at + marks.trailing_zeros() as usize;
            }
            if !self.load(text, at) {
                break;
            }
        }
        word::find_not_printable(text, at, *b"=]\"")
    }

    /// Where the quote that ends the value stands, and whether the value is exact.
    #[inline(always)]
    fn value_end(&mut self, text: &[u8], start: usize) -> Result<(usize, bool), usize> {
        let mut at = start;
        let mut exact = true;
        loop {
            at = self.value_mark(text, at);
            match text.get(at) {
                Some(b'"') if at - start <= VALUE_MAX => return Ok((at, exact)),
                // A backslash before anything but these three is an ordinary character.
                Some(b'\\') => {
                    at += 1 + usize::from(matches!(text.get(at + 1), Some(b'"' | b'\\' | b']')));
                }
                Some(b']') => {
                    exact = false;
                    at += 1;
                }
                _ => return Err(at),
            }
        }
    }

    #[inline(always)]
    fn value_mark(&mut self, text: &[u8], at: usize) -> usize {
        for _ in 0..2 {
            let ahead = at.wrapping_sub(self.base);
            let marks = if ahead < 64 { self.values >> ahead } else { 0 };
            if marks != 0 {
                return at + marks.trailing_zeros() as usize;
            }
            if !self.load(text, at) {
                break;
            }
        }
        word::find(text, at, [b'"', b'\\', b']'])
    }
}

#[inline]
pub(crate) fn is_name_byte(byte: u8) -> bool {
    matches!(byte, 33..=126) && !matches!(byte, b'=' | b']' | b'"')
}

/// One parameter, as it stands in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param<'a> {
    pub id: &'a [u8],
    /// Empty for an element without parameters.
    pub name: &'a [u8],
    /// Still escaped, see [`unescape`].
    pub value: &'a [u8],
}

impl Param<'_> {
    /// Whether `path` is `id.name`, or `id` of an element without parameters.
    #[inline]
    pub fn is(&self, path: &[u8]) -> bool {
        if self.name.is_empty() {
            return path == self.id;
        }
        let rest = path.strip_prefix(self.id).and_then(|rest| rest.strip_prefix(b"."));
        rest == Some(self.name)
    }
}

/// The parameters of checked STRUCTURED-DATA in their order. Ends early at anything that is not valid.
#[derive(Clone, Debug)]
pub struct Params<'a> {
    text: &'a [u8],
    at: usize,
    id: &'a [u8],
    marks: Marks,
}

/// Iterates the parameters of checked STRUCTURED-DATA.
pub fn params(sdata: &[u8]) -> Params<'_> {
    Params { text: sdata, at: 0, id: &[], marks: Marks::NONE }
}

impl<'a> Iterator for Params<'a> {
    type Item = Param<'a>;

    fn next(&mut self) -> Option<Param<'a>> {
        loop {
            match self.text.get(self.at)? {
                b'[' => {
                    let end = self.marks.name_end(self.text, self.at + 1);
                    self.id = self.text.get(self.at + 1..end)?;
                    self.at = end;
                    if self.text.get(end) == Some(&b']') {
                        self.at += 1;
                        return Some(Param { id: self.id, name: &[], value: &[] });
                    }
                }
                b' ' => {
                    let end = self.marks.name_end(self.text, self.at + 1);
                    let name = self.text.get(self.at + 1..end)?;
                    let (close, _) = self.marks.value_end(self.text, end + 2).ok()?;
                    let value = self.text.get(end + 2..close)?;
                    self.at = close + 1;
                    return Some(Param { id: self.id, name, value });
                }
                b']' => self.at += 1,
                _ => return None,
            }
        }
    }
}

/// The value, still escaped, of `path` (`id.name`, what follows `.SDATA.` in a name).
pub fn lookup<'a>(sdata: &'a [u8], path: &[u8]) -> Option<&'a [u8]> {
    params(sdata).find(|param| param.is(path)).map(|param| param.value)
}

/// The value without its escapes; `buffer` is used only when it has any.
pub fn unescape<'a>(value: &'a [u8], buffer: &'a mut Vec<u8>) -> &'a [u8] {
    let mut at = word::find(value, 0, [b'\\']);
    if at == value.len() {
        return value;
    }
    buffer.clear();
    let mut from = 0;
    while at < value.len() {
        if matches!(value.get(at + 1), Some(b'"' | b'\\' | b']')) {
            buffer.extend_from_slice(value.get(from..at).unwrap_or_default());
            from = at + 1;
            at += 1;
        }
        at = word::find(value, at + 1, [b'\\']);
    }
    buffer.extend_from_slice(value.get(from..).unwrap_or_default());
    buffer
}

/// Splits `id.name` where syslog-ng does, at the last dot; an id alone has an empty name.
pub fn split_path(path: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memrchr(b'.', path) {
        Some(dot) => (path.get(..dot).unwrap_or_default(), path.get(dot + 1..).unwrap_or_default()),
        None => (path, &[]),
    }
}

#[cfg(test)]
mod tests;
