//! A connection goes to the other process only where that reads it in the same way.

use super::take_over;
use crate::messages::{HEAD, line, message};
use testkit::{Lab, Penstock, Sender, wait_until};

fn config(options: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) {options}); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\nlog {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

#[test]
fn a_connection_that_would_be_read_otherwise_is_closed() {
    let own = "log-msg-size(2000)";
    for (other, stays) in [
        ("log-msg-size(2000) so-keepalive(no)", true),
        ("log-msg-size(2001)", false),
        ("log-msg-size(2000) flags(empty-lines)", false),
        ("log-msg-size(2000) trim-large-messages(yes)", false),
        ("log-msg-size(2000) transport(text-with-nuls)", false),
        ("log-msg-size(2000) encoding(latin1)", false),
    ] {
        let lab = Lab::new();
        let mut penstock = Penstock::start(&lab, &config(own));
        let mut sender = Sender::tcp(lab.port("in"));
        sender.line(&message(0, 0));
        penstock.wait_settled(1);
        let penstock = take_over(&lab, penstock, &config(other));
        let mut expected = vec![line(0, 0)];
        match stays {
            true => {
                sender.line(&message(0, 1));
                expected.push(line(0, 1));
                wait_until("the message after it", || lab.lines("out").len() == 2);
            }
            false => sender.wait_closed(),
        }
        // A new connection is read as the new configuration says, whatever became of the old one.
        Sender::tcp(lab.port("in")).line(&message(1, 0));
        expected.push(line(1, 0));
        wait_until("a message of a new connection", || lab.lines("out").len() == expected.len());
        assert_eq!(lab.lines("out"), expected, "{other}");
        penstock.stop();
    }
}
