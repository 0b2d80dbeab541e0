//! The seeds of the fuzz target, as an ordinary test.

#[test]
fn seeds() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/sql_row");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("seeds") {
        let seed = std::fs::read(entry.expect("an entry").path()).expect("a seed");
        (0..=seed.len()).for_each(|cut| sql_client::row::read_anything(&seed[..cut]));
        count += 1;
    }
    assert!(count > 3);
}
