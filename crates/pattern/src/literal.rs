//! Plain texts: comparison, memmem, aho-corasick and a vectorised search that ignores case.

use crate::needle::Needle;
use crate::simplify::{End, Texts};
use aho_corasick::packed;
use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};
use memchr::memmem;

/// Finds one of a few texts.
pub struct Literal {
    texts: Vec<Box<[u8]>>,
    icase: bool,
    place: Place,
}

enum Place {
    /// The whole value, perhaps with a newline after it.
    Whole {
        newline: bool,
    },
    Start,
    End {
        newline: bool,
    },
    Inside(Inside),
}

enum Inside {
    /// The empty text stands everywhere, unless one of the texts preferred to it does.
    OrEmpty {
        preferred: usize,
    },
    One(Box<memmem::Finder<'static>>),
    OneFolded(Box<Folded>),
    Many(Box<AhoCorasick>),
}

impl Literal {
    /// `None` when the tables cannot be built (too many texts): another engine has to do it.
    pub fn new(texts: Texts) -> Option<Literal> {
        let newline = texts.end == End::MaybeNewline;
        let tied_end = texts.end != End::Anything;
        let list: Vec<Box<[u8]>> = texts.texts.into_iter().map(Vec::into_boxed_slice).collect();
        let first = list.first()?;
        let place = match (texts.at_start, tied_end) {
            (true, true) => Place::Whole { newline },
            (true, false) => Place::Start,
            (false, true) => Place::End { newline },
            (false, false) if list.iter().any(|t| t.is_empty()) => {
                let preferred = list.iter().position(|t| t.is_empty()).unwrap_or_default();
                Place::Inside(Inside::OrEmpty { preferred })
            }
            (false, false) => Place::Inside(match (list.len(), texts.icase) {
                (1, false) => Inside::One(Box::new(memmem::Finder::new(first).into_owned())),
                (1, true) => Inside::OneFolded(Box::new(Folded::new(first))),
                _ => {
                    let mut builder = AhoCorasickBuilder::new();
                    builder.match_kind(MatchKind::LeftmostFirst).ascii_case_insensitive(texts.icase);
                    Inside::Many(Box::new(builder.build(list.iter().map(|t| &**t)).ok()?))
                }
            }),
        };
        Some(Literal { texts: list, icase: texts.icase, place })
    }

    /// How it searches, for people.
    pub fn describe(&self) -> &'static str {
        match (&self.place, self.icase) {
            (Place::Whole { .. }, _) => "comparison",
            (Place::Start, _) => "comparison of the beginning",
            (Place::End { .. }, _) => "comparison of the end",
            (Place::Inside(Inside::OrEmpty { .. }), _) => "always true",
            (Place::Inside(Inside::Many(_)), _) => "aho-corasick",
            (Place::Inside(_), false) => "memmem",
            (Place::Inside(_), true) => "memmem ignoring case",
        }
    }

    /// The texts when a match is "contains one of them", with whether case is ignored.
    pub fn contained(&self) -> Option<(&[Box<[u8]>], bool)> {
        match self.place {
            Place::Inside(Inside::OrEmpty { .. }) => None,
            Place::Inside(_) => Some((&self.texts, self.icase)),
            _ => None,
        }
    }

    /// The text, where it is one of so many bytes at least and its letters are as they are.
    pub fn needle(&self, bytes_min: usize) -> Option<Needle> {
        match &*self.texts {
            [only] if !self.icase && only.len() >= bytes_min => Some(Needle::new(only)),
            _ => None,
        }
    }

    /// Whether a text that begins with this byte can match.
    pub fn can_begin(&self, byte: u8) -> bool {
        match &self.place {
            Place::Whole { .. } | Place::Start => self.texts.iter().any(|t| match t.first() {
                Some(first) => self.same(&[byte], &[*first]),
                None => true,
            }),
            Place::End { .. } | Place::Inside(_) => true,
        }
    }

    #[inline]
    pub fn is_match(&self, text: &[u8]) -> bool {
        match &self.place {
            Place::Whole { newline } => {
                let cut = if *newline { before_newline(text) } else { None };
                self.texts.iter().any(|t| self.same(text, t) || cut.is_some_and(|c| self.same(c, t)))
            }
            Place::Inside(Inside::One(finder)) => finder.find(text).is_some(),
            Place::Inside(Inside::Many(ac)) => ac.is_match(text),
            Place::Start => self.texts.iter().any(|t| self.starts(text, t)),
            _ => self.find(text, 0).is_some(),
        }
    }

    /// The leftmost match at or after `at`, the earlier text preferred.
    pub fn find(&self, text: &[u8], at: usize) -> Option<(usize, usize)> {
        let rest = text.get(at..)?;
        match &self.place {
            Place::Whole { newline } => {
                let cut = before_newline(text).filter(|_| *newline);
                let fits = |t: &[u8]| self.same(text, t) || cut.is_some_and(|c| self.same(c, t));
                let hit = self.texts.iter().find(|t| fits(t))?;
                (at == 0).then_some((0, hit.len()))
            }
            Place::Start => {
                let hit = self.texts.iter().find(|t| self.starts(text, t))?;
                (at == 0).then_some((0, hit.len()))
            }
            Place::End { newline } => self.at_end(text, at, *newline),
            Place::Inside(Inside::OrEmpty { preferred }) => {
                let hit = self.texts.iter().take(*preferred).find(|t| self.starts(rest, t));
                Some((at, at + hit.map_or(0, |t| t.len())))
            }
            Place::Inside(Inside::One(finder)) => {
                let start = at + finder.find(rest)?;
                Some((start, start + finder.needle().len()))
            }
            Place::Inside(Inside::OneFolded(folded)) => {
                let start = folded.find(text, at)?;
                Some((start, start + folded.text.len()))
            }
            Place::Inside(Inside::Many(ac)) => {
                let hit = ac.find(aho_corasick::Input::new(text).span(at..text.len()))?;
                Some((hit.start(), hit.end()))
            }
        }
    }

    /// The leftmost is the longest; one that ends before a last newline may begin further left than one that
    /// ends after it.
    fn at_end(&self, text: &[u8], at: usize, newline: bool) -> Option<(usize, usize)> {
        let ends = [Some(text), before_newline(text).filter(|_| newline)];
        let mut best: Option<(usize, usize)> = None;
        for t in &self.texts {
            for whole in ends.into_iter().flatten() {
                let Some(start) = whole.len().checked_sub(t.len()).filter(|s| *s >= at) else { continue };
                if self.starts(whole.get(start..)?, t) && best.is_none_or(|(b, _)| start < b) {
                    best = Some((start, whole.len()));
                }
            }
        }
        best
    }

    #[inline]
    fn same(&self, text: &[u8], t: &[u8]) -> bool {
        if self.icase { text.eq_ignore_ascii_case(t) } else { text == t }
    }

    #[inline]
    fn starts(&self, text: &[u8], t: &[u8]) -> bool {
        match text.get(..t.len()) {
            Some(head) => self.same(head, t),
            None => false,
        }
    }
}

fn before_newline(text: &[u8]) -> Option<&[u8]> {
    text.strip_suffix(b"\n")
}

/// Searches one text ignoring the case of ASCII letters.
struct Folded {
    text: Box<[u8]>,
    /// Where in `text` the searched window stands.
    window: usize,
    searcher: Option<packed::Searcher>,
}

/// Bytes of the window: its spellings (two for each letter) must stay few for the vectorised search.
const WINDOW: usize = 3;

/// Letters from frequent to rare in log messages; other bytes count as rarer than all letters but the blank.
const FREQUENT: &[u8] = b" etaoinsrlcdpumhfgbvwykxjqz";

impl Folded {
    fn new(text: &[u8]) -> Folded {
        let rarity = |b: &u8| {
            let found = FREQUENT.iter().position(|f| *f == b.to_ascii_lowercase());
            found.unwrap_or(FREQUENT.len())
        };
        let width = text.len().min(WINDOW);
        let windows = text.windows(width.max(1)).enumerate();
        let window = windows.max_by_key(|(_, w)| w.iter().map(rarity).sum::<usize>()).map_or(0, |(i, _)| i);
        let mut spellings: Vec<Vec<u8>> = vec![Vec::new()];
        for b in text.iter().skip(window).take(width) {
            let mut cases = vec![b.to_ascii_lowercase()];
            if b.is_ascii_alphabetic() {
                cases.push(b.to_ascii_uppercase());
            }
            spellings = spellings
                .iter()
                .flat_map(|s| cases.iter().map(move |c| [s.as_slice(), &[*c]].concat()))
                .collect();
        }
        let searcher = if text.is_empty() { None } else { packed::Searcher::new(&spellings) };
        Folded { text: text.into(), window, searcher }
    }

    fn find(&self, text: &[u8], at: usize) -> Option<usize> {
        let mut from = at;
        loop {
            let start = self.candidate(text, from)?;
            match text.get(start..start + self.text.len()) {
                Some(part) if part.eq_ignore_ascii_case(&self.text) => return Some(start),
                Some(_) => from = start + 1,
                None => return None,
            }
        }
    }

    /// The next place at or after `from` where the window fits.
    fn candidate(&self, text: &[u8], from: usize) -> Option<usize> {
        let begin = from + self.window;
        if begin > text.len() {
            return None;
        }
        let hit = match (&self.searcher, self.text.get(self.window)) {
            (Some(searcher), _) => searcher.find_in(text, (begin..text.len()).into())?.start(),
            (None, Some(b)) => {
                let rest = text.get(begin..)?;
                begin + memchr::memchr2(b.to_ascii_lowercase(), b.to_ascii_uppercase(), rest)?
            }
            (None, None) => begin,
        };
        Some(hit - self.window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        at_start: bool,
        end: End,
        texts: &[&str],
        icase: bool,
        cases: &[(&str, Option<(usize, usize)>)],
    ) {
        let texts = texts.iter().map(|t| t.as_bytes().to_vec()).collect();
        let literal = Literal::new(Texts { at_start, end, texts, icase }).expect("a literal");
        for (text, expected) in cases {
            assert_eq!(literal.find(text.as_bytes(), 0), *expected, "{text:?}");
            assert_eq!(literal.is_match(text.as_bytes()), expected.is_some(), "{text:?}");
        }
    }

    #[test]
    fn every_place() {
        use End::*;
        check(
            true,
            Nothing,
            &["ab"],
            false,
            &[("ab", Some((0, 2))), ("ab\n", None), ("abc", None), ("", None)],
        );
        check(
            true,
            MaybeNewline,
            &["ab"],
            true,
            &[("AB\n", Some((0, 2))), ("ab", Some((0, 2))), ("ab\n\n", None)],
        );
        check(
            true,
            Anything,
            &["ab", "c"],
            false,
            &[("cd", Some((0, 1))), ("abx", Some((0, 2))), ("xab", None)],
        );
        check(
            false,
            MaybeNewline,
            &["b", "ab"],
            false,
            &[("ab\n", Some((0, 2))), ("xb", Some((1, 2))), ("ba", None)],
        );
        check(false, Anything, &["b", "abc"], false, &[("abc", Some((0, 3))), ("xbc", Some((1, 2)))]);
        check(false, Anything, &[""], false, &[("", Some((0, 0))), ("x", Some((0, 0)))]);
    }

    #[test]
    fn ignoring_case() {
        let long = "x".repeat(100) + "eRRoR" + &"y".repeat(50);
        let cases = [
            ("an ERROR", Some((3, 8))),
            ("erro", None),
            ("ererror", Some((2, 7))),
            (long.as_str(), Some((100, 105))),
        ];
        check(false, End::Anything, &["error"], true, &cases);
        check(false, End::Anything, &["e"], true, &[("xE", Some((1, 2))), ("x", None)]);
        check(false, End::Anything, &["er", "1:"], true, &[("x1:", Some((1, 3))), ("xEr", Some((1, 3)))]);
    }
}
