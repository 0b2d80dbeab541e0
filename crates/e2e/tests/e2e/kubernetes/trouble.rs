//! What may be wrong with an API server, and costs neither a message nor what is known.

use super::{Cluster, NODE, counter, wait_counter};
use testkit::wait_until;

#[test]
fn a_watch_that_is_cut_goes_on_behind_its_last_event() {
    let cluster = Cluster::new();
    cluster.server.put("shop/a", "u", "old");
    let penstock = cluster.start(NODE);
    cluster.line("shop/a", "1");
    cluster.wait_line("old u 1");
    wait_until("a watch", || cluster.server.watches() == 1);
    cluster.server.put("shop/a", "u", "middle");
    wait_counter(&penstock, "kubernetes_watch_events_total", 1);
    cluster.server.cut_next();
    cluster.server.put("shop/a", "u", "new");
    wait_counter(&penstock, "kubernetes_watch_events_total", 2);
    cluster.line("shop/a", "2");
    cluster.wait_line("new u 2");
    let watches: Vec<String> = cluster
        .server
        .requests()
        .iter()
        .map(|r| r.path.clone())
        .filter(|path| path.contains("watch=1"))
        .collect();
    assert_eq!(watches.len(), 2);
    // 101 is the list's, 102 the event's that came whole.
    assert!(
        watches[0].contains("resourceVersion=101") && watches[1].contains("resourceVersion=102"),
        "{watches:?}"
    );
    assert_eq!(counter(&penstock, "kubernetes_lists_total"), 1);
    penstock.stop();
}

#[test]
fn versions_that_are_forgotten_and_nonsense_make_a_new_list() {
    let cluster = Cluster::new();
    cluster.server.put("shop/a", "u", "1");
    let penstock = cluster.start(NODE);
    cluster.line("shop/a", "1");
    cluster.wait_line("1 u 1");
    wait_until("a watch", || cluster.server.watches() == 1);
    cluster.server.put_silently("shop/a", "u", "2");
    cluster.server.forget();
    wait_counter(&penstock, "kubernetes_lists_total", 2);
    cluster.line("shop/a", "2");
    cluster.wait_line("2 u 2");
    wait_until("a watch", || cluster.server.watches() == 1);
    cluster.server.put_silently("shop/a", "u", "3");
    cluster.server.say_nonsense();
    wait_counter(&penstock, "kubernetes_lists_total", 3);
    cluster.line("shop/a", "3");
    cluster.wait_line("3 u 3");
    let log = penstock.stop();
    assert!(log.contains("the watch brought no event"), "{log}");
    let lists = cluster.server.requests();
    let lists = lists.iter().filter(|request| !request.path.contains("watch=1"));
    let cheap: Vec<bool> = lists.map(|request| request.path.contains("resourceVersion=0")).collect();
    assert_eq!(cheap, [true, false, false], "what is at hand may be what was forgotten");
}

#[test]
fn a_token_that_is_refused_is_said_once_and_its_successor_is_shown() {
    let cluster = Cluster::new();
    let token = cluster.lab.path("token");
    std::fs::write(&token, "one").expect("a file");
    cluster.server.want_token("two");
    cluster.server.put("shop/a", "u", "a");
    cluster.line("shop/a", "1");
    let mut penstock = cluster.start(&format!("{NODE} token-file(\"%dir%/token\")"));
    penstock.wait_log("does not take the token");
    wait_until("another attempt", || counter(&penstock, "kubernetes_failed_requests_total") >= 3);
    assert!(cluster.lines().is_empty());
    std::fs::write(&token, "two\n").expect("a file");
    cluster.wait_line("a u 1");
    let log = penstock.stop();
    assert_eq!(log.matches("does not take the token").count(), 1, "{log}");
    assert!(log.contains("automountServiceAccountToken") && log.contains("answers again"), "{log}");
    assert!(!log.contains("Bearer"), "{log}");
}

#[test]
fn rights_that_are_lacking_are_said_with_the_remedy_and_messages_go_on() {
    let cluster = Cluster::new();
    cluster.server.forbid(true);
    cluster.server.put("shop/a", "u", "a");
    cluster.line("shop/a", "1");
    let mut penstock = cluster.start(NODE);
    penstock.wait_log("does not let pods be seen");
    // Nobody waits for what nobody will get.
    cluster.wait_line("none none 1");
    cluster.server.forbid(false);
    wait_counter(&penstock, "kubernetes_pods", 1);
    cluster.line("shop/a", "2");
    cluster.wait_line("a u 2");
    let log = penstock.stop();
    assert_eq!(log.matches("does not let pods be seen").count(), 1, "{log}");
    assert!(log.contains("get, list and watch"), "{log}");
}

#[test]
fn a_server_that_is_killed_costs_nothing_that_is_known() {
    let mut cluster = Cluster::new();
    cluster.server.put("shop/a", "u", "a");
    let mut penstock = cluster.start(NODE);
    cluster.line("shop/a", "1");
    cluster.wait_line("a u 1");
    wait_until("a watch", || cluster.server.watches() == 1);
    cluster.server.kill();
    penstock.wait_log("cannot be asked");
    cluster.line("shop/a", "2");
    cluster.wait_line("a u 2");
    cluster.server.put("shop/b", "u", "b");
    cluster.line("shop/b", "3");
    cluster.server.run();
    cluster.wait_line("b u 3");
    penstock.wait_settled_input().assert_balanced();
    penstock.stop();
    assert_eq!(cluster.lines(), ["a u 1", "a u 2", "b u 3"]);
}
