use super::*;
use crate::Key;
use proptest::prelude::*;

const TEXTS: [&str; 6] = ["zero", "one", "two", "three", "four", "five"];

/// A log of some texts, and the position behind it.
fn log(from: &Position, texts: &[&str]) -> (Vec<String>, Position) {
    let mut position = from.clone();
    let lines = texts.iter().map(|text| {
        let mut out = Vec::new();
        position.seal(text.as_bytes(), &mut out).expect("random numbers");
        String::from_utf8(out).expect("ASCII")
    });
    let lines = lines.collect();
    (lines, position)
}

fn first() -> Position {
    Position::of_key(Key([7; 32], Scheme::Blocks))
}

fn verify(mut verifier: Verifier, lines: &[String]) -> (String, Report) {
    let mut texts = String::new();
    for line in lines {
        let mut text = Vec::new();
        if let Some(entry) = verifier.line(line.as_bytes(), &mut text) {
            texts += &format!("{entry}:{} ", String::from_utf8_lossy(&text));
        }
    }
    (texts, verifier.finish())
}

/// What is found in the log of [`TEXTS`] after a change.
#[track_caller]
fn check(change: impl FnOnce(&mut Vec<String>), expected: &[&str]) {
    let (mut lines, end) = log(&first(), &TEXTS);
    change(&mut lines);
    let (_, report) = verify(Verifier::whole(&first(), end.mac), &lines);
    let found: Vec<String> = report.findings.iter().map(Finding::to_string).collect();
    let fits = found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| f.contains(e));
    assert!(fits, "found {found:#?}\nexpected {expected:#?}");
}

const MISMATCH: &str = "aggregated MAC does not match, as after any change";

fn flip(line: &mut String, at: usize) {
    let mut bytes = std::mem::take(line).into_bytes();
    bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
    *line = String::from_utf8(bytes).expect("ASCII");
}

#[test]
fn a_good_log() {
    let (lines, end) = log(&first(), &TEXTS);
    let (texts, report) = verify(Verifier::whole(&first(), end.mac), &lines);
    assert_eq!(texts, "0:zero 1:one 2:two 3:three 4:four 5:five ");
    assert!(report.is_clean() && report.entries == 6 && report.lines == 6, "{report:?}");
}

#[test]
fn a_part_of_a_log() {
    let (_, before) = log(&first(), &TEXTS[..4]);
    let (lines, end) = log(&before, &TEXTS[4..]);
    let part = || Verifier::part(&before, before.mac, end.mac);
    assert!(verify(part(), &lines).1.is_clean());
    // The first part of all has nothing before it.
    let (lines, end) = log(&first(), &TEXTS);
    assert!(verify(Verifier::part(&first(), [9; 16], end.mac), &lines).1.is_clean());
    let (_, report) = verify(part(), &lines[..1]);
    assert!(
        report.findings[0].to_string().contains("entry 0 is older than the key, which opens from entry 4")
    );
}

#[test]
fn every_change_is_found_and_named() {
    check(|lines| flip(&mut lines[2], 40), &["line 3: entry 2 is damaged", MISMATCH]);
    check(|lines| flip(&mut lines[2], 52), &["line 3: entry 2 is damaged", MISMATCH]);
    check(|lines| lines[2].truncate(30), &["line 3: this is not an entry: it is not base64", MISMATCH]);
    check(|lines| lines[2].clear(), &["line 3: this is not an entry", MISMATCH]);
    check(|lines| drop(lines.remove(2)), &["line 3: entry 2 is missing before this line", MISMATCH]);
    check(
        |lines| drop(lines.drain(1..4)),
        &["line 2: entries 1 to 3 are missing before this line", MISMATCH],
    );
    check(|lines| drop(lines.remove(0)), &["line 1: entry 0 is missing before this line", MISMATCH]);
    check(|lines| lines.swap(2, 3), &["line 4: entry 2 was moved: it stands behind entry 3", MISMATCH]);
    check(|lines| lines.insert(4, lines[1].clone()), &["line 5: entry 1 is there a second time", MISMATCH]);
    check(|lines| lines.truncate(4), &["line 4: the log is cut off behind entry 3"]);
    check(|lines| lines.clear(), &["the log is empty"]);
    check(|lines| lines.insert(3, "a strange line".into()), &["line 4: this is not an entry"]);
}

#[test]
fn a_number_that_was_changed() {
    // 2 became 3, and an impossible one.
    check(|lines| lines[2].replace_range(..12, "AwAAAAAAAAA="), &["line 3: entry 2 was given the number 3"]);
    check(|lines| lines[2].replace_range(..12, "/////////38="), &["line 3: entry 2 was given the number"]);
}

#[test]
fn a_log_that_is_longer_than_its_mac() {
    let (mut lines, middle) = log(&first(), &TEXTS);
    lines.extend(log(&middle, &["six", "seven"]).0);
    let (_, report) = verify(Verifier::whole(&first(), middle.mac), &lines);
    assert_eq!(report.findings, [Finding::OldMac { line: 6, more: 2 }]);
}

#[test]
fn another_key_opens_nothing() {
    let (lines, end) = log(&first(), &TEXTS);
    let other = Position::of_key(Key([8; 32], Scheme::Blocks));
    let (texts, report) = verify(Verifier::whole(&other, end.mac), &lines);
    assert_eq!((texts.as_str(), report.entries, report.findings.len()), ("", 0, 7));
}

#[test]
fn entries_far_back_and_far_ahead() {
    let mut position = first();
    let mut lines = Vec::new();
    for _ in 0..3000 {
        lines.extend(log(&position, &["x"]).0);
        position = log(&position, &["x"]).1;
    }
    let last = lines.pop().expect("some");
    lines.insert(1, last);
    let (_, report) = verify(Verifier::whole(&first(), [0; 16]), &lines);
    assert_eq!(report.entries, 3000);
    // All the others stand behind an entry that they should stand before.
    assert_eq!(report.findings.len(), 2999);
    assert!(
        report.findings[0].to_string().starts_with("line 3: entry 1 was moved: it stands behind entry 2999")
    );
}

#[test]
fn findings_have_a_bound() {
    let mut verifier = Verifier::whole(&first(), [0; 16]);
    for _ in 0..FINDINGS_MAX + 5 {
        verifier.line(b"no", &mut Vec::new());
    }
    let report = verifier.finish();
    assert_eq!((report.findings.len(), report.more), (FINDINGS_MAX + 1, 5));
}

proptest! {
    /// Whatever is done to a log, it is either as it was or something is found.
    #[test]
    fn no_change_goes_unseen(
        changes in proptest::collection::vec((0usize..4, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4)
    ) {
        let (mut lines, end) = log(&first(), &TEXTS);
        let before = lines.clone();
        for (what, one, other) in changes {
            if lines.is_empty() {
                break;
            }
            let (one, other) = (one.index(lines.len()), other.index(lines.len()));
            match what {
                0 => drop(lines.remove(one)),
                1 => lines.swap(one, other),
                2 => lines.insert(one, lines[other].clone()),
                _ => if !lines[one].is_empty() {
                    let at = other % lines[one].len();
                    flip(&mut lines[one], at)
                },
            }
        }
        let (_, report) = verify(Verifier::whole(&first(), end.mac), &lines);
        prop_assert_eq!(report.is_clean(), lines == before, "{:?}", report);
    }
}

/// Made from the published description of AxoSyslog 4.27's format with another library (Python's
/// cryptography): keys of 32 times 7, MAC to begin with 16 times 0x11, start values of 12 times 0x22 and
/// 0x23.
const EXPANDED: [&str; 2] = [
    "AAAAAAAAAAA=:IiIiIiIiIiIiIiIiMcQKzJbNePMeiTuW9o81ujci8FFaSgE=",
    "AQAAAAAAAAA=:IyMjIyMjIyMjIyMjERPEFxfctaJu1tA0JeQ5IuVn17L3d/0=",
];
const EXPANDED_MAC: &str = "6329ac76838ac459131e899ac84a5def";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn expanded() -> Position {
    Position { mac: [0x11; 16], ..Position::of_key(Key([7; 32], Scheme::Expanded)) }
}

#[test]
fn keys_that_are_expanded_are_those_of_the_published_format() {
    let first = expanded();
    let derived = first.key.derived();
    let check = |key: &Key, expected: &str| assert_eq!(hex(&key.0), expected);
    check(&derived.text, "1a03d12d6103d107d25fd24601e1cd001a1098695f3b4db80f10551e540b3243");
    check(&derived.mac, "e3b9bf7fb8b9c09b5d97ec329899cf5005f08528b6a5edbe70c7b41689304c29");
    check(&derived.next, "2d4273e349cb6031ce4d1cd188cc36339d6752bb62e2aed24ba45e78d1b5217f");
    check(
        &first.key.of_host(b"00:16:3e:12:34:56", b"SN-4711"),
        "440949816aeb6afd2362944904999f4ac5d86f005c969a6da4276d9c7426d973",
    );
    let mut position = first.clone();
    for (number, text) in [b"<13>one", b"<13>two"].iter().enumerate() {
        let mut raw = vec![0; crate::entry::HEAD_BYTES];
        raw.extend_from_slice(*text);
        let mut place = vec![0; crate::entry_bytes(text.len())];
        position.seal_raw([0x22 + number as u8; 12], &mut raw, &mut place);
        assert_eq!(String::from_utf8_lossy(&place), EXPANDED[number]);
    }
    assert_eq!(hex(&position.mac), EXPANDED_MAC);
    let lines = EXPANDED.map(str::to_owned);
    let (texts, report) = verify(Verifier::whole(&first, position.mac), &lines);
    assert!(texts == "0:<13>one 1:<13>two " && report.is_clean(), "{texts} {report:?}");
    let part = Verifier::part(&first, first.mac, position.mac);
    assert!(verify(part, &lines).1.is_clean());
}

#[test]
fn an_entry_tells_how_it_was_sealed() {
    let texts = ["zero", "one", "two"];
    for scheme in [Scheme::Blocks, Scheme::Expanded] {
        let first = Position { mac: [1; 16], ..Position::of_key(Key([7; 32], scheme)) };
        let (lines, end) = log(&first, &texts);
        for unknown in [Scheme::Blocks, Scheme::Expanded] {
            let key = Position { key: first.key.clone().with_scheme(unknown), ..first.clone() };
            for line in &lines {
                let entry = Entry::read(line.as_bytes()).expect("an entry");
                assert_eq!(Verifier::scheme_of(&key, &entry), Some(scheme));
            }
        }
        let (_, report) = verify(Verifier::whole(&first, end.mac), &lines[1..]);
        assert!(!report.is_clean(), "the first one is missing");
        let other = Position::of_key(Key([8; 32], scheme));
        assert_eq!(Verifier::scheme_of(&other, &Entry::read(lines[0].as_bytes()).expect("one")), None);
        // Its own key file says it.
        let (key, counter, mac) = Position::decode_key(&end.encode_key()).expect("a key file");
        assert_eq!((key.scheme(), counter, mac), (scheme, 3, Some(end.mac)));
    }
}
