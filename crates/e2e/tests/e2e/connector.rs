//! What a connector for Splunk is made of, in configurations of our own: statistics that Python makes metrics
//! of, templates whose names stand in messages, generators and environment, extension points that are empty.

use crate::messages::HEAD;
use std::fs;
use testkit::{Lab, Penstock, Sender, wait_until};

/// A template that is chosen by a value calls Python for the messages that have chosen it, and no others.
#[test]
fn statistics_become_metrics_and_nothing_else_goes_to_python() {
    let lab = Lab::new();
    let calls = lab.path("calls");
    let text = format!(
        "{HEAD}options {{ stats(freq(1)); frac-digits(3); }};\npython {{\nimport syslogng\ndef metrics(msg):\n    \
         syslogng.Logger().debug(msg)\n    text = msg.get_as_str(\"MESSAGE\", \"\")\n    \
         open({calls:?}, \"a\").write(text[:15] + \"\\n\")\n    \
         parts = [part.split(\"=\") for part in text[16:].rstrip(\", \").split(\", \")]\n    \
         assert all(len(part) == 3 for part in parts), text\n    \
         fields = [name.decode() for name in msg.keys() if name.startswith(b\"fields.\")]\n    \
         return \"metrics {{}} {{}} {{}}\".format(msg.get_as_str(\"S_UNIXTIME\", \"\", repr=\"internal\"), fields, msg.get_as_str(fields[0].encode()))\n}};\n\
         template t_metrics {{ template(\"$(python metrics)\"); }};\ntemplate t_event {{ template(\"event $MSG\"); }};\n\
         source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         source own {{ channel {{ source {{ internal(); }}; if (message(\"Log statistics; \" type('string') flags(prefix))) {{ \
         rewrite {{ set(\"t_metrics\" value(\".form\")); set(\"7\" value(\"fields.a\")); }}; }} else {{ filter {{ level(emerg) }}; }}; }}; }};\n\
         destination d {{ file(\"%dir%/out\" template(\"$(template ${{.form}} $(template t_event)) $S_UNIXTIME\\n\")); }};\n\
         log {{ source(s); source(own); destination(d); }};\n",
        calls = calls.display().to_string(),
    );
    let penstock = Penstock::start(&lab, &text);
    Sender::tcp(lab.port("in"))
        .raw(b"<13>Nov 11 01:02:03 host app: one\n<13>Nov 11 01:02:04 host app: two\n");
    let of =
        |word: &str| lab.lines("out").into_iter().filter(|line| line.starts_with(word)).collect::<Vec<_>>();
    wait_until("events and metrics", || of("event").len() == 2 && of("metrics").len() > 1);
    penstock.stop();
    for line in of("metrics") {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(words.len(), 5, "{line}");
        assert!(words[1].contains('.') && words[1] == words[4], "{line}");
        assert_eq!((words[2], words[3]), ("['fields.a']", "7"), "{line}");
    }
    let calls = fs::read_to_string(calls).expect("Python was called");
    assert!(calls.lines().all(|call| call == "Log statistics;"), "{calls}");
}
