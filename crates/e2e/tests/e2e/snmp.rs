//! `snmp()` with net-snmp's receiver: where there is none, these are skipped.

use crate::answered::{self, assert_all, assert_in_order, feed, text};
use crate::kept::queue;
use testkit::snmp::{MISSING, Snmptrapd};
use testkit::{Lab, Penstock, Sender, skip, wait_until};

const NAME: &str = ".1.3.6.1.4.1.18372.3.1.1.1.1.1.0";
const OTHER: &str = "1.3.6.1.4.1.18372.3.1.1.1.1.2";

/// Traps are sent as fast as they can be; the receiver is no faster than that.
const PACE: &str = "throttle(500)";

fn config(port: u16, options: &str) -> String {
    let own = format!(
        "trap-obj(\"{TRAP}\" \"Objectid\" \".1.3.6.1.4.1.18372.3.1.1.1\") snmp-obj(\"{NAME}\" \"Octetstring\" \"$MSG\") \
         time-reopen(1) timeout(1)"
    );
    let config = answered::config(&format!("snmp(port({port}) {own} {options})"));
    config.replace("options {", "options { dead-letters(yes);")
}

const TRAP: &str = ".1.3.6.1.6.3.1.1.4.1.0";

#[track_caller]
fn assert_taken(server: &Snmptrapd, count: usize) {
    wait_until("all of them", || server.texts(NAME).len() >= count);
    assert_in_order(&server.texts(NAME), count);
}

#[test]
fn a_trap_has_what_was_asked_for() {
    let lab = Lab::new();
    let Some(server) = Snmptrapd::start(&lab, "") else { return skip(MISSING) };
    let objects: String = [
        ("Integer", "$PID"),
        ("Timeticks", "100"),
        ("Counter32", "4294967295"),
        ("Counter64", "18446744073709551615"),
        ("Gauge32", "3000000000"),
        ("Ipaddress", "10.1.2.3"),
        ("Objectid", "1.3.6.1"),
    ]
    .iter()
    .enumerate()
    .map(|(at, (kind, value))| format!("snmp-obj(\"{OTHER}.{at}\" \"{kind}\" \"{value}\") "))
    .collect();
    let mut penstock =
        Penstock::start(&lab, &config(server.port(), &format!("{objects} community(\"secret\")")));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(b"<11>Nov 11 01:02:03 web app[7]: hello\n<11>Nov 11 01:02:03 web app[x]: no number\n");
    sender.finish();
    let ledger = penstock.wait_settled(2);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1), "{ledger}");
    let letters = queue(&lab, &["cat", "dead-letters", "--json"]);
    assert!(letters.contains("`x` is no Integer"), "{letters}");
    wait_until("the trap", || server.taken().len() == 1);
    let taken = server.taken().remove(0);
    let expected = format!(
        "{TRAP} = OID: .1.3.6.1.4.1.18372.3.1.1.1\t{NAME} = STRING: \"hello\"\t.{OTHER}.0 = INTEGER: 7\t\
         .{OTHER}.1 = Timeticks: (100) 0:00:01.00\t.{OTHER}.2 = Counter32: 4294967295\t\
         .{OTHER}.3 = Counter64: 18446744073709551615\t.{OTHER}.4 = Gauge32: 3000000000\t\
         .{OTHER}.5 = IpAddress: 10.1.2.3\t.{OTHER}.6 = OID: .1.3.6.1"
    );
    assert!(taken.contains("TRAP2, SNMP v2c, community secret|.1.3.6.1.2.1.1.3.0 = Timeticks: ("), "{taken}");
    assert!(taken.ends_with(&expected), "{taken}\n{expected}");
}

#[test]
fn traps_of_both_versions_arrive_in_order() {
    let lab = Lab::new();
    let users = "createUser -e 0x8000000001020304 plain\ncreateUser -e 0x8000000001020304 log SHA \"secret one\"\n\
                 createUser -e 0x8000000001020304 both SHA-256 \"secret one\" AES \"secret two\"";
    let Some(server) = Snmptrapd::start(&lab, users) else { return skip(MISSING) };
    let v3 = "version(v3) engine-id(\"0x8000000001020304\")";
    let keys = "auth-password(\"secret one\")";
    let ways = [
        String::new(),
        format!("{v3} auth-username(\"plain\")"),
        format!("{v3} auth-username(\"log\") {keys} auth-algorithm(\"SHA\")"),
        format!(
            "{v3} auth-username(\"both\") {keys} auth-algorithm(\"SHA256\") enc-algorithm(\"AES\") enc-password(\"secret two\")"
        ),
    ];
    let with = |way: &str| config(server.port(), &format!("{PACE} {way}"));
    let mut penstock = Penstock::start(&lab, &with(&ways[0]));
    for (at, way) in ways.iter().enumerate() {
        if at > 0 {
            penstock.reload_with(&lab, &with(way));
        }
        // Nobody answers a trap: no more of them than the receiver's socket surely holds.
        for from in (at * 200..at * 200 + 200).step_by(40) {
            feed(lab.port("in"), from, from + 40);
            penstock.wait_settled(from as u64 + 40).assert_nothing_lost();
            assert_taken(&server, from + 40);
        }
    }
    let taken = server.taken();
    assert!(taken[799].contains("SNMP v3, user both, context"), "{}", taken[799]);
}

#[test]
fn informs_are_answered_and_wait_for_a_receiver_that_is_away() {
    let lab = Lab::new();
    let users = "createUser both SHA-512 \"secret one\" AES \"secret two\"";
    let Some(mut server) = Snmptrapd::start(&lab, users) else { return skip(MISSING) };
    let v3 = "version(v3) auth-username(\"both\") auth-algorithm(\"SHA512\") auth-password(\"secret one\") enc-password(\"secret two\")";
    let mut sent = 0;
    for way in ["", v3] {
        let text = config(server.port(), &format!("inform(yes) {way}"));
        let mut penstock = Penstock::start(&lab, &text);
        let mut go = |penstock: &mut Penstock, count: usize| {
            feed(lab.port("in"), sent, sent + count);
            sent += count;
            let _ = penstock;
        };
        go(&mut penstock, 500);
        penstock.wait_settled(500).assert_nothing_lost();
        server.kill();
        go(&mut penstock, 100);
        penstock.wait_log("Destination cannot be reached");
        assert_eq!(penstock.ledger().dropped(), 0);
        server.run();
        penstock.wait_settled(600).assert_nothing_lost();
        penstock.stop();
    }
    // One that was taken and whose answer was lost comes again.
    assert_all(&server.texts(NAME), 1200);
    assert_eq!(server.texts(NAME).last(), Some(&text(1199)));
}

#[test]
fn a_wrong_password_holds_informs_and_says_so() {
    let lab = Lab::new();
    let Some(server) = Snmptrapd::start(&lab, "createUser both SHA \"secret one\" AES \"secret two\"") else {
        return skip(MISSING);
    };
    let with = |user: &str, auth: &str| {
        let v3 = "version(v3) inform(yes) enc-password(\"secret two\")";
        config(server.port(), &format!("{v3} auth-username(\"{user}\") auth-password(\"{auth}\")"))
    };
    let mut penstock = Penstock::start(&lab, &with("both", "secret other"));
    feed(lab.port("in"), 0, 10);
    penstock.wait_log("wrong digest");
    penstock.reload_with(&lab, &with("nobody", "secret one"));
    penstock.wait_log("it does not know the user");
    assert_eq!((penstock.ledger().dropped(), server.taken().len()), (0, 0));
    penstock.reload_with(&lab, &with("both", "secret one"));
    penstock.wait_settled(10).assert_nothing_lost();
    assert_taken(&server, 10);
}
