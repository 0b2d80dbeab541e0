//! Help as wide as the terminal: long lines are broken between words, and go on where their text began.

use std::io::IsTerminal;

/// A terminal that says it is narrower is not believed.
const WIDTH_MIN: usize = 40;

/// The columns of the terminal that standard output is; `None` where it is none.
pub(super) fn columns() -> Option<usize> {
    let out = std::io::stdout();
    let size = rustix::termios::tcgetwinsize(&out).ok().filter(|_| out.is_terminal())?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns >= WIDTH_MIN)
}

/// The text without lines that are longer, unless a word is.
pub(super) fn wrapped(text: &str, columns: usize) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for line in text.split_inclusive('\n') {
        let end = if line.ends_with('\n') { "\n" } else { "" };
        let line = line.strip_suffix('\n').unwrap_or(line);
        match shown(line) > columns {
            true => broken(line, columns, &mut out),
            false => out.push_str(line),
        }
        out.push_str(end);
    }
    out
}

fn broken(line: &str, columns: usize, out: &mut String) {
    let begin = text_begin(line);
    let (head, text) = line.split_at(begin);
    let indent = match shown(head) {
        // An example, or a sentence: it goes on a little to the right.
        indent if head.trim().is_empty() => indent + if indent > 0 { 2 } else { 0 },
        indent if indent > columns * 2 / 3 => 8,
        indent => indent,
    };
    out.push_str(head);
    let mut at = shown(head);
    for (number, word) in text.split(' ').enumerate() {
        let length = shown(word);
        if number > 0 && at + 1 + length > columns {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            at = indent;
        } else if number > 0 {
            out.push(' ');
            at += 1;
        }
        out.push_str(word);
        at += length;
    }
}

/// Where the text of a line begins: behind the name of a command or option, else behind its first blanks.
fn text_begin(line: &str) -> usize {
    let margin = line.len() - line.trim_start().len();
    let behind_name = line.get(margin..).and_then(|rest| {
        let gap = rest.find("  ").filter(|_| margin > 0)?;
        let rest = rest.get(gap..)?;
        Some(margin + gap + rest.len() - rest.trim_start().len())
    });
    behind_name.unwrap_or(margin)
}

/// Columns that it takes, colours taking none.
fn shown(text: &str) -> usize {
    let (mut count, mut is_colour) = (0, false);
    for c in text.chars() {
        match (c, is_colour) {
            ('\u{1b}', _) => is_colour = true,
            ('m', true) => is_colour = false,
            (_, true) => {}
            (_, false) => count += 1,
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words() {
        let check = |text: &str, columns: usize, expected: &str| {
            assert_eq!(wrapped(text, columns), expected, "{text}");
        };
        check("short\n", 40, "short\n");
        check("one two three four\nx", 10, "one two\nthree four\nx");
        check(
            "  --next <F>  Wait for a message for which it holds\n",
            30,
            "  --next <F>  Wait for a\n              message for\n              which it holds\n",
        );
        check("  \u{1b}[1m-x\u{1b}[0m  aa bb cc", 12, "  \u{1b}[1m-x\u{1b}[0m  aa bb\n      cc");
        check("  penstock explain --config x", 20, "  penstock explain\n    --config x");
        check("averyveryverylongword and more", 10, "averyveryverylongword\nand more");
    }
}
