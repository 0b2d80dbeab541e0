use super::*;

fn named(label: &str) -> Encoding {
    Encoding::named(label).unwrap_or_else(|| panic!("there is no {label}"))
}

/// A text decoded at once, and in pieces of every length, which comes to the same.
fn decoded(label: &str, raw: &[u8]) -> String {
    let whole = named(label).decode(raw).into_owned();
    for size in 1..=raw.len() {
        let (mut decoder, mut text) = (named(label).decoder(), Vec::new());
        raw.chunks(size).for_each(|piece| decoder.decode(piece, &mut text));
        decoder.end(&mut text);
        assert_eq!(String::from_utf8(text).expect("utf-8"), whole, "{label} in pieces of {size}");
    }
    whole
}

#[track_caller]
fn check(label: &str, raw: &[u8], expected: &str) {
    assert_eq!(decoded(label, raw), expected, "{label}");
}

#[test]
fn encodings_of_iso_keep_their_controls() {
    check("iso-8859-1", b"x\x80\x9f\xa0\xe9", "x\u{80}\u{9f}\u{a0}é");
    check("latin1", b"\xff", "ÿ");
    check("ISO-8859-9", b"\x80\xdd\xfd", "\u{80}İı");
    check("TIS-620", b"\x85\xa1", "\u{85}ก");
    check("windows-1252", b"x\x80", "x€");
    check("CP1252", b"x\x80", "x€");
}

#[test]
fn pages_of_dos() {
    check("CP437", b"A\x81\xe1\xfe", "Aüß■");
    check("ibm850", b"\x84\xb5", "äÁ");
    check("852", b"\x8b\xfb", "őű");
    assert_eq!(named("IBM-852").name(), "CP852");
    check("CP866", b"\x8f", "П");
    assert_eq!(Encoding::named("CP999"), None);
}

#[test]
fn other_names_of_the_encodings_of_windows() {
    for (label, name) in [
        ("CP932", "Shift_JIS"),
        ("CP949", "EUC-KR"),
        ("UHC", "EUC-KR"),
        ("CP936", "GBK"),
        ("CP874", "windows-874"),
        ("UCS-2LE", "UTF-16LE"),
        ("utf8", "UTF-8"),
    ] {
        assert_eq!(named(label).name(), name, "{label}");
    }
}

#[test]
fn a_mark_says_the_order() {
    check("UTF-16", b"\xfe\xff\0a\x01\x51", "aő");
    check("utf16", b"\xff\xfea\0\x51\x01", "aő");
    check("UTF-16", b"a\0\x51\x01", "aő");
    check("UTF-32", b"\0\0\xfe\xff\0\0\0a\0\x01\xf6\0", "a\u{1f600}");
    check("UTF-32", b"a\0\0\0", "a");
    check("UTF-32LE", b"\0\xf6\x01\0\xff\xff\xff\xff\xff", "\u{1f600}\u{fffd}\u{fffd}");
    check("UTF-16", b"", "");
    check("UTF-16", b"\xfe", "\u{fffd}");
    let big = named("UTF-16").of_text(b"\xfe\xff");
    assert_eq!((big, big.newline()), (Encoding::UTF_16BE, &b"\0\n"[..]));
    assert!(named("UTF-16").is_open() && !big.is_open());
}

#[test]
fn what_is_cut_off_is_no_character() {
    let whole = |label: &str, raw: &[u8]| named(label).whole(raw);
    assert_eq!([whole("Shift_JIS", b"\x83e\x83X"), whole("Shift_JIS", b"\x83e\x83")], [4, 2]);
    assert_eq!([whole("Shift_JIS", b"ab"), whole("Shift_JIS", b""), whole("Shift_JIS", b"\x83")], [2, 0, 0]);
    // A second byte may look like a first one.
    assert_eq!([whole("Shift_JIS", b"\x83\x83"), whole("Shift_JIS", b"\x83\x83\x83")], [2, 2]);
    assert_eq!([whole("EUC-JP", b"\x8f\xb0\xa1"), whole("EUC-JP", b"x\x8f\xb0")], [3, 1]);
    assert_eq!([whole("gb18030", b"\x81\x30\x81\x30"), whole("gb18030", b"a\x81\x30\x81")], [4, 1]);
    assert_eq!([whole("UTF-16LE", b"a\0\x3d\xd8"), whole("UTF-16LE", b"a\0b")], [2, 2]);
    assert_eq!([whole("UTF-8", "a\u{20ac}".as_bytes()), whole("UTF-8", b"a\xe2\x82")], [4, 1]);
    assert_eq!([whole("latin1", b"\xe9"), whole("CP437", b"\x81")], [1, 1]);
}

#[test]
fn a_mark_is_no_text_at_the_beginning() {
    assert_eq!(named("utf-8").decode_first("\u{feff}a".as_bytes()), "a");
    assert_eq!(named("UTF-16LE").decode_first(b"\xff\xfea\0"), "a");
    assert_eq!(named("UTF-16LE").decode(b"\xff\xfea\0"), "\u{feff}a");
}
