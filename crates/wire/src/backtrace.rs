//! `multi-line-mode(smart)`: tells which lines are a backtrace, so that they become one message. Knows those
//! of Java and its kin, .NET, JavaScript, Python, Go, Ruby, PHP, Dart and Rust.
//!
//! A line is looked at once, on its own ([`look`]); what it is to the lines before it is a step of a small
//! machine, [`Backtrace`], which is two bytes for each stream of lines. A line that is part of no backtrace
//! is a message of its own and ends with itself. Where nothing tells that a backtrace is complete, the next
//! line does.

mod look;

pub use look::{Look, look};

/// Lines a backtrace may have: what goes on longer becomes a message every so many lines.
const LINES_MAX: u16 = 4096;

/// How far in a backtrace a stream of lines is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backtrace {
    place: Place,
    lines: u16,
}

/// What a line is to its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// It is the first line.
    pub begins: bool,
    /// It is known to be the last one.
    pub ends: bool,
}

/// What was last seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
enum Place {
    /// No backtrace.
    #[default]
    None,
    /// `java.lang.Error: text`; its frames follow, or it was an ordinary line.
    Thrown,
    /// A frame `at ...`.
    Thrower,
    /// `... nested exception is:`; the exception follows.
    Nested,
    /// `Traceback (most recent call last):`
    PythonBegin,
    /// A line of it.
    Python,
    /// The place of a frame that is not indented, as where something took the blanks away; the code follows.
    PythonFile,
    /// The last line of a traceback.
    PythonEnd,
    /// The empty line behind it, where another traceback may be announced.
    PythonGap,
    /// The announcement, or the empty line behind that.
    PythonChain,
    /// `panic: ...`, the signal, or the empty line behind it.
    GoPanic,
    /// `goroutine 1 [running]:` or the file of a frame; the function of the next one follows.
    GoFrames,
    /// The function of a frame; its file follows.
    GoFunction,
    /// The empty line between two goroutines.
    GoGap,
    /// `x.rb:1:in ...: text (Error)`, or a frame.
    Ruby,
    /// An error of PHP; its trace follows.
    PhpThrown,
    /// `Stack trace:`, or a frame.
    Php,
    /// `Unhandled exception:`; its text follows.
    DartThrown,
    /// Its text; frames follow.
    DartText,
    Dart,
    /// `thread 'main' panicked at x.rs:1:1:`; the text follows.
    RustPanic,
    /// The text of a panic, notes and frames.
    Rust,
}

impl Backtrace {
    /// Takes the next line in.
    pub fn step(&mut self, line: Look) -> Step {
        let full = self.lines >= LINES_MAX;
        let goes_on = if full { None } else { self.place.next(line) };
        let begins = goes_on.is_none();
        self.place = goes_on.unwrap_or_else(|| Place::first(line));
        self.lines = if begins { 1 } else { self.lines + 1 };
        Step { begins, ends: self.place == Place::None }
    }
}

impl Place {
    /// Where a line that goes on with nothing leads to.
    fn first(line: Look) -> Place {
        // The more certain ones first: `Traceback` and `panic:` are told from the whole line.
        const FIRST: &[(Look, Place)] = &[
            (Look::PYTHON, Place::PythonBegin),
            (Look::GO_PANIC, Place::GoPanic),
            (Look::GOROUTINE, Place::GoFrames),
            (Look::RUST_PANIC, Place::RustPanic),
            (Look::DART, Place::DartThrown),
            (Look::PHP, Place::PhpThrown),
            (Look::RUBY, Place::Ruby),
            (Look(Look::THROWN.0 | Look::NESTED.0), Place::Nested),
            (Look::THROWN, Place::Thrown),
        ];
        FIRST.iter().find(|(look, _)| line.has(*look)).map_or(Place::None, |(_, place)| *place)
    }

    /// Where a line of the same backtrace leads to; [`Place::None`] when it is its last, `None` when it is
    /// not part of it.
    fn next(self, line: Look) -> Option<Place> {
        let known: &[(Look, Place)] = match self {
            Place::None => &[],
            Place::Thrown | Place::Thrower => &[
                (Look::AT, Place::Thrower),
                (Look(Look::CAUSE.0 | Look::NESTED.0), Place::Nested),
                (Look::CAUSE, Place::Thrown),
                // Rails writes the frames of an error without `at`.
                (Look::RUBY_FRAME, Place::Ruby),
            ],
            Place::Nested => &[(Look::THROWN, Place::Thrown), (Look::CAUSE, Place::Thrown)],
            Place::PythonBegin => &[(Look::PYTHON_FILE, Place::PythonFile), (Look::INDENTED, Place::Python)],
            Place::PythonFile => &[(Look::PYTHON_FILE, Place::PythonFile), (Look::TEXT, Place::Python)],
            Place::Python if line.has(Look::PYTHON) => &[],
            Place::Python => &[
                (Look::PYTHON_FILE, Place::PythonFile),
                (Look::PYTHON_ERROR, Place::PythonEnd),
                (Look::INDENTED, Place::Python),
            ],
            Place::PythonEnd => &[(Look::EMPTY, Place::PythonGap)],
            Place::PythonGap => &[(Look::PYTHON_CHAIN, Place::PythonChain)],
            Place::PythonChain => &[(Look::EMPTY, Place::PythonChain), (Look::PYTHON, Place::PythonBegin)],
            Place::GoPanic => &[
                (Look::EMPTY, Place::GoPanic),
                (Look::GO_SIGNAL, Place::GoPanic),
                (Look::GO_PANIC, Place::GoPanic),
                (Look::GOROUTINE, Place::GoFrames),
            ],
            Place::GoFrames => &[
                (Look::GO_FUNCTION, Place::GoFunction),
                (Look::GO_ELIDED, Place::GoFrames),
                (Look::EMPTY, Place::GoGap),
                (Look::GO_EXIT, Place::None),
            ],
            Place::GoFunction => &[(Look::GO_FILE, Place::GoFrames)],
            Place::GoGap => &[(Look::GOROUTINE, Place::GoFrames), (Look::GO_EXIT, Place::None)],
            Place::Ruby => &[(Look::RUBY_FRAME, Place::Ruby)],
            Place::PhpThrown => &[(Look::PHP_TRACE, Place::Php)],
            Place::Php => &[(Look::PHP_END, Place::None), (Look::NUMBERED, Place::Php)],
            Place::DartThrown => &[(Look::NUMBERED, Place::Dart), (Look::TEXT, Place::DartText)],
            Place::DartText | Place::Dart => &[(Look::NUMBERED, Place::Dart), (Look::DART_GAP, Place::Dart)],
            Place::RustPanic => &[(Look::RUST_FRAME, Place::Rust), (Look::TEXT, Place::Rust)],
            Place::Rust => &[(Look::RUST_FRAME, Place::Rust)],
        };
        known.iter().find(|(look, _)| line.has(*look)).map(|(_, place)| *place)
    }
}

#[cfg(test)]
mod tests;
