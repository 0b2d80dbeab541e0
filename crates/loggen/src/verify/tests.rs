use super::*;

fn lines(stamps: &[(u32, u64)]) -> Vec<u8> {
    let line =
        |(conn, seq): &(u32, u64)| format!("Nov 21 10:00:00 host app[1]: conn={conn:04} seq={seq:09} text\n");
    stamps.iter().map(line).collect::<String>().into_bytes()
}

fn counts(stamps: &[(u32, u64)], expected: &Expected) -> (u64, u64, u64, u64) {
    let report = verify_bytes(&lines(stamps), expected);
    (report.missing(), report.doubled(), report.reordered(), report.foreign)
}

#[test]
fn complete_and_in_order() {
    let stamps: Vec<_> = (0..1000).flat_map(|seq| [(0, seq), (3, seq)]).collect();
    let report = verify_bytes(&lines(&stamps), &Expected::default());
    assert!(report.ok(), "{report}");
    assert_eq!((report.received(), report.connections.len()), (2000, 2));
}

#[test]
fn each_kind_of_fault_is_counted() {
    let none = Expected::default();
    assert_eq!(counts(&[(0, 0), (0, 1), (0, 3)], &none), (1, 0, 0, 0));
    assert_eq!(counts(&[(0, 0), (0, 1), (0, 1), (0, 2)], &none), (0, 1, 0, 0));
    assert_eq!(counts(&[(0, 0), (0, 2), (0, 1), (0, 3)], &none), (0, 0, 1, 0));
    assert_eq!(counts(&[(0, 0), (1, 5)], &none), (5, 0, 0, 0));
    let mut bytes = lines(&[(0, 0)]);
    bytes.extend_from_slice(b"something else\n");
    let report = verify_bytes(&bytes, &none);
    assert_eq!(report.foreign, 1);
    assert_eq!(report.foreign_samples, ["-:2: something else"]);
    assert!(!report.ok());
}

#[test]
fn expectations() {
    let two = Expected { connections: Some(2), number: Some(5), ..Expected::default() };
    assert_eq!(counts(&[(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)], &two), (0, 0, 0, 0));
    assert_eq!(counts(&[(0, 0), (0, 1), (1, 0), (1, 1)], &two), (1, 0, 0, 0));
    // A connection that never came is missing whole.
    assert_eq!(counts(&[(0, 0), (0, 1), (0, 2)], &two), (2, 0, 0, 0));
    // Numbers beyond the expected ones are not ours.
    assert_eq!(counts(&[(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1)], &two), (0, 0, 0, 1));
    let each = Expected { per_connection: Some(2), ..Expected::default() };
    assert_eq!(counts(&[(0, 0), (7, 0), (7, 1)], &each), (1, 0, 0, 0));
    let number = Expected { number: Some(4), ..Expected::default() };
    assert_eq!(counts(&[(0, 0), (0, 1), (0, 2)], &number), (1, 0, 0, 0));
}

#[test]
fn one_connection_too_many() {
    let one = Expected { connections: Some(1), ..Expected::default() };
    assert!(!verify_bytes(&lines(&[(0, 0), (1, 0)]), &one).ok());
    assert!(verify_bytes(&lines(&[(0, 0)]), &one).ok());
    let two = Expected { connections: Some(2), ..Expected::default() };
    assert!(!verify_bytes(&lines(&[(0, 0)]), &two).ok());
}

#[test]
fn order_is_per_file_or_across_files() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [folder.path().join("a"), folder.path().join("b")];
    std::fs::write(&paths[0], lines(&[(0, 1), (0, 3)])).unwrap();
    std::fs::write(&paths[1], lines(&[(0, 0), (0, 2)])).unwrap();
    assert!(verify_files(&paths, &Expected::default()).unwrap().ok());
    let across = Expected { order: Order::AcrossFiles, ..Expected::default() };
    assert_eq!(verify_files(&paths, &across).unwrap().reordered(), 2);
    assert!(verify_files(&[folder.path().join("none")], &across).is_err());
}

#[test]
fn the_last_line_may_lack_its_end() {
    let mut bytes = lines(&[(0, 0), (0, 1)]);
    bytes.pop();
    let report = verify_bytes(&bytes, &Expected::default());
    assert_eq!((report.lines, report.ok()), (2, true));
}

#[test]
fn lines_across_buffers() {
    let long = "x".repeat(BUFFER_BYTES - 20);
    let text = format!(
        "{long} conn=0000 seq=000000000\nconn=0000 seq=000000001 {long}{long}{long}\nconn=0000 seq=000000002\n"
    );
    let report = verify_bytes(text.as_bytes(), &Expected::default());
    assert!(report.ok(), "{} lines, {} foreign", report.lines, report.foreign);
    assert_eq!(report.received(), 3);
}

#[test]
fn json_has_the_numbers() {
    let json = verify_bytes(&lines(&[(0, 0), (0, 2)]), &Expected::default()).to_json();
    assert_eq!(json["missing"], 1);
    assert_eq!(json["ok"], false);
    assert_eq!(json["connections"][0]["missing_ranges"][0][0], 1);
}
