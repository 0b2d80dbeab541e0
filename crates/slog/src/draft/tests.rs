use super::*;
use crate::files::read_mac;
use crate::testing::{Files, draft, first};
use crate::{Finding, Position, Verifier};

/// Messages of drafts between other texts.
fn messages(chain: &Chain, texts: &[&str]) -> (Vec<u8>, Vec<u32>) {
    let (mut bytes, mut ends) = (Vec::new(), Vec::new());
    for text in texts {
        bytes.extend_from_slice(b"<");
        draft(chain, text, &mut bytes);
        bytes.extend_from_slice(b">\n");
        ends.push(bytes.len() as u32);
    }
    (bytes, ends)
}

fn opened(bytes: &[u8], end: &Position) -> (Vec<String>, Vec<Finding>) {
    let mut verifier = Verifier::whole(&first(), end.mac);
    let mut texts = Vec::new();
    for line in bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        let line = line.strip_prefix(b"<").and_then(|l| l.strip_suffix(b">")).unwrap_or(line);
        let mut text = Vec::new();
        verifier.line(line, &mut text);
        texts.push(String::from_utf8(text).expect("text"));
    }
    (texts, verifier.finish().findings)
}

#[test]
fn drafts_become_entries_in_their_place() {
    let files = Files::new();
    let texts = ["one", "", "a longer text, of many characters", "x\ny"];
    let (mut bytes, ends) = messages(&files.chain(), &texts);
    let length = bytes.len();
    assert!(!files.mac().exists(), "nothing is written before there is an entry");
    seal(&mut bytes, &ends);
    assert_eq!(bytes.len(), length);
    let end = files.position();
    assert_eq!((end.counter, read_mac(&files.mac()).expect("a MAC")), (4, end.mac));
    let (found, findings) = opened(&bytes, &end);
    assert_eq!((found.iter().map(String::as_str).collect::<Vec<_>>(), findings), (texts.to_vec(), vec![]));
    // A second time there is nothing left to do.
    let before = bytes.clone();
    seal(&mut bytes, &ends);
    assert_eq!((before, files.position().counter), (bytes, 4));
}

#[test]
fn several_chains_and_several_entries_in_a_message() {
    let (one, other) = (Files::new(), Files::new());
    let mut bytes = Vec::new();
    for (files, text) in [(&one, "a"), (&other, "b"), (&one, "c"), (&one, "d")] {
        draft(&files.chain(), text, &mut bytes);
        bytes.push(b'\n');
    }
    let ends = [bytes.len() as u32];
    seal(&mut bytes, &ends);
    assert_eq!((one.position().counter, other.position().counter), (3, 1));
    let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
    let of_one = [lines[0], lines[2], lines[3]].concat();
    assert_eq!(opened(&of_one, &one.position()), (vec!["a".into(), "c".into(), "d".into()], vec![]));
}

#[test]
fn what_was_cut_off_leaks_nothing() {
    let files = Files::new();
    let (whole, _) = messages(&files.chain(), &["attack at dawn, attack at dawn"]);
    for length in 1..whole.len() {
        let mut bytes = whole[..length].to_vec();
        seal(&mut bytes, &[length as u32]);
        assert_eq!(bytes.len(), length);
        let clear =
            bytes.get(1 + COUNTER_CHARS + 1 + WORD_CHARS + 20..whole.len().min(length)).unwrap_or_default();
        let draft = whole.get(1 + COUNTER_CHARS + 1 + WORD_CHARS + 20..length).unwrap_or_default();
        assert!(clear.len() < 4 || clear[..4] != draft[..4], "{length}: {}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn a_message_cannot_pass_for_a_draft() {
    let files = Files::new();
    let chain = files.chain();
    let mut bytes = b"AAAAAAAAAAA=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n".to_vec();
    let (before, ends) = (bytes.clone(), [bytes.len() as u32]);
    seal(&mut bytes, &ends);
    assert_eq!((bytes, chain.id()), (before, files.chain().id()));
}
