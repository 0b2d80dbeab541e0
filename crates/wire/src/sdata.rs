//! STRUCTURED-DATA, RFC 5424 section 6.3: checked in one pass, read in place, written with its escapes.
//!
//! A record keeps its STRUCTURED-DATA as one valid span; nothing is split until somebody asks for a
//! parameter.

pub mod build;
mod canonical;
mod quick;
mod repeats;

pub use build::Builder;
pub use canonical::canonical;

use repeats::Repeats;

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
    /// It is in the one form a record keeps: valid to the letter, no escapes but those that are needed, each
    /// parameter once, neighbours of one id in one element. The rest is taken from senders, but has to go
    /// through [`canonical`].
    pub exact: bool,
}

/// Checks the elements that begin at `text[at]` with `[`. An error is the place where it goes wrong. `prefix`
/// is the length of what is put in front of names.
pub fn check(text: &[u8], at: usize, prefix: usize) -> Result<Checked, usize> {
    check_with::<Plain>(text, at, prefix)
}

/// The same in work run with lanes.
#[inline(always)]
pub(crate) fn check_with<L: Lanes>(text: &[u8], at: usize, prefix: usize) -> Result<Checked, usize> {
    // A single short element with at most one parameter is the usual case: it cannot repeat anything.
    if let Some(element) = short::<L>(text, at, prefix)
        && element.params() <= 1
        && text.get(at + element.size) != Some(&b'[')
    {
        return Ok(Checked { end: at + element.size, exact: true });
    }
    let start = at;
    let mut at = at;
    let mut repeats = Repeats::new();
    while let Some(element) = short::<L>(text, at, prefix) {
        element.each(at, |id, name| repeats.param(text, id, name));
        at += element.size;
    }
    let mut exact = true;
    if text.get(at) == Some(&b'[') {
        (at, exact) = fields(text, at, prefix, &mut repeats)?;
    }
    Ok(Checked { end: at, exact: exact && (!repeats.suspected() || !canonical::repeats(text, start, at)) })
}

/// The short plain element at `text[at]`.
#[inline(always)]
fn short<L: Lanes>(text: &[u8], at: usize, prefix: usize) -> Option<quick::Element> {
    let window = text.get(at..)?.first_chunk()?;
    (prefix <= NAME_MAX - quick::WINDOW && window[0] == b'[').then_some(())?;
    quick::element::<L>(window)
}

/// One field after the other: where the elements end, and whether they are exact but for repetitions.
#[inline(never)]
fn fields(text: &[u8], at: usize, prefix: usize, repeats: &mut Repeats) -> Result<(usize, bool), usize> {
    let mut reader = Reader::new(text, at);
    let mut exact = true;
    while let Some(field) = reader.next(prefix)? {
        exact &= field.exact;
        repeats.param(text, field.id, field.name);
    }
    Ok((reader.at, exact))
}

/// A place in a text, from its first byte to the one behind it.
type Part = (usize, usize);

/// A parameter, or an element without any: then `name` and `value` are empty.
#[derive(Clone, Copy, Debug)]
struct Field {
    id: Part,
    name: Part,
    value: Part,
    /// The value had no quotes, so a backslash in it is one.
    bare: bool,
    /// It stands as a record keeps it.
    exact: bool,
}

/// Reads what senders write for STRUCTURED-DATA, field by field. Besides what RFC 5424 allows it takes a
/// blank behind `[` and in front of `]`, values without quotes (VMware's `[Originator@6876 sub=vpxLro
/// opID=h]`) and `]` in a value without a backslash.
#[derive(Debug)]
struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    /// The id of the element that is open, empty between elements.
    id: Part,
    /// No field of that element was read yet.
    first: bool,
    exact: bool,
    marks: Marks,
}

impl<'a> Reader<'a> {
    fn new(text: &'a [u8], at: usize) -> Reader<'a> {
        Reader { text, at, id: (0, 0), first: false, exact: true, marks: Marks::NONE }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    /// The next field; `None` where no further element begins. An error is the place where it goes wrong.
    fn next(&mut self, prefix: usize) -> Result<Option<Field>, usize> {
        loop {
            if self.id.1 == 0 {
                if self.byte(self.at) != Some(b'[') {
                    return Ok(None);
                }
                self.open(prefix)?;
            }
            if self.byte(self.at) == Some(b' ') && self.byte(self.at + 1) == Some(b']') {
                self.at += 1;
                self.exact = false;
            }
            let (id, first, exact) = (self.id, self.first, self.exact);
            (self.first, self.exact) = (false, true);
            match self.byte(self.at) {
                Some(b']') => {
                    self.at += 1;
                    self.id = (0, 0);
                    if first || !exact {
                        // What a blank in front of the bracket tells belongs to the element, whose fields are
                        // all read.
                        return Ok(Some(Field { id, name: (0, 0), value: (0, 0), bare: false, exact }));
                    }
                }
                Some(b' ') => return self.param(id, exact, prefix).map(Some),
                _ => return Err(self.at),
            }
        }
    }

    fn open(&mut self, prefix: usize) -> Result<(), usize> {
        let mut start = self.at + 1;
        if self.byte(start) == Some(b' ') {
            start += 1;
            self.exact = false;
        }
        let end = self.marks.name_end(self.text, start);
        if end == start || prefix + (end - start) > NAME_MAX {
            return Err(start);
        }
        (self.at, self.id, self.first) = (end, (start, end), true);
        Ok(())
    }

    fn param(&mut self, id: Part, exact: bool, prefix: usize) -> Result<Field, usize> {
        let start = self.at + 1;
        let name = self.marks.name_end(self.text, start);
        if name == start || prefix + (id.1 - id.0) + 1 + (name - start) > NAME_MAX {
            return Err(start);
        }
        if self.byte(name) != Some(b'=') || name + 1 >= self.text.len() {
            return Err(name);
        }
        let mut field = Field { id, name: (start, name), value: (name + 1, 0), bare: true, exact: false };
        if self.byte(name + 1) == Some(b'"') {
            let (end, clean) = self.marks.value_end(self.text, name + 2)?;
            (field.value, field.bare, field.exact) = ((name + 2, end), false, exact && clean);
            self.at = end + 1;
        } else {
            field.value.1 = word::find(self.text, name + 1, [b' ', b']']);
            if field.value.1 - name > VALUE_MAX {
                return Err(name + 1);
            }
            self.at = field.value.1;
        }
        Ok(field)
    }
}

/// The bytes that end names and values in 64 bytes of the text from `base` on: one look serves several
/// fields.
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
                // A backslash before anything but these three is an ordinary character, which needs one of
                // its own.
                Some(b'\\') => {
                    let escapes = matches!(text.get(at + 1), Some(b'"' | b'\\' | b']'));
                    exact &= escapes;
                    at += 1 + usize::from(escapes);
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
    if sdata.is_empty() || !may_have(sdata, path) {
        return None;
    }
    params(sdata).find(|param| param.is(path)).map(|param| param.value)
}

/// Whether the parameter's name, or the id of an element without parameters, stands anywhere: mostly the
/// answer is no, and found many times as fast as each parameter is looked at.
fn may_have(sdata: &[u8], path: &[u8]) -> bool {
    // An id may have dots and a name as well: what is behind the last one is at the end of either.
    let end = memchr::memrchr(b'.', path).map_or(0, |dot| dot + 1);
    let Some(end) = path.get(end..).filter(|end| !end.is_empty()) else { return true };
    memchr::memmem::find_iter(sdata, end).any(|at| matches!(sdata.get(at + end.len()), Some(b'=' | b']')))
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
