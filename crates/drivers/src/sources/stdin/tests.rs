use super::*;
use crate::testing::{HEAD, Running, wait_until};
use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use wire::Framing;

const CONFIG: &str = "source s { pipe(\"%dir%/unused\" flags(expect-hostname)); };\n\
    destination d { file(\"%dir%/out\" template(\"${HOST} ${PROGRAM} ${FILE_NAME} ${TRANSPORT} ${MSG}\\n\")); };\n\
    log { source(s); destination(d); };\n";

fn reading() -> Reading {
    use conf_schema::ReadContext;
    use conf_syntax::{LogItem, ParseOptions, Statement};
    let parsed =
        conf_syntax::parse_text("t", "@version: 4.11\nsource s { stdin(); };\n", &ParseOptions::default());
    let Some(Statement::Source(object)) = parsed.config.items.first() else { panic!("a source") };
    let Some(LogItem::Call(call)) = object.body.first() else { panic!("a call") };
    let mut diags = Diagnostics::new();
    let read = ReadContext { sources: &parsed.sources, globals: None };
    let globals = Arc::new(conf_schema::read_options([], &crate::options::OPTIONS, &read, &mut diags));
    let settings = conf_schema::read(call, &super::STDIN, &read, &mut diags);
    let identity = template::Identity::new("test");
    let cx = BuildContext {
        sources: &parsed.sources,
        scope: &template::NoScope,
        version: (4, 11),
        globals: &globals,
        identity: &identity,
        group: "s",
        index: 0,
    };
    let defaults =
        Defaults { framing: Framing::Lines, syslog_protocol: false, expect_hostname: true, local: true };
    Reading::new(&settings, &cx, &defaults, &mut diags)
}

static ENDS: AtomicUsize = AtomicUsize::new(0);

/// Regular files, which no readiness loop can watch, and pipes: both to their end, with the last line
/// unfinished.
#[test]
fn files_and_pipes_are_read_to_their_end() {
    let running = Running::start(&format!("{HEAD}{CONFIG}"));
    let host = transport::local_host_name(false, None);
    let text: String = (0..20_000).map(|n| format!("<13>Nov 11 01:02:03 h app: {n}\n")).collect();
    std::fs::write(running.path("in"), format!("{text}plain")).expect("write");
    let source = running.source("s#0");
    let shared = running.shared();
    let end = || {
        ENDS.fetch_add(1, Ordering::SeqCst);
    };
    let at_end: fn() = end;
    let file = File::open(running.path("in")).expect("open");
    let reading = reading();
    let how = Lines { reading: &reading, multi_line: None, file_name: FILE_NAME };
    serve(PolledInput { fd: file, at_end }, &how, TRANSPORT, &shared, &source).expect("serve");
    wait_until("the end of the file", || ENDS.load(Ordering::SeqCst) == 1);
    let lines = running.wait_lines("out", 20_001);
    assert_eq!(lines[0], "h app /dev/stdin local+stdin 0");
    assert_eq!(lines[19_999], "h app /dev/stdin local+stdin 19999");
    assert!(lines[20_000].starts_with(&format!("{host} plain /dev/stdin")), "{}", lines[20_000]);

    let (reader, writer) = std::io::pipe().expect("pipe");
    serve(PolledInput { fd: reader, at_end }, &how, TRANSPORT, &shared, &source).expect("serve");
    let mut writer = writer;
    writer.write_all(b"<13>Nov 11 01:02:03 h app: half").expect("write");
    writer.write_all(b" of it\n<13>Nov 11 01:02:03 h app: more\n").expect("write");
    let lines = running.wait_lines("out", 20_003);
    assert_eq!(
        lines[20_001..],
        ["h app /dev/stdin local+stdin half of it", "h app /dev/stdin local+stdin more"]
    );
    assert_eq!(ENDS.load(Ordering::SeqCst), 1, "the writer is still there");
    drop(writer);
    wait_until("the end of the pipe", || ENDS.load(Ordering::SeqCst) == 2);
}
