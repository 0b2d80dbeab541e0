//! Python beside the program: classes that work, raise, end their process, never come back; order, reloads,
//! what `check` says, the distribution's syslog-ng beside.

mod destination;
mod generators;
mod headers;
mod names;
mod persist;
mod source;

use crate::messages::HEAD;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use testkit::{Lab, Penstock, Sender, run_command, skip, wait_until};

const PATHS: &str = "source s { network(ip(127.0.0.1) port(%tcp:in%)); };\n\
    destination d { file(\"%dir%/out\" template(\"${MESSAGE} ${made}\\n\")); };\n\
    log { source(s); parser { python(class(\"Made\") options(\"prefix\" => \"p\" \"count\" 3 \"on\" yes)); }; destination(d); };\n";

fn config(code: &str) -> String {
    format!("{HEAD}{PATHS}python {{\n{code}\n}};\n")
}

/// A class with this body of `parse(self, msg)`.
fn class(body: &str) -> String {
    format!(
        "import os, time, syslogng\nclass Made(syslogng.LogParser):\n    def parse(self, msg):\n        {body}\n        return True\n"
    )
}

fn message(number: usize) -> String {
    format!("<13>Nov 11 01:02:03 host app[7]: {number}")
}

fn send(sender: &mut Sender, numbers: std::ops::Range<usize>) {
    let text: String = numbers.map(|n| message(n) + "\n").collect();
    sender.raw(text.as_bytes());
}

#[test]
fn values_of_all_types_are_read_and_set() {
    let lab = Lab::new();
    let code = "import syslogng, datetime\n\
class Made(syslogng.LogParser):\n\
\x20   def init(self, options):\n\
\x20       self.options = options\n\
\x20       return True\n\
\x20   def parse(self, msg):\n\
\x20       seen = [msg[\"HOST\"], msg.get(\"nothing\"), msg.get_as_str(\"nothing\", \"none\"), msg[\"PRIORITY\"], msg[\".SDATA.a.b\"]]\n\
\x20       assert b\"HOST\" in msg.keys() and \"nothing\" not in msg\n\
\x20       msg[\"text\"] = repr(seen) + repr(self.options)\n\
\x20       msg[\"int\"], msg[\"float\"], msg[\"bool\"], msg[\"null\"] = 7, 1.5, True, None\n\
\x20       msg[\"list\"] = [\"a\", b\"b c\"]\n\
\x20       assert msg[\"text\"].startswith(b\"[\") and msg[\"int\"] == 7 and msg.get_as_str(\"bool\") == \"true\"\n\
\x20       msg[\"HOST\"] = \"other\"\n\
\x20       msg.set_pri(26)\n\
\x20       zone = datetime.timezone(datetime.timedelta(hours=2))\n\
\x20       msg.set_timestamp(datetime.datetime(2020, 2, 3, 4, 5, 6, 789, zone))\n\
\x20       msg[\"template\"] = syslogng.LogTemplate(\"<$(uppercase $PROGRAM)>\").format(msg)\n\
\x20       return True";
    let paths = PATHS.replace(
        "${MESSAGE} ${made}",
        "${text} $HOST $PRI $ISODATE ${template} $(format-json int=${int} float=${float} bool=${bool} null=${null} list=${list})",
    );
    let paths = paths.replace("port(%tcp:in%)", "port(%tcp:in%) flags(syslog-protocol)");
    let penstock = Penstock::start(&lab, &format!("{HEAD}{paths}python {{\n{code}\n}};\n"));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line("<13>1 2026-11-11T01:02:03Z host app - - [a b=\"c\"] text");
    wait_until("the line", || !lab.lines("out").is_empty());
    penstock.stop();
    let options = "{'prefix': 'p', 'count': 3, 'on': True}";
    assert_eq!(
        lab.lines("out"),
        [format!(
            "[b'host', None, 'none', b'notice', b'c']{options} other 26 2020-02-03T04:05:06+02:00 <APP> \
             {{\"null\":null,\"list\":[\"a\",\"b c\"],\"int\":7,\"float\":1.5,\"bool\":true}}"
        )]
    );
}

#[test]
fn values_of_filterx_are_read() {
    let lab = Lab::new();
    let code = class(
        "msg[\"made\"] = repr([msg[\"time\"].timestamp(), msg.get_as_str(\"time\"), msg[\"bytes\"], msg[\"proto\"], msg[\"dict\"], msg[\"MSG\"]])",
    );
    let block = "filterx { $time = datetime(\"2020-01-02T03:04:05.25+01:00\"); $bytes = bytes(\"a\\xff\"); \
        $proto = protobuf(bytes(\"b\")); $dict = {\"a\":[1]}; $MSG = bytes($MSG); };";
    let config = config(&code).replace("source(s);", &format!("source(s); {block}"));
    let mut penstock = Penstock::start(&lab, &config);
    send(&mut Sender::tcp(lab.port("in")), 0..1);
    penstock.wait_settled(1).assert_balanced();
    penstock.stop();
    let line = " [1577930645.25, '1577930645.250000+01:00', b'a\\xff', b'b', b'{\"a\":[1]}', b'0']";
    assert_eq!(lab.lines("out"), [line]);
}

#[test]
fn a_class_that_raises_costs_the_messages_it_raises_for() {
    let lab = Lab::new();
    let code = class("msg[\"made\"] = str(1 // (int(msg[\"MESSAGE\"]) % 3))");
    let mut penstock = Penstock::start(&lab, &config(&code));
    send(&mut Sender::tcp(lab.port("in")), 0..3000);
    let ledger = penstock.wait_settled(3000);
    ledger.assert_balanced();
    assert_eq!(ledger.destination("d").delivered, 2000);
    penstock.wait_log("ZeroDivisionError");
    penstock.stop();
    let expected: Vec<String> =
        (0..3000).filter(|n| n % 3 > 0).map(|n| format!("{n} {}", 1 / (n % 3))).collect();
    assert_eq!(lab.lines("out"), expected);
}

#[test]
fn a_message_that_ends_the_process_costs_no_other() {
    let lab = Lab::new();
    let code = class("msg[\"made\"] = \"ok\"\n        if msg[\"MESSAGE\"] == b\"700\": os._exit(3)");
    let text = config(&code).replace("time-reopen(1)", "time-reopen(1); dead-letters(yes)");
    let mut penstock = Penstock::start(&lab, &text);
    send(&mut Sender::tcp(lab.port("in")), 0..2000);
    let ledger = penstock.wait_settled(2000);
    ledger.assert_balanced();
    penstock.wait_log("A message was dropped in Python; class='Made', reason='the Python process ended: with exit status 3'");
    let queue = |args: &[&str]| {
        let state = penstock.state().display().to_string();
        let outcome = run_command(&[&["queue", "--state-dir", &state], args].concat());
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        outcome.stdout
    };
    let letter: Value =
        serde_json::from_str(queue(&["cat", "dead-letters", "--json"]).trim()).expect("one letter");
    assert_eq!(letter["message"].as_str(), Some(format!("{}\n", message(700)).as_str()));
    assert_eq!(letter["destination"].as_str(), Some("s#0"), "{letter}");
    let reason = letter["reason"].as_str().expect("a reason");
    assert_eq!(reason, "python(Made): the Python process ended: with exit status 3");
    // As it came in, to wherever one wants it.
    queue(&["replay", "dead-letters", "--to", "d"]);
    wait_until("the letter in the file", || lab.lines("out").contains(&message(700)));
    wait_until("no letter", || queue(&["cat", "dead-letters"]).is_empty());
    penstock.stop();
    let expected: Vec<String> = (0..2000).filter(|n| *n != 700).map(|n| format!("{n} ok")).collect();
    assert_eq!(lab.lines("out").split_last(), Some((&message(700), expected.as_slice())));
}

#[test]
fn a_message_that_python_never_comes_back_from_costs_no_other() {
    let lab = Lab::new();
    let code = class("msg[\"made\"] = \"ok\"\n        while msg[\"MESSAGE\"] == b\"70\": time.sleep(1)");
    let text = config(&code).replace("time-reopen(1)", "time-reopen(1); python-timeout(10)");
    let mut penstock = Penstock::start(&lab, &text);
    send(&mut Sender::tcp(lab.port("in")), 0..200);
    penstock.wait_settled(200).assert_balanced();
    penstock.wait_log("did not answer within 10 seconds");
    // Where it was.
    penstock.wait_log("line 11 in parse");
    penstock.stop();
    let expected: Vec<String> = (0..200).filter(|n| *n != 70).map(|n| format!("{n} ok")).collect();
    assert_eq!(lab.lines("out"), expected);
}

/// While no interpreter can be started, messages wait for one.
#[test]
fn messages_wait_for_an_interpreter() {
    let lab = Lab::new();
    let code = class(
        "msg[\"made\"] = \"ok\"\n        if msg[\"MESSAGE\"] == b\"70\" and not os.path.exists(\"%dir%/bin/once\"):\n            \
         open(\"%dir%/bin/once\", \"w\").close()\n            os.rename(\"%dir%/bin/python3\", \"%dir%/bin/gone\")\n            os._exit(3)",
    );
    let found =
        Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().expect("python3");
    let python = String::from_utf8_lossy(&found.stdout).trim().to_owned();
    std::fs::create_dir(lab.path("bin")).expect("a folder");
    std::os::unix::fs::symlink(python, lab.path("bin/python3")).expect("a link");
    let path = lab.path("bin").display().to_string();
    let text = config(&code).replace("time-reopen(1)", "time-reopen(1); python-workers(1)");
    let mut penstock = Penstock::configure(&lab, &text).env("PATH", &path).ready();
    send(&mut Sender::tcp(lab.port("in")), 0..200);
    penstock.wait_log("Messages wait for Python, which cannot be started");
    std::fs::rename(lab.path("bin/gone"), lab.path("bin/python3")).expect("a link");
    penstock.wait_settled(200).assert_nothing_lost();
    penstock.stop();
    assert_eq!(lab.lines("out").len(), 200);
}

#[test]
fn one_connection_on_all_cores_keeps_its_order() {
    const COUNT: usize = 100_000;
    let lab = Lab::new();
    let code = class("msg[\"made\"] = str(os.getpid())");
    let text = config(&code).replace("time-reopen(1)", "time-reopen(1); python-workers(4)");
    let mut penstock = Penstock::configure(&lab, &text).arg("--worker-threads").arg("4").ready();
    send(&mut Sender::tcp(lab.port("in")), 0..COUNT);
    penstock.wait_settled(COUNT as u64).assert_nothing_lost();
    penstock.stop();
    let lines = lab.lines("out");
    let numbers: Vec<usize> = lines
        .iter()
        .map(|line| line.split(' ').next().and_then(|n| n.parse().ok()).expect("a number"))
        .collect();
    assert_eq!(numbers, (0..COUNT).collect::<Vec<_>>());
    let mut processes: Vec<&str> = lines.iter().filter_map(|line| line.split(' ').nth(1)).collect();
    processes.sort_unstable();
    processes.dedup();
    assert!(processes.len() > 1, "one process did it all");
}

#[test]
fn a_reload_keeps_processes_whose_text_is_the_same() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("python")).expect("a folder");
    let module = |version: usize| {
        let text = format!("VERSION = {version}{}\n", " ".repeat(version));
        std::fs::write(lab.path("python/helper.py"), text).expect("a module");
    };
    module(1);
    let code = |word: &str| {
        let body = format!("msg[\"made\"] = \"{word} %d %d\" % (helper.VERSION, os.getpid())");
        let end = "    def deinit(self):\n        syslogng.Logger().info(\"the end of it\")\n";
        config(&format!("import helper\n{}{end}", class(&body)))
    };
    let text = code("a").replace("time-reopen(1)", "time-reopen(1); python-workers(1)");
    let mut penstock = Penstock::start(&lab, &text);
    let mut sender = Sender::tcp(lab.port("in"));
    let mut count = 0;
    let mut made = |penstock: &mut Penstock| {
        send(&mut sender, count..count + 1);
        count += 1;
        penstock.wait_settled(count as u64);
        let line = lab.lines("out").last().expect("a line").clone();
        let mut words = line.splitn(4, ' ').skip(1).map(str::to_owned);
        (words.next().expect("a word"), words.next().expect("a version"), words.next().expect("a process"))
    };
    let first = made(&mut penstock);
    assert_eq!((&*first.0, &*first.1), ("a", "1"));
    penstock.reload_with(&lab, &format!("{text}# a remark\n"));
    assert_eq!(made(&mut penstock), first);
    module(2);
    penstock.reload_with(&lab, &text);
    let second = made(&mut penstock);
    assert_eq!((&*second.0, &*second.1), ("a", "2"));
    assert_ne!(second.2, first.2);
    penstock.wait_log("the end of it");
    penstock.reload_with(&lab, &text.replace("\"a %d", "\"b %d"));
    let third = made(&mut penstock);
    assert_eq!((&*third.0, &*third.1), ("b", "2"));
    assert_ne!(third.2, second.2);
    // What cannot be imported does not take effect.
    penstock.rewrite(&lab, &text.replace("import helper", "import no_such_helper"));
    assert!(penstock.reload().contains("no_such_helper"));
    assert_eq!(made(&mut penstock).2, third.2);
    penstock.stop();
}

#[test]
fn what_cannot_run_is_said_before_it_does() {
    for (code, expected) in [
        ("class Made:\n    def parse(self, msg:\n        pass", "SyntaxError"),
        ("import no_such_module", "No module named 'no_such_module'"),
        ("class Other: pass", "there is no `Made` in the python blocks"),
        ("class Made: pass", "the class `Made` has no method parse()"),
    ] {
        let lab = Lab::new();
        let (path, _) = lab.write_config("wrong.conf", &config(code));
        let checked = run_command(&["check", &path.display().to_string()]);
        assert_ne!(checked.code, Some(0), "{}", checked.stdout);
        let said = format!("{}{}", checked.stdout, checked.stderr);
        assert!(said.contains(expected), "{said}");
        let state = lab.path("state").display().to_string();
        let run = run_command(&["run", "--config", &path.display().to_string(), "--state-dir", &state]);
        assert!(run.code.is_some_and(|code| code != 0), "{}", run.stderr);
        assert!(run.stderr.replace("\\'", "'").contains(expected), "{}", run.stderr);
    }
}

/// Before the error that it explains, in each start.
#[test]
fn what_a_class_says_in_init_is_said_before_the_program_ends() {
    let parser = config(&class("pass"));
    let code = class("pass") + "    def send(self, msg): return True\n";
    let destination = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         log {{ source(s); destination {{ python(class(\"Made\")); }}; }};\npython {{\n{code}\n}};\n"
    );
    for text in [&parser, &parser, &destination, &destination] {
        let init = "    def init(self, options):\n        print(\"no line end\", end=\"\")\n        \
                    syslogng.Logger().error(\"the key file is missing\")\n        return False\n    def parse";
        let lab = Lab::new();
        let (path, _) = lab.write_config("refuses.conf", &text.replacen("    def parse", init, 1));
        let state = lab.path("state").display().to_string();
        let run = run_command(&["run", "--config", &path.display().to_string(), "--state-dir", &state]);
        assert!(run.code.is_some_and(|code| code != 0), "{}", run.stderr);
        for expected in ["the key file is missing", "no line end", "did not return True"] {
            assert!(run.stderr.contains(expected), "{expected}: {}", run.stderr);
        }
    }
}

#[test]
fn what_classes_say_goes_to_internal() {
    let lab = Lab::new();
    let body = "print(\"printed\", msg[\"MESSAGE\"])\n        syslogng.Logger().error(\"logged\")\n        os.write(2, b\"raw\\n\")";
    let internal = "source i { internal(); };\ndestination own { file(\"%dir%/own\" template(\"${PRI} ${MESSAGE}\\n\")); };\n\
                    log { source(i); destination(own); };\n";
    let penstock = Penstock::start(&lab, &(config(&class(body)) + internal));
    send(&mut Sender::tcp(lab.port("in")), 0..1);
    for expected in [
        "Message from Python; class='Made', text='printed b\\'0\\''",
        "Message from Python; class='Made', text='logged'",
        "Message from Python; class='python3', text='raw'",
    ] {
        wait_until(expected, || lab.text("own").replace('"', "'").contains(expected));
    }
    penstock.stop();
}

/// In destinations, rewrites, filters and conditions; with 1000 messages in a batch, and one by one.
#[test]
fn functions_stand_wherever_templates_do() {
    let lab = Lab::new();
    let text = format!(
        "{HEAD}python {{\nimport os\ndef f(msg, *args): return repr((msg[\"MESSAGE\"], args))\n\
         def g(msg): return 1 / 0\ndef h(msg): return 5\ndef even(msg): return \"yes\" if int(msg[\"MESSAGE\"]) % 2 == 0 else \"no\"\n\
         def third(msg, n): return str(int(n) // 3).encode()\n}};\n\
         source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         template t_third {{ template(\"$(python third $MSG)\"); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"$MSG ${{set}} $(template t_third) $(python f $HOST 'a b') $(python g) $(python h)\\n\")); }};\n\
         destination all {{ file(\"%dir%/all\" template(\"$(format-json --key .python.*)\\n\")); }};\n\
         log {{ source(s); if (\"$(python even)\" eq \"yes\") {{ rewrite {{ set(\"$(template t_third)\" value(\"set\")); }}; }} else {{ filter {{ \"$(python third $MSG)\" eq \"1\" }}; \
         rewrite {{ set(\"odd\" value(\"set\")); }}; }}; destination(d); destination(all); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &text);
    send(&mut Sender::tcp(lab.port("in")), 0..1000);
    penstock.wait_settled(1000).assert_balanced();
    penstock.wait_log("ZeroDivisionError");
    penstock.stop();
    let set = |n: usize| match n {
        n if n % 2 == 0 => Some((n / 3).to_string()),
        3 | 5 => Some("odd".to_owned()),
        _ => None,
    };
    let line = |n: usize| {
        let third = n / 3;
        Some(format!("{n} {} {third} (b'{n}', (b'host', b'a b')) <error> <error>", set(n)?))
    };
    assert_eq!(lab.lines("out"), (0..1000).filter_map(line).collect::<Vec<_>>());
    assert!(lab.lines("all").iter().all(|line| line == "{}"), "{:?}", lab.lines("all").first());
}

/// The same class, the same messages, the values of both equal.
#[test]
fn the_distributions_syslog_ng_makes_the_same_values() {
    let reference = "/usr/sbin/syslog-ng";
    let modules = Command::new(reference).arg("--version").stdin(Stdio::null()).output();
    if !modules.is_ok_and(|out| String::from_utf8_lossy(&out.stdout).contains("mod-python")) {
        return skip("the distribution's syslog-ng with Python is not installed");
    }
    let code = "class Made(object):\n\
\x20   def init(self, options):\n\
\x20       self.options = options\n\
\x20       return True\n\
\x20   def parse(self, msg):\n\
\x20       text = msg['MESSAGE'].decode('utf-8', 'replace')\n\
\x20       if 'none' in text:\n\
\x20           return False\n\
\x20       if 'raise' in text:\n\
\x20           raise ValueError(text)\n\
\x20       msg['made'] = '%s|%s|%r|%r' % (text.upper(), msg['HOST'], msg['PRIORITY'], sorted(self.options.items()))\n\
\x20       msg['PROGRAM'] = 'new'\n\
\x20       msg['n\u{e4}me'] = b'\\xc3\\xa4'\n\
\x20       return True";
    let input = [
        "<13>Nov 11 01:02:03 host app[7]: one",
        "<14>Nov 11 01:02:03 höst app: none",
        "<15>Nov 11 01:02:03 h2 raise: raise",
        "<16>Nov 11 01:02:03 h3 last: ü \u{1f600}",
    ];
    let text = |lab: &Lab, out: &str| {
        let (text, _) = lab.fill(&format!(
            "@version: 3.35\noptions {{ keep-hostname(yes); }};\nsource s {{ file(\"%dir%/in\" follow-freq(1) read-old-records(yes)); }};\n\
             destination d {{ file(\"%dir%/{out}\" template(\"$PRI $HOST $PROGRAM ${{made}} ${{näme}} $MSG\\n\")); }};\n\
             log {{ source(s); parser {{ python(class(\"Made\") options(\"a\" \"b\" \"c\" \"1\")); }}; destination(d); }};\n\
             python {{\n{code}\n}};\n"
        ));
        text
    };
    let lab = Lab::new();
    std::fs::write(lab.path("in"), input.join("\n") + "\n").expect("messages");
    let theirs = lab.path("theirs.conf");
    std::fs::write(&theirs, text(&lab, "theirs")).expect("a configuration");
    let file = |name: &str| format!("{}", lab.path(name).display());
    let mut other = Command::new(reference)
        .args(["-F", "--no-caps", "-f", &file("theirs.conf"), "-R", &file("theirs.persist")])
        .args(["-c", &file("theirs.ctl"), "-p", &file("theirs.pid")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("syslog-ng starts");
    wait_until("the lines of syslog-ng", || lab.lines("theirs").len() == 2);
    other.kill().expect("it runs");
    other.wait().expect("it ends");
    let penstock = Penstock::start(&lab, &text(&lab, "ours"));
    wait_until("our lines", || lab.lines("ours").len() == 2);
    penstock.stop();
    assert_eq!(lab.lines("ours"), lab.lines("theirs"));
}

#[test]
fn a_process_that_grows_beyond_its_bound_is_replaced_and_nothing_is_lost() {
    let lab = Lab::new();
    let code = "import os, syslogng\nkept = []\nclass Made(syslogng.LogParser):\n    def parse(self, msg):\n        \
                kept.append(b\"x\" * (1 << 18))\n        msg[\"made\"] = str(os.getpid())\n        return True\n";
    let config = config(code).replace("options {", "options { python-workers(1); python-memory(64MiB);");
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    let mut sent = 0;
    let processes = || {
        let lines = lab.lines("out");
        let mut all: Vec<String> =
            lines.iter().filter_map(|l| Some(l.rsplit_once(' ')?.1.to_owned())).collect();
        all.dedup();
        all
    };
    wait_until("a third process", || {
        send(&mut sender, sent..sent + 20);
        sent += 20;
        std::thread::park_timeout(std::time::Duration::from_millis(100));
        processes().len() >= 3
    });
    sender.finish();
    penstock.wait_settled(sent as u64);
    penstock.wait_log("A Python process has grown beyond python-memory(), and is replaced");
    let numbers: Vec<String> =
        lab.lines("out").iter().map(|l| l.split(' ').next().unwrap().to_owned()).collect();
    let expected: Vec<String> = (0..sent).map(|n| n.to_string()).collect();
    assert_eq!(numbers, expected);
    // One message that takes more at once than a process may ever have is the only one that is lost.
    let body = "x = bytearray(1 << 30) if msg[\"MESSAGE\"] == b\"3\" else b\"\"\n        msg[\"made\"] = str(len(x))";
    let lab = Lab::new();
    let config = self::config(&class(body)).replace("options {", "options { python-memory(128MiB);");
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    send(&mut sender, 0..6);
    sender.finish();
    penstock.wait_settled(6);
    assert_eq!(lab.lines("out"), ["0 0", "1 0", "2 0", "4 0", "5 0"], "{}", penstock.log());
}

#[test]
fn a_virtual_environment_is_made_and_classes_are_tried_in_it() {
    let lab = Lab::new();
    let folder = lab.path("venv").display().to_string();
    let made = run_command(&["python", "venv", &folder]);
    if made.stderr.contains("python3-venv") {
        return skip("the interpreter has no module venv");
    }
    assert_eq!(made.code, Some(0), "{made:?}");
    assert!(run_command(&["python", "venv", &folder]).stdout.contains("up to date"));
    // It stays what it is: an interpreter that is asked for has to be its own.
    let again = run_command(&["python", "venv", &folder, "--python", "python3"]);
    assert!(again.stdout.contains("up to date"), "{again:?}");
    let other = lab.path("other");
    std::fs::write(&other, "#!/bin/sh\necho /opt/other/bin/python3\n").unwrap();
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o755)).unwrap();
    let refused = run_command(&["python", "venv", &folder, "--python", &other.display().to_string()]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("not of /opt/other/bin/python3"), "{refused:?}");
    std::fs::write(
        lab.path("mine.py"),
        "import syslogng\nclass Good(syslogng.LogParser):\n    def init(self, options):\n        self.prefix = options[\"prefix\"]\n        return True\n    \
         def parse(self, msg):\n        msg[self.prefix + \"len\"] = len(msg[\"MESSAGE\"])\n        return True\n\
         class Bad(syslogng.LogParser):\n    def parse(self, msg):\n        raise ValueError(\"wrong\")\n\
         class Sent(syslogng.LogDestination):\n    def send(self, msg):\n        return self.DROP\n\
         class Exits(syslogng.LogParser):\n    def parse(self, msg):\n        raise SystemExit(0)\n\
         class Dict(syslogng.LogParser):\n    def parse(self, msg):\n        msg[\"x\"] = {}\n        return True\n\
         class Sets(syslogng.LogDestination):\n    def send(self, msg):\n        msg[\"x\"] = \"y\"\n        return True\n\
         class Bare(syslogng.LogFetcher):\n    def fetch(self):\n        return self.FETCH_SUCCESS\n\
         class Posts(syslogng.LogSource):\n    def run(self):\n        self.post_message(\"bad\")\n\
         class Bytes(syslogng.LogParser):\n    def parse(self, msg):\n        msg[b\"HOST\"] = msg[b\"HOST\"].upper()\n        return True\n",
    )
    .unwrap();
    let check = |args: &[&str]| {
        let mut command = Command::new(lab.path("venv/bin/python3"));
        let output =
            command.args(["-m", "syslogng.check"]).args(args).current_dir(lab.dir()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, out, _) = check(&["mine.Good", "--option", "prefix=.my.", "--message", "four"]);
    assert!(code == Some(0) && out.contains(".my.len = 4"), "{out}");
    let (code, _, err) = check(&["mine.Bad"]);
    assert!(code == Some(1) && err.contains("ValueError: wrong"), "{err}");
    let (code, out, _) = check(&["mine.Sent"]);
    assert!(code == Some(1) && out.contains("DROP"), "{out}");
    let (code, out, _) = check(&["mine.Bytes"]);
    assert!(code == Some(0) && out.contains("HOST = b'HOST'"), "{out}");
    // What fails in the program.
    for (class, said) in [
        ("mine.Exits", "SystemExit: 0"),
        ("mine.Dict", "dict cannot be a value"),
        ("mine.Sets", "Log message is read only"),
        ("mine.Bare", "FETCH_SUCCESS without a LogMessage"),
        ("mine.Posts", "post_message() takes a LogMessage"),
    ] {
        let (code, _, err) = check(&[class]);
        assert!(code == Some(1) && err.contains(said), "{class}: {err}");
    }
    assert_eq!(check(&["mine.Nope"]).0, Some(1));
    assert_eq!(check(&[]).0, Some(2));
}

#[test]
fn java_lua_and_perl_are_refused_with_the_way_in_python() {
    let lab = Lab::new();
    // Used by a path: what none uses is only warned of.
    for (statement, found, text) in [
        ("destination x { java(class_name(\"org.example.Mine\")); };", "error[P0048]", "LogDestination"),
        ("destination x { lua(script(\"a.lua\")); };", "error[O0112]", "LogDestination"),
        ("destination x { perl(script(\"a.pl\")); };", "error[O0112]", "LogDestination"),
        ("parser x { lua(script(\"a.lua\")); };", "error[O0112]", "LogParser"),
    ] {
        let kind = statement.split(' ').next().unwrap();
        let config = format!(
            "@version: 4.11\nsource s {{ internal(); }};\n{statement}\nlog {{ source(s); {kind}(x); }};\n"
        );
        let (path, _) = lab.write_config("refused.conf", &config);
        let outcome = run_command(&["check", path.to_str().unwrap()]);
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        assert!(outcome.stderr.contains(found), "{outcome:?}");
        assert!(outcome.stderr.contains(text) && outcome.stderr.contains("docs/python.md"), "{outcome:?}");
    }
}
