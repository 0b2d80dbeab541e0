//! A destination with several outlets that nothing leaves: what waits there goes to the process that takes
//! over, whose configuration may be the remedy.

use super::take_over;
use crate::messages::{HEAD, message};
use testkit::{HttpServer, Lab, Penstock, Reply, Sender, free_port};

const COUNT: usize = 2000;

#[test]
fn what_is_stuck_in_several_outlets_goes_along() {
    let lab = Lab::new();
    let config = |port: u16| {
        format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
             destination d {{ http(url(\"http://127.0.0.1:{port}/\") body(\"$MSG\") batch-lines(100) workers(4) persist-name(\"d\")); }};\n\
             log {{ source(s); destination(d); flags(flow-control); }};\n"
        )
    };
    let mut penstock = Penstock::start(&lab, &config(free_port()));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw((0..COUNT).map(|n| message(0, n) + "\n").collect::<String>().as_bytes());
    penstock.wait_ledger(|ledger| {
        (ledger.destination("d").waiting != COUNT as u64).then(|| "all to wait".to_owned())
    });
    penstock.wait_log("Destination cannot be reached");
    let server = HttpServer::start(0, |_| Reply::new(200));
    let mut penstock = take_over(&lab, penstock, &config(server.port()));
    let ledger = penstock.wait_ledger(|ledger| {
        (ledger.destination("d").delivered != COUNT as u64).then(|| "all to be delivered".to_owned())
    });
    ledger.assert_nothing_lost();
    let mut lines: Vec<String> = server.requests().iter().flat_map(|request| request.lines()).collect();
    lines.sort();
    let mut expected: Vec<String> =
        (0..COUNT).map(|n| format!("message number {n} of connection 0")).collect();
    expected.sort();
    assert_eq!(lines, expected);
    penstock.stop();
}
