//! Classes as destinations: what they are given, what they say of each message, what becomes of those that
//! fail, end their process or cannot be connected; what waits on disk and over reloads.

use super::{message, send};
use crate::durable::wait_on_disk;
use crate::messages::HEAD;
use testkit::{Lab, Penstock, Sender, run_command, wait_until};

/// The destination `d` with these options, and a class `Made` with a file to write to.
fn config(options: &str, methods: &str) -> String {
    let log = "log { source(s); destination(d); flags(flow-control); };\n";
    format!(
        "{HEAD}options {{ sandbox-write(\"%dir%\"); }};\nsource s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ python(class(\"Made\") options(\"path\" => \"%dir%/out\" \"gate\" => \"%dir%/gate\") {options}); }};\n{log}\
         python {{\nimport os, time, syslogng\nclass Made(syslogng.LogDestination):\n\
         \x20   def init(self, options):\n\
         \x20       self.path, self.gate, self.rows = options[\"path\"], options[\"gate\"], []\n\
         \x20       return True\n\
         \x20   def put(self, *texts):\n\
         \x20       with open(self.path, \"a\") as out: out.write(\" \".join(texts) + \"\\n\")\n\
         {methods}\n}};\n"
    )
}

/// Keeps the numbers of messages until flush().
const QUEUES: &str = "    def send(self, msg):\n\
    \x20       self.rows.append(msg.get_as_str(\"MESSAGE\"))\n\
    \x20       return self.QUEUED\n\
    \x20   def flush(self):\n\
    \x20       if self.rows: self.put(*self.rows)\n\
    \x20       self.rows = []\n\
    \x20       return self.SUCCESS";

/// Writes each message; `{}` is what comes first.
fn writes(first: &str) -> String {
    format!(
        "    def send(self, msg):\n        text = msg.get_as_str(\"MESSAGE\")\n        {first}\n        self.put(text)\n        return True"
    )
}

fn numbers(lab: &Lab) -> Vec<usize> {
    lab.text("out").split_whitespace().map(|n| n.parse().expect("a number")).collect()
}

#[test]
fn batches_are_queued_and_flushed_in_their_order() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("batch-lines(100) batch-timeout(200)", QUEUES));
    send(&mut Sender::tcp(lab.port("in")), 0..5050);
    penstock.wait_settled(5050).assert_nothing_lost();
    penstock.stop();
    assert_eq!(numbers(&lab), (0..5050).collect::<Vec<_>>());
    let sizes: Vec<usize> = lab.lines("out").iter().map(|line| line.split(' ').count()).collect();
    assert!(sizes.len() >= 51 && sizes.iter().all(|size| *size <= 100), "{sizes:?}");
}

/// flush() that returns QUEUED keeps a batch: it is called again with the next one, or alone.
#[test]
fn what_flush_keeps_comes_once() {
    let methods = |first: &str| {
        QUEUES
            .replace("    def send(self, msg):\n", &format!("    def send(self, msg):\n        self.asked = 0\n{first}"))
            .replace("flush(self):\n", "flush(self):\n        self.asked += 1\n        if len(self.rows) < 6 and self.asked < 3: return self.QUEUED\n")
    };
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("batch-lines(3) batch-timeout(100)", &methods("")));
    send(&mut Sender::tcp(lab.port("in")), 0..13);
    penstock.wait_settled(13).assert_nothing_lost();
    penstock.stop();
    assert_eq!(numbers(&lab), (0..13).collect::<Vec<_>>());
    // What a process has kept when it ends is sent again.
    let lab = Lab::new();
    let first = "        if msg[\"MESSAGE\"] == b\"4\": os._exit(3)\n";
    let mut penstock =
        Penstock::start(&lab, &config("batch-lines(3) batch-timeout(100) time-reopen(1)", &methods(first)));
    send(&mut Sender::tcp(lab.port("in")), 0..13);
    let ledger = penstock.wait_settled(13);
    ledger.assert_balanced();
    assert_eq!((ledger.destination("d").delivered, ledger.dropped_for("refused")), (12, 1));
    penstock.stop();
    let mut all = numbers(&lab);
    all.sort_unstable();
    assert_eq!(all, (0..13).filter(|n| *n != 4).collect::<Vec<_>>());
}

#[test]
fn a_class_reads_what_it_wants() {
    let lab = Lab::new();
    let methods = "    def open(self):\n\
        \x20       self.put(\"open\")\n\
        \x20       return True\n\
        \x20   def close(self): self.put(\"close\")\n\
        \x20   def deinit(self): self.put(\"deinit\")\n\
        \x20   def send(self, msg):\n\
        \x20       seen = [msg[\"HOST\"], msg.get(\"nothing\"), msg[\"PRIORITY\"], msg[\".SDATA.a.b\"], msg[\"int\"], msg[\"SOURCEIP\"], msg[\"SOURCE\"]]\n\
        \x20       text = syslogng.LogTemplate(\"$ISODATE $PROGRAM $TAGS $SEQNUM\").format(msg, self.template_options, syslogng.LTZ_SEND, self.seqnum)\n\
        \x20       stamp = syslogng.LogTemplate(\"$ISODATE/$SEQNUM\")\n\
        \x20       text += \" \" + stamp.format(msg, self.template_options) + \" \" + stamp.format(msg, seqnum=7, tz=syslogng.LTZ_LOCAL)\n\
        \x20       try: syslogng.LogTemplate(\"$(nothing\")\n\
        \x20       except syslogng.LogTemplateException: text += \" refused\"\n\
        \x20       self.put(repr(seen), text, str(self.seqnum), self.persist_name, str(b\"int\" in msg.keys()))\n\
        \x20       try: msg[\"HOST\"] = \"other\"\n\
        \x20       except TypeError as error: self.put(str(error).split(\",\")[0])\n\
        \x20       return self.SUCCESS";
    let text = config("ts-format(iso) frac-digits(3) time-zone(\"+02:00\") persist-name(\"mine\")", methods)
        .replace("port(%tcp:in%)", "port(%tcp:in%) flags(syslog-protocol) tags(\"one\")")
        .replace("destination(d);", "rewrite { set(int(7) value(\"int\")); }; destination(d);");
    let mut penstock = Penstock::start(&lab, &text);
    let mut sender = Sender::tcp(lab.port("in"));
    for _ in 0..2 {
        sender.line("<13>1 2026-11-11T01:02:03.456Z host app - - [a b=\"c\"] text");
    }
    penstock.wait_settled(2).assert_nothing_lost();
    penstock.stop();
    let line = |number: usize| {
        format!(
            "[b'host', None, b'notice', b'c', 7, b'127.0.0.1', b's'] 2026-11-11T03:02:03.456+02:00 app one,.source.s {number} \
             2026-11-11T03:02:03.456+02:00/ 2026-11-11T01:02:03+00:00/7 refused {number} mine True"
        )
    };
    let refused = "Log message is read only";
    assert_eq!(lab.lines("out"), ["open", &line(1), refused, &line(2), refused, "close", "deinit"]);
}

#[test]
fn value_pairs_are_a_dict() {
    let lab = Lab::new();
    let methods =
        "    def send(self, msg):\n        self.put(repr(sorted(msg.items())))\n        return True";
    let pairs = "value-pairs(key(\"PROGRAM\") pair(\"n\" int(\"$MESSAGE\")) pair(\"host\" \"$HOST\"))";
    let mut penstock = Penstock::start(&lab, &config(pairs, methods));
    send(&mut Sender::tcp(lab.port("in")), 5..6);
    penstock.wait_settled(1).assert_nothing_lost();
    penstock.stop();
    assert_eq!(lab.lines("out"), ["[('PROGRAM', 'app'), ('host', 'host'), ('n', 5)]"]);
}

#[test]
fn what_fails_is_tried_again_and_then_a_dead_letter() {
    let lab = Lab::new();
    let methods = writes(
        "if text == \"30\": return 1 // 0\n        if text == \"40\": return self.DROP\n        if text == \"50\": return None\n        if text == \"60\": return 3.0",
    );
    let mut penstock = Penstock::start(&lab, &config("retries(2) time-reopen(1)", &methods));
    send(&mut Sender::tcp(lab.port("in")), 0..100);
    let ledger = penstock.wait_settled(100);
    ledger.assert_balanced();
    assert_eq!((ledger.destination("d").delivered, ledger.dropped_for("refused")), (96, 4));
    penstock.wait_log("ZeroDivisionError");
    penstock.wait_log("send() returned None");
    penstock.wait_log("send() returned 3.0");
    penstock.stop();
    assert_eq!(numbers(&lab), (0..100).filter(|n| ![30, 40, 50, 60].contains(n)).collect::<Vec<_>>());
}

#[test]
fn a_message_that_ends_the_process_is_a_dead_letter() {
    let lab = Lab::new();
    let methods = "    def send(self, msg):\n\
        \x20       if msg[\"MESSAGE\"] == b\"70\": os._exit(3)\n\
        \x20       self.rows.append(msg.get_as_str(\"MESSAGE\"))\n\
        \x20       return self.QUEUED\n";
    let flush = QUEUES.split_once("QUEUED\n").expect("there").1;
    let mut penstock = Penstock::start(&lab, &config("", &format!("{methods}{flush}")));
    send(&mut Sender::tcp(lab.port("in")), 0..300);
    let ledger = penstock.wait_settled(300);
    ledger.assert_balanced();
    assert_eq!((ledger.destination("d").delivered, ledger.dropped_for("refused")), (299, 1));
    penstock.wait_log("with exit status 3");
    penstock.stop();
    assert_eq!(numbers(&lab), (0..300).filter(|n| *n != 70).collect::<Vec<_>>());
}

/// What waits for it is on disk, whole, and survives a kill.
#[test]
fn what_is_not_connected_waits_on_disk() {
    let lab = Lab::new();
    let methods = format!(
        "    def open(self): return os.path.exists(self.gate)\n    def is_opened(self): return os.path.exists(self.gate)\n{}",
        writes("text = msg.get_as_str(\"nothing\", text) + syslogng.LogTemplate(\"${end}\").format(msg)")
    );
    let text = config("disk-buffer(reliable(yes) capacity-bytes(16MiB))", &methods)
        .replace("destination(d);", "rewrite { set(\"7\" value(\"end\")); }; destination(d);");
    let mut penstock = Penstock::start(&lab, &text);
    send(&mut Sender::tcp(lab.port("in")), 0..1000);
    penstock.wait_log("open() returned False");
    wait_on_disk(&penstock, 1000);
    penstock.process().child().kill().expect("it runs");
    penstock.wait_end();
    std::fs::write(lab.path("gate"), "").expect("a file");
    let mut penstock = Penstock::start(&lab, &text);
    wait_until("the messages", || numbers(&lab).len() >= 1000);
    penstock.wait_ledger(|ledger| (ledger.waiting() > 0).then(|| "nothing to wait".to_owned()));
    penstock.stop();
    assert_eq!(numbers(&lab), (0..1000).map(|n| n * 10 + 7).collect::<Vec<_>>());
}

#[test]
fn a_reload_keeps_the_object_of_what_is_the_same() {
    let lab = Lab::new();
    let methods = writes("text = str(os.getpid())");
    let text = config("", &methods);
    let mut penstock = Penstock::start(&lab, &text);
    let mut sender = Sender::tcp(lab.port("in"));
    send(&mut sender, 0..1);
    penstock.wait_settled(1);
    penstock.reload_with(&lab, &format!("{text}# a remark\n"));
    send(&mut sender, 0..1);
    penstock.wait_settled(2);
    let first = numbers(&lab);
    assert_eq!(first[0], first[1]);
    penstock.reload_with(&lab, &text.replace("text = str(", "text = \"\" + str("));
    send(&mut sender, 0..1);
    penstock.wait_settled(3).assert_nothing_lost();
    assert_ne!(numbers(&lab)[2], first[0]);
    // What cannot be does not take effect.
    penstock.rewrite(&lab, &text.replace("return True\n    def put", "return False\n    def put"));
    assert!(penstock.reload().contains("init() of `Made` did not return True"));
    send(&mut sender, 0..1);
    penstock.wait_settled(4).assert_nothing_lost();
    assert_eq!(numbers(&lab)[3], numbers(&lab)[2]);
    penstock.stop();
}

#[test]
fn what_is_no_destination_is_said_before_it_runs() {
    let lab = Lab::new();
    let (path, _) = lab.write_config(
        "wrong.conf",
        &config("", "    def sent(self, msg): pass").replace("(syslogng.LogDestination)", ""),
    );
    let checked = run_command(&["check", &path.display().to_string()]);
    assert_ne!(checked.code, Some(0));
    let said = format!("{}{}", checked.stdout, checked.stderr);
    assert!(said.contains("the class `Made` has no method send()") && said.contains("D0200"), "{said}");
}

/// As SC4S remembers names: a destination puts them into a database, a parser finds them there.
#[test]
fn a_cache_of_names_in_a_database() {
    let lab = Lab::new();
    let text = format!(
        "{HEAD}options {{ sandbox-write(\"%dir%\"); }};\nsource s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d_names {{ python(class(\"Names\") batch-lines(100) batch-timeout(3000)); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"$HOST $MSG\\n\")); }};\n\
         log {{ source(s); if (message(\"unnamed\")) {{ parser {{ python(class(\"Known\")); }}; }} else {{ destination(d_names); }}; destination(d); flags(flow-control); }};\n\
         python {{\nimport sqlite3, syslogng\nPATH = \"%dir%/names\"\n\
         def opened():\n\
         \x20   made = sqlite3.connect(PATH, timeout=30)\n\
         \x20   made.execute(\"create table if not exists names (ip text primary key, host text)\")\n\
         \x20   return made\n\
         class Names(syslogng.LogDestination):\n\
         \x20   def init(self, options):\n\
         \x20       self.db = opened()\n\
         \x20       return True\n\
         \x20   def send(self, msg):\n\
         \x20       pair = (msg.get_as_str(\"SOURCEIP\"), msg.get_as_str(\"HOST\"))\n\
         \x20       self.db.execute(\"insert or replace into names values (?, ?)\", pair)\n\
         \x20       return self.SUCCESS\n\
         \x20   def flush(self):\n\
         \x20       self.db.commit()\n\
         \x20       return self.SUCCESS\n\
         \x20   def deinit(self): self.db.close()\n\
         class Known(syslogng.LogParser):\n\
         \x20   def parse(self, msg):\n\
         \x20       found = opened().execute(\"select host from names where ip = ?\", (msg.get_as_str(\"SOURCEIP\"),)).fetchone()\n\
         \x20       if found: msg[\"HOST\"] = found[0]\n\
         \x20       return True\n}};\n"
    );
    let mut penstock = Penstock::start(&lab, &text);
    let mut sender = Sender::tcp(lab.port("in"));
    for n in 0..250 {
        sender.raw((message(n) + "\n").as_bytes());
    }
    penstock.wait_settled(250).assert_nothing_lost();
    sender.raw(b"<13>Nov 11 01:02:03 192.0.2.7 app: unnamed\n");
    penstock.wait_settled(251).assert_nothing_lost();
    penstock.stop();
    assert_eq!(lab.lines("out").last().map(String::as_str), Some("host unnamed"));
}
