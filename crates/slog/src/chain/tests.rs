use super::*;
use crate::files::{create_key, read_mac, write_key, write_mac};
use crate::testing::{Files, draft, first};
use crate::{Key, draft as drafts};

fn seal_one(files: &Files, chain: &Chain, text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    draft(chain, text, &mut bytes);
    let ends = [bytes.len() as u32];
    drafts::seal(&mut bytes, &ends);
    assert!(files.key().exists());
    bytes
}

#[test]
fn users_of_the_same_files_share_the_chain() {
    let files = Files::new();
    let (one, other) = (files.chain(), files.chain());
    assert!(Arc::ptr_eq(&one, &other));
    seal_one(&files, &one, "a");
    seal_one(&files, &other, "b");
    assert_eq!(files.position().counter, 2);
}

#[test]
fn a_mac_file_that_fell_behind_is_not_believed() {
    let files = Files::new();
    seal_one(&files, &files.chain(), "a");
    let old = read_mac(&files.mac()).expect("a MAC");
    seal_one(&files, &files.chain(), "b");
    let end = files.position();
    // Killed between the two files.
    write_mac(&files.mac(), &old).expect("written");
    assert_eq!(files.position(), end);
    // The key file as syslog-ng writes it has no MAC: then that of the MAC file counts.
    write_key(&files.key(), &end).expect("written");
    assert_eq!(files.position().mac, old);
}

#[test]
fn the_chain_follows_its_key_file() {
    let files = Files::new();
    let chain = files.chain();
    seal_one(&files, &chain, "a");
    // Another program goes on with it.
    let mut other = files.position();
    other.seal(b"b", &mut Vec::new()).expect("sealed");
    write_key(&files.key(), &other).expect("written");
    write_mac(&files.mac(), &other.mac).expect("written");
    seal_one(&files, &chain, "c");
    let mut expected = other.clone();
    expected.seal(b"c", &mut Vec::new()).expect("sealed");
    assert_eq!((files.position().counter, &files.position().key), (3, &expected.key));
    // A new key is moved to its place, for a new log.
    let new = files.key().with_extension("new");
    create_key(&new, &Position::of_key(Key([9; 32], Scheme::Blocks))).expect("written");
    std::fs::rename(&new, files.key()).expect("moved");
    assert!(seal_one(&files, &chain, "d").starts_with(b"AAAAAAAAAAA=:"));
    assert_eq!(files.position().counter, 1);
}

#[test]
fn a_key_file_that_is_damaged_or_gone_is_written_again() {
    let files = Files::new();
    let chain = files.chain();
    seal_one(&files, &chain, "a");
    std::fs::write(files.key(), b"rubbish").expect("written");
    seal_one(&files, &chain, "b");
    assert_eq!(files.position().counter, 2);
    std::fs::remove_file(files.key()).expect("removed");
    std::fs::remove_file(files.mac()).expect("removed");
    seal_one(&files, &chain, "c");
    let end = files.position();
    assert_eq!((end.counter, read_mac(&files.mac()).expect("a MAC")), (3, end.mac));
}

#[test]
fn what_is_wrong_is_said() {
    let files = Files::new();
    let error = |key: &Path, mac: &Path| Chain::open(key, mac, Scheme::Blocks).expect_err("an error");
    let missing = error(&files.key().with_extension("none"), &files.mac());
    assert!(
        missing.to_string().contains("No such file") && missing.help().contains("slogkey -d"),
        "{missing}"
    );
    let folder = files.mac().with_extension("none").join("mac.dat");
    assert!(error(&files.key(), &folder).to_string().contains("No such file"));
    let mut later = first();
    later.seal(b"a", &mut Vec::new()).expect("sealed");
    write_key(&files.key(), &later).expect("written");
    let no_mac = error(&files.key(), &files.mac());
    assert!(no_mac.to_string().contains("has sealed 1 entries, but there is no MAC"), "{no_mac}");
    std::fs::write(files.mac(), b"rubbish").expect("written");
    assert!(error(&files.key(), &files.mac()).to_string().contains("is not a MAC file: it is too short"));
    std::fs::write(files.mac(), [1; 32]).expect("written");
    assert!(error(&files.key(), &files.mac()).to_string().contains("its check does not fit"));
    std::fs::write(files.key(), [1; 56]).expect("written");
    assert!(error(&files.key(), &files.mac()).to_string().contains("is not a key file: its check"));
    std::fs::write(files.key(), [1; 10]).expect("written");
    assert!(error(&files.key(), &files.mac()).to_string().contains("it is too short"));
}

#[test]
fn many_at_once_make_one_chain() {
    let files = Files::new();
    let chain = files.chain();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..50).for_each(|_| drop(seal_one(&files, &chain, "x"))));
        }
    });
    assert_eq!(files.position().counter, 200);
}
