use crate::testing::{HEAD, Running, errors};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};

fn config(source: &str) -> String {
    format!(
        "{HEAD}source s {{ {source} }};\n\
         destination d {{ file(\"%dir%/out\" template(\"${{TRANSPORT}}|${{HOST}}|${{PROGRAM}}|${{FILE_NAME}}|${{MSG}}\\n\")); }};\n\
         log {{ source(s); destination(d); }};\n"
    )
}

fn write(running: &Running, text: &str) {
    let mut pipe = OpenOptions::new().write(true).open(running.path("in")).expect("open");
    pipe.write_all(text.as_bytes()).expect("write");
}

#[test]
fn writers_come_and_go() {
    let running = Running::start(&config("pipe(\"%dir%/in\");"));
    let meta = std::fs::metadata(running.path("in")).expect("it was made");
    assert!(meta.file_type().is_fifo());
    assert_eq!(meta.permissions().mode() & 0o777, 0o600);
    write(&running, "<13>Nov 11 01:02:03 app[3]: one\n");
    running.wait_lines("out", 1);
    write(&running, "<13>Nov 11 01:02:03 app: two\n<13>Nov 11 01:02:03 h app: three\n");
    let (host, name) = (transport::local_host_name(false, None), running.path("in").display().to_string());
    let line = |program: &str, message: &str| format!("local+pipe|{host}|{program}|{name}|{message}");
    let expected = [line("app", "one"), line("app", "two"), line("h", "app: three")];
    assert_eq!(running.wait_lines("out", 3), expected);
}

#[test]
fn records_of_one_size_are_told_apart_by_it() {
    let running = Running::start(&config("pipe(\"%dir%/in\" pad-size(40));"));
    write(&running, &format!("{:\0<40}{:\0<40}", "<13>Nov 11 01:02:03 app: one\nrest", "<13>app: two"));
    let lines = running.wait_lines("out", 2);
    assert!(lines[0].ends_with("|one") && lines[1].ends_with("|two"), "{lines:?}");
}

#[test]
fn old_configurations_expect_a_host_name() {
    let text = config("fifo(\"%dir%/in\");").replace("@version: 4.11", "@version: 3.1");
    let running = Running::start(&text);
    write(&running, "<13>Nov 11 01:02:03 h app: m\n");
    assert!(running.wait_lines("out", 1)[0].starts_with("local+pipe|h|app|"));
}

#[test]
fn a_reload_keeps_half_a_line() {
    let mut running = Running::start(&config("pipe(\"%dir%/in\");"));
    write(&running, "<13>Nov 11 01:02:03 app: before\n<13>Nov 11 01:02:03 app: ha");
    running.wait_lines("out", 1);
    running.reload(&config("pipe(\"%dir%/in\" program-override(new));")).expect("reload");
    write(&running, "lf\n");
    let lines = running.wait_lines("out", 2);
    assert!(lines[1].contains("|new|") && lines[1].ends_with("|half"), "{lines:?}");
}

#[test]
fn folders_permissions_and_what_is_in_the_way() {
    let mut running =
        Running::start(&config("pipe(\"%dir%/x/y/in\" create-dirs(yes) dir-perm(0711) perm(0622));"));
    let mode = |name: &str| std::fs::metadata(running.path(name)).expect("made").permissions().mode() & 0o777;
    assert_eq!((mode("x/y/in"), mode("x")), (0o622, 0o711));
    std::fs::write(running.path("file"), "text").expect("write");
    let error = running.reload(&config("pipe(\"%dir%/file\");")).expect_err("no pipe");
    assert!(error.contains("no named pipe"), "{error}");
    assert_eq!(running.text("file"), "text");
    let optional = config("pipe(\"%dir%/file\" optional(yes));");
    running.reload(&optional).expect("optional");
    std::fs::remove_file(running.path("file")).expect("remove");
    running.reload(&optional).expect("tried again");
    assert!(std::fs::metadata(running.path("file")).expect("it was made").file_type().is_fifo());
}

#[test]
fn what_a_stream_cannot_wait_for_is_refused_by_name() {
    let found = errors(&config("pipe(\"%dir%/in\" multi-line-mode(indented) multi-line-timeout(3));"));
    assert!(found.contains("multi-line-timeout"), "{found}");
}

#[test]
fn lines_that_belong_together() {
    let source = "pipe(\"%dir%/in\" flags(no-parse) multi-line-mode(indented));";
    let running = Running::start(&config(source).replace("${MSG}", "$(format-json --key MSG MSG=${MSG})"));
    write(&running, "one\n tw");
    write(&running, "o\nthree\nfour\n");
    let lines = running.wait_lines("out", 2);
    assert!(lines[0].ends_with("|{\"MSG\":\"one\\n two\"}"), "{}", lines[0]);
    assert!(lines[1].ends_with("|{\"MSG\":\"three\"}"), "{}", lines[1]);
}
