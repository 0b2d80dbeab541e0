use super::{Endings, Outline, Pick, Separators, TEXT_MAX};
use crate::word::{Lanes, PairSigns, Plain, Windowed, with_lanes};
use proptest::prelude::*;

fn separators(pair: &str) -> Separators {
    Separators { key: b'=', pair: pair.as_bytes().into() }
}

/// The keys before the separators found, in a text of many windows.
fn keys(text: &str, pair: &str) -> Option<String> {
    let mut outline = Outline::default();
    let bytes = text.as_bytes();
    let key = |place: &u32| {
        let before = &bytes[..*place as usize];
        let start = before.iter().rposition(|b| !super::is_word(*b)).map_or(0, |at| at + 1);
        String::from_utf8_lossy(&before[start..]).into_owned()
    };
    outline
        .draw(bytes, &separators(pair))
        .then(|| outline.places().iter().map(key).collect::<Vec<_>>().join(" "))
}

#[test]
fn keys_outside_quotes() {
    for (text, pair, expected) in [
        ("a=1 b.c=x y d-e=\"f=1 g=2\" h='i=3'", ", ", "a b.c d-e h"),
        ("a=1, b=2,c", ", ", "a b"),
        ("a=1;b=2;;c=\"x;d=1\";e=", ";", "a b c e"),
        ("some words a=b=c, what?", "; ", "a"),
        ("a= b= c", ", ", "a b"),
        (r#"a="x\"b=1\\" c=2"#, ", ", "a c"),
        ("no keys at all", ", ", ""),
    ] {
        for pad in [0, 40, 50, 55, 58, 60, 61, 62, 63, 64, 127, 200] {
            let padded =
                format!("{}{text}{}", "x ".repeat(pad / 2) + &" ".repeat(pad % 2), " ".repeat(pad % 3));
            assert_eq!(keys(&padded, pair).as_deref(), Some(expected), "{pad} {text}");
        }
    }
    let long = "k".repeat(150);
    assert_eq!(keys(&format!("a=1 {long}=2 c=3"), ", "), Some(format!("a {long} c")));
}

#[test]
fn keys_that_end_otherwise_are_passed_over() {
    let text = b"a=1 user=2 users=3 code=4 act=5 t=6 fact=7 x=\"act=8\"";
    let mut endings = Endings::default();
    [&b"act"[..], b"user", "caf\u{e9}".as_bytes()].into_iter().for_each(|key| endings.add(key));
    let mut outline = Outline::default();
    assert!(outline.draw_some(text, &separators(", "), &endings));
    let picked = |pick: &Pick| {
        let [key, value] = [pick.key..pick.separator, pick.separator + 1..pick.limit];
        [key, value]
            .map(|part| String::from_utf8_lossy(&text[part.start as usize..part.end as usize]).into_owned())
    };
    let picks: Vec<_> = outline.picks().iter().map(picked).collect();
    let expected = [["user", "2 "], ["act", "5 "], ["fact", "7 "]];
    // Without wide registers all keys are asked for.
    assert!(picks == expected || picks.len() == 8, "{picks:?}");
}

#[test]
fn texts_without_an_outline() {
    for text in [
        "a =1",
        "a=x =y",
        "!a=1 b=2",
        "a=1, !b=2",
        "a=\"x\" !b=2",
        "a=\"x\"b=1",
        "a=\"x b=1",
        "a= 'x b=1'",
        "=1 a=2",
    ] {
        for pad in [0, 55, 58, 59, 60, 61, 62, 63, 64] {
            let padded = format!("{}{text}", " ".repeat(pad));
            assert_eq!(keys(&padded, ", "), None, "{pad} {text}");
        }
    }
    assert!(!Outline::default().draw(&vec![b' '; TEXT_MAX + 1], &separators(", ")));
}

#[test]
fn separators_with_a_meaning_of_their_own() {
    for (key, pair, plain) in [
        (b'=', ", ", true),
        (b':', ";", true),
        (b'=', " ", false),
        (b'=', ", b", false),
        (b'-', ", ", false),
        (b'=', "==", false),
        (b'=', ",\"", false),
    ] {
        assert_eq!(Separators { key, pair: pair.as_bytes().into() }.are_plain(), plain, "{pair}");
    }
}

struct SameSigns<'a>(&'a [u8; 64]);

impl Windowed for SameSigns<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let all = |s: PairSigns| [s.not_words, s.blanks, s.separators, s.pairs, s.quotes];
        assert_eq!(all(L::pair_signs(self.0, b'=', b',')), all(Plain::pair_signs(self.0, b'=', b',')));
    }
}

/// The places in a window behind which a key may stand, as the widest registers see them.
struct BehindKeys<'a>(&'a [u8; 64], &'a Endings, &'a mut u64);

impl Windowed for BehindKeys<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        *self.2 = L::behind_keys(self.0, self.1);
    }
}

proptest! {
    #[test]
    fn the_widest_registers_see_the_same(bytes in proptest::collection::vec(any::<u8>(), 64)) {
        with_lanes(SameSigns(bytes.first_chunk().expect("64")));
    }

    #[test]
    fn no_key_is_passed_over(
        window in proptest::collection::vec(prop_oneof![Just(b'='), 0x2du8..0x7f, any::<u8>()], 64),
        keys in proptest::collection::vec("[a-zA-Z0-9_.-]{1,3}", 1..12),
        at in 0usize..61,
    ) {
        let mut window = window;
        window[at..at + keys[0].len()].copy_from_slice(keys[0].as_bytes());
        let mut endings = Endings::default();
        keys.iter().for_each(|key| endings.add(key.as_bytes()));
        let mut behind = 0;
        with_lanes(BehindKeys(window.first_chunk().expect("64"), &endings, &mut behind));
        prop_assert!(behind >> (at + keys[0].len()) & 1 != 0);
    }
}
