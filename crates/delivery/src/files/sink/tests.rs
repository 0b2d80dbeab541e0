//! What stands in the way of a name, and what is begun and not finished.

use super::*;
use crate::testing::chunk;
use engine::ledger::DestinationCounters;

fn sink(path: &Path, name_origin: NameOrigin) -> FileSink {
    let options = FileOptions {
        ownership: Ownership::default(),
        create_dirs: true,
        fsync: false,
        overwrite_if_older: Duration::ZERO,
        symlink_as: None,
        time_reap: Duration::ZERO,
        time_reopen: Duration::from_secs(7),
        is_pipe: false,
        name_origin,
        rotation: None,
    };
    FileSink::new(path.as_os_str().as_encoded_bytes().to_vec(), Arc::new(options))
}

/// Writes two messages to `name`, while `put` is in the way below the folder `a` and once it is gone. What
/// came of the first try, and what the file has in the end.
fn tried(name: &str, made_of: Option<&str>, put: impl Fn(&Path)) -> (Option<Status>, u64, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let made = |fixed: &str| NameOrigin::Messages {
        folder_bytes: folder.path().as_os_str().len() + 1 + fixed.len(),
        follows: false,
    };
    let mut sink = sink(&folder.path().join(name), made_of.map_or(NameOrigin::Fixed, made));
    put(folder.path());
    let (counters, mut chunks) = (DestinationCounters::default(), VecDeque::from([chunk(&["a\n", "b\n"])]));
    let status = sink.write(&mut chunks, &mut Progress::new(&counters));
    let waits = (!chunks.is_empty()).then_some(status);
    for entry in std::fs::read_dir(folder.path()).expect("a folder").flatten() {
        match entry.file_type().expect("a type").is_dir() {
            true => std::fs::remove_dir_all(entry.path()).expect("removed"),
            false => std::fs::remove_file(entry.path()).expect("removed"),
        }
    }
    sink.write(&mut chunks, &mut Progress::new(&counters));
    assert!(chunks.is_empty());
    let text = std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    (waits, counters.dropped.value(Reason::Refused), text)
}

#[test]
fn what_is_in_the_way_of_what_the_configuration_wrote_is_waited_for() {
    let waited = || (Some(Status::Retry(Duration::from_secs(7))), 0, "a\nb\n".to_owned());
    let folder = |root: &Path| std::fs::create_dir_all(root.join("a/b")).expect("a folder");
    let file = |root: &Path| std::fs::write(root.join("a"), "").expect("a file");
    let circle = |root: &Path| std::os::unix::fs::symlink("a", root.join("a")).expect("a link");
    assert_eq!(tried("a/b", None, folder), waited());
    assert_eq!(tried("a/b", None, file), waited());
    assert_eq!(tried("a", None, circle), waited());
    assert_eq!(tried("a/b", None, circle), waited());
    // The folder in front of what messages have a say in.
    assert_eq!(tried("a/b", Some("a/"), file), waited());
    assert_eq!(tried("a/b", Some("a/"), circle), waited());
    // What messages have made of it.
    assert_eq!(tried("a/b", Some("a/"), folder), (None, 2, String::new()));
    assert_eq!(tried("a/b", Some(""), file), (None, 2, String::new()));
    assert_eq!(tried("a/b", Some(""), circle), (None, 2, String::new()));
}

#[test]
fn the_beginning_of_a_message_leaves_the_file_with_its_queue() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    // What is written, what of it stands there, what is left.
    for (there, left, rest) in
        [("aa\nb", "aa\n", "bb\n"), ("aa\nbX", "aa\nbX", "b\n"), ("b", "", "bb\n"), ("", "", "b\n")]
    {
        std::fs::write(&path, there).expect("a file");
        let mut sink = sink(&path, NameOrigin::Fixed);
        sink.with_file(|sink| sink.open(None).map(|_| ())).expect("opened");
        let mut queue = VecDeque::from([chunk(&["aa\n", "bb\n"])]);
        queue[0].advance(4);
        assert_eq!(queue[0].begun(), b"b");
        sink.close(&mut queue);
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), left);
        assert_eq!(queue[0].pending(), rest.as_bytes(), "{there}");
    }
}
