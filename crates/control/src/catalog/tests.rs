//! Tests of the catalogue against what syslog-ng 3.38 was seen to print.

use super::*;
use crate::ledger::{DropReason, Flow};
use crate::render::{csv, prometheus};

fn everything() -> Vec<Counter> {
    let mut all = Vec::new();
    let file = Output { driver: "file", id: "d_f#0", instance: "/l", processed: 3, ..Output::default() };
    let relay = Output { driver: "network", id: "d_n#0", instance: "tcp,h:514", ..Output::default() };
    let net = Input { driver: "network", id: "s_net#0", instance: "tcp,127.0.0.1", ..Input::default() };
    let own = Input { driver: "internal", id: "s_int#0", ..Input::default() };
    let listens = Listener {
        driver: "network",
        id: "s_net",
        address: "stream,AF_INET(0.0.0.0:514)",
        ..Listener::default()
    };
    all.extend([output(&file), output(&relay), input(&net), input(&own), listener(&listens)].concat());
    all.extend(center(2, 3));
    all.extend(filter("f_x", 1, 2));
    all.extend(parser("p_x", 1, 2));
    all.extend(internal_events(0, 0));
    all.push(shared_batches(3));
    all.extend(friction(4, 5, 6));
    all.extend(kubernetes(&Pods { server: "https://api:6443", known: 2, ..Pods::default() }));
    all.extend(given_up(1, 2, 3));
    all.push(filterx("a.conf:3:1", "falsy", 4));
    all.extend(dynamic("host", "", "web", 1, 9));
    all.extend(dynamic("program", "", "sshd", 1, 9));
    let mut flow = Flow { received: 5, delivered: 3, waiting: 1, ..Flow::default() };
    flow.dropped.add(DropReason::Kernel, 1);
    let balance = Ledger {
        sources: vec![Row { name: "s_net#0".into(), flow, ..Row::default() }],
        destinations: vec![Row { name: "d_n#0".into(), flow, ..Row::default() }],
        ..Ledger::default()
    };
    all.extend(ledger(&balance));
    all.extend(disk_queue(&DiskQueue {
        id: "d_n#0",
        dir: "/d",
        queue: "q",
        messages: 7,
        ..DiskQueue::default()
    }));
    let times = Times { buckets: &[(1024, 3)], ..Times::default() };
    all.extend(disk_log(&DiskLog { dir: "/d", sync: times, safe: times, ..DiskLog::default() }));
    all.extend([
        source("s_net", 1),
        destination("d_f", 1),
        class("facility", "other", 1),
        tag(".source.s_net", 1),
        kernel_drops("s_net#0", "udp", 4),
        global("msg_clones", "processed", 0),
    ]);
    for name in [
        "last_config_file_modification_timestamp_seconds",
        "last_config_reload_timestamp_seconds",
        "last_successful_config_reload_timestamp_seconds",
    ] {
        all.push(moment(name, 1));
    }
    all
}

#[test]
fn each_level_shows_what_syslog_ng_shows() {
    let shown = |level, line: &str| csv(&at_level(everything(), level), false).contains(line);
    let check = |line: &str, from: u8| {
        for level in 0..=4 {
            assert_eq!(shown(level, line), level >= from, "{line} at {level}");
        }
    };
    check("center;;received;a;processed;2\n", 0);
    check("src.internal;s_int#0;;a;stamp;0\n", 0);
    check("src.network;s_net;afsocket_sd.(stream,AF_INET(0.0.0.0:514));a;connections;0\n", 0);
    check("dst.network;d_n#0;tcp,h:514;a;queued;0\n", 0);
    check("global;internal_source;;a;dropped;0\n", 0);
    check("dst.network;d_n#0;tcp,h:514;a;memory_usage;0\n", 1);
    check("dst.file;d_f#0;/l;a;processed;3\n", 1);
    check("src.network;s_net#0;tcp,127.0.0.1;a;processed;0\n", 1);
    check("filter;f_x;;a;not_matched;2\n", 1);
    check("src.host;;web;d;stamp;9\n", 2);
    check("src.program;;sshd;d;processed;1\n", 3);
    check("src.facility;;other;a;processed;1\n", 3);
    check("tag;.source.s_net;;a;processed;1\n", 3);
}

/// As syslog-ng 3.38 prints it.
#[test]
fn sources_that_share_an_address_are_told_apart_by_their_names() {
    let listens = |persist_name| {
        let address = "stream,AF_INET(0.0.0.0:514)";
        listener(&Listener { driver: "network", id: "s", address, persist_name, ..Listener::default() })
    };
    let both = [listens(Some("tcp_514_1")), listens(Some("tcp_514_2"))].concat();
    let text = csv(&both, false);
    for name in ["tcp_514_1", "tcp_514_2"] {
        assert!(text.contains(&format!("src.network;s;afsocket_sd.{name};a;connections;0\n")), "{text}");
        let sample = format!("driver_instance=\"{name}\"");
        assert_eq!(prometheus(&both, false).matches(&sample).count(), 3, "{}", prometheus(&both, false));
    }
}

#[test]
fn metrics_of_the_new_form_only_stay_out_of_the_old_one() {
    let counters = [kernel_drops("s#0", "udp", 4)];
    assert_eq!(csv(&counters, false), "");
    assert_eq!(crate::render::kv(&counters), "");
    assert_eq!(
        prometheus(&counters, true),
        "syslogng_socket_receive_dropped_packets_total{id=\"s#0\",driver_instance=\"udp\"} 4\n"
    );
}

#[test]
fn the_ledger_is_a_metric() {
    let text = prometheus(&everything(), false);
    let check = |line: &str| assert!(text.contains(line), "{line} in\n{text}");
    check("syslogng_ledger_events_total{kind=\"source\",id=\"s_net#0\",result=\"received\"} 5\n");
    check(
        "syslogng_ledger_events_total{kind=\"source\",id=\"s_net#0\",result=\"dropped\",reason=\"kernel\"} 1\n",
    );
    check("syslogng_ledger_waiting_events{kind=\"source\",id=\"s_net#0\"} 1\n");
}

#[test]
fn the_registry_lists_exactly_what_can_be_printed() {
    let everything = everything();
    let names = everything.iter().filter_map(|c| c.prom.as_ref());
    let mut made: Vec<&str> = names.map(|p| &*p.name).collect();
    // There is no certificate in this process, and lost bytes and errors of transport are counted beside the
    // sources that can have them.
    made.extend([certificates::NAME, "input_lost_bytes_total", "input_transport_errors_total"]);
    made.sort_unstable();
    made.dedup();
    let listed: Vec<&str> = METRICS.iter().map(|m| m.name).collect();
    assert_eq!(made, listed);
}

/// The dashboard and the alert rules ask for metrics that there are, and for values of `result` and `kind`
/// that there are.
#[test]
fn what_is_packaged_asks_for_what_there_is() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging");
    for (file, at_least) in [("grafana/penstock.json", 10), ("prometheus/penstock-rules.yml", 9)] {
        let text = std::fs::read_to_string(folder.join(file)).expect("a file");
        let mut names = std::collections::BTreeSet::new();
        for rest in text.split("syslogng_").skip(1) {
            let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(rest.len());
            names.insert(&rest[..end]);
        }
        assert!(names.len() >= at_least, "{file}: {names:?}");
        for name in names {
            assert!(METRICS.iter().any(|metric| metric.name == name), "{file}: {name}");
        }
        let labels = prometheus(&everything(), false);
        for part in text.replace("\\\"", "\"").split('{').skip(1) {
            let selector = part.split('}').next().unwrap_or_default();
            for pair in selector.split(',').filter(|pair| pair.contains("=\"")) {
                assert!(labels.contains(pair.trim()), "{file}: {pair}");
            }
        }
    }
    let dashboard = std::fs::read_to_string(folder.join("grafana/penstock.json")).expect("a file");
    let dashboard: serde_json::Value = serde_json::from_str(&dashboard).expect("JSON");
    assert!(dashboard["panels"].as_array().is_some_and(|panels| panels.len() > 10));
}
