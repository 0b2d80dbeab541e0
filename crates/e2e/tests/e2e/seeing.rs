//! What the log says of messages: the switches of the command line and of the control socket, on the process
//! at work.

use crate::command_line::link;
use std::process::Command;
use testkit::penstock::run_as;
use testkit::process::Process;
use testkit::{Collector, Lab, Penstock, Sender, wait_until};

/// Every kind of step; `LINE` numbers below are those of this text.
const CONFIG: &str = r#"@version: 4.11
options { keep-hostname(yes); use-dns(no); };
source s_net {
    network(ip("127.0.0.1") port(%tcp:in%));
};
filter f_x { facility(user) and match("disk" value("MESSAGE")); };
filter f_n { "${.j.n}" > 5; };
parser p_json {
    json-parser(prefix(".j."));
};
rewrite r_host {
    set("renamed" value("HOST") condition(program("p")));
    set-tag("${.j.who}");
};
destination d_out { file("%dir%/out" template("$HOST ${.j.n} $TAGS\n")); };
destination d_rest { file("%dir%/rest" template("$MSG\n")); };
log {
    source(s_net);
    parser(p_json);
    junction {
        channel { filter(f_n); rewrite(r_host); flags(final); };
        channel { filter(f_x); };
    };
    destination(d_out);
};
log { source(s_net); filter { program("nobody"); }; destination(d_rest); };
"#;

const INPUT: &str = r#"<13>Oct 11 22:14:15 h p: {"n": 7, "who": "it's me", "unread": "kept"}"#;

/// The line of the log that has all the parts; there is one.
#[track_caller]
fn line<'a>(log: &'a str, parts: &[&str]) -> &'a str {
    let has = |line: &&str| parts.iter().all(|part| line.contains(part));
    log.lines().find(has).unwrap_or_else(|| panic!("no line with {parts:?} in\n{log}"))
}

/// `location='FILE:LINE:COLUMN'` of a text in a line, as the log has it.
fn place(lab: &Lab, number: usize, text: &str) -> String {
    let path = lab.path("penstock.conf");
    let config = std::fs::read_to_string(&path).unwrap();
    let column = config.lines().nth(number - 1).unwrap().find(text).unwrap() + 1;
    format!("location='{}:{number}:{column}'", path.display())
}

#[test]
fn a_message_is_followed_step_by_step() {
    let lab = Lab::new();
    let mut penstock = Penstock::configure(&lab, CONFIG).arg("--log-level").arg("trace").ready();
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line(INPUT);
    wait_until("the message", || lab.lines("out").len() == 1);
    assert_eq!(lab.lines("out"), ["renamed 7 .source.s_net,\"it's me\""]);
    penstock.wait_log("Source side message processing finish");
    let log = penstock.log();
    let incoming = line(
        &log,
        &["Incoming log entry; input='<13>Oct 11 22:14:15 h p: {\"n\": 7, \"who\": \"it\\'s me\""],
    );
    let msg = &incoming[incoming.find("msg='").unwrap()..];
    let msg = &msg[..msg[5..].find('\'').unwrap() + 6];
    // Every line about the message has its number.
    let steps: &[&[&str]] = &[
        &["Setting value; name='PROGRAM', value='p', type='string'"],
        &["Setting value; name='HOST', value='h'"],
        &[">>>>>> Source side message processing begin; instance='", &place(&lab, 4, "network")],
        &[">>>>>> log path evaluation begin; ", &place(&lab, 17, "log")],
        &[">>>>>> parser rule evaluation begin; rule='p_json'", &place(&lab, 9, "json-parser")],
        &["Setting value; name='.j.n', value='7', type='int'"],
        &["Setting value; name='.j.unread', value='kept'"],
        &["Message parsing complete; result='1', rule='p_json'"],
        &[
            "<<<<<< parser rule evaluation result; result='accepted', rule='p_json'",
            &place(&lab, 9, "json-parser"),
        ],
        &[">>>>>> channel evaluation begin", "penstock.conf:21:"],
        &[">>>>>> filter rule evaluation begin; rule='f_n'", &place(&lab, 7, " \"${.j.n}")],
        &["cmp() evaluation result; left='7', operator='>', right='5', result='1'"],
        &[
            "Filter node evaluation result; result='match', type='cmp', rule='f_n'",
            &place(&lab, 7, " \"${.j.n}"),
        ],
        &[
            "<<<<<< filter rule evaluation result; result='MATCH - Forwarding message to the next LogPipe', rule='f_n'",
            &place(&lab, 7, " \"${.j.n}"),
        ],
        &[">>>>>> rewrite rule evaluation begin; rule='r_host'", &place(&lab, 12, "set")],
        &["match() evaluation started against a name-value pair; name='PROGRAM', value='p', pattern='p'"],
        &["Setting value; name='HOST', value='renamed'"],
        &["<<<<<< rewrite rule evaluation finished; rule='r_host'", &place(&lab, 13, "set-tag")],
        &["Setting tag; name='it\\'s me', value='1'"],
        &["<<<<<< log path evaluation result; result='matched'", &place(&lab, 17, "log")],
        &[
            "Outgoing message; message='renamed 7 .source.s_net,\"it\\'s me\"\\x0a'",
            "d_out#0",
            &place(&lab, 15, "file"),
            "/out'",
        ],
        &[
            "<<<<<< filter rule evaluation result; result='UNMATCHED - Dropping message from LogPipe', rule='#anon-filter0'",
            &place(&lab, 26, " program"),
        ],
        &["<<<<<< log path evaluation result; result='unmatched'", &place(&lab, 26, "log")],
        &["Setting value; name='HOST_FROM', value='127.0.0.1'"],
        &["<<<<<< Source side message processing finish; instance='", &place(&lab, 4, "network")],
    ];
    for parts in steps {
        let parts: Vec<&str> = parts.iter().copied().chain([msg]).collect();
        line(&log, &parts);
    }
    assert!(!log.contains("rule='f_x'"), "the first channel was final:\n{log}");
    // A message that the parser does not take.
    sender.line("<13>Oct 11 22:14:15 h p: no json");
    penstock.wait_log("<<<<<< parser rule evaluation result; result='rejected', rule='p_json'");
    sender.finish();
    penstock.wait_log("EOF occurred while reading; fd='");
    penstock.ledger().assert_balanced();
    penstock.stop();
}

#[test]
fn each_level_says_its_part() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, CONFIG);
    let mut sender = Sender::tcp(lab.port("in"));
    let mut sent = 0;
    let mut send = |penstock: &mut Penstock, level: &str| -> String {
        assert!(penstock.request(&format!("LOG LEVEL {level}")).contains(level));
        let before = penstock.log().len();
        sender.line(INPUT);
        sent += 1;
        wait_until("the message", || lab.lines("out").len() == sent);
        // Another answer comes from the same process, after whatever it said.
        penstock.wait_settled(sent as u64);
        penstock.log()[before..].to_owned()
    };
    let default = send(&mut penstock, "default");
    assert!(!default.contains("msg='0x"), "{default}");
    let debug = send(&mut penstock, "debug");
    line(&debug, &["Incoming log entry; input='<13>"]);
    line(&debug, &["filter rule evaluation result; result='MATCH", "rule='f_n'"]);
    line(&debug, &["parser rule evaluation result; result='accepted'", "rule='p_json'"]);
    line(&debug, &["Outgoing message; message='renamed"]);
    penstock.wait_log("Messages sent; name='");
    assert!(!debug.contains("Setting value") && !debug.contains("evaluation begin"), "{debug}");
    let trace = send(&mut penstock, "trace");
    line(&trace, &["Setting value; name='HOST', value='renamed'"]);
    for level in ["verbose", "default"] {
        let quiet = send(&mut penstock, level);
        assert!(!quiet.contains("msg='0x"), "{quiet}");
    }
    penstock.stop();
}

/// The switches of syslog-ng's own command line, and those of its control tool.
#[test]
fn switches_of_syslog_ng() {
    for (switches, has, has_not) in [
        ("-Fe", "", "Incoming log entry"),
        ("-Fev", "Initializing destination file writer; filename='", "Incoming log entry"),
        ("-Fed", "Incoming log entry; input='<13>", "Setting value"),
        ("-Fedv", "filter rule evaluation result; result='MATCH", "Setting value"),
        ("-Fet", "Setting value; name='HOST', value='renamed'", "nothing like this"),
        ("-Fvdet", ">>>>>> filter rule evaluation begin; rule='f_n'", "nothing like this"),
    ] {
        let lab = Lab::new();
        let (program, ctl) = (link(&lab, "syslog-ng"), link(&lab, "syslog-ng-ctl"));
        let (path, opens) = lab.write_config("penstock.conf", CONFIG);
        let control = lab.path("ctl");
        let control = control.to_str().unwrap();
        let mut command = Command::new(&program);
        command.args([switches, "-f", path.to_str().unwrap(), "-c", control]);
        command.args(["-R", lab.path("persist").to_str().unwrap()]).current_dir(lab.dir());
        let mut process = Process::spawn("syslog-ng", command, None, &lab.path("ng.log"));
        process.wait_for(|| opens.iter().find(|o| !o.is_open()).map(|closed| format!("{closed:?}")));
        let mut sender = Sender::tcp(lab.port("in"));
        sender.line(INPUT);
        process.wait_for(|| (lab.lines("out").len() != 1).then(|| "the message".to_owned()));
        process.wait_for(|| (!process_log(&lab).contains(has)).then(|| format!("{has} with {switches}")));
        assert!(!process_log(&lab).contains(has_not), "{switches}: {}", process_log(&lab));
        let told = |word: &str, on: &str| {
            let outcome = run_as(&ctl, &[word, &format!("--set={on}"), "-c", control]);
            assert_eq!(outcome.code, Some(0), "{word} {on}: {outcome:?}");
        };
        let before = process_log(&lab).matches("Incoming log entry").count();
        told("trace", "on");
        sender.line(INPUT);
        process.wait_for(|| {
            let said = process_log(&lab).matches("Incoming log entry").count();
            (said != before + 1).then(|| format!("{switches}: what came in after trace --set=on"))
        });
        told("trace", "off");
        told("debug", "off");
        sender.line(INPUT);
        process.wait_for(|| (lab.lines("out").len() != 3).then(|| "the last message".to_owned()));
        assert_eq!(run_as(&ctl, &["stop", "-c", control]).code, Some(0));
        process.wait_end();
        assert_eq!(process_log(&lab).matches("Incoming log entry").count(), before + 1, "{switches}");
    }
}

fn process_log(lab: &Lab) -> String {
    lab.text("ng.log")
}

/// Lines about messages are messages of internal(); of those nothing is said, or they would never end.
#[test]
fn the_log_does_not_follow_itself() {
    let lab = Lab::new();
    let config = CONFIG.to_owned()
        + "source s_own { internal(); };\ndestination d_own { file(\"%dir%/own\" template(\"$MSG\\n\")); };\n\
           log { source(s_own); destination(d_own); destination(d_rest); };\n";
    let penstock = Penstock::configure(&lab, &config).arg("--log-level").arg("trace").ready();
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line(INPUT);
    sender.finish();
    wait_until("the end of the message", || {
        lab.text("own").contains("Syslog connection closed")
            && lab.text("own").contains("message processing finish")
    });
    penstock.stop();
    let own = lab.text("own");
    assert_eq!(own.matches("Incoming log entry").count(), 1, "{own}");
    assert!(own.contains("Outgoing message; message='renamed"), "{own}");
    assert!(own.lines().count() < 200, "{} lines", own.lines().count());
}

/// Text of peers stays in its quotes, on its line, and within bounds.
#[test]
fn what_peers_send_is_escaped_and_cut() {
    let lab = Lab::new();
    let mut penstock = Penstock::configure(&lab, CONFIG).arg("--log-level").arg("trace").ready();
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line(&format!("<13>Oct 11 22:14:15 h p: \u{1b}[31m', msg='0x1' {}", "x".repeat(20_000)));
    sender.finish();
    penstock.wait_log("Source side message processing finish");
    let log = penstock.log();
    let incoming = line(&log, &["Incoming log entry"]);
    assert!(incoming.contains("\\x1b[31m\\', msg=\\'0x1\\' xxx") && incoming.contains("x...', msg='0x"));
    assert!(incoming.len() < 5000 && !log.contains('\u{1b}'), "{} bytes", incoming.len());
    penstock.stop();
}

/// Messages of several connections that wait for a destination: their source says that it stops, and that it
/// goes on.
#[test]
fn a_source_says_that_it_waits() {
    let lab = Lab::new();
    let receiver = Collector::tcp(lab.port("out"));
    receiver.pause();
    let config = "@version: 4.11\nsource s { network(ip(\"127.0.0.1\") port(%tcp:in%) log-iw-size(100) max-connections(1)); };\n\
         destination d { network(\"127.0.0.1\" port(%tcp:out%) so-sndbuf(4096)); };\n\
         log { source(s); destination(d); flags(flow-control); };\n";
    let mut penstock = Penstock::configure(&lab, config).arg("--log-level").arg("debug").ready();
    let port = lab.port("in");
    let sending = std::thread::spawn(move || {
        let mut sender = Sender::tcp(port);
        for n in 0..20_000 {
            sender.line(&format!("<13>Oct 11 22:14:15 h p: {n} {}", "x".repeat(500)));
        }
        sender.finish();
    });
    penstock.wait_log("Source has been suspended; source='s#0'");
    receiver.resume();
    penstock.wait_log("Source has been resumed; source='s#0'");
    sending.join().unwrap();
    receiver.wait_lines(20_000);
    penstock.stop();
}

/// What comes in by itself is told as what peers send: groups whose time is over, also those that go to
/// internal(), and marks.
#[test]
fn messages_that_the_clock_makes_are_followed() {
    let lab = Lab::new();
    let config = "@version: 4.11\noptions { keep-hostname(yes); use-dns(no); };\n\
         source s_net { network(ip(\"127.0.0.1\") port(%tcp:in%)); };\n\
         source s_own { internal(); };\n\
         parser p_quiet { grouping-by(key(\"$HOST\") timeout(1) inject-mode(aggregate-only) aggregate(value(\"MESSAGE\" \"quiet $HOST\"))); };\n\
         parser p_own { grouping-by(key(\"$HOST\") timeout(1) inject-mode(internal) aggregate(value(\"MESSAGE\" \"posted $HOST\"))); };\n\
         filter f_posted { message(\"posted\"); };\n\
         destination d_out { file(\"%dir%/out\" template(\"$MSG\\n\")); };\n\
         destination d_own { file(\"%dir%/own\" template(\"$MSG\\n\")); };\n\
         destination d_marked { file(\"%dir%/marked\" mark-mode(periodical) mark-freq(1)); };\n\
         log { source(s_net); parser(p_quiet); destination(d_out); };\n\
         log { source(s_net); parser(p_own); destination(d_marked); };\n\
         log { source(s_own); filter(f_posted); destination(d_own); };\n";
    let mut penstock = Penstock::configure(&lab, config).arg("--log-level").arg("trace").ready();
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line("<13>Oct 11 22:14:15 h p: one");
    sender.finish();
    wait_until("the groups", || lab.lines("out") == ["quiet h"] && lab.lines("own") == ["posted h"]);
    wait_until("a mark", || lab.text("marked").contains("-- MARK --"));
    penstock.wait_log("Outgoing message; message='posted h\\x0a'");
    penstock.wait_log("-- MARK --\\x0a', name='");
    let log = penstock.log();
    let number = |incoming: &str| incoming[incoming.find("msg='").unwrap()..].to_owned();
    for (text, place) in [("quiet h", place(&lab, 3, "network")), ("posted h", place(&lab, 4, "internal"))] {
        let msg = number(line(&log, &[&format!("Incoming log entry; input='{text}'")]));
        for step in [
            &["Setting value; name='MESSAGE'", text] as &[&str],
            &[">>>>>> Source side message processing begin; instance='", &place],
            &["Outgoing message; message='", text],
            &["<<<<<< Source side message processing finish; instance='", &place],
        ] {
            let parts: Vec<&str> = step.iter().copied().chain([msg.as_str()]).collect();
            line(&log, &parts);
        }
    }
    assert_eq!(log.matches("Incoming log entry").count(), 3, "{log}");
    penstock.stop();
}
