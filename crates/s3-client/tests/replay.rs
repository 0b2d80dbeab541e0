//! The seeds of the fuzz target, as an ordinary test.

#[test]
fn seeds() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/s3");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("seeds") {
        let seed = std::fs::read(entry.expect("an entry").path()).expect("a seed");
        for cut in 0..=seed.len() {
            s3_client::read_anything(&seed[..cut]);
        }
        count += 1;
    }
    assert!(count > 2);
}
