//! Reading, looking up and writing STRUCTURED-DATA.

use super::*;
use crate::word::{Windowed, with_lanes};
use proptest::prelude::*;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn all(sdata: &str) -> Vec<String> {
    let mut buffer = Vec::new();
    params(sdata.as_bytes())
        .map(|p| format!("{}.{}={}", text(p.id), text(p.name), text(unescape(p.value, &mut buffer))))
        .collect()
}

#[test]
fn reads_all_parameters() {
    assert_eq!(all("[a x=\"1\" y=\"\"][b][c z=\"2\"]"), ["a.x=1", "a.y=", "b.=", "c.z=2"]);
    assert_eq!(all("[a x=\"q\\\"b\\]s\\\\n\\n\\\\\"]"), ["a.x=q\"b]s\\n\\n\\"]);
    assert_eq!(all("[a x=\"1]2\"]"), ["a.x=1]2"]);
    assert_eq!(all(""), [""; 0]);
    let long = format!("[a x=\"{0}\" y=\"{0}\\\"\"][{1} z=\"1\"]", "v".repeat(100), "i".repeat(100));
    assert_eq!(all(&long).len(), 3);
}

#[test]
fn looks_up() {
    let sdata = b"[meta sequenceId=\"7\"][x@1.2 k.l=\"v\" k=\"w\"][e]";
    let find = |path: &str| lookup(sdata, path.as_bytes()).map(text);
    assert_eq!(find("meta.sequenceId").as_deref(), Some("7"));
    assert_eq!(find("x@1.2.k.l").as_deref(), Some("v"));
    assert_eq!(find("x@1.2.k").as_deref(), Some("w"));
    assert_eq!(find("e").as_deref(), Some(""));
    for missing in ["meta", "meta.", "meta.sequenceI", "sequenceId", "x@1.k", "", "e."] {
        assert_eq!(find(missing), None, "{missing}");
    }
}

proptest! {
    /// What is passed over quickly is what is not there.
    #[test]
    fn looks_up_what_a_walk_finds(
        made in prop::collection::vec(("[ab.]{1,3}", "[ab.]{0,3}", "[ab.=\"\\] ]{0,6}"), 0..6),
        path in "[ab]{1,2}[ab.]{0,4}",
    ) {
        let mut sdata = Vec::new();
        let mut builder = Builder::new(&mut sdata);
        made.iter().for_each(|(id, name, value)| builder.param(id.as_bytes(), name.as_bytes(), value.as_bytes()));
        builder.finish();
        let paths: Vec<Vec<u8>> = params(&sdata)
            .map(|p| if p.name.is_empty() { p.id.to_vec() } else { [p.id, b".", p.name].concat() })
            .chain([path.into_bytes()])
            .collect();
        for path in paths {
            let walked = params(&sdata).find(|param| param.is(&path)).map(|param| param.value);
            prop_assert_eq!(lookup(&sdata, &path), walked);
        }
    }
}

#[test]
fn splits_paths() {
    assert_eq!(split_path(b"x@1.2.k"), (&b"x@1.2"[..], &b"k"[..]));
    assert_eq!(split_path(b"x"), (&b"x"[..], &b""[..]));
}

#[test]
fn writes() {
    let build = |pairs: &[(&str, &str, &str)]| {
        let mut out = b"before".to_vec();
        let mut builder = Builder::new(&mut out);
        for (id, name, value) in pairs {
            builder.param(id.as_bytes(), name.as_bytes(), value.as_bytes());
        }
        let any = builder.finish();
        assert_eq!(any, !pairs.is_empty());
        text(&out[6..])
    };
    assert_eq!(build(&[]), "");
    assert_eq!(
        build(&[("a", "x", "1"), ("a", "y", ""), ("b", "", ""), ("c", "z", "2")]),
        "[a x=\"1\" y=\"\"][b][c z=\"2\"]"
    );
    assert_eq!(build(&[("a", "x", "q\"b]s\\n")]), "[a x=\"q\\\"b\\]s\\\\n\"]");
    assert_eq!(build(&[("a b", "x=\u{e9}]", "\n")]), "[a%20b x%3D%C3%A9%5D=\"\n\"]");
    assert_eq!(build(&[("a", "", ""), ("a", "x", "1"), ("a", "", "")]), "[a x=\"1\"]");
    assert_eq!(build(&[("", "x", "1")]), "[none x=\"1\"]");
}

#[test]
fn checks_where_it_ends() {
    let end = |text: &str| check(text.as_bytes(), 2, PREFIX.len());
    assert_eq!(end("- [a x=\"1\"][b] message [c]"), Ok(Checked { end: 14, exact: true }));
    assert_eq!(end("- [a x=\"1]\"] "), Ok(Checked { end: 12, exact: false }));
    assert_eq!(end("- "), Ok(Checked { end: 2, exact: true }));
    assert_eq!(end("- [a x=\"1\\\"]"), Err(12));
    let value = "v".repeat(VALUE_MAX);
    assert!(end(&format!("- [a x=\"{value}\"]")).is_ok());
    assert!(end(&format!("- [a x=\"{value}v\"]")).is_err());
}

/// Each field by itself, and repetitions by comparing names.
fn slowly(text: &[u8]) -> Result<Checked, usize> {
    let (end, exact) = fields(text, 0, 7, &mut Repeats::new())?;
    Ok(Checked { end, exact: exact && !canonical::repeats(text, 0, end) })
}

fn canonical_of(text: &str) -> String {
    let checked = check(text.as_bytes(), 0, PREFIX.len());
    let mut out = Vec::new();
    canonical(text.as_bytes(), &mut out);
    assert_eq!(checked, Ok(Checked { end: text.len(), exact: out == text.as_bytes() }), "{text}");
    String::from_utf8(out).expect("text")
}

#[test]
fn brings_into_one_form() {
    for (read, written) in [
        ("[x a=\"1\" b=\"2\"][y c=\"3\"]", "[x a=\"1\" b=\"2\"][y c=\"3\"]"),
        ("[x a=\"1\\n\"]", "[x a=\"1\\\\n\"]"),
        ("[x a=\"1\" a=\"2\"]", "[x a=\"2\"]"),
        ("[x a=\"1\" b=\"3\" a=\"2\"]", "[x a=\"2\" b=\"3\"]"),
        ("[x a=\"1\"][x b=\"2\"]", "[x a=\"1\" b=\"2\"]"),
        ("[x a=\"1\"][y c=\"3\"][x b=\"2\"]", "[x a=\"1\"][y c=\"3\"][x b=\"2\"]"),
        ("[x a=\"1\"][y c=\"3\"][x a=\"2\"]", "[x a=\"2\"][y c=\"3\"]"),
        ("[x][x b=\"2\"]", "[x b=\"2\"]"),
        ("[x b=\"2\"][x]", "[x b=\"2\"]"),
        ("[x][y][x]", "[x][y]"),
        ("[ a x=\"1\"]", "[a x=\"1\"]"),
        ("[a x=\"1\" ]", "[a x=\"1\"]"),
        ("[a ]", "[a]"),
        ("[a x=\"1]2\"]", "[a x=\"1\\]2\"]"),
        ("[Originator@6876 sub=vpxLro opID=h]", "[Originator@6876 sub=\"vpxLro\" opID=\"h\"]"),
        ("[Originator@6876 sub=vpxLro opID=h ]", "[Originator@6876 sub=\"vpxLro\" opID=\"h\"]"),
        ("[o sub= opID=\"h\"]", "[o sub=\"\" opID=\"h\"]"),
        ("[o sub=a\"b op=c\\]", "[o sub=\"a\\\"b\" op=\"c\\\\\"]"),
    ] {
        assert_eq!(canonical_of(read), written);
    }
    let many: String = (0..300).map(|n| format!(" parameter{n}=\"{n}\"")).collect();
    assert_eq!(canonical_of(&format!("[x{many}]")), format!("[x{many}]"));
    assert_eq!(
        canonical_of(&format!("[x{many} parameter7=\"new\"]")),
        format!("[x{many}]").replace("=\"7\"", "=\"new\"")
    );
}

/// A text of the bytes that matter, checked quickly and one field after the other.
struct BothWays<'a>(&'a [u8]);

impl Windowed for BothWays<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let (quick, slow) = (check_with::<L>(self.0, 0, 7), slowly(self.0));
        assert_eq!(quick, slow, "{}", self.0.escape_ascii());
        if let Some(element) =
            self.0.first_chunk().filter(|window| window[0] == b'[').and_then(quick::element::<L>)
        {
            let (end, exact) = fields(&self.0[..element.size], 0, 7, &mut Repeats::new()).expect("sound");
            assert_eq!((end, exact), (element.size, true));
        }
        if let Ok(checked) = quick {
            let mut written = Vec::new();
            canonical(&self.0[..checked.end], &mut written);
            assert_eq!(checked.exact, written == self.0[..checked.end], "{}", self.0.escape_ascii());
            assert_eq!(check(&written, 0, 7), Ok(Checked { end: written.len(), exact: true }));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_ways_agree(
        pieces in prop::collection::vec(
            prop::sample::select(&["[a", " b=\"", "v\"", "]", "[", "=", " ", "\"", "x", "=y", "\\", "\u{e9}", "\n", "[id k=\"v\"]"][..]),
            0..12,
        ),
    ) {
        let text = format!("[{} {}", pieces.concat(), "the message ".repeat(8));
        with_lanes(BothWays(text.as_bytes()));
        with_lanes(BothWays(&text.as_bytes()[1..]));
    }
}
