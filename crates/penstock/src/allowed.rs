//! Comments by which somebody says that a warning is known and what it warns of is meant: `# allow CODE` in
//! its line, or in the line before.

use diag::{Diagnostic, SourceMap, Span};

const WORD: &str = "# allow ";

/// Whether the text says so of a finding.
pub fn is_meant(finding: &Diagnostic, sources: &SourceMap) -> bool {
    finding.span.is_some_and(|span| is_said_at(sources.outermost(span), finding.code, sources))
}

fn is_said_at(span: Span, code: &str, sources: &SourceMap) -> bool {
    let Some(file) = sources.file(span.file) else { return false };
    let Some(before) = file.text.get(..span.start as usize) else { return false };
    let begin = before.rfind('\n').map_or(0, |end| end + 1);
    let line = file.text.get(begin..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let above = before.get(..begin).and_then(|text| text.lines().next_back()).unwrap_or_default();
    // Above, a comment behind something else is about that.
    allows(line, code) || above.trim_start().starts_with(WORD) && allows(above, code)
}

fn allows(line: &str, code: &str) -> bool {
    let codes = line.rsplit_once(WORD).map(|(_, codes)| codes);
    codes.is_some_and(|codes| codes.split([' ', ',']).any(|word| word == code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_about_its_line_or_the_next() {
        let check = |text: &str, expected: bool| {
            let mut sources = SourceMap::default();
            let file = sources.add_root("x.conf", text);
            let start = text.find('X').expect("a place") as u32;
            let span = Span { file, start, end: start + 1 };
            let finding = Diagnostic::warning("D0107", "no such user", span);
            assert_eq!(is_meant(&finding, &sources), expected, "{text}");
        };
        check("X # allow D0107\n", true);
        check("X # allow L0101, D0107 as it is meant\n", true);
        check("# allow D0107\n  X\n", true);
        check("a; # allow D0107\nX\n", false);
        check("# allow D0107\n\nX\n", false);
        check("X # allow D01\n", false);
        check("X\n# allow D0107", false);
    }
}
