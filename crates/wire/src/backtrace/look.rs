//! What can be told of one line of a backtrace without knowing the others.

use memchr::memmem;

/// What a line looks like; it may look like several things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look(pub u32);

impl Look {
    /// Nothing, or nothing but blanks.
    pub const EMPTY: Look = Look(1);
    /// Something.
    pub const TEXT: Look = Look(1 << 1);
    /// Begins with a blank.
    pub const INDENTED: Look = Look(1 << 2);
    /// Names an exception, before a colon or at the end: Java, .NET, JavaScript.
    pub const THROWN: Look = Look(1 << 3);
    /// `  at com.example.Main.main(Main.java:1)` or `... 3 more`.
    pub const AT: Look = Look(1 << 4);
    /// `Caused by: ...`
    pub const CAUSE: Look = Look(1 << 5);
    /// Ends in `nested exception is:`.
    pub const NESTED: Look = Look(1 << 6);
    /// `Traceback (most recent call last):`
    pub const PYTHON: Look = Look(1 << 7);
    /// `ValueError: text`, not indented.
    pub const PYTHON_ERROR: Look = Look(1 << 8);
    /// The announcement of a further traceback.
    pub const PYTHON_CHAIN: Look = Look(1 << 9);
    pub const GO_PANIC: Look = Look(1 << 10);
    /// `goroutine 1 [running]:`
    pub const GOROUTINE: Look = Look(1 << 11);
    /// `[signal SIGSEGV: ...]`
    pub const GO_SIGNAL: Look = Look(1 << 12);
    /// `main.main()` or `created by main.run`
    pub const GO_FUNCTION: Look = Look(1 << 13);
    /// `\t/src/main.go:5 +0x1d`
    pub const GO_FILE: Look = Look(1 << 14);
    /// `...additional frames elided...`
    pub const GO_ELIDED: Look = Look(1 << 15);
    /// `exit status 2`
    pub const GO_EXIT: Look = Look(1 << 16);
    pub const RUBY: Look = Look(1 << 17);
    /// `\tfrom x.rb:1:in ...`
    pub const RUBY_FRAME: Look = Look(1 << 18);
    pub const PHP: Look = Look(1 << 19);
    /// `Stack trace:`
    pub const PHP_TRACE: Look = Look(1 << 20);
    /// `  thrown in /x.php on line 1`
    pub const PHP_END: Look = Look(1 << 21);
    /// `#0 ...`, a frame of PHP or Dart.
    pub const NUMBERED: Look = Look(1 << 22);
    /// `Unhandled exception:`
    pub const DART: Look = Look(1 << 23);
    /// `<asynchronous suspension>`
    pub const DART_GAP: Look = Look(1 << 24);
    /// `thread 'main' panicked at ...`
    pub const RUST_PANIC: Look = Look(1 << 25);
    /// `stack backtrace:`, `note: ...`, `   0: std::panicking::begin_panic`, `             at /src/x.rs:1:1`
    pub const RUST_FRAME: Look = Look(1 << 26);
    /// `File "/srv/x.py", line 12, in f` of Python, not indented.
    pub const PYTHON_FILE: Look = Look(1 << 27);

    pub fn has(self, other: Look) -> bool {
        self.0 & other.0 == other.0
    }

    fn set(&mut self, other: Look, on: bool) {
        if on {
            self.0 |= other.0;
        }
    }
}

/// Looks at a line, without its line end.
pub fn look(line: &[u8]) -> Look {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let trimmed = line.trim_ascii();
    let mut look = Look::default();
    if trimmed.is_empty() {
        look.set(Look::EMPTY, true);
        return look;
    }
    look.set(Look::TEXT, true);
    let indented = matches!(line.first(), Some(b' ' | b'\t'));
    look.set(Look::INDENTED, indented);
    thrown(line, &mut look);
    frames(trimmed, indented, &mut look);
    python(line, trimmed, &mut look);
    go(line, trimmed, indented, &mut look);
    ruby(line, trimmed, indented, &mut look);
    php(line, trimmed, &mut look);
    look.set(Look::DART, trimmed == b"Unhandled exception:");
    look.set(Look::DART_GAP, trimmed == b"<asynchronous suspension>");
    rust(line, trimmed, indented, &mut look);
    look
}

/// `Exception`, `Error` or `Throwable` as the end of a word, before a colon or at the end of the line.
fn thrown(line: &[u8], look: &mut Look) {
    let names = |text: &[u8]| {
        [b"Exception".as_slice(), b"Error", b"Throwable"].iter().any(|name| text.ends_with(name))
    };
    let mut colons = memchr::memchr_iter(b':', line);
    look.set(
        Look::THROWN,
        names(line.trim_ascii_end()) || colons.any(|at| line.get(..at).is_some_and(names)),
    );
    look.set(Look::NESTED, line.trim_ascii_end().ends_with(b"nested exception is:"));
}

/// Frames and causes of Java, .NET and JavaScript.
fn frames(trimmed: &[u8], indented: bool, look: &mut Look) {
    let at = indented && (trimmed.starts_with(b"at ") || trimmed.starts_with(b"eval at "));
    // `... 3 more`, `... 3 common frames omitted`
    let left_out = trimmed.strip_prefix(b"... ").is_some_and(|rest| digits(rest) > 0);
    // .NET: `--- End of inner exception stack trace ---`, `--- End of stack trace from previous location ---`
    let seam =
        indented && trimmed.starts_with(b"--- End of ") || trimmed.starts_with(b"--- End of stack trace");
    look.set(Look::AT, at || left_out || seam);
    let cause = [b"Caused by: ".as_slice(), b"Suppressed: ", b"Wrapped by: ", b"[CIRCULAR REFERENCE"];
    // .NET: ` ---> System.Exception: text`
    let inner = indented && trimmed.starts_with(b"---> ");
    look.set(Look::CAUSE, inner || cause.iter().any(|start| trimmed.starts_with(start)));
}

fn python(line: &[u8], trimmed: &[u8], look: &mut Look) {
    // Inside a group of exceptions those of the others stand behind a line: `  | Traceback ...`.
    let begins = trimmed.ends_with(b"Traceback (most recent call last):") && !trimmed.starts_with(b"|");
    look.set(Look::PYTHON, begins);
    // The name of a class, dotted, then the end or a colon.
    let name = line.iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.')).count();
    let named = name > 0 && matches!(line.trim_ascii_end().get(name), None | Some(b':'));
    look.set(Look::PYTHON_ERROR, named);
    look.set(Look::PYTHON_FILE, line.starts_with(b"File \"") && memmem::find(line, b"\", line ").is_some());
    let chain = [
        b"During handling of the above exception, another exception occurred:".as_slice(),
        b"The above exception was the direct cause of the following exception:",
    ];
    look.set(Look::PYTHON_CHAIN, chain.contains(&trimmed));
}

fn go(line: &[u8], trimmed: &[u8], indented: bool, look: &mut Look) {
    let panics = [b"panic: ".as_slice(), b"fatal error: ", b"[recovered]"];
    let serving = memmem::find(line, b"http: panic serving ").is_some();
    look.set(Look::GO_PANIC, serving || panics.iter().any(|start| trimmed.starts_with(start)));
    let routine = trimmed.strip_prefix(b"goroutine ").is_some_and(|rest| {
        rest.get(digits(rest)..).is_some_and(|rest| rest.starts_with(b" [")) && rest.ends_with(b"]:")
    });
    look.set(Look::GOROUTINE, routine && !indented);
    look.set(Look::GO_SIGNAL, trimmed.starts_with(b"[signal "));
    let called = !indented && (trimmed.ends_with(b")") || trimmed.starts_with(b"created by "));
    look.set(Look::GO_FUNCTION, called);
    look.set(Look::GO_FILE, indented && has_place(trimmed, b":"));
    look.set(Look::GO_ELIDED, trimmed.starts_with(b"...additional frames elided..."));
    look.set(
        Look::GO_EXIT,
        trimmed.strip_prefix(b"exit status ").is_some_and(|rest| digits(rest) == rest.len()),
    );
}

fn ruby(line: &[u8], trimmed: &[u8], indented: bool, look: &mut Look) {
    let placed = has_place(line, b".rb:") && memmem::find(line, b":in ").is_some();
    let from = trimmed.starts_with(b"from ");
    look.set(Look::RUBY_FRAME, indented && (placed || from && has_place(trimmed, b":")));
    // Rails: `NoMethodError (undefined method 'x'):`
    let rails = trimmed.ends_with(b"):") && memmem::find(line, b"Error (").is_some();
    look.set(Look::RUBY, !indented && placed || rails);
}

fn php(line: &[u8], trimmed: &[u8], look: &mut Look) {
    let kinds = [b"Fatal error: ".as_slice(), b"Notice: ", b"Warning: ", b"Parse error: ", b"Deprecated: "];
    let error = memmem::find(line, b"PHP ").and_then(|at| line.get(at + 4..));
    let error = error.is_some_and(|rest| kinds.iter().any(|kind| rest.starts_with(kind)));
    let uncaught = memmem::find(line, b"Uncaught ").is_some() && memmem::find(line, b" in ").is_some();
    look.set(Look::PHP, error || uncaught || memmem::find(line, b"' with message '").is_some());
    look.set(Look::PHP_TRACE, trimmed.ends_with(b"Stack trace:"));
    look.set(Look::PHP_END, trimmed.starts_with(b"thrown in "));
    let hash = trimmed.strip_prefix(b"#").unwrap_or_default();
    // Xdebug: `PHP   1. main() /x.php:3`
    let dotted = trimmed.strip_prefix(b"PHP ").unwrap_or_default().trim_ascii_start();
    let dotted = digits(dotted) > 0 && dotted.get(digits(dotted)) == Some(&b'.');
    look.set(Look::NUMBERED, digits(hash) > 0 || dotted);
}

fn rust(line: &[u8], trimmed: &[u8], indented: bool, look: &mut Look) {
    let panic = line.starts_with(b"thread '") && memmem::find(line, b" panicked at ").is_some();
    look.set(Look::RUST_PANIC, panic);
    let frame =
        digits(trimmed) > 0 && trimmed.get(digits(trimmed)..).is_some_and(|rest| rest.starts_with(b": "));
    let place = trimmed.starts_with(b"at ") && has_place(trimmed, b":");
    let note = trimmed.starts_with(b"note: ") || trimmed == b"stack backtrace:";
    look.set(Look::RUST_FRAME, note || indented && (frame || place));
}

/// How many digits a text begins with.
fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|b| b.is_ascii_digit()).count()
}

/// `mark` with a digit behind it, as in `x.go:12`.
fn has_place(text: &[u8], mark: &[u8]) -> bool {
    memmem::find_iter(text, mark).any(|at| text.get(at + mark.len()).is_some_and(u8::is_ascii_digit))
}
