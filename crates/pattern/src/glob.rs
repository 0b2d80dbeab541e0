//! Globs: `*` and `?` against the whole value, as the glob type of filters has it. No brackets, no escapes.

use crate::literal::Literal;
use crate::simplify::{End, Texts};

/// Matches text that is valid UTF-8; other text never matches.
pub struct Glob {
    matcher: Matcher,
    icase: bool,
}

enum Matcher {
    /// `text`, `text*`, `*text`, `*text*`
    Literal(Literal),
    Steps(Vec<Step>),
}

#[derive(Clone, Copy, PartialEq)]
enum Step {
    Char(char),
    AnyChar,
    AnyText,
}

impl Glob {
    pub fn new(pattern: &str, icase: bool) -> Glob {
        let matcher = match plain(pattern, icase) {
            Some(literal) => Matcher::Literal(literal),
            None => {
                let mut steps: Vec<Step> = pattern
                    .chars()
                    .map(|c| match c {
                        '*' => Step::AnyText,
                        '?' => Step::AnyChar,
                        c => Step::Char(c),
                    })
                    .collect();
                steps.dedup_by(|a, b| *a == Step::AnyText && *b == Step::AnyText);
                Matcher::Steps(steps)
            }
        };
        Glob { matcher, icase }
    }

    pub fn describe(&self) -> &'static str {
        match &self.matcher {
            Matcher::Literal(literal) => literal.describe(),
            Matcher::Steps(_) => "glob",
        }
    }

    pub fn is_match(&self, text: &[u8]) -> bool {
        match &self.matcher {
            Matcher::Literal(literal) => literal.is_match(text) && std::str::from_utf8(text).is_ok(),
            Matcher::Steps(steps) => std::str::from_utf8(text).is_ok_and(|t| self.walk(steps, t)),
        }
    }

    /// After a mismatch only the last `*` can take more, so the time is at most pattern times text.
    fn walk(&self, steps: &[Step], text: &str) -> bool {
        let (mut step, mut rest) = (0, text.chars());
        let mut retry: Option<(usize, std::str::Chars<'_>)> = None;
        loop {
            let mut after = rest.clone();
            let fits = match (steps.get(step), after.next()) {
                (Some(Step::AnyText), _) => {
                    retry = Some((step + 1, rest.clone()));
                    step += 1;
                    continue;
                }
                (Some(Step::AnyChar), Some(_)) => true,
                (Some(Step::Char(c)), Some(found)) => {
                    *c == found || (self.icase && c.eq_ignore_ascii_case(&found))
                }
                (None, None) => return true,
                _ => false,
            };
            if fits {
                (step, rest) = (step + 1, after);
                continue;
            }
            let Some((from, mut at)) = retry.take() else { return false };
            if at.next().is_none() {
                return false;
            }
            (step, rest) = (from, at.clone());
            retry = Some((from, at));
        }
    }
}

fn plain(pattern: &str, icase: bool) -> Option<Literal> {
    let inner = pattern.trim_matches('*');
    if inner.contains(['*', '?']) {
        return None;
    }
    let at_start = !pattern.starts_with('*');
    let end = if pattern.ends_with('*') { End::Anything } else { End::Nothing };
    Literal::new(Texts { at_start, end, texts: vec![inner.as_bytes().to_vec()], icase })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, yes: &[&str], no: &[&str]) {
        let glob = Glob::new(pattern, false);
        yes.iter().for_each(|t| assert!(glob.is_match(t.as_bytes()), "{pattern} should match {t:?}"));
        no.iter().for_each(|t| assert!(!glob.is_match(t.as_bytes()), "{pattern} should not match {t:?}"));
    }

    #[test]
    fn stars_and_question_marks() {
        check("foo", &["foo"], &["fo", "foox", "xfoo", ""]);
        check("foo*", &["foo", "foobar"], &["xfoo"]);
        check("*foo", &["foo", "xfoo", "foofoo"], &["foox"]);
        check("*foo*", &["foo", "xfoox"], &["fo"]);
        check("", &[""], &["x"]);
        check("*", &["", "x"], &[]);
        check("a*b*c", &["abc", "axxbyyc", "abcbc"], &["ab", "acb"]);
        check("a?c", &["abc", "aéc"], &["ac", "abbc"]);
        check("*a?", &["xab", "aab", "aaab"], &["a", "ba"]);
        check("???", &["éáű"], &["ab", "abcd"]);
        check("[a]", &["[a]"], &["a"]);
    }

    #[test]
    fn text_that_is_not_utf8_never_matches() {
        assert!(!Glob::new("*", false).is_match(b"\xff"));
        assert!(!Glob::new("a?", false).is_match(b"a\xff"));
    }

    #[test]
    fn case_can_be_ignored() {
        assert!(Glob::new("A?c*", true).is_match(b"abCd"));
    }
}
