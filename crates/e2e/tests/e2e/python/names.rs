//! The keys of messages: str and bytes, several names of one value, what methods set and macros read; and
//! other things that classes give and that are not what they should be.

use super::{message, send};
use crate::messages::HEAD;
use testkit::{Lab, Penstock, Sender};

/// The class does with each message what its number says.
const CODE: &str = "\
import sys, syslogng
class Text(str): pass
def derived(msg): return Text(\"derived\")
def refused(text):
\x20   try: syslogng.LogTemplate(text)
\x20   except Exception as error: return type(error).__name__
class Made(syslogng.LogParser):
\x20   def parse(self, msg):
\x20       number = int(msg[\"MESSAGE\"])
\x20       if number == 0: msg[b\"made\"] = \"b\"
\x20       if number == 1:
\x20           msg[\"made\"] = 6
\x20           msg[b\"made\"] = \"b\"
\x20           msg[\"made\"] = msg[\"made\"] + msg.get_as_str(b\"made\").encode()
\x20       if number == 2: msg[(\"a\",)] = \"1\"
\x20       if number == 3: msg[3] = \"10.0.0.9\"
\x20       if number == 4: msg[None] = \"1\"
\x20       if number == 5:
\x20           msg[\"MESSAGE\"] = \"5new\"
\x20           msg[\"made\"] = msg[\"MSG\"]
\x20       if number == 6:
\x20           msg[\"MSG\"] = \"6new\"
\x20           msg[\"made\"] = msg[\"MESSAGE\"]
\x20       if number == 7:
\x20           msg.set_pri(161)
\x20           msg[\"made\"] = msg[\"PRI\"] + msg[\"FACILITY\"] + msg[\"LEVEL\"]
\x20       if number == 8:
\x20           assert msg.set_source_ipaddress(\"10.1.2.3\")
\x20           msg[\"made\"] = msg[\"SOURCEIP\"]
\x20       if number == 9:
\x20           for key in msg.keys():
\x20               if key in (b\"HOST\", b\"MESSAGE\"): msg[key] = msg[key] + b\"x\"
\x20           msg[\"made\"] = msg[\"HOST\"]
\x20       if number == 10: msg[\"made\"] = \" \".join(refused(text) for text in (5, None, b\"$HOST\", \"\\ud800\"))
\x20       if number == 11: msg[\"made\"] = repr(msg.get(\"\\ud800\"))
\x20       if number == 12: msg[Text(\"made\")] = Text(\"text\")
\x20       if number == 13:
\x20           try: syslogng.LogTemplate(\"$HOST\").format(syslogng.LogMessage(\"hi\"))
\x20           except syslogng.LogTemplateException as error: msg[\"made\"] = str(error).split(\":\")[0]
\x20       if number == 14:
\x20           try: msg[7]
\x20           except TypeError as error: msg[\"made\"] = str(error)
\x20       if number == 15: sys.stdout.buffer.write(b\"written as bytes\\n\")
\x20       return True";

#[test]
fn names_are_str_or_bytes_and_values_have_several() {
    let lab = Lab::new();
    let paths = super::PATHS.replace("${MESSAGE} ${made}", "${MESSAGE} ${made} $(python derived)");
    let mut penstock = Penstock::start(&lab, &format!("{HEAD}{paths}python {{\n{CODE}\n}};\n"));
    let mut sender = Sender::tcp(lab.port("in"));
    // Alone, and together when all the values that the class asks for come with the messages.
    (0..16).for_each(|number| sender.line(&message(number)));
    penstock.wait_settled(16);
    send(&mut sender, 0..16);
    penstock.wait_settled(32).assert_balanced();
    penstock.wait_log("TypeError: key is not a string object");
    penstock.wait_log("text='written as bytes'");
    assert!(!penstock.log().contains("no answer"), "{}", penstock.log());
    penstock.stop();
    let expected = [
        "0 b",
        "1 bb",
        "5new 5new",
        "6new 6new",
        "7 161local4alert",
        "8 10.1.2.3",
        "9x hostx",
        "10 TypeError TypeError TypeError LogTemplateException",
        "11 None",
        "12 text",
        "13 `$HOST` cannot be printed for a message that was made here",
        "14 key is not a string object",
        "15 ",
    ];
    let expected: Vec<String> =
        expected.iter().chain(&expected).map(|line| format!("{line} derived")).collect();
    assert_eq!(lab.lines("out"), expected);
}
