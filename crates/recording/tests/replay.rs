//! The seeds of the fuzz target, as an ordinary test.

#[test]
fn seeds() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/recording");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("seeds") {
        recording::read_anything(&std::fs::read(entry.expect("an entry").path()).expect("a seed"));
        count += 1;
    }
    assert!(count > 0);
}
