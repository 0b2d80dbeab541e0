//! What classes remember: over a kill, a reload and a stop, and seen by all processes.

use super::send;
use crate::messages::HEAD;
use testkit::{Lab, Penstock, Sender};

fn config(word: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"${{made}}\\n\")); }};\n\
         destination d_python {{ python(class(\"Sent\")); }};\n\
         log {{ source(s); parser {{ python(class(\"Made\")); }}; destination(d); destination(d_python); flags(flow-control); }};\n\
         python {{\nimport syslogng\n\
         class Made(syslogng.LogParser):\n\
         \x20   def init(self, options):\n\
         \x20       self.state = syslogng.Persist(\"mine\", defaults={{\"count\": 0, \"word\": \"first\"}})\n\
         \x20       return True\n\
         \x20   def parse(self, msg):\n\
         \x20       self.state[\"count\"] += 1\n\
         \x20       self.state[\"bytes\"] = bytes([self.state[\"count\"], 255])\n\
         \x20       msg[\"made\"] = \"{word} %d %s %r %s %d\" % (self.state[\"count\"], self.state[\"word\"], self.state[\"bytes\"], sorted(self.state), len(self.state))\n\
         \x20       self.state[\"word\"] = \"{word}\"\n\
         \x20       try: self.state[\"list\"] = []\n\
         \x20       except TypeError: pass\n\
         \x20       try: self.state[\"long\"] = \"x\" * 66000\n\
         \x20       except OSError as error: assert \"at most 65536 bytes\" in str(error), error\n\
         \x20       return True\n\
         class Sent(syslogng.LogDestination):\n\
         \x20   def send(self, msg):\n\
         \x20       state = syslogng.Persist(\"mine\")\n\
         \x20       state[\"sent\"] = state.get(\"sent\", 0) + 1\n\
         \x20       syslogng.Logger().info(\"sent %d of %d\" % (state[\"sent\"], state[\"count\"]))\n\
         \x20       return True\n}};\n"
    )
}

#[test]
fn what_a_class_remembers_survives_kills_and_reloads() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("a"));
    let one = || send(&mut Sender::tcp(lab.port("in")), 0..1);
    one();
    penstock.wait_settled(1);
    penstock.wait_log("sent 1 of 1");
    penstock.reload_with(&lab, &config("b"));
    one();
    penstock.wait_settled(2);
    penstock.wait_log("sent 2 of 2");
    penstock.process().child().kill().expect("it runs");
    penstock.wait_end();
    let mut penstock = Penstock::start(&lab, &config("c"));
    one();
    penstock.wait_log("sent 3 of 3");
    penstock.stop();
    let lines = lab.lines("out");
    let names = ["['bytes', 'count', 'word'] 3", "['bytes', 'count', 'sent', 'word'] 4"];
    assert_eq!(
        lines,
        [
            format!("a 1 first b'\\x01\\xff' {}", names[0]),
            format!("b 2 a b'\\x02\\xff' {}", names[1]),
            format!("c 3 b b'\\x03\\xff' {}", names[1]),
        ]
    );
}
