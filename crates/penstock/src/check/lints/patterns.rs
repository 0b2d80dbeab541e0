//! Regular expressions in double quotes that have lost their backslashes.

use super::Lints;
use conf_syntax::{ArgKind, Call, Config, Quote, Visit};
use diag::Diagnostic;

/// What takes a regular expression.
const TAKERS: [&str; 8] = ["match", "message", "msg", "program", "host", "subst", "patterns", "set-matches"];
/// What means something behind a backslash in a pattern, and nothing in double quotes.
const LOST: &[u8] = b"dDwWsSbB.+*?()[]{}|^$";

pub fn look(config: &Config, lints: &mut Lints<'_>) {
    config.visit(&mut Search { lints });
}

struct Search<'l, 's> {
    lints: &'l mut Lints<'s>,
}

impl Visit for Search<'_, '_> {
    fn call(&mut self, call: &Call) {
        let is_pattern = TAKERS.iter().any(|name| call.is(name));
        let is_regular = call
            .options()
            .filter(|option| option.is("type"))
            .all(|kind| kind.args.iter().all(|arg| arg.text() == Some("pcre")));
        if !is_pattern || !is_regular {
            return;
        }
        // What subst() puts in its place is no pattern.
        for arg in call.values().take(if call.is("subst") { 1 } else { usize::MAX }) {
            if !matches!(arg.kind, ArgKind::Str { quote: Quote::Double, .. }) {
                continue;
            }
            if let Some(letter) = lost(self.lints.sources.text(arg.span)) {
                let text =
                    format!("the backslash of `\\{letter}` is lost in double quotes: this is `{letter}`");
                let finding = Diagnostic::warning("L0101", text, arg.span)
                    .help("write the pattern in single quotes, or each backslash twice");
                let fixed = doubled(self.lints.sources.text(arg.span));
                self.lints.add(finding.replace(fixed));
            }
        }
    }
}

/// The same with each backslash twice that would be lost.
fn doubled(written: &str) -> String {
    let (mut out, mut chars) = (String::with_capacity(written.len() + 4), written.chars());
    while let Some(c) = chars.next() {
        out.push(c);
        if c == '\\' {
            let Some(letter) = chars.next() else { break };
            if u8::try_from(letter).is_ok_and(|letter| LOST.contains(&letter)) {
                out.push('\\');
            }
            out.push(letter);
        }
    }
    out
}

/// What stands behind the first backslash that is lost.
fn lost(written: &str) -> Option<char> {
    let mut bytes = written.strip_prefix('"')?.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'\\' {
            let letter = bytes.next()?;
            if LOST.contains(&letter) {
                return Some(char::from(letter));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{doubled, lost};

    #[test]
    fn only_what_is_lost_is_found() {
        for (written, expected) in [
            (r#""user=\d+""#, Some('d')),
            (r#""a\.b""#, Some('.')),
            (r#""\\d \n \t \x41 \"x\" é""#, None),
            (r#""\\\d""#, Some('d')),
            (r"'\d'", None),
            ("\"\\", None),
        ] {
            assert_eq!(lost(written), expected, "{written}");
            assert_eq!(lost(&doubled(written)), None, "{written}");
        }
    }
}
