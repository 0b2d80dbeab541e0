use super::*;
use crate::pattern_text::{Piece, parse};
use proptest::prelude::*;

fn tree(patterns: &[&str]) -> Tree {
    let mut builder = Builder::new();
    for (rule, pattern) in patterns.iter().enumerate() {
        let _ = builder.insert(&parse(pattern).expect(pattern), rule as u32);
    }
    builder.finish()
}

/// `rule name=value ...`, or `-`.
#[track_caller]
fn check(patterns: &[&str], text: &str, expected: &str) {
    let tree = tree(patterns);
    let mut search = Search::default();
    let got = match tree.find(text.as_bytes(), &mut search) {
        None => "-".to_owned(),
        Some(rule) => {
            let value = |c: &Capture| {
                let value = String::from_utf8_lossy(c.value.of(text.as_bytes())).into_owned();
                format!(" {}={value}", tree.parsers[c.parser as usize].name)
            };
            format!("{rule}{}", search.captures.iter().map(value).collect::<String>())
        }
    };
    assert_eq!(got, expected, "{patterns:?} on {text}");
}

#[test]
fn the_longest_literal_comes_first() {
    let patterns = ["foo @STRING:a@", "foo bar", "foo", "foobar @NUMBER:n@ x"];
    check(&patterns, "foo bar", "1");
    check(&patterns, "foo bax", "0 a=bax");
    check(&patterns, "foo +", "2");
    check(&patterns, "foobar 12 x", "3 n=12");
    check(&patterns, "foobar 12 y", "2");
    check(&patterns, "fo", "-");
    check(&patterns, "", "-");
}

#[test]
fn parsers_come_in_the_order_of_the_file() {
    check(&["@ANYSTRING:a@", "@NUMBER:n@"], "12", "0 a=12");
    check(&["@NUMBER:n@ x", "@ANYSTRING:a@"], "12 x", "0 n=12");
    check(&["@NUMBER:n@ x", "@ANYSTRING:a@"], "12 y", "1 a=12 y");
    // The edge that is there already is taken before the one that came later.
    check(&["f @NUMBER:a@", "f @NUMBER:b@ x", "f @NUMBER:a@ x"], "f 1 x", "2 a=1");
    check(&["@ESTRING:e: @@STRING:s@!", "@STRING:s@ @STRING:t@?"], "a b?", "1 s=a t=b");
    // A pattern that matches the whole message goes before one that matches only its beginning.
    check(&["f @NUMBER:n@", "f @ESTRING:e: @x"], "f 12a x", "1 e=12a");
    check(&["f @NUMBER:n@", "f @ESTRING:e: @x"], "f 12a y", "0 n=12");
    check(&["@ESTRING:a: @x", "@ESTRING:b: @y"], "q y", "1 b=q");
}

#[test]
fn the_first_of_two_equal_patterns_stays() {
    let mut builder = Builder::new();
    let pieces = parse("a @NUMBER:n@").expect("a pattern");
    assert_eq!(builder.insert(&pieces, 4), Ok(()));
    assert_eq!(builder.insert(&pieces, 5), Err(4));
}

#[test]
fn a_search_that_goes_back_ends() {
    let text = "a ".repeat(40);
    let many: Vec<String> = (0..2000).map(|n| format!("{}x{n}", "@ESTRING:e: @".repeat(n % 40))).collect();
    let patterns: Vec<&str> = many.iter().map(String::as_str).collect();
    check(&patterns, &text, "-");
}

/// What the tree has to answer, pattern by pattern: the walk it describes, as a recursion over what is left
/// of the patterns.
fn model(rules: &[(u32, Vec<Piece>)], text: &[u8]) -> Option<u32> {
    // Literals become single bytes, so that one step is one byte or one parser.
    let split = |pieces: &[Piece]| -> Vec<Piece> {
        pieces
            .iter()
            .flat_map(|p| match p {
                Piece::Literal(l) => l.iter().map(|b| Piece::Literal(vec![*b])).collect(),
                parser => vec![parser.clone()],
            })
            .collect()
    };
    let rules: Vec<(u32, Vec<Piece>)> = rules.iter().map(|(n, p)| (*n, split(p))).collect();
    let rules: Vec<(u32, &[Piece])> = rules.iter().map(|(n, p)| (*n, p.as_slice())).collect();
    walk(&rules, text, true).or_else(|| walk(&rules, text, false))
}

/// `whole`: only a pattern that matches all of the text counts.
fn walk(rules: &[(u32, &[Piece])], text: &[u8], whole: bool) -> Option<u32> {
    let literal: Vec<(u32, &[Piece])> = rules
        .iter()
        .filter_map(|(n, p)| match p.split_first() {
            Some((Piece::Literal(l), rest)) if text.first() == l.first() => Some((*n, rest)),
            _ => None,
        })
        .collect();
    if !literal.is_empty()
        && let Some(found) = walk(&literal, &text[1..], whole)
    {
        return Some(found);
    }
    let mut tried: Vec<&Parser> = Vec::new();
    for (_, pieces) in rules {
        let Some(Piece::Parser(parser)) = pieces.first() else { continue };
        if tried.iter().any(|p| p.is_same(parser)) {
            continue;
        }
        tried.push(parser);
        let hit = parser.scan.find(text, &mut Cache::new(), &mut Slots::new()).filter(|_| !text.is_empty());
        let Some(hit) = hit else { continue };
        let behind: Vec<(u32, &[Piece])> = rules
            .iter()
            .filter_map(|(n, p)| match p.split_first() {
                Some((Piece::Parser(other), rest)) if other.is_same(parser) => Some((*n, rest)),
                _ => None,
            })
            .collect();
        if let Some(found) = walk(&behind, &text[hit.len..], whole) {
            return Some(found);
        }
    }
    rules.iter().find(|(_, p)| p.is_empty() && (!whole || text.is_empty())).map(|(n, _)| *n)
}

proptest! {
    #[test]
    fn the_tree_answers_as_its_patterns(
        patterns in proptest::collection::vec("([ab1 ]|@NUMBER:n@|@STRING:s@|@ESTRING:e: @|@ESTRING:f: @|@SET:t:ab@|@OPTIONALSET:o:b@){1,6}", 1..12),
        texts in proptest::collection::vec("[ab1 ]{0,12}", 1..12),
    ) {
        let rules: Vec<(u32, Vec<Piece>)> =
            patterns.iter().enumerate().map(|(n, p)| (n as u32, parse(p).expect("a pattern"))).collect();
        let mut builder = Builder::new();
        rules.iter().for_each(|(n, p)| { let _ = builder.insert(p, *n); });
        let tree = builder.finish();
        let mut search = Search::default();
        for text in &texts {
            prop_assert_eq!(tree.find(text.as_bytes(), &mut search), model(&rules, text.as_bytes()), "{:?} {}", patterns, text);
        }
    }

    #[test]
    fn no_text_panics(bytes in proptest::collection::vec(any::<u8>(), 0..100), text in "[-0-9a-f:.@<> \\r\\n]{0,60}") {
        let every: Vec<String> = crate::pattern_text::TYPES.iter().map(|t| match *t {
            "LLADDR" => "@LLADDR:x:3@ ".to_owned(),
            "QSTRING" => "@QSTRING:x:<>@ ".to_owned(),
            t => format!("@{t}:x:ab@ "),
        }).collect();
        let tree = tree(&every.iter().map(String::as_str).collect::<Vec<_>>());
        let mut search = Search::default();
        tree.find(&bytes, &mut search);
        tree.find(text.as_bytes(), &mut search);
    }
}
