//! The codes of the language layer: (code, title, what it means and what to do). Feeds docs/errors.md.

/// Codes of the language layer. Other crates keep a list of the same shape; [`find_duplicate`] checks them together.
pub const CODES: &[(&str, &str, &str)] = &[];

/// Title and explanation of a code in `lists`.
pub fn explain<'a>(lists: &[&'a [(&'a str, &'a str, &'a str)]], code: &str) -> Option<(&'a str, &'a str)> {
    lists.iter().flat_map(|l| l.iter()).find(|(c, ..)| *c == code).map(|(_, title, text)| (*title, *text))
}

/// A code that stands twice in `lists`, if there is one.
pub fn find_duplicate<'a>(lists: &[&'a [(&'a str, &'a str, &'a str)]]) -> Option<&'a str> {
    let mut seen = std::collections::HashSet::new();
    lists.iter().flat_map(|l| l.iter()).map(|(code, ..)| *code).find(|code| !seen.insert(*code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_code_stands_twice() {
        assert_eq!(find_duplicate(&[CODES]), None);
        assert_eq!(find_duplicate(&[&[("A", "", "")], &[("A", "", "")]]), Some("A"));
    }
}
