//! Classes as sources: messages with values, bookmarks that move only over what is dealt with, kills, a
//! process that ends, fetchers and what they return.

use crate::messages::HEAD;
use testkit::{Lab, Penstock, run_command, wait_until};

fn config(driver: &str, code: &str) -> String {
    format!(
        "{HEAD}source s {{ {driver} }};\n\
         destination d {{ file(\"%dir%/out\" template(\"${{MESSAGE}} ${{int}} $PRI $HOST $PROGRAM $TRANSPORT\\n\")); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n\
         python {{\nimport os, threading, datetime, syslogng\n{code}\n}};\n"
    )
}

/// Posts numbers up to `%last%`, and remembers the last that was dealt with.
const COUNTS: &str = "\
class Made(syslogng.LogSource):\n\
\x20   def init(self, options):\n\
\x20       self.state = syslogng.Persist(self.persist_name, defaults={\"at\": 0})\n\
\x20       self.left = threading.Event()\n\
\x20       self.ack_tracker = syslogng.ConsecutiveAckTracker(ack_callback=self.acked)\n\
\x20       return True\n\
\x20   def acked(self, bookmark):\n\
\x20       self.state[\"at\"] = bookmark\n\
\x20       if bookmark == %last%: syslogng.Logger().info(\"all dealt with\")\n\
\x20   def run(self):\n\
\x20       at = self.state[\"at\"]\n\
\x20       while at < %last% and not self.left.is_set():\n\
\x20           at += 1\n\
\x20           msg = syslogng.LogMessage(\"number %d\" % at)\n\
\x20           msg[\"int\"], msg[\"PROGRAM\"] = at, \"made\"\n\
\x20           msg.set_pri(26)\n\
\x20           msg.set_bookmark(at)\n\
\x20           %then%\n\
\x20           self.post_message(msg)\n\
\x20       self.left.wait()\n\
\x20   def request_exit(self): self.left.set()\n\
\x20   def deinit(self): syslogng.Logger().info(\"the end of it\")";

fn counts(last: usize, then: &str) -> String {
    COUNTS.replace("%last%", &last.to_string()).replace("%then%", then)
}

fn numbers(lab: &Lab) -> Vec<usize> {
    let lines = lab.lines("out");
    lines.iter().filter_map(|line| line.split(' ').nth(1)?.parse().ok()).collect()
}

#[test]
fn messages_have_values_and_bookmarks_move_behind_them() {
    let lab = Lab::new();
    let driver = "python(class(\"Made\") persist-name(\"mine\") host-override(\"here\"));";
    let mut penstock =
        Penstock::start(&lab, &config(driver, &counts(5000, "self.set_transport_name(\"own\")")));
    penstock.wait_settled(5000).assert_nothing_lost();
    penstock.wait_log("all dealt with");
    penstock.stop();
    let lines = lab.lines("out");
    assert_eq!(lines.len(), 5000);
    assert_eq!(lines[4], "number 5 5 26 here made own");
    assert_eq!(numbers(&lab), (1..=5000).collect::<Vec<_>>());
    // Goes on behind what was dealt with.
    let mut penstock = Penstock::start(&lab, &config(driver, &counts(6000, "")));
    penstock.wait_log("all dealt with");
    penstock.reload_with(&lab, &config(driver, &counts(6100, "")));
    wait_until("the messages", || numbers(&lab).len() >= 6100);
    penstock.wait_log("the end of it");
    penstock.stop();
    assert_eq!(numbers(&lab), (1..=6100).collect::<Vec<_>>());
}

/// Each number is there, however often it is killed; some come twice.
#[test]
fn kills_cost_nothing() {
    let lab = Lab::new();
    let text = config("python(class(\"Made\"));", &counts(60_000, ""));
    for round in 1..4 {
        let mut penstock = Penstock::start(&lab, &text);
        wait_until("some messages", || numbers(&lab).len() >= round * 5000);
        penstock.process().child().kill().expect("it runs");
        penstock.wait_end();
    }
    let mut penstock = Penstock::start(&lab, &text);
    penstock.wait_log("all dealt with");
    penstock.stop();
    let mut all = numbers(&lab);
    all.sort_unstable();
    all.dedup();
    // A line that a kill has cut is there again.
    all.retain(|n| (1..=60_000).contains(n));
    assert_eq!(all.len(), 60_000);
}

#[test]
fn a_process_that_ends_is_started_again() {
    let lab = Lab::new();
    let once = "if at == 300 and not os.path.exists(\"%dir%/once\"):\n\
                \x20               open(\"%dir%/once\", \"w\").close()\n\
                \x20               os._exit(7)";
    let mut penstock = Penstock::start(&lab, &config("python(class(\"Made\"));", &counts(1000, once)));
    penstock.wait_log("with exit status 7");
    penstock.wait_log("all dealt with");
    penstock.stop();
    let mut all = numbers(&lab);
    all.sort_unstable();
    all.dedup();
    assert_eq!(all, (1..=1000).collect::<Vec<_>>());
}

/// As in syslog-ng: neither is started again. What is acknowledged is heard of, and other threads may post.
#[test]
fn a_run_that_returns_or_raises_is_over() {
    for (end, said) in [("return", "run() has returned"), ("raise ValueError(\"over\")", "ValueError: over")]
    {
        let lab = Lab::new();
        let code = format!(
            "\
class Made(syslogng.LogSource):\n\
\x20   def init(self, options):\n\
\x20       self.ack_tracker = syslogng.InstantAckTracker(self.acked)\n\
\x20       return True\n\
\x20   def acked(self, bookmark):\n\
\x20       if bookmark == 3: raise ValueError(\"guilty\")\n\
\x20       syslogng.Logger().info(\"acked %d.\" % bookmark)\n\
\x20   def run(self):\n\
\x20       for number in range(1, 6): self.post_message(syslogng.LogMessage(\"number %d\" % number, bookmark=number))\n\
\x20       threading.Thread(target=self.late, args=(threading.current_thread(),)).start()\n\
\x20       {end}\n\
\x20   def late(self, running):\n\
\x20       running.join()\n\
\x20       self.post_message(syslogng.LogMessage(\"number 6\", bookmark=6))"
        );
        let mut penstock = Penstock::start(&lab, &config("python(class(\"Made\") time-reopen(1));", &code));
        penstock.wait_settled(6).assert_nothing_lost();
        penstock.wait_log(said);
        for bookmark in [1, 2, 4, 5, 6] {
            penstock.wait_log(&format!("acked {bookmark}."));
        }
        assert!(!penstock.log().contains("starting it again"), "{}", penstock.log());
        penstock.stop();
        assert_eq!(numbers(&lab), (1..=6).collect::<Vec<_>>());
    }
}

#[test]
fn a_fetcher_is_asked_and_says_what_there_is() {
    let lab = Lab::new();
    let code = "\
class Made(syslogng.LogFetcher):\n\
\x20   def init(self, options):\n\
\x20       self.steps, self.opened, self.acked = 0, 0, []\n\
\x20       self.ack_tracker = syslogng.BatchedAckTracker(timeout=100, batch_size=2, batched_ack_callback=self.batch)\n\
\x20       return True\n\
\x20   def batch(self, bookmarks): syslogng.Logger().info(\"acked \" + repr(bookmarks))\n\
\x20   def open(self):\n\
\x20       self.opened += 1\n\
\x20       return self.opened > 1\n\
\x20   def close(self): syslogng.Logger().info(\"closed\")\n\
\x20   def fetch(self):\n\
\x20       self.steps += 1\n\
\x20       if self.steps == 2: return self.FETCH_NO_DATA\n\
\x20       if self.steps == 3: return self.FETCH_TRY_AGAIN, None\n\
\x20       if self.steps == 4: raise ValueError(\"broken\")\n\
\x20       if self.steps == 6: return self.FETCH_NOT_CONNECTED\n\
\x20       if self.steps > 8: return self.FETCH_NO_DATA\n\
\x20       msg = syslogng.LogMessage(\"step %d\" % self.steps)\n\
\x20       msg[\"int\"] = self.opened\n\
\x20       msg.set_timestamp(datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc))\n\
\x20       msg.set_bookmark(\"b%d\" % self.steps)\n\
\x20       return self.FETCH_SUCCESS, msg";
    let driver = "python-fetcher(class(\"Made\") time-reopen(1) fetch-no-data-delay(0.1));";
    let mut penstock = Penstock::start(&lab, &config(driver, code));
    penstock.wait_settled(4).assert_nothing_lost();
    penstock.wait_log("ValueError: broken");
    for bookmark in ["b1", "b5", "b7", "b8"] {
        penstock.wait_log(bookmark);
    }
    penstock.stop();
    let steps: Vec<String> = lab
        .lines("out")
        .iter()
        .map(|line| line.split(" 13 ").next().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(steps, ["step 1 2", "step 5 3", "step 7 4", "step 8 4"]);
}

/// As syslog-ng 4.12 prints them for the same class and options.
#[test]
fn texts_are_parsed_as_the_source_says() {
    let lab = Lab::new();
    let code = "\
class Made(syslogng.LogFetcher):\n\
\x20   def init(self, options):\n\
\x20       self.texts = [\"<13>Oct 11 22:14:15 host app[7]: hi\", b\"<165>1 2020-01-01T00:00:00+02:00 h5 a5 p m [x y=\\\"z\\\"] hi5\", \"garbage here\", None]\n\
\x20       return True\n\
\x20   def fetch(self):\n\
\x20       if not self.texts: return self.NO_DATA, None\n\
\x20       text = self.texts.pop(0)\n\
\x20       if text is None:\n\
\x20           msg = syslogng.LogMessage(\"plain\")\n\
\x20           msg[\"seen\"] = \"%s %s %s\" % (msg[\"PRI\"].decode(), msg.get_pri(), msg.get(\"PROGRAM\"))\n\
\x20           return self.SUCCESS, msg\n\
\x20       msg = syslogng.LogMessage.parse(text, self.parse_options)\n\
\x20       if text[0] != \"g\":\n\
\x20           assert msg.set_source_ipaddress(\"10.1.2.3\") and not msg.set_source_ipaddress(\"nowhere\")\n\
\x20           parts = [msg[\"PROGRAM\"].decode(), msg.get_as_str(\"HOST\"), msg.get_pri(), msg.get_timestamp().hour,\n\
\x20               syslogng.LogTemplate(\"$(uppercase $PROGRAM)\").format(msg), b\"PID\" in msg.keys(), msg.get_as_str(\".SDATA.x.y\", \"-\")]\n\
\x20           msg[\"seen\"] = \" \".join(map(str, parts))\n\
\x20           msg[\"PID\"] = \"77\"\n\
\x20       return self.SUCCESS, msg";
    let driver = "python-fetcher(class(\"Made\") keep-hostname(yes) default-facility(local3) time-zone(\"+03:00\") \
                  flags(store-raw-message) time-reopen(1));";
    let text = config(driver, code).replace(
        "${MESSAGE} ${int} $PRI $HOST $PROGRAM $TRANSPORT",
        "$MSG|$PRI|$PROGRAM|$PID|$SOURCEIP|$MSGFORMAT|${.SDATA.x.y}|$RAWMSG|${seen}",
    );
    let mut penstock = Penstock::start(&lab, &text);
    penstock.wait_settled(4).assert_nothing_lost();
    penstock.stop();
    assert_eq!(
        lab.lines("out"),
        [
            "hi|13|app|77|10.1.2.3|rfc3164||<13>Oct 11 22:14:15 host app[7]: hi|app host 13 22 APP True -",
            "hi5|165|a5|77|10.1.2.3|rfc5424|z|<165>1 2020-01-01T00:00:00+02:00 h5 a5 p m [x y=\"z\"] hi5|a5 h5 165 0 A5 True z",
            "here|157|garbage||127.0.0.1|rfc3164||garbage here|",
            "plain|157|||127.0.0.1|rfc3164|||157 157 None",
        ]
    );
}

#[test]
fn what_is_no_source_is_said_before_it_runs() {
    for (driver, class, method) in [("python", "LogSource", "run"), ("python-fetcher", "LogFetcher", "fetch")]
    {
        let lab = Lab::new();
        let text = config(&format!("{driver}(class(\"Made\"));"), "class Made: pass");
        let (path, _) = lab.write_config("wrong.conf", &text);
        let checked = run_command(&["check", &path.display().to_string()]);
        let said = format!("{}{}", checked.stdout, checked.stderr);
        assert!(said.contains(&format!("the class `Made` has no method {method}()")), "{class}: {said}");
    }
}
