//! Selection of counters by a pattern over their keys.

use crate::counters::Counter;

/// A pattern with `*` (any run of characters) and `?` (one character); everything else is literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Vec<char>);

impl Pattern {
    /// An empty pattern selects everything, as in syslog-ng.
    pub fn new(text: &str) -> Self {
        let text = text.trim();
        Pattern(if text.is_empty() { vec!['*'] } else { text.chars().collect() })
    }

    pub fn selects(&self, counter: &Counter) -> bool {
        counter.has_legacy_name() && self.matches(&counter.key())
    }

    /// Time grows with pattern times key at worst: only the last star is ever tried again.
    pub fn matches(&self, key: &str) -> bool {
        let key: Vec<char> = key.chars().collect();
        let (mut at_pattern, mut at_key) = (0, 0);
        let mut retry: Option<(usize, usize)> = None;
        while let Some(&have) = key.get(at_key) {
            match self.0.get(at_pattern) {
                Some('*') => {
                    retry = Some((at_pattern, at_key));
                    at_pattern += 1;
                }
                Some(&want) if want == '?' || want == have => {
                    at_pattern += 1;
                    at_key += 1;
                }
                _ => match retry {
                    Some((star, from)) => {
                        retry = Some((star, from + 1));
                        at_pattern = star + 1;
                        at_key = from + 1;
                    }
                    None => return false,
                },
            }
        }
        self.0.iter().skip(at_pattern).all(|&c| c == '*')
    }
}

/// The total of the counters; stays at the largest number when it does not fit.
pub fn sum(counters: &[Counter]) -> u64 {
    counters.iter().fold(0, |total, c| total.saturating_add(c.value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        let check = |pattern: &str, key: &str, expected| {
            assert_eq!(Pattern::new(pattern).matches(key), expected, "{pattern} {key}");
        };
        check("*", "", true);
        check("", "anything", true);
        check("dst.file*", "dst.file.d_f#0.written", true);
        check("*.written", "dst.file.d_f#0.written", true);
        check("*.written", "dst.file.d_f#0.written2", false);
        check("dst.*#?.*ten", "dst.file.d_f#0./a/b.written", true);
        check("dst", "dst.file", false);
        check("d?t", "dst", true);
        check("d[s]t", "dst", false);
        check("**a**", "bab", true);
        check("?", "é", true);
        check("?", "", false);
    }

    #[test]
    fn many_stars_do_not_explode() {
        let key = "a".repeat(5000);
        assert!(!Pattern::new(&("*a".repeat(200) + "b")).matches(&key));
    }

    #[test]
    fn sums_saturate() {
        let c = |value| Counter::new("a", "", "", "k", value);
        assert_eq!(sum(&[c(2), c(3)]), 5);
        assert_eq!(sum(&[c(u64::MAX), c(3)]), u64::MAX);
    }
}
