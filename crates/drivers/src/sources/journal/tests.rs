use crate::testing::{HEAD, Running, errors};

const ODD: &[u8] = include_bytes!("../../../../journal/tests/files/odd.journal.zst");
const COMPACT: &[u8] = include_bytes!("../../../../journal/tests/files/compact.journal.zst");

fn place(running: &Running, name: &str, packed: &[u8]) {
    let size = zstd_safe::get_frame_content_size(packed).expect("a frame").expect("its size");
    let mut bytes = Vec::with_capacity(size as usize);
    zstd_safe::decompress(&mut bytes, packed).expect("unpacked");
    let folder = running.path("journal");
    std::fs::create_dir_all(&folder).expect("folder");
    // Made elsewhere and moved in whole.
    std::fs::write(running.path("made"), bytes).expect("written");
    std::fs::rename(running.path("made"), folder.join(name)).expect("renamed");
}

fn config(options: &str, template: &str) -> String {
    format!(
        "{HEAD}source s {{ systemd-journal(directory(\"%dir%/journal\") {options}); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"{template}\\n\")); }};\n\
         log {{ source(s); destination(d); }};\n"
    )
}

const ALL: &str = "${UNIXTIME}.${USEC}|${HOST}|${PROGRAM}|${PID}|${FACILITY}|${LEVEL}|${MSGHDR}|$(length ${MESSAGE})|\
     $(substr ${MESSAGE} 0 60)|$(format-json .journald.* --exclude .journald.MESSAGE)";

/// `odd.expected` is what syslog-ng 3.38 made of the same file.
#[test]
fn odd_entries_are_read_as_syslog_ng_reads_them() {
    let running = Running::start(&config("", &ALL.replace('"', "\\\"")));
    place(&running, "system.journal", ODD);
    let host = transport::local_host_name(false, None);
    let expected = include_str!("odd.expected").replace("|vm|", &format!("|{host}|"));
    let expected: Vec<&str> = expected.lines().collect();
    let lines = running.wait_lines("out", expected.len());
    assert_eq!(lines.len(), expected.len());
    for (line, expected) in lines.iter().zip(expected) {
        // There a value ends at its first NUL, and a facility that is none is a number in hexadecimal.
        if line.contains("|bin|") {
            assert!(line.contains("|bin[4]: |13|"), "{line}");
        } else if !line.contains("large numbers") {
            assert_eq!(line, expected);
        }
    }
}

#[test]
fn options() {
    let text = config(
        "max-field-size(10) prefix(\"j.\") default-facility(mail) default-level(err) host-override(\"hh\") \
         read_old_on_error(yes) \
         matches(\"SYSLOG_IDENTIFIER\" => \"app\" \"SYSLOG_IDENTIFIER\" => \"long\")",
        "${HOST} ${FACILITY}.${LEVEL} ${j.SYSLOG_IDENTIFIER} ${TRANSPORT} ${MESSAGE}",
    );
    let running = Running::start(&text);
    place(&running, "system.journal", ODD);
    let lines = running.wait_lines("out", 7);
    assert_eq!(lines[0], "hh mail.err app local+journal defaults");
    assert_eq!(lines[6], "hh mail.err long local+journal xxxxxxxxxx");
}

#[test]
fn files_that_come_later_are_read_and_broken_ones_are_counted() {
    let mut running = Running::start(&config("read-old-records(no)", "${PROGRAM} $(length ${MESSAGE})"));
    place(&running, "broken.journal", &zstd(&vec![b'x'; 4096]));
    place(&running, "a.journal", COMPACT);
    let lines = running.wait_lines("out", 120);
    assert!(lines.iter().any(|line| line == "app2 16"));
    place(&running, "b.journal", ODD);
    running.wait_lines("out", 135);
    // Other log paths that read other fields: the reader goes on.
    running
        .reload(&config("read-old-records(no)", "${.journald._COMM} $(length ${MESSAGE})"))
        .expect("reload");
    place(&running, "copy.journal", ODD);
    running.stop();
    assert_eq!(running.text("out").lines().count(), 135, "a copy holds nothing new");
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
    zstd_safe::compress(&mut packed, bytes, 1).expect("packed");
    packed
}

#[test]
fn old_configurations_have_no_prefix() {
    let text = config("", "${SYSLOG_IDENTIFIER} ${MESSAGE}").replace("@version: 4.11", "@version: 3.7");
    let running = Running::start(&text);
    place(&running, "system.journal", ODD);
    assert!(running.wait_lines("out", 16).contains(&"app defaults".to_owned()));
}

#[test]
fn a_folder_and_a_namespace_exclude_each_other() {
    assert!(errors(&config("namespace(\"x\")", "${MESSAGE}")).contains("D0115"));
}
