//! Tests of the balance and its renderings.

use super::*;

fn flow(received: u64, delivered: u64, waiting: u64, filtered: u64, drops: &[(DropReason, u64)]) -> Flow {
    let mut flow = Flow { received, delivered, waiting, filtered, ..Flow::default() };
    for (reason, count) in drops {
        flow.dropped.add(*reason, *count);
    }
    flow
}

fn row(name: &str, detail: &str, flow: Flow) -> Row {
    Row { name: name.into(), detail: detail.into(), flow, ..Row::default() }
}

fn sample() -> Ledger {
    Ledger {
        sources: vec![row("s_net#0", "tcp 0.0.0.0:514", flow(1000, 990, 0, 0, &[(DropReason::Kernel, 10)]))],
        paths: vec![row("log", "a.conf:12", flow(990, 900, 0, 90, &[]))],
        destinations: vec![row("d_f#0", "", flow(900, 890, 10, 0, &[]))],
        ..Ledger::default()
    }
}

#[test]
fn balance_is_arithmetic_and_names_the_direction() {
    assert!(sample().balanced());
    assert!(Ledger::default().balanced());
    let missing = flow(10, 5, 1, 1, &[(DropReason::QueueFull, 1)]);
    assert_eq!(missing.difference(), 2);
    let doubled = flow(u64::MAX, u64::MAX, u64::MAX, 0, &[]);
    assert_eq!(doubled.difference(), -i128::from(u64::MAX));
    let mut ledger = sample();
    ledger.destinations.push(row("d_x#0", "", missing));
    assert!(!ledger.balanced());
}

#[test]
fn every_reason_has_its_own_slot_and_name() {
    let mut drops = Drops::default();
    for (index, reason) in (1..).zip(DropReason::ALL) {
        drops.add(reason, index);
        assert_eq!(reason.name().parse(), Ok(reason));
    }
    for (index, reason) in (1..).zip(DropReason::ALL) {
        assert_eq!(drops.count(reason), index);
    }
    assert_eq!(drops.total(), (1..=DropReason::ALL.len() as u64).sum::<u64>());
    assert!("nothing".parse::<DropReason>().is_err());
}

#[test]
fn the_table_lines_up_and_explains_drops() {
    let expected = "\
source                   received  delivered  waiting  filtered  dropped  bytes in
s_net#0 tcp 0.0.0.0:514      1000        990        0         0       10         0
    dropped 10 kernel: the kernel's receive buffer was full: raise so-rcvbuf()

path                     received  delivered  waiting  filtered  dropped  bytes in
log a.conf:12                 990        900        0        90        0         0

destination              received  delivered  waiting  filtered  dropped  bytes in
d_f#0                         900        890       10         0        0         0

balanced: every message received is accounted for
";
    assert_eq!(sample().to_table(), expected);
}

#[test]
fn long_names_leave_the_columns_in_place() {
    let long = format!("d_{}", "x".repeat(60));
    let destinations = vec![row(&long, "", flow(7, 7, 0, 0, &[])), row("d_short", "", flow(5, 5, 0, 0, &[]))];
    let table = Ledger { destinations, ..Ledger::default() }.to_table();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[1], long);
    let places = [lines[0].find("received"), lines[2].find("       7"), lines[3].find("       5")];
    assert!(places[0].is_some() && places.iter().all(|place| *place == places[0]), "{table}");
}

#[test]
fn the_table_says_what_is_missing() {
    let ledger = Ledger { paths: vec![row("log", "", flow(3, 1, 0, 0, &[]))], ..Ledger::default() };
    let table = ledger.to_table();
    assert!(table.contains("    NOT BALANCED: 2 missing\n"), "{table}");
    assert!(table.ends_with("\nNOT BALANCED\n"), "{table}");
    let ledger = Ledger { paths: vec![row("log", "", flow(1, 3, 0, 0, &[]))], ..Ledger::default() };
    assert!(ledger.to_table().contains("2 counted twice"));
}

#[test]
fn json_round_trips() {
    let mut ledger = sample();
    ledger.sources[0].flow.received_bytes = u64::MAX;
    ledger.sources[0].detail = "quote \" and \n line".into();
    let text = ledger.to_json();
    assert!(!text.contains('\n'));
    assert_eq!(Ledger::from_json(&text), Ok(ledger));
    assert!(Ledger::from_json("{}").is_err());
    assert!(Ledger::from_json("[").is_err());
}
