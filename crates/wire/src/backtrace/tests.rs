//! Backtraces as the languages print them, between ordinary lines.

use super::{Backtrace, look};
use proptest::prelude::*;

/// The messages of a text, each as its number of lines.
fn sizes(text: &str) -> Vec<usize> {
    let mut machine = Backtrace::default();
    let (mut all, mut open) = (Vec::new(), false);
    for line in text.lines() {
        let step = machine.step(look(line.as_bytes()));
        match (step.begins || !open, all.last_mut()) {
            (false, Some(last)) => *last += 1,
            _ => all.push(1),
        }
        open = !step.ends;
    }
    all
}

/// The text is one message between two ordinary ones, and after itself.
#[track_caller]
fn check(text: &str) {
    let lines = text.lines().count();
    assert_eq!(sizes(&format!("first\n{text}\nlast line")), [1, lines, 1], "{text}");
    assert_eq!(sizes(&format!("{text}\n{text}")), [lines, lines], "twice {text}");
    let windows = format!("first\n{text}\nlast line").replace('\n', "\r\n");
    assert_eq!(sizes(&windows), [1, lines, 1], "{windows}");
}

#[test]
fn java() {
    check(
        "Exception in thread \"main\" java.lang.NullPointerException\n\tat a.B.c(B.java:16)\n\tat a.D.main(D.java:14)",
    );
    check(
        "2026-11-21 ERROR handler: java.lang.RuntimeException: no room\n\tat a.B.c(B.java:16)\nCaused by: java.io.IOException: disk\n\
         \tat x.Y.z(Y.java:1)\n\t... 3 more\n\tSuppressed: java.lang.Exception: closing\n\t\tat x.Y.close(Y.java:9)\n\
         \t\t... 2 common frames omitted",
    );
    check(
        "javax.servlet.ServletException: Something bad happened; nested exception is:\njava.lang.IllegalStateException: x\n\
         \tat com.example.A.b(A.java:60)",
    );
}

#[test]
fn dotnet() {
    check(
        "Unhandled exception. System.InvalidOperationException: outer\n ---> System.ArgumentException: inner\n   at N.C.F() in C:\\x.cs:line 5\n\
         \x20  --- End of inner exception stack trace ---\n   at N.C.Main(String[] args) in C:\\x.cs:line 12",
    );
}

#[test]
fn javascript() {
    check(
        "TypeError: Cannot read properties of undefined (reading 'x')\n    at f (/srv/app/index.js:3:11)\n    at Object.<anonymous> \
         (/srv/app/index.js:7:1)\n    at node:internal/main/run_main_module:17:47",
    );
}

#[test]
fn python() {
    let one = "Traceback (most recent call last):\n  File \"/srv/x.py\", line 12, in f\n    return g()\n           ^^^\n\
               \x20 [Previous line repeated 3 more times]\nValueError: wrong";
    check(one);
    check(
        "ERROR:root:Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\nKeyboardInterrupt",
    );
    check(&format!("{one}\n\nDuring handling of the above exception, another exception occurred:\n\n{one}"));
    check(&format!("{one}\n\nThe above exception was the direct cause of the following exception:\n\n{one}"));
    // Without the blanks at the beginning of lines.
    check(
        "Traceback (most recent call last):\nFile \"/srv/x.py\", line 12, in f\nreturn g()\nFile \"/srv/y.py\", line 3, in g\nif x:\n\
         ValueError: wrong",
    );
    // An empty line behind the end may announce more, and belongs to the message.
    assert_eq!(sizes(&format!("{one}\n\nother\n")), [7, 1]);
    check(
        "  + Exception Group Traceback (most recent call last):\n  |   File \"x.py\", line 2, in <module>\n  | ExceptionGroup: two (2 sub-exceptions)\n\
         \x20 +-+---------------- 1 ----------------\n    | ValueError: a\n    +------------------------------------",
    );
}

#[test]
fn go() {
    check(
        "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\nmain.pick(...)\n\t/src/main.go:9\nmain.main()\n\
         \t/src/main.go:14 +0x1d\nexit status 2",
    );
    check(
        "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:\nmain.main()\n\t/src/main.go:5 +0x2a\n\n\
         goroutine 18 [select, 3 minutes]:\nmain.run(0xc000010000)\n\t/src/main.go:22 +0x50\ncreated by main.main in goroutine 1\n\
         \t/src/main.go:12 +0x3c\n...additional frames elided...",
    );
    check(
        "panic: broken [recovered]\n\tpanic: broken\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x45]\n\ngoroutine 7 [running]:\n\
         main.f()\n\t/src/f.go:1 +0x1",
    );
}

#[test]
fn ruby() {
    check(
        "/srv/app.rb:10:in `divide': divided by 0 (ZeroDivisionError)\n\tfrom /srv/app.rb:14:in `run'\n\tfrom /srv/app.rb:20:in `<main>'",
    );
    check(
        "NoMethodError (undefined method `x' for nil):\n  app/controllers/a_controller.rb:12:in `index'\n  lib/b.rb:3:in `call'",
    );
}

#[test]
fn php() {
    check(
        "PHP Fatal error:  Uncaught Exception: broken in /srv/x.php:3\nStack trace:\n#0 /srv/x.php(7): f()\n#1 {main}\n  thrown in /srv/x.php on line 3",
    );
    check(
        "PHP Warning:  Undefined variable $a in /srv/x.php on line 3\nPHP Stack trace:\nPHP   1. {main}() /srv/x.php:0",
    );
}

#[test]
fn dart_and_rust() {
    check(
        "Unhandled exception:\nInstance of 'Broken'\n#0      main (file:///srv/x.dart:5:3)\n<asynchronous suspension>\n#1      _start (dart:isolate:1:2)",
    );
    check(
        "thread 'main' panicked at src/main.rs:2:5:\nbroken\nstack backtrace:\n   0: std::panicking::begin_panic\n             at /rustc/x.rs:1:1\n\
         \x20  1: x::main\n             at ./src/main.rs:2:5\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
    );
}

#[test]
fn ordinary_lines_are_messages_of_their_own() {
    assert_eq!(sizes("a\nb\n  indented\n\nat home\n#1 is first\nexit status 2\nstack backtrace:"), [1; 8]);
    // What may begin a backtrace and does not is one message all the same.
    assert_eq!(
        sizes("Error: disk full\nnext\nPHP Notice:  x\nTraceback (most recent call last):\nnext"),
        [1, 1, 1, 1, 1]
    );
}

#[test]
fn a_backtrace_without_end_is_cut() {
    let text = format!("a.Exception: x\n{}", "\tat a.B.c(B.java:1)\n".repeat(10_000));
    assert!(sizes(&text).iter().all(|size| *size <= usize::from(super::LINES_MAX)));
}

proptest! {
    /// Whatever the lines are, a message that ended is not gone on with.
    #[test]
    fn any_lines(lines in proptest::collection::vec("[ \\ta-zA-Z:().#|+0-9'`-]{0,40}|panic: x|x.Error: y|\tat x|  File \"x\", line 1|#1 x", 0..40)) {
        let mut machine = Backtrace::default();
        let mut open = false;
        for line in lines {
            let step = machine.step(look(line.as_bytes()));
            prop_assert!(open || step.begins, "{line}");
            open = !step.ends;
        }
    }
}
