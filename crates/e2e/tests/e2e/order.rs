//! Order within a connection, whatever happens to the batches: many connections, one hot connection, costly
//! paths, parallelize().

use crate::messages::{HEAD, assert_complete, block};
use testkit::{Collector, Lab, Penstock, Sender};

fn send_from(connections: usize, count: usize, port: u16) {
    std::thread::scope(|scope| {
        for connection in 0..connections {
            scope.spawn(move || {
                let mut sender = Sender::tcp(port);
                block(connection, count).as_bytes().chunks(7001).for_each(|piece| sender.raw(piece));
                sender.finish();
            });
        }
    });
}

/// What each path costs makes batches be shared between the workers.
const COSTLY: &str = "rewrite { subst('number ([0-9]+) of', 'number $1 of', value('MESSAGE')); };\n\
    filter { message('(number|other) [0-9]+ of .*connection') and not message('^(a|b|c)+$'); };";

#[track_caller]
fn in_order(connections: usize, count: usize, source: &str, path: &str, args: &[&str]) {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) max-connections(200) {source}); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\n\
         log {{ source(s); {path} destination(d); flags(flow-control); }};\n"
    );
    let start = args.iter().fold(Penstock::configure(&lab, &config), |start, arg| start.arg(arg));
    let mut penstock = start.ready();
    send_from(connections, count, lab.port("in"));
    penstock.wait_settled((connections * count) as u64).assert_nothing_lost();
    penstock.stop();
    assert_complete(&lab.lines("out"), connections, count);
}

#[test]
fn many_connections() {
    in_order(100, 200, "", "", &[]);
}

#[test]
fn one_hot_connection() {
    in_order(1, 100_000, "", "", &[]);
}

#[test]
fn one_hot_connection_with_a_costly_path() {
    in_order(1, 100_000, "", COSTLY, &["--worker-threads", "4"]);
}

#[test]
fn a_few_hot_connections_with_a_costly_path() {
    in_order(3, 30_000, "", COSTLY, &["--worker-threads", "4"]);
}

#[test]
fn one_worker() {
    in_order(5, 5_000, "", COSTLY, &["--worker-threads", "1"]);
}

#[test]
fn with_parallelize() {
    in_order(2, 20_000, "", &format!("parallelize(partitions(4)); {COSTLY}"), &["--worker-threads", "4"]);
}

#[test]
fn with_parallelize_by_key() {
    in_order(
        2,
        20_000,
        "",
        &format!("parallelize(workers(3) worker-partition-key(\"$HOST\")); {COSTLY}"),
        &[],
    );
}

#[test]
fn with_the_smallest_windows() {
    in_order(4, 2_000, "log-iw-size(100) log-fetch-limit(1)", "", &[]);
}

#[test]
fn through_a_relay() {
    let lab = Lab::new();
    let collector = Collector::tcp(lab.port("out"));
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) max-connections(50)); }};\n\
         destination d {{ network(127.0.0.1 port(%port:out%)); }};\n\
         log {{ source(s); {COSTLY} destination(d); flags(flow-control); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    send_from(10, 3_000, lab.port("in"));
    penstock.wait_settled(30_000).assert_nothing_lost();
    let lines = collector.wait_lines(30_000);
    assert_complete(&lines, 10, 3_000);
    penstock.stop();
}
