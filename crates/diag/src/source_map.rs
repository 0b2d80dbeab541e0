//! The texts a configuration was read from, and how to find line and column, include and expansion chain of a
//! span.

use std::sync::{Arc, OnceLock};

/// Chains longer than this are cut: the include depth is bounded elsewhere, this bound only keeps loops
/// finite.
const CHAIN_STEPS_MAX: usize = 512;

/// A text in a [`SourceMap`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

/// Byte offsets `start..end` into the text of `file`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(file: FileId, start: usize, end: usize) -> Span {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span { file, start: clamp(start), end: clamp(end.max(start)) }
    }

    /// From the start of `self` to the end of `other`; `self` alone when they are in different texts.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file || other.end < self.start {
            return self;
        }
        Span { end: other.end, ..self }
    }

    /// An empty span right after `self`: where something is missing.
    pub fn after(self) -> Span {
        Span { start: self.end, ..self }
    }
}

/// Where a text came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The file the user named.
    Root,
    /// A file read because of an include at `at`.
    Included { at: Span },
    /// The text of a block, expanded because of the call at `call`. `definition` is where the text stands in
    /// a real file; a generated text (the output of a command) has none.
    Expanded { block: String, call: Span, definition: Option<Span> },
    /// What is written at `at`, with backticks, calls of blocks and pragmas resolved: see [`Part`].
    Resolved { at: Span },
}

/// Where a part of a resolved text comes from: it goes on to the next part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it begins in the resolved text.
    pub start: u32,
    pub from: Span,
    /// The same text stands there; else something that stands for it.
    pub is_written: bool,
}

#[derive(Clone, Debug)]
pub struct SourceFile {
    pub name: String,
    pub text: Arc<str>,
    pub origin: Origin,
    /// Of a resolved text, in order.
    parts: Vec<Part>,
    /// `@line`: from `offset` on, positions count from this file name and line.
    marks: Vec<LineMark>,
    /// Offsets lines begin at; found when first asked for.
    line_starts: OnceLock<Vec<u32>>,
}

impl SourceFile {
    /// Start of the line `offset` is in, and its number from 1.
    fn line_of(&self, offset: usize) -> (usize, u32) {
        let starts = self.line_starts.get_or_init(|| {
            let ends = self.text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
            std::iter::once(0).chain(ends.map(|(i, _)| i as u32 + 1)).collect()
        });
        let number = starts.partition_point(|s| *s as usize <= offset).max(1);
        (starts.get(number - 1).map_or(0, |s| *s as usize), number as u32)
    }
}

#[derive(Clone, Debug)]
struct LineMark {
    offset: u32,
    name: String,
    line: u32,
}

/// A place as people read it: lines and columns count from 1, columns count characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// All texts of one configuration, real and virtual.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>, origin: Origin) -> FileId {
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(SourceFile {
            name: name.into(),
            text: text.into(),
            origin,
            parts: Vec::new(),
            marks: Vec::new(),
            line_starts: OnceLock::new(),
        });
        id
    }

    /// Adds a text that is what stands at `at`, resolved.
    pub fn add_resolved(
        &mut self,
        name: &str,
        text: impl Into<Arc<str>>,
        at: Span,
        parts: Vec<Part>,
    ) -> FileId {
        let id = self.add(name, text, Origin::Resolved { at });
        if let Some(file) = self.files.last_mut() {
            file.parts = parts;
        }
        id
    }

    /// The same map over other texts of the same lengths, so that every span stays where it is.
    pub fn with_texts(&self, text: impl Fn(&str) -> String) -> SourceMap {
        let files = self.files.iter().map(|file| SourceFile {
            text: Some(text(&file.text))
                .filter(|other| other.len() == file.text.len())
                .map_or_else(|| "*".repeat(file.text.len()).into(), Arc::from),
            line_starts: OnceLock::new(),
            ..file.clone()
        });
        SourceMap { files: files.collect() }
    }

    /// Adds a text the user named: the main file, or a text given on the command line.
    pub fn add_root(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        self.add(name, text, Origin::Root)
    }

    /// From `offset` of `file` on, positions are reported as `name`, starting with `line`.
    pub fn add_line_mark(&mut self, file: FileId, offset: usize, name: Option<String>, line: u32) {
        if let Some(f) = self.files.get_mut(file.0 as usize) {
            let name = name.unwrap_or_else(|| f.name.clone());
            f.marks.push(LineMark { offset: u32::try_from(offset).unwrap_or(u32::MAX), name, line });
        }
    }

    /// From `offset` of `file` on, positions are the real ones again.
    pub fn end_line_marks(&mut self, file: FileId, offset: usize) {
        let real = self.file(file).map(|f| f.line_of(floor_boundary(&f.text, offset)).1);
        if let Some(line) = real {
            self.add_line_mark(file, offset, None, line);
        }
    }

    pub fn file(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }

    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(i, f)| (FileId(i as u32), f))
    }

    /// The text a span covers (empty when the span is not from this map).
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file).and_then(|f| f.text.get(span.start as usize..span.end as usize)).unwrap_or("")
    }

    /// A place in a resolved text as the place it comes from; any other as it is.
    fn written(&self, span: Span) -> Span {
        let Some(SourceFile { origin: Origin::Resolved { at }, parts, .. }) = self.file(span.file) else {
            return span;
        };
        let part = |offset: u32| {
            let after = parts.partition_point(|part| part.start <= offset);
            parts.get(after.saturating_sub(1))
        };
        let (Some(first), Some(last)) = (part(span.start), part(span.end.max(span.start + 1) - 1)) else {
            return *at;
        };
        let place = |part: &Part, offset: u32| match part.is_written {
            true => (part.from.start + offset.saturating_sub(part.start)).min(part.from.end),
            false => part.from.start,
        };
        let start = place(first, span.start);
        let end = if last.is_written { place(last, span.end) } else { last.from.end };
        let end = if last.from.file == first.from.file && end >= start { end } else { first.from.end };
        Span { file: first.from.file, start, end }
    }

    /// A place in a resolved text as the place of the whole text; any other as it is.
    pub fn unresolved(&self, span: Span) -> Span {
        match self.file(span.file).map(|f| &f.origin) {
            Some(Origin::Resolved { at }) => *at,
            _ => span,
        }
    }

    /// The same span in the real file: the body of an expanded block is shown where the block is defined.
    pub fn real(&self, span: Span) -> Span {
        let mut span = span;
        for _ in 0..CHAIN_STEPS_MAX {
            match self.file(span.file).map(|f| &f.origin) {
                Some(Origin::Resolved { .. }) => span = self.written(span),
                Some(Origin::Expanded { definition: Some(def), .. }) => {
                    span = Span {
                        file: def.file,
                        start: def.start.saturating_add(span.start),
                        end: def.start.saturating_add(span.end),
                    };
                }
                _ => break,
            }
        }
        span
    }

    /// Line and column of the start of `span`, in the real file.
    pub fn locate(&self, span: Span) -> Location {
        self.locate_offset(self.real(span), false)
    }

    /// Line and column of the end of `span`, in the real file.
    pub fn locate_end(&self, span: Span) -> Location {
        self.locate_offset(self.real(span), true)
    }

    fn locate_offset(&self, span: Span, end: bool) -> Location {
        let Some(file) = self.file(span.file) else {
            return Location { file: "?".into(), line: 1, column: 1 };
        };
        let offset = floor_boundary(&file.text, if end { span.end } else { span.start } as usize);
        let (line_start, mut line) = file.line_of(offset);
        let column = file.text.get(line_start..offset).map_or(0, |s| s.chars().count()) as u32 + 1;
        let mut name = &file.name;
        if let Some(mark) = file.marks.iter().rev().find(|m| m.offset as usize <= offset) {
            let (_, mark_line) = file.line_of(floor_boundary(&file.text, mark.offset as usize));
            line = mark.line.saturating_add(line.saturating_sub(mark_line));
            name = &mark.name;
        }
        Location { file: name.clone(), line, column }
    }

    /// The first line `span` touches in the real file, with the byte range of the span inside that line.
    pub fn line(&self, span: Span) -> Option<(&str, usize, usize)> {
        let span = self.real(span);
        let file = self.file(span.file)?;
        let text = &file.text;
        let start = floor_boundary(text, span.start as usize);
        let (line_start, _) = file.line_of(start);
        let rest = text.get(line_start..)?;
        let line = rest.split('\n').next().unwrap_or("").trim_end_matches('\r');
        let from = (start - line_start).min(line.len());
        let to = (floor_boundary(text, span.end as usize).max(start) - line_start).min(line.len());
        Some((line, from, to))
    }

    /// The place in the main file, or in an included one, that led to `span`: expansions are followed to
    /// their call.
    pub fn outermost(&self, span: Span) -> Span {
        let mut span = span;
        for _ in 0..CHAIN_STEPS_MAX {
            match self.file(span.file).map(|f| &f.origin) {
                Some(Origin::Expanded { call, .. }) => span = *call,
                Some(Origin::Resolved { .. }) => span = self.written(span),
                _ => break,
            }
        }
        span
    }

    /// How the text of `span` came to be read, innermost first; empty for the main file.
    pub fn chain(&self, span: Span) -> Vec<(&Origin, Location)> {
        let mut chain = Vec::new();
        let mut file = self.written(span).file;
        while let Some(f) = self.file(file) {
            let at = match &f.origin {
                Origin::Root => break,
                Origin::Included { at } | Origin::Resolved { at } => *at,
                Origin::Expanded { call, .. } => *call,
            };
            chain.push((&f.origin, self.locate(at)));
            file = at.file;
            if chain.len() >= CHAIN_STEPS_MAX {
                break;
            }
        }
        chain
    }
}

fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_and_column_count_characters() {
        let mut map = SourceMap::new();
        let f = map.add_root("a.conf", "eins\nzwölf drei\n");
        let loc = map.locate(Span::new(f, 12, 16));
        assert_eq!(loc, Location { file: "a.conf".into(), line: 2, column: 7 });
        assert_eq!(map.line(Span::new(f, 12, 16)), Some(("zwölf drei", 7, 11)));
    }

    #[test]
    fn an_expansion_is_shown_where_the_block_is_defined() {
        let mut map = SourceMap::new();
        let main = map.add_root("main", "block source b() { x(1) };\nsource s { b(); };\n");
        let def = Span::new(main, 18, 24);
        let call = Span::new(main, 38, 41);
        let body: String = map.text(def).into();
        let v = map.add("b", body, Origin::Expanded { block: "b".into(), call, definition: Some(def) });
        let span = Span::new(v, 1, 2);
        assert_eq!(map.text(span), "x");
        assert_eq!(map.locate(span).to_string(), "main:1:20");
        let chain = map.chain(span);
        assert_eq!(chain.len(), 1);
        assert_eq!(chain[0].1.to_string(), "main:2:12");
    }

    #[test]
    fn a_resolved_text_is_shown_where_its_parts_are_written() {
        let mut map = SourceMap::new();
        let main = map.add_root("main", "{ a `b` c }\n");
        let from = |start, end| Span::new(main, start, end);
        let parts = vec![
            Part { start: 0, from: from(1, 4), is_written: true },
            Part { start: 3, from: from(4, 7), is_written: false },
            Part { start: 10, from: from(7, 10), is_written: true },
        ];
        let made = map.add_resolved("x", " a =======  c ", from(1, 10), parts);
        let real = |start, end| map.text(map.real(Span::new(made, start, end)));
        assert_eq!(real(1, 2), "a");
        assert_eq!((real(1, 6), real(5, 6)), ("a `b`", "`b`"));
        assert_eq!((real(11, 12), real(4, 12)), ("c", "`b` c"));
        // An error may stand behind the end.
        assert_eq!(map.locate(Span::new(made, 13, 13)).to_string(), "main:1:11");
        assert_eq!(map.outermost(Span::new(made, 5, 6)), from(4, 7));
        assert_eq!(map.unresolved(Span::new(made, 5, 6)), from(1, 10));
        assert_eq!(map.chain(Span::new(made, 5, 6)), []);
    }

    #[test]
    fn line_marks_move_positions() {
        let mut map = SourceMap::new();
        let f = map.add_root("gen", "a\nb\nc\n");
        map.add_line_mark(f, 2, Some("real.conf".into()), 40);
        assert_eq!(map.locate(Span::new(f, 0, 1)).to_string(), "gen:1:1");
        assert_eq!(map.locate(Span::new(f, 4, 5)).to_string(), "real.conf:41:1");
    }

    #[test]
    fn spans_outside_the_text_do_not_panic() {
        let mut map = SourceMap::new();
        let f = map.add_root("a", "ä");
        assert_eq!(map.locate(Span::new(f, 1, 900)).line, 1);
        assert_eq!(map.line(Span::new(f, 900, 901)), Some(("ä", 2, 2)));
        assert_eq!(map.text(Span::new(f, 1, 2)), "");
    }
}
